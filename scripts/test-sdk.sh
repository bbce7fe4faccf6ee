#!/usr/bin/env bash
# Tests of the SDKs: their own, in each language, then components built with each and run in the sandbox. `test.sh` does the rest.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/setup.sh
source scripts/languages.sh
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
