#!/usr/bin/env bash
# Makes internal/wit from wit/: bindings, and the part of the generator's crate that they call at run time.
# Needs: cargo install wit-bindgen-cli --version 0.63.0 --locked --no-default-features --features go
set -euo pipefail
cd "$(dirname "$0")"
module=github.com/crisol/crisol/sdk/go
crate=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/wit-bindgen-go-0.63.0/src/pkg)
world() { # WORLD FOLDER
  local to=internal/wit/$2
  wit-bindgen go ../../wit -w "$1" --pkg-name "$module/$to" --out-dir "$to" >/dev/null
  # Types are the same in every world, and so is the description. The one function that they import is called from internal/wit/log.
  rm -rf internal/wit/crisol_stage_types "$to"/imports/crisol_stage_{log,description}
  mv "$to/imports/crisol_stage_types" internal/wit/
  find internal/wit -name '*.go' -exec sed -i \
    -e "s#\"go.bytecodealliance.org/pkg/wit/#\"$module/internal/wit/#" \
    -e "s#\"$module/$to/imports/crisol_stage_types\"#\"$module/internal/wit/crisol_stage_types\"#" \
    -e "s#\"$module/$to/exports/export_crisol_stage_description\"#\"$module/internal/wit/export_crisol_stage_description\"#" {} +
}
world transformer rows
world validator verdicts
world aggregator groups
mkdir -p internal/wit/runtime internal/wit/types
cp "$crate/LICENSE" internal/wit/
cp "$crate"/wit/types/{option,result,tuple,unit}.go internal/wit/types/
touch internal/wit/runtime/empty.s
sed '/^\/\/ NB: `cabi_realloc` may be called before/,$d' "$crate"/wit/runtime/runtime.go > internal/wit/runtime/runtime.go
cat >> internal/wit/runtime/runtime.go <<'GO'
var pinner = runtime.Pinner{}

// Unpin runs at the start of every exported function.
//
// An export returns to the host without passing the scheduler, so that finalizers, one for each pinner and cycle of the
// collector, would never run: their queue would grow, and each cycle take longer.
func Unpin() {
	pinner.Unpin()
	runtime.Gosched()
}

// Unlike that of the crate it needs no memory from elsewhere: the adapter calls nothing before the runtime has started, and
// no call of a clock leaves the component.
//
//go:wasmexport cabi_realloc
func cabiRealloc(oldPointer unsafe.Pointer, oldSize, align, newSize uintptr) unsafe.Pointer {
	if oldPointer != nil || oldSize != 0 {
		panic("cabi_realloc: growing is not supported")
	}
	return Allocate(&pinner, newSize, align)
}
GO
gofmt -w internal/wit
