#!/usr/bin/env bash
# Builds components: the bundled ones into plugins/ and those for later into plugins/later/, which serves nobody, or
# `plugins.sh guests` those of the tests into target/guests/.
source "$(dirname "$0")/env.sh"
cd "$root"

built=$target/wasm32-wasip2/plugin

components() { # FOLDER PREFIX NAME ...
  local out=$1 prefix=$2 name packages=()
  shift 2
  for name in "$@"; do packages+=(-p "$prefix-$name"); done
  cargo build --quiet --profile plugin --target wasm32-wasip2 "${packages[@]}"
  for name in "$@"; do place "$built/${prefix//-/_}_${name//-/_}.wasm" "$out/$name.wasm"; done
}

# At once, and only when it is another one: a host may be watching.
place() { # FILE TARGET
  cmp -s "$1" "$2" && return
  mkdir -p "${2%/*}"
  local new=${2%/*}/.${2##*/}.new
  cp "$1" "$new"
  mv "$new" "$2"
}

case ${1:-bundled} in
  bundled)
    components plugins crisol-plugin json orders order-rules top-n aggregate
    components plugins/later crisol-plugin orders-v3 ;;
  guests)
    components "$target/guests" crisol-guest faulty-orders marked-orders wrong-rows wrong-groups false-conformance order-rules-columns
    cargo build --quiet --profile plugin --target wasm32-wasip2 -p crisol-guest-conformance --examples
    for stage in tests/guests/conformance-rust/examples/*.rs; do
      name=$(basename "$stage" .rs)
      place "$built/examples/conformance_$(tr - _ <<< "$name").wasm" "$target/guests/conformance-$name.wasm"
    done ;;
  *) sed -n 2,3p "$0"; exit 2 ;;
esac
