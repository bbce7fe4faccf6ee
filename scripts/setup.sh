#!/usr/bin/env bash
# Sets up a fresh machine: toolchain with its component target, and a Python environment that reads Delta tables.
source "$(dirname "$0")/env.sh"
cd "$root"
need() { command -v "$1" >/dev/null || { echo "setup: $1 is missing; install it with: $2" >&2; exit 1; }; }
need rustup "the instructions at https://rustup.rs"
need cc "apt-get install build-essential"
need c++ "apt-get install build-essential"
need make "apt-get install make"
need git "apt-get install git"
need cmake "apt-get install cmake"
need perl "apt-get install perl"
need python3 "apt-get install python3 python3-venv"
rustup show active-toolchain >/dev/null 2>&1 || rustup toolchain install
rustup target add wasm32-wasip2
rustup component add rustfmt clippy
readers="duckdb==1.4.2 pytz==2025.2"
if [ "$(cat "$cache/venv/readers" 2>/dev/null)" != "$readers" ]; then
  rm -rf "$cache/venv"
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" -q install --disable-pip-version-check $readers
  echo "$readers" > "$cache/venv/readers"
fi
