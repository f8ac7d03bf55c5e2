#!/usr/bin/env bash
# What analyze finds: planted faults of the generator, and the gaps of real captures against the
# definition, computed apart.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

planted() {
    local name=$1 mode=$2
    shift 2
    "$CUTLINE_BUILD/generate" --key "$work/$name.json" "$@" "$work/$name.sqlite"
    python3 analysis/tests/check_planted.py "$CUTLINE" "$work/$name.sqlite" "$work/$name.json" "$mode"
}

planted clean clean --plants 3 --zones 3 --exposed 4 --steps 60 --devices 2
planted other clean --plants 2 --zones 2 --steps 40 --seed 11
planted node clean --graphs node --steps 30 --seed 4
planted jitter jitter --plants 3 --zones 3 --steps 60 --jitter 40
planted bare no-osrt --no-osrt --plants 2 --steps 40
planted mute no-api --no-api --plants 2 --steps 40

python3 analysis/tests/check_causes.py "$CUTLINE" "$work/clean.sqlite" "$work/jitter.sqlite" \
    "$work/bare.sqlite" "$work/mute.sqlite" "$CUTLINE_BUILD/demo.sqlite"

if [ -d "$CUTLINE_CAPTURES" ]; then
    python3 analysis/tests/check_causes.py "$CUTLINE" "$CUTLINE_CAPTURES"/*.sqlite
else
    echo "skipped: no real captures"
fi
