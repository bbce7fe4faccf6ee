#!/usr/bin/env bash
# Builds components: the bundled ones into plugins/ and those for later into plugins/later/, which serves nobody, or
# `plugins.sh guests` those of the tests into target/guests/.
source "$(dirname "$0")/env.sh"
cd "$root"

components() { # FOLDER PREFIX NAME ...
  local out=$1 prefix=$2 name file packages=()
  shift 2
  mkdir -p "$out"
  for name in "$@"; do packages+=(-p "$prefix-$name"); done
  cargo build --quiet --profile plugin --target wasm32-wasip2 "${packages[@]}"
  for name in "$@"; do
    file=$target/wasm32-wasip2/plugin/${prefix//-/_}_${name//-/_}.wasm
    cmp -s "$file" "$out/$name.wasm" || { cp "$file" "$out/.$name.wasm.new"; mv "$out/.$name.wasm.new" "$out/$name.wasm"; }
  done
}

case ${1:-bundled} in
  bundled)
    components plugins crisol-plugin json orders order-rules top-n aggregate
    components plugins/later crisol-plugin orders-v3 ;;
  guests) components "$target/guests" crisol-guest faulty-orders marked-orders wrong-rows wrong-groups false-conformance ;;
  *) sed -n 2,3p "$0"; exit 2 ;;
esac
