//! What a component writes to stderr: its end, because a panic's message comes last. Go alone says the cause first.

use std::collections::VecDeque;

use crate::limits::MESSAGE_BYTES_MAX;
use crate::text::printable;

/// A pipe without end that remembers its end.
#[derive(Debug)]
pub(crate) struct Stderr {
    bytes_max: usize,
    tail: VecDeque<u8>,
}

impl Stderr {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, tail: VecDeque::new() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(self.bytes_max)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(self.bytes_max);
        self.tail.drain(..excess);
        self.tail.extend(kept);
    }

    pub(crate) fn clear(&mut self) {
        self.tail.clear();
    }

    /// The text on one line, safe to print; `None` when there is none.
    pub(crate) fn said(&self) -> Option<String> {
        let bytes: Vec<u8> = self.tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("note: run with"));
        let text = end(printable(&without_frames(lines).join(" "), usize::MAX));
        (!text.is_empty()).then_some(text)
    }
}

/// Go writes all frames of all goroutines after the cause. Of these only the first place in the author's own package is kept.
fn without_frames<'a>(mut lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut kept: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("goroutine ")).collect();
    if lines.by_ref().any(|line| line.starts_with("main.")) {
        let place = lines.next().and_then(|line| line.split(" +0x").next());
        kept.extend(place.map(|place| place.rsplit('/').next().unwrap_or(place)));
    }
    kept
}

/// The end of a text that is too long: what was said last says why.
fn end(text: String) -> String {
    const DOTS: &str = "…";
    if text.len() <= MESSAGE_BYTES_MAX {
        return text;
    }
    let from =
        (text.len() - MESSAGE_BYTES_MAX + DOTS.len()..).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{DOTS}{}", &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line_without_the_advice() {
        let mut stderr = Stderr::new(4_096);
        stderr.write(b"\nthread '<unnamed>' panicked at src/lib.rs:3:5:\nno \x1b[31mamount\n");
        stderr.write(b"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n");
        assert_eq!(stderr.said().unwrap(), "thread '<unnamed>' panicked at src/lib.rs:3:5: no \\u{1b}[31mamount");
    }

    #[test]
    fn a_panic_in_go_is_its_cause_and_its_place() {
        let mut stderr = Stderr::new(4_096);
        stderr.write(b"panic: assignment to entry in nil map\n\ngoroutine 7 [running]:\nruntime.panic(0x1)\n");
        stderr.write(b"\t/go/panic.go:3 +0x1\nmain.(*rules).check(...)\n\t/home/rules/plugin.go:33 +0x12\n");
        stderr.write(b"main.main()\n\t/home/rules/plugin.go:3 +0x12\n");
        assert_eq!(stderr.said().unwrap(), "panic: assignment to entry in nil map plugin.go:33");
    }

    #[test]
    fn a_flood_keeps_its_end() {
        let mut stderr = Stderr::new(4_096);
        assert_eq!(stderr.said(), None);
        for _ in 0..10 {
            stderr.write(&[b'x'; 1000]);
        }
        stderr.write(&[b'y'; 3 * 4_096]);
        stderr.write(b"\nend");
        assert_eq!(stderr.tail.len(), 4_096);
        let tail: Vec<u8> = stderr.tail.iter().copied().collect();
        assert!(tail.ends_with(b"yyy\nend") && !tail.contains(&b'x'));
        let said = stderr.said().unwrap();
        assert!(said.starts_with("…yyy") && said.ends_with("yyy end") && said.len() <= MESSAGE_BYTES_MAX, "{said}");
    }
}
