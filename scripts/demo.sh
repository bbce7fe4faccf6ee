#!/usr/bin/env bash
# Sets everything up, then the main job on real input: scripts/tour.sh.
source "$(dirname "$0")/env.sh"
cd "$root"
printf '\n== %s\n' "setting up: toolchain, host, components (the first time takes a while)"
scripts/setup.sh
scripts/plugins.sh
build
exec scripts/tour.sh
