//! Where a new checkpoint begins in a table that was emptied once: what was taken out is not read.

use std::collections::HashSet;

use serde::Deserialize;

/// Follows the log from its beginning and knows where reading may begin.
#[derive(Debug, Default)]
pub(super) struct History {
    live: HashSet<String>,
    start: i64,
}

#[derive(Deserialize)]
struct Action {
    add: Option<File>,
    remove: Option<File>,
}

#[derive(Deserialize)]
struct File {
    path: String,
}

impl History {
    /// Takes the next version. After one that leaves the table empty and adds nothing, reading begins behind it.
    ///
    /// # Errors
    /// The entry is no log entry.
    pub(super) fn take(&mut self, version: i64, entry: &[u8]) -> Result<(), serde_json::Error> {
        let (mut added, mut removed) = (false, false);
        for action in serde_json::Deserializer::from_slice(entry).into_iter::<Action>() {
            let action = action?;
            if let Some(file) = action.add {
                added = true;
                self.live.insert(file.path);
            }
            if let Some(file) = action.remove {
                removed = true;
                self.live.remove(&file.path);
            }
        }
        if removed && !added && self.live.is_empty() {
            self.start = version + 1;
        }
        Ok(())
    }

    /// First version to read.
    pub(super) fn start(&self) -> i64 {
        self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD_A: &str = r#"{"add":{"path":"a"}}"#;
    const ADD_B: &str = r#"{"add":{"path":"b"}}"#;
    const REMOVE_A: &str = r#"{"remove":{"path":"a"}}"#;
    const REMOVE_B: &str = r#"{"remove":{"path":"b"}}"#;

    fn start(versions: &[&[&str]]) -> i64 {
        let mut history = History::default();
        for (version, actions) in (0..).zip(versions) {
            history.take(version, actions.join("\n").as_bytes()).unwrap();
        }
        history.start()
    }

    #[test]
    fn a_table_that_only_grew_is_read_from_its_beginning() {
        assert_eq!(start(&[&[], &[ADD_A], &[ADD_B]]), 0);
    }

    #[test]
    fn an_emptied_table_is_read_from_behind_the_emptying() {
        assert_eq!(start(&[&[], &[ADD_A], &[ADD_B], &[REMOVE_A, REMOVE_B], &[ADD_A]]), 4);
    }

    #[test]
    fn d123_a_table_that_lost_some_rows_is_not_jumped_over() {
        assert_eq!(start(&[&[], &[ADD_A], &[ADD_B], &[REMOVE_A]]), 0);
        assert_eq!(start(&[&[], &[ADD_A], &[REMOVE_A, ADD_B]]), 0);
    }
}
