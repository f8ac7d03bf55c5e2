#!/usr/bin/env bash
# Pastes, the mouse, the terminal's background: see check_input.py.
set -euo pipefail
WORK=$(mktemp -d)
export WORK PYTHONDONTWRITEBYTECODE=1
trap 'rm -rf "$WORK"' EXIT
python3 "$(dirname "$0")/check_input.py" "$@"
