//! The messages in `sdk/vectors`, for whoever reads or writes them in another language, are what the encoder makes.
//! `CRISOL_VECTORS=write cargo test -p crisol-ipc --test vectors` writes them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "vectors/cases.rs"]
mod cases;
#[path = "vectors/text.rs"]
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use cases::cases;
use crisol_ipc::{Limits, decode, encode};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors")
}

fn has(path: &Path, expected: &[u8]) {
    if std::env::var("CRISOL_VECTORS").is_ok_and(|what| what == "write") {
        fs::write(path, expected).unwrap();
    }
    let found = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(found == expected, "{} is not what the encoder makes", path.display());
}

#[test]
fn the_vectors_are_what_the_encoder_makes_and_what_the_decoder_reads() {
    for (name, batch) in cases() {
        let message = encode(&batch).unwrap();
        has(&folder().join(format!("{name}.bin")), &message);
        has(&folder().join(format!("{name}.json")), text::of(&batch).as_bytes());
        assert_eq!(decode(message, &batch.schema(), &Limits::default()).unwrap(), batch, "{name}");
    }
}

#[test]
fn no_vector_is_left_over() {
    let known: Vec<&str> = cases().into_iter().map(|(name, _)| name).collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(name == "README" || known.contains(&name), "{} belongs to no case", path.display());
    }
}
