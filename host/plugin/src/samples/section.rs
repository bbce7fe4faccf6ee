//! Finds the samples in the bytes of a component.

use serde_json::Value;
use wasmparser::{Parser, Payload};

use super::parse::sample;
use super::{BYTES_MAX, SAMPLES_MAX, SECTION, Sample};
use crate::text::printable;

/// The samples of a component, of its modules too.
///
/// # Errors
/// Text for people: which sample, and what is wrong with it.
pub(crate) fn read(wasm: &[u8]) -> Result<Vec<Sample>, String> {
    let mut samples = Vec::new();
    let mut bytes = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.map_err(|error| printable(&error.to_string(), 200))? {
            Payload::CustomSection(section) if section.name() == SECTION => {
                bytes += section.data().len();
                if bytes > BYTES_MAX {
                    return Err(format!("they are more than {BYTES_MAX} bytes long"));
                }
                read_text(section.data(), &mut samples)?;
            }
            _ => {}
        }
    }
    Ok(samples)
}

/// One sample or a list of them, and maybe more of both behind.
pub(super) fn read_text(text: &[u8], samples: &mut Vec<Sample>) -> Result<(), String> {
    if text.trim_ascii().is_empty() {
        return Err("it is empty: a sample or a list of them is expected".into());
    }
    for text in serde_json::Deserializer::from_slice(text).into_iter::<Value>() {
        let written = match text.map_err(|error| printable(&format!("not the JSON expected: {error}"), 200))? {
            Value::Array(list) => list,
            one => vec![one],
        };
        for value in written {
            if samples.len() == SAMPLES_MAX {
                return Err(format!("there are more than {SAMPLES_MAX}"));
            }
            let number = samples.len();
            samples.push(sample(value).map_err(|what| format!("sample {number}, counted from 0: {what}"))?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NAMED: &str = r#"{"name": "NAME", "given": [{"a": 1}], "expect": {}}"#;

    fn named(name: &str) -> String {
        NAMED.replace("NAME", name)
    }

    /// A section as it stands in a file.
    fn section(name: &str, data: &[u8]) -> Vec<u8> {
        let content = [&[name.len() as u8], name.as_bytes(), data].concat();
        let mut section = vec![0];
        let mut rest = content.len();
        while rest > 0x7f {
            section.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        section.push(rest as u8);
        section.extend(content);
        section
    }

    fn component(sections: &[Vec<u8>]) -> Vec<u8> {
        [b"\0asm\x0d\0\x01\0".as_slice(), &sections.concat()].concat()
    }

    fn names(wasm: &[u8]) -> Vec<String> {
        read(wasm).unwrap().into_iter().map(|sample| sample.name).collect()
    }

    #[test]
    fn a_text_without_anything_is_refused_and_an_empty_list_is_none() {
        for empty in ["", " \n"] {
            let error = read_text(empty.as_bytes(), &mut Vec::new()).unwrap_err();
            assert!(error.starts_with("it is empty"), "{error}");
        }
        assert_eq!(read_text(b"[]", &mut Vec::new()), Ok(()));
    }

    #[test]
    fn samples_are_found_at_the_top_and_in_modules_and_in_sections_put_together() {
        let two = format!("[{}]{}", named("b"), named("c"));
        let module = [b"\0asm\x01\0\0\0".as_slice(), &section(SECTION, two.as_bytes())].concat();
        let mut nested = vec![1, module.len() as u8 | 0x80, (module.len() >> 7) as u8];
        nested.extend(&module);
        let top = section(SECTION, named("a").as_bytes());
        assert_eq!(names(&component(&[top, section("other", b"{"), nested])), ["a", "b", "c"]);
        assert_eq!(names(&component(&[])), Vec::<String>::new());
    }

    #[test]
    fn what_is_too_much_or_no_sample_is_refused() {
        let refused = |data: &[u8]| read(&component(&[section(SECTION, data)])).unwrap_err();
        assert_eq!(refused(&vec![b' '; BYTES_MAX + 1]), "they are more than 1048576 bytes long");
        let many = json!(vec![serde_json::from_str::<Value>(&named("a")).unwrap(); SAMPLES_MAX + 1]);
        assert_eq!(refused(many.to_string().as_bytes()), "there are more than 1000");
        assert!(refused(b"[{]").starts_with("not the JSON expected: "), "{}", refused(b"[{]"));
        assert!(refused(b"\xff").starts_with("not the JSON expected: "));
        assert_eq!(refused(b"[7]"), "sample 0, counted from 0: it is no object");
    }
}
