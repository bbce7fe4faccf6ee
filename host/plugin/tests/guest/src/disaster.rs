//! What a component should not do, in any of its functions.

/// Does it, when the word is known.
pub fn happen(word: &str) {
    match word {
        "panic" => panic!("out of \u{1b}[31mluck"),
        "loop" => forever(),
        "recurse" => {
            std::hint::black_box(recurse(0));
        }
        "grow" => grow(),
        "exit" => std::process::exit(3),
        "flood" => {
            for line in 0..5_000 {
                eprintln!("line {line}");
                crate::crisol::stage::log::log(2, &format!("line {line} \u{1b}[2J"));
            }
            panic!("after the flood");
        }
        _ => {}
    }
}

fn forever() {
    let mut count = 0_u64;
    loop {
        count = std::hint::black_box(count.wrapping_add(1));
    }
}

#[allow(unconditional_recursion)]
fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 32]);
    recurse(depth + 1) + frame[0]
}

fn grow() {
    let mut kept = Vec::new();
    loop {
        kept.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
}
