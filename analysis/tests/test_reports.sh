#!/usr/bin/env bash
# Every report of `cutline stats`, on the hand-made cases, the demo and all real captures, against
# the same computed in Python from the file's rows; csv and tsv against json.
set -euo pipefail
shopt -s nullglob
files=("$CUTLINE_BUILD"/demo.sqlite)
for name in api-only callchain edited empty graphs layout-2020 names no-cuda nvtx-open times \
    two-processes unified-memory; do
    files+=("$CUTLINE_BUILD/cases/$name.sqlite")
done
# lm-2.7b is compared with NVIDIA's own output, mfu-2gpu-before is like -after.
for file in "$CUTLINE_CAPTURES"/*.sqlite; do
    case $file in
    */lm-2.7b.sqlite | */mfu-2gpu-before.sqlite) ;;
    *) files+=("$file") ;;
    esac
done
python3 analysis/tests/check_reports.py "$CUTLINE" "${files[@]}"
