#!/usr/bin/env bash
# Signals, stalled terminals and odd sizes: see check_signals.py.
set -euo pipefail
WORK=$(mktemp -d)
export WORK
trap 'rm -rf "$WORK"' EXIT
python3 "$(dirname "$0")/check_signals.py" "$@"
