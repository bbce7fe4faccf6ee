# Sourced by the other scripts: where things that are fetched once are kept, outside the clone.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${CRISOL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/crisol}
mkdir -p "$cache"
target=${CARGO_TARGET_DIR:-$root/target}

# Demo and tests build the same, so that heavy dependencies compile once: Cargo compiles them anew for other features.
build() { cargo build --workspace --features crisol-cli/failpoints; }
