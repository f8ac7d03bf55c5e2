#!/bin/bash
# JSON traces of PyTorch, JAX and Chrome open like captures, also damaged ones; what cutline export
# writes is read again as it was.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
mkdir "$work/traces"
python3 analysis/tests/check_json_trace.py "$CUTLINE" "$work/traces"
for name in two-processes nested-overlap graphs; do
    if [ -e "$CUTLINE_BUILD/cases/$name.sqlite" ]; then
        python3 analysis/tests/check_round_trip.py "$CUTLINE" "$CUTLINE_BUILD/cases/$name.sqlite" "$work"
    fi
done
for file in "${CUTLINE_CAPTURES:-/nonexistent}"/{tiny-2-kernels,jacobi-gh200,lm-2.7b-nvtx,schema-2020,no-cuda-tables}.sqlite; do
    if [ -e "$file" ]; then
        python3 analysis/tests/check_round_trip.py "$CUTLINE" "$file" "$work"
    fi
done
