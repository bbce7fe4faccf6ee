//! The account of one step: each row that went in came out at least once, or was rejected, never both.

use crate::Rejection;

/// Checks the account of a step that got `rows_in` rows and gave `rows_out`.
///
/// # Errors
/// What does not hold, naming the first row at which it does not.
pub(crate) fn check(rows_in: usize, rows_out: usize, origin: &[u32], rejected: &[Rejection]) -> Result<(), String> {
    if rows_out != origin.len() {
        return Err(format!("{rows_out} rows came with {} row numbers", origin.len()));
    }
    let mut refused: Vec<usize> = rejected.iter().map(|rejection| rejection.row as usize).collect();
    refused.sort_unstable();
    refused.dedup();
    if let Some(row) = refused.last().filter(|row| **row >= rows_in) {
        return Err(format!("row {row} is rejected, but there are only {rows_in}"));
    }
    let mut refused = refused.into_iter().peekable();
    // The first row whose fate is not known yet.
    let mut next = 0;
    for &row in origin {
        let row = row as usize;
        if row + 1 == next {
            continue;
        }
        while refused.next_if_eq(&next).is_some() {
            next += 1;
        }
        if row != next || row >= rows_in {
            return Err(wrong(row, next, rows_in));
        }
        next += 1;
    }
    while refused.next_if_eq(&next).is_some() {
        next += 1;
    }
    match refused.next() {
        Some(row) => Err(format!("row {row} is both returned and rejected")),
        None if next < rows_in => Err(format!("row {next} is neither returned nor rejected")),
        None => Ok(()),
    }
}

fn wrong(row: usize, next: usize, rows_in: usize) -> String {
    if row >= rows_in {
        format!("row {row} is returned, but there are only {rows_in}")
    } else if row > next {
        format!("row {next} is neither returned nor rejected")
    } else {
        format!("row {row} is both returned and rejected, or out of order")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fate;

    fn rejected(rows: &[u32]) -> Vec<Rejection> {
        let one = |row: &u32| Rejection {
            row: *row,
            fate: Fate::Quarantine,
            code: "c".into(),
            text: "t".into(),
            component: None,
        };
        rows.iter().map(one).collect()
    }

    fn verdict(rows_in: usize, origin: &[u32], refused: &[u32]) -> Result<(), String> {
        check(rows_in, origin.len(), origin, &rejected(refused))
    }

    #[test]
    fn e033_whole_accounts_hold() {
        for (rows_in, origin, refused) in [
            (0, vec![], vec![]),
            (3, vec![0, 1, 2], vec![]),
            (3, vec![0, 0, 1, 2, 2], vec![]),
            (4, vec![1, 3], vec![2, 0]),
            (4, vec![0, 3, 3], vec![1, 2, 2, 1]),
            (2, vec![], vec![0, 1]),
        ] {
            assert_eq!(verdict(rows_in, &origin, &refused), Ok(()), "{origin:?} {refused:?}");
        }
    }

    #[test]
    fn e033_broken_accounts_name_the_row() {
        for (rows_in, origin, refused, what) in [
            (2, vec![0], vec![], "row 1 is neither"),
            (3, vec![0, 2], vec![], "row 1 is neither"),
            (2, vec![0, 1], vec![1], "row 1 is both"),
            (2, vec![0, 1], vec![0], "row 0 is both"),
            (2, vec![1, 0], vec![], "row 0 is neither"),
            (3, vec![0, 1, 0, 2], vec![], "out of order"),
            (1, vec![0, 1], vec![], "row 1 is returned, but there are only 1"),
            (1, vec![0], vec![7], "row 7 is rejected, but there are only 1"),
        ] {
            let error = verdict(rows_in, &origin, &refused).unwrap_err();
            assert!(error.contains(what), "{origin:?} {refused:?}: {error}");
        }
        assert!(check(1, 2, &[0], &[]).unwrap_err().contains("2 rows came with 1 row numbers"));
    }
}
