#!/usr/bin/env bash
# The options of `cutline stats`, our own reports and the rules of `nsys analyze`, against the same
# computed in Python from the file's rows.
set -euo pipefail
files=("$CUTLINE_BUILD/demo.sqlite")
for name in graphs nvtx-open times two-processes unified-memory; do
    files+=("$CUTLINE_BUILD/cases/$name.sqlite")
done
for name in h100-2gpu-1s jacobi-gh200 lm-2.7b-cudagraph power-iteration saxpy-mpi schema-2020; do
    [ ! -f "$CUTLINE_CAPTURES/$name.sqlite" ] || files+=("$CUTLINE_CAPTURES/$name.sqlite")
done
python3 analysis/tests/check_reports_more.py "$CUTLINE" "${files[@]}"
