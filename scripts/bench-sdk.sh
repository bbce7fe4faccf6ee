#!/usr/bin/env bash
# Measures the same two stages in each language, on one core with all limits: how long a build takes, then size, start, rows a second, memory.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/setup.sh
build
cargo build --quiet --release -p crisol-cost --bin languages
host=$target/debug/host
files=()
echo "| plugin | build, s |"
echo "| --- | ---: |"
for plugin in plugins/orders-* plugins/order-rules-*; do
  [ -f "$plugin/plugin.toml" ] || continue
  # The first build fetches tools and modules; the second one, of sources that seem to have changed, is measured.
  "$host" build "$plugin" >/dev/null 2>&1
  rm -f "$plugin/build/.made.of"
  started=$(date +%s.%N)
  "$host" build "$plugin" >/dev/null 2>&1
  echo "| ${plugin#plugins/} | $(echo "$(date +%s.%N) - $started" | bc) |"
  files+=("$plugin/build/$(basename "$plugin").wasm")
done
echo
"$target/release/languages" --cache "$cache/compiled-languages" plugins/orders.wasm "${files[@]}" plugins/order-rules.wasm
