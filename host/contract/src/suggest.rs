//! The nearest valid name, and lists of names for people.

/// `; did you mean …?` when something near exists, else nothing.
pub(crate) fn did_you_mean<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(given, valid) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

/// Few edits away, or, for names that were cut or lengthened, much alike from the start.
fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.9;
    let lower = given.to_lowercase();
    let measured = valid.into_iter().map(|name| {
        let other = name.to_lowercase();
        (strsim::damerau_levenshtein(&lower, &other), strsim::jaro_winkler(&lower, &other), name)
    });
    measured
        .filter(|(edits, alike, name)| *edits <= name.chars().count().max(3) / 3 || *alike >= ALIKE)
        .min_by_key(|(edits, _, _)| *edits)
        .map(|(_, _, name)| name)
}

/// `` `a`, `b` ``
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `` choose one of `a`, `b` ``, or nothing when there is nothing to choose from.
pub(crate) fn choose<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let list = quoted(names);
    (!list.is_empty()).then(|| format!("choose one of {list}"))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        assert_eq!(did_you_mean("amuont", ["country", "amount"]), "; did you mean `amount`?");
        assert_eq!(did_you_mean("Name", ["name", "path"]), "; did you mean `name`?");
        assert_eq!(
            did_you_mean("destination", ["name", "destination_contract"]),
            "; did you mean `destination_contract`?"
        );
        assert_eq!(did_you_mean("zebra", ["name", "path"]), "");
    }
}
