#!/usr/bin/env bash
# The page of findings leads to what a person found in the tables of the real captures.
set -euo pipefail
if [ ! -d "${CUTLINE_CAPTURES:-}" ]; then
    echo "skipped: no real captures"
    exit 0
fi
python3 analysis/tests/check_judged.py "$CUTLINE" "$CUTLINE_CAPTURES"
