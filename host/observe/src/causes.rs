//! Errors and what is below them, told without repetition.

use std::error::Error;

/// What is below an error, from top to bottom, without what was said already: many messages end with their cause.
pub fn causes(error: &dyn Error) -> Vec<String> {
    let mut said = error.to_string();
    let mut causes = Vec::new();
    let mut below = error.source();
    while let Some(error) = below {
        let text = without_backtrace(&error.to_string());
        if !said.contains(&text) {
            said.push('\n');
            said.push_str(&text);
            causes.push(text);
        }
        below = error.source();
    }
    causes
}

/// An error and its causes in one line.
pub fn in_one_line(error: &dyn Error) -> String {
    let mut texts = causes(error);
    texts.insert(0, error.to_string());
    texts.join(": ")
}

/// Some libraries put a backtrace into their messages when `RUST_BACKTRACE` is set.
fn without_backtrace(text: &str) -> String {
    text.split("\n   0: ").next().unwrap_or(text).trim_end().into()
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|below| below as &(dyn Error + 'static))
        }
    }

    #[test]
    fn a_cause_is_said_once_and_without_a_backtrace() {
        let disk = Layer("disk full\n   0: main", None);
        let write = Layer("cannot write", Some(Box::new(disk)));
        let batch = Layer("batch 3: cannot write", Some(Box::new(write)));
        assert_eq!(causes(&batch), ["disk full"]);
        assert_eq!(in_one_line(&batch), "batch 3: cannot write: disk full");
    }
}
