#!/usr/bin/env bash
# Builds components: the bundled ones into plugins/, or `plugins.sh guests` those of the tests into target/guests/.
source "$(dirname "$0")/env.sh"
cd "$root"
case ${1:-bundled} in
  bundled) out=plugins; names="json orders order-rules top-n aggregate"; prefix=crisol-plugin ;;
  guests) out=$target/guests; names="faulty-orders orders-v3"; prefix=crisol-guest ;;
  *) sed -n 2p "$0"; exit 2 ;;
esac
mkdir -p "$out"
packages=()
for name in $names; do packages+=(-p "$prefix-$name"); done
cargo build --quiet --profile plugin --target wasm32-wasip2 "${packages[@]}"
for name in $names; do
  file=${prefix//-/_}_${name//-/_}.wasm
  built=$target/wasm32-wasip2/plugin/$file
  cmp -s "$built" "$out/$name.wasm" || { cp "$built" "$out/.$name.wasm.new"; mv "$out/.$name.wasm.new" "$out/$name.wasm"; }
done
