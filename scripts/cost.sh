#!/usr/bin/env bash
# Measures what the sandbox costs: the bundled components beside the same source built natively for x86-64-v3.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/plugins.sh
# With a target of its own, so that nothing else is compiled anew for these flags.
RUSTFLAGS="-C target-cpu=x86-64-v3" cargo build --quiet --release -p crisol-cost --target x86_64-unknown-linux-gnu
"$target/x86_64-unknown-linux-gnu/release/crisol-cost" --plugins plugins "$@"
