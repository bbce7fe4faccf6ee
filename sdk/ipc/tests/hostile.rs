//! One byte wrong anywhere, and worse: an error or a valid batch, never a panic, never memory beyond the message's size.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod batches;
#[path = "../../../fuzz/decoder.rs"]
mod decoder;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use batches::{ALL_TYPES, Dice, batch_of, random_batch};
use crisol_ipc::{Limits, decode, encode};
use proptest::prelude::*;

/// Remembers the largest request of each thread.
struct Watched;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all calls go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = LARGEST.try_with(|l| l.set(l.get().max(layout.size())));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Decodes; whatever is accepted must be whole.
fn judge(message: Vec<u8>, schema: &SchemaRef) -> bool {
    let bytes = message.len();
    LARGEST.with(|l| l.set(0));
    let decoded = decode(message, schema, &Limits { rows_max: 10_000, bytes_max: 1 << 20 });
    let largest = LARGEST.with(Cell::get);
    assert!(largest <= bytes.max(4096), "{largest} bytes asked for by a message of {bytes}");
    let Ok(batch) = decoded else { return false };
    assert!(batch.num_rows() <= 10_000);
    for column in batch.columns() {
        column.to_data().validate_full().unwrap();
        assert_eq!(column.len(), batch.num_rows());
    }
    // Readable to the last value, and worth what any other batch is.
    let again = decode(encode(&batch).unwrap(), schema, &Limits::default()).unwrap();
    assert_eq!(format!("{again:?}"), format!("{batch:?}"));
    true
}

fn message_of(batch: &RecordBatch) -> Vec<u8> {
    let message = encode(batch).unwrap();
    assert!(judge(message.clone(), &batch.schema()));
    message
}

#[test]
fn each_bit_of_a_message_of_all_types_turned() {
    let batch = batch_of(&ALL_TYPES, &mut Dice(11), 9);
    let message = message_of(&batch);
    let mut refused = 0;
    for at in 0..message.len() {
        for bit in 0..8 {
            let mut bytes = message.clone();
            bytes[at] ^= 1 << bit;
            refused += usize::from(!judge(bytes, &batch.schema()));
        }
    }
    eprintln!("{} bits turned, {refused} refused", message.len() * 8);
    assert!(refused > 5_000, "only {refused} refused");
}

#[test]
fn each_integer_of_the_header_replaced() {
    let batch = batch_of(&ALL_TYPES, &mut Dice(12), 5);
    let message = message_of(&batch);
    let header = 8 + i32::from_le_bytes(message[4..8].try_into().unwrap()) as usize;
    let values = [0, 1, 2, 7, 8, 63, 1 << 20, i64::from(i32::MAX), i64::from(u32::MAX), i64::MAX, i64::MIN, -1];
    for at in 0..header {
        for value in values {
            for width in [4, 8] {
                let mut bytes = message.clone();
                let width = width.min(header - at);
                bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                judge(bytes, &batch.schema());
            }
        }
    }
}

#[test]
fn cut_at_each_byte() {
    let batch = batch_of(&ALL_TYPES, &mut Dice(13), 5);
    let message = message_of(&batch);
    for length in 0..message.len() {
        assert!(!judge(message[..length].to_vec(), &batch.schema()), "{length} bytes were enough");
    }
}

#[test]
fn anything_behind_the_body_is_refused() {
    let batch = batch_of(&ALL_TYPES, &mut Dice(14), 5);
    let message = message_of(&batch);
    for extra in [1, 7, 8, 16, message.len()] {
        assert!(!judge([message.clone(), message[..extra].to_vec()].concat(), &batch.schema()));
    }
}

/// What the fuzzer of `scripts/fuzz.sh` starts from, and changes of it. That the same decoder is under it, and goes on.
#[test]
fn the_corpus_of_the_fuzzer_and_changes_of_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/message");
    let mut corpus: Vec<Vec<u8>> =
        std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    for choice in 0..decoder::SCHEMAS as u8 {
        let names: Vec<String> =
            decoder::schema(choice).fields().iter().map(|f| crisol_ipc::types::name(f.data_type()).unwrap()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let batch = batch_of(&names, &mut Dice(u64::from(choice)), 5);
        corpus.push([&[choice | 0x80][..], &encode(&batch).unwrap()].concat());
    }
    corpus.sort();
    assert!(corpus.len() > decoder::SCHEMAS, "the corpus is missing");
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = std::env::var("CRISOL_TEST_SEED").map_or(seed, |seed| seed.parse().unwrap());
    eprintln!("CRISOL_TEST_SEED={seed}");
    let mut dice = Dice(seed);
    for data in &corpus {
        decoder::run(data);
        for _ in 0..2_000 {
            let mut changed = data.clone();
            for _ in 0..1 + dice.roll(3) {
                mutate(&mut changed, &mut dice);
            }
            decoder::run(&changed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn mutated_messages_of_random_schemas(seed: u64) {
        let mut dice = Dice(seed);
        let rows = dice.roll(40);
        let batch = random_batch(&mut dice, rows);
        let message = message_of(&batch);
        for _ in 0..60 {
            let mut bytes = message.clone();
            for _ in 0..1 + dice.roll(3) {
                mutate(&mut bytes, &mut dice);
            }
            judge(bytes, &batch.schema());
        }
        // A whole message of another schema.
        let other = random_batch(&mut dice, rows);
        judge(message, &other.schema());
    }

    #[test]
    fn bytes_of_no_meaning(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), framed: bool, seed: u64) {
        let batch = random_batch(&mut Dice(seed), 3);
        if framed && bytes.len() > 8 {
            let length = (bytes.len() as i32 - 8) / 8 * 8;
            bytes[..4].fill(0xff);
            bytes[4..8].copy_from_slice(&length.to_le_bytes());
        }
        prop_assert!(!judge(bytes, &batch.schema()));
    }
}

fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        return;
    }
    let span = if dice.roll(2) == 0 { bytes.len().min(700) } else { bytes.len() };
    let at = dice.roll(span);
    match dice.roll(5) {
        0 => bytes[at] = dice.word() as u8,
        1 => bytes[at] ^= 1 << dice.roll(8),
        2 => {
            let value = [0u64, 1, 0x7fff_ffff, 0xffff_ffff, u64::MAX, 1 << 40, dice.word()][dice.roll(7)];
            let width = [4, 8][dice.roll(2)].min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        3 => {
            // Two places exchanged: offsets and lengths of one buffer in another.
            let other = dice.roll(span);
            for i in 0..8.min(bytes.len() - at.max(other)) {
                bytes.swap(at + i, other + i);
            }
        }
        _ if dice.roll(6) == 0 => bytes.truncate(at),
        _ if dice.roll(6) == 0 => bytes.extend_from_slice(&[0; 8]),
        _ => bytes[at] = bytes[at].wrapping_add(8),
    }
}
