#!/bin/bash
# info on every real capture: the counts of independent SQL, and lines of at most 80 columns.
set -euo pipefail
shopt -s nullglob
captures=("$CUTLINE_CAPTURES"/*.sqlite)
if [ ${#captures[@]} -eq 0 ]; then
    echo "skipped: no real captures"
    exit 77
fi
python3 analysis/tests/check_info.py "$CUTLINE" "${captures[@]}"
for capture in "${captures[@]}"; do
    LC_ALL=C "$CUTLINE" info "$capture" | awk -v name="$capture" '
        length($0) > 80 && !/^file / { print name ": a line of " length($0) ": " $0; bad = 1 }
        END { exit bad }'
done
