#!/usr/bin/env bash
# A stream under load for a while, its broker and itself ended again and again; at the end each offset is there once.
#   soak.sh [MINUTES [SEED]]   20 minutes if not said otherwise; a seed repeats the order of what happens
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/setup.sh
build
export CRISOL_SOAK_MINUTES=${1:-20} CRISOL_TEST_PYTHON=$cache/venv/bin/python
if [ $# -gt 1 ]; then export CRISOL_TEST_SEED=$2; fi
cargo test --workspace --features crisol-cli/failpoints --test broker -- --nocapture soak
