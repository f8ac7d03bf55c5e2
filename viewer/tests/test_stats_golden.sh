#!/usr/bin/env bash
# Every table of `cutline stats` equals, byte for byte, the one that NVIDIA printed for the same
# capture, and so do the SKIPPED lines of the same reports.
set -euo pipefail
if [ ! -f "$CUTLINE_CAPTURES/lm-2.7b.nsys-stats.txt" ]; then
    echo "skipped: no real captures"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$CUTLINE_CAPTURES"
for name in lm-2.7b lm-2.7b-cudagraph; do
    LC_ALL=C.UTF-8 "$CUTLINE" stats "$name.sqlite" >"$folder/$name.txt"
    python3 - "$name.nsys-stats.txt" "$folder/$name.txt" <<'PY'
import sys

def parse(path):
    """Report -> its lines: the table, or the SKIPPED line."""
    reports, lines = {}, None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("Processing ["):
            name = line.split(" with [")[1].split("]")[0].split("/")[-1]
            lines = reports[name[:-3] if name.endswith(".py") else name] = []
        elif lines is not None and line and "not in this list" not in line:
            lines.append(line)
    return reports

golden, ours = parse(sys.argv[1]), parse(sys.argv[2])
assert list(ours) == [name for name in golden if name in ours], list(ours)
assert len(ours) == 6, list(ours)
rows = 0
for name, lines in ours.items():
    assert len(lines) == len(golden[name]), (name, len(lines), len(golden[name]))
    for got, want in zip(lines, golden[name]):
        assert got == want, f"{name}:\n got {got}\nwant {want}"
        rows += 1
print(sys.argv[1], "equal:", rows, "lines of", len(ours), "reports")
PY
done
