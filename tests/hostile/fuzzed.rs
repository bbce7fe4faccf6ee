//! Files, descriptions, plans and answers made by chance: the corpus again, and changes of it from a seed that is printed.

use std::fs;
use std::time::{Duration, Instant};

use crisol_plugin::{Kind, Limits};
use crisol_tests::{Random, root};

use crate::attempt::{Attempt, limits};
use crate::behaviours::{answering, honest};
use crate::matrix::assert_readable;
use crate::process;
use crate::raw::{PLANNED, Part, Raw};

/// Changes in an ordinary run; `CRISOL_FUZZ_SECONDS` lets it go on for so long.
const CHANGES: usize = 400;
/// No input is larger, and no limit of these components lets them take more at once.
const ALLOCATION_BYTES_MAX: usize = 80 << 20;

/// The first byte says of which kind the component is, and what of it the others are.
fn attempt(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let kind =
        [Kind::Decoder, Kind::Transformer, Kind::Validator, Kind::Ranker, Kind::Aggregator][*choice as usize % 5];
    let raw = || Raw::honest(kind);
    let file = match *choice as usize / 5 % 5 {
        0 => bytes.to_vec(),
        1 => raw().described(bytes).build(),
        2 => raw().data(PLANNED, &bytes[..bytes.len().min(900)]).build(),
        3 => answering(kind, Part::Push, bytes).build(),
        _ => raw().answers(Part::Push, Some(&honest(kind).bytes()), Some(bytes)).build(),
    };
    let limits = Limits { output_bytes_max: 1 << 20, output_rows_max: 10_000, ..limits() };
    if let Err(stopped) = Attempt::new(kind, file).limits(limits).run() {
        assert_readable(&stopped.text());
        assert_ne!(stopped.class(), "internal", "{}", stopped.text());
    }
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return bytes.push(random.below(256) as u8);
    }
    let at = random.below(bytes.len());
    match random.below(6) {
        0 => bytes[at] = random.below(256) as u8,
        1 => bytes[at] ^= 1 << random.below(8),
        2 => {
            let value: u32 = random.one_of(&[0, 1, 0x7fff_ffff, 0xffff_ffff, 0xffff_fff0, 1 << 20]);
            let width = 4.min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        3 => bytes.truncate(at),
        4 => {
            let piece = bytes[at..(at + 16).min(bytes.len())].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, piece);
        }
        _ => {
            let word =
                random.one_of(&["\u{1b}[2J", "\"", "{", "}", "[[[[", "\\u0000", "\u{202e}", "array<", ">", "\0"]);
            bytes.splice(at..at, word.bytes());
        }
    }
}

#[test]
fn what_is_made_by_chance_is_served_or_refused() {
    let _alone = process::alone();
    let mut corpus: Vec<Vec<u8>> = Vec::new();
    for entry in fs::read_dir(root().join("fuzz/corpus/component")).unwrap() {
        corpus.push(fs::read(entry.unwrap().path()).unwrap());
    }
    corpus.sort();
    assert!(corpus.len() >= 15, "the corpus has {} entries", corpus.len());
    process::forget_largest_request();
    corpus.iter().for_each(|data| attempt(data));
    let mut random = Random::new();
    let seed = random.seed();
    let seconds = std::env::var("CRISOL_FUZZ_SECONDS").ok().map(|seconds| seconds.parse().expect("seconds"));
    let (start, mut changes) = (Instant::now(), 0);
    while seconds.map_or(changes < CHANGES, |seconds| start.elapsed() < Duration::from_secs(seconds)) {
        let mut data = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(4) {
            change(&mut data, &mut random);
        }
        let kept = data.clone();
        let tried = std::panic::catch_unwind(move || attempt(&data));
        assert!(tried.is_ok(), "seed {seed}, change {changes}: {kept:?}");
        changes += 1;
    }
    let largest = process::largest_request_bytes();
    eprintln!("{} of the corpus, {changes} changes, {largest} bytes at most at once", corpus.len());
    assert!(largest <= ALLOCATION_BYTES_MAX, "{largest} bytes were asked for at once");
}
