//! What a file is made of, seen before it is compiled: one component, whose text is UTF-8.
//!
//! The runtime could run more. Components that were composed of others call each other through code that it makes for
//! them, and texts in other encodings are turned into each other there: where advisories were, and what no plugin needs.

use wasmparser::{CanonicalFunction, CanonicalOption, Parser, Payload};

/// Whether the file may be compiled. What is no component at all is left to the compiler, which says more of it.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut inside = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        let Ok(payload) = payload else { return Ok(()) };
        match payload {
            Payload::Version { .. } => inside += 1,
            Payload::End(_) => inside = inside.saturating_sub(1),
            // Components inside that hold no code only name the types of what is exported.
            Payload::ModuleSection { .. } if inside > 1 => {
                return Err("it is composed of several components; build it as one".to_string());
            }
            Payload::ComponentCanonicalSection(section)
                if section.clone().into_iter().flatten().any(|function| !utf8(&function)) =>
            {
                return Err("its text is not in UTF-8; build it with `string-encoding=utf8`".to_string());
            }
            _ => {}
        }
    }
    Ok(())
}

fn utf8(function: &CanonicalFunction) -> bool {
    let (CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. }) = function else {
        return true;
    };
    !options.iter().any(|option| matches!(option, CanonicalOption::UTF16 | CanonicalOption::CompactUTF16))
}

#[cfg(test)]
mod tests {
    use super::check;

    const MODULE: &str = r#"(core module $m (memory (export "m") 1) (func (export "f") (param i32 i32))
        (func (export "r") (param i32 i32 i32 i32) (result i32) unreachable))
        (core instance $i (instantiate $m))"#;

    fn checked(text: &str) -> Result<(), String> {
        check(&wat::parse_str(text).unwrap())
    }

    fn with_encoding(encoding: &str) -> String {
        format!(
            r#"(component {MODULE} (func (export "f") (param "x" string)
                (canon lift (core func $i "f") (memory $i "m") (realloc (func $i "r")) {encoding})))"#
        )
    }

    #[test]
    fn text_is_utf8() {
        assert_eq!(checked(&with_encoding("")), Ok(()));
        assert_eq!(checked(&with_encoding("string-encoding=utf8")), Ok(()));
        for encoding in ["string-encoding=utf16", "string-encoding=latin1+utf16"] {
            assert!(checked(&with_encoding(encoding)).unwrap_err().contains("not in UTF-8"), "{encoding}");
        }
    }

    #[test]
    fn a_component_is_one() {
        assert_eq!(checked(&format!("(component {MODULE} (component (type (list u8))))")), Ok(()));
        let composed = format!("(component (component {MODULE}))");
        assert!(checked(&composed).unwrap_err().contains("composed of several components"));
        let deep = format!("(component {MODULE} (component (component {MODULE})))");
        assert!(checked(&deep).unwrap_err().contains("composed of several components"));
    }

    #[test]
    fn what_is_no_component_is_left_to_the_compiler() {
        for bytes in [&b""[..], b"\0asm", &[0xff; 100]] {
            assert_eq!(check(bytes), Ok(()));
        }
        assert_eq!(checked("(module (memory 1))"), Ok(()));
    }
}
