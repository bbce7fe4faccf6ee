#!/usr/bin/env bash
# Checks the dependencies: advisories (fetched from the RustSec database), licences and sources. `deny.sh bans licenses sources`
# does without the network.
source "$(dirname "$0")/env.sh"
cd "$root"
version=0.20.2
deny=$cache/tools/bin/cargo-deny
if [ "$("$deny" --version 2>/dev/null)" != "cargo-deny $version" ]; then
  echo "building cargo-deny $version, once" >&2
  cargo install --quiet --locked --root "$cache/tools" "cargo-deny@$version"
fi
exec "$deny" check "$@"
