#!/usr/bin/env bash
# Builds the bundled components and puts them into plugins/ (or the folder named).
source "$(dirname "$0")/env.sh"
cd "$root"
out=${1:-plugins}
mkdir -p "$out"
cargo build --quiet --profile plugin --target wasm32-wasip2 \
  -p crisol-plugin-json -p crisol-plugin-orders -p crisol-plugin-order-rules
for name in json orders order-rules; do
  built=$target/wasm32-wasip2/plugin/crisol_plugin_${name//-/_}.wasm
  cmp -s "$built" "$out/$name.wasm" || { cp "$built" "$out/.$name.wasm.new"; mv "$out/.$name.wasm.new" "$out/$name.wasm"; }
done
