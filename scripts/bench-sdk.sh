#!/usr/bin/env bash
# Measures the same two stages in each language, on one core with all limits: how long a build takes, then size, start, rows a second, memory.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/setup.sh
source scripts/languages.sh
scripts/plugins.sh bundled
scripts/plugins.sh guests
build
cargo build --quiet --release -p crisol-cost --bin languages
host=$target/debug/host
work=$(mktemp -d "${TMPDIR:-/tmp}/crisol-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The first build fetches tools and modules; the second one, of a source that seems to have changed, is measured.
built() { # PLUGIN SOURCE
  quietly "$host" build "$1"
  rm -f "$1/build/.made.of"
  touch "$2"
  local started
  started=$(date +%s%N)
  quietly "$host" build "$1"
  echo "| $(basename "$1") | $((($(date +%s%N) - started) / 1000000)) |"
}

quietly() { "$@" > "$work/said" 2>&1 || { cat "$work/said" >&2; return 1; }; }

files=(plugins/orders.wasm)
echo "| plugin | build, ms |"
echo "| --- | ---: |"
quietly "$host" new "$work/sales-rust" --kind decoder --lang rust
built "$work/sales-rust" "$work/sales-rust/src/lib.rs"
for plugin in plugins/orders-* plugins/order-rules-*; do
  [ -f "$plugin/plugin.toml" ] || continue
  built "$plugin" "$plugin/plugin.toml"
  files+=("$plugin/build/$(basename "$plugin").wasm")
done
echo
"$target/release/languages" --cache "$cache/compiled-languages" "${files[@]}" plugins/order-rules.wasm "$target/guests/order-rules-columns.wasm"
