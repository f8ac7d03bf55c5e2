#!/usr/bin/env bash
# Includes go one way, each layer keeps to its means, sources keep their form, each header stands
# alone.
set -euo pipefail
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "skipped: no git checkout"; exit 77; }

python3 analysis/tests/check_layers.py

# Each header compiles by itself, with the warnings of the build.
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
git ls-files -co --exclude-standard '*.h' | grep -v '/tests/' >"$headers"
xargs -a "$headers" -P 4 -n 12 "${CUTLINE_CC:-cc}" -std=c17 -D_POSIX_C_SOURCE=200809L \
    -DCUTLINE_VERSION='""' -I . -Wall -Wextra -Werror -fsyntax-only -x c
echo "$(wc -l <"$headers") headers compile alone"
