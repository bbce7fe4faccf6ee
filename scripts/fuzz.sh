#!/usr/bin/env bash
# Looks for what makes the host panic: libFuzzer on the decoder of messages, then blind changes of components and of
# their memory. Half of the time each; what it finds is named, and kept in fuzz/found/.
#   fuzz.sh [SECONDS]    600 when absent
source "$(dirname "$0")/env.sh"
cd "$root"
seconds=${1:-600}
found=$root/fuzz/found
mkdir -p "$found"
corpus=$cache/fuzz/message
mkdir -p "$corpus"
# libFuzzer comes as source in the crate `libfuzzer-sys`; the counters are made by any stable compiler.
counters="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
counters+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
triple=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="$counters" CARGO_TARGET_DIR="$target/fuzz" \
  cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target "$triple"
"$target/fuzz/$triple/release/message" "$corpus" fuzz/corpus/message -max_total_time=$((seconds / 2)) -max_len=4096 \
  -malloc_limit_mb=64 -rss_limit_mb=1024 -artifact_prefix="$found/message-" -print_final_stats=1
CRISOL_FUZZ_SECONDS=$((seconds - seconds / 2)) cargo test --workspace --features crisol-cli/failpoints --test hostile -- \
  --nocapture fuzzed
