#!/usr/bin/env bash
# The answer key of the generator equals what its file says, computed independently, whatever the
# options; and the same options make the same file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
generate=$CUTLINE_BUILD/generate

check() {
    local name=$1
    shift
    "$generate" --key "$work/$name.json" "$@" "$work/$name.sqlite"
    python3 analysis/tests/check_generator.py "$work/$name.sqlite" "$work/$name.json"
}

check clean
check two --devices 2 --steps 40 --plants 2 --zones 3 --exposed 3 --seed 7
check graph --graphs graph --steps 20 --seed 3
check node --graphs node --steps 20 --devices 2 --seed 4
check bare --no-osrt --no-api --seed 5
check one --steps 1 --layers 1
check sized --events 30000 --devices 3 --seed 6
check demo --demo
"$generate" --jitter 40 --key "$work/noise.json" "$work/noise.sqlite"
python3 analysis/tests/check_generator.py "$work/noise.sqlite" "$work/noise.json" noisy

planted=$(python3 -c 'import json, sys
print(len({gap["cause"] for gap in json.load(open(sys.argv[1]))["gaps"]}))' "$work/clean.json")
[ "$planted" -eq 12 ] || { echo "only $planted of 12 causes are planted by default"; exit 1; }

"$generate" --seed 9 "$work/a.sqlite"
"$generate" --seed 9 "$work/b.sqlite"
"$generate" --seed 10 "$work/c.sqlite"
dump() { sqlite3 "$1" .dump | grep -v EXPORT_ | md5sum; }
[ "$(dump "$work/a.sqlite")" = "$(dump "$work/b.sqlite")" ] || { echo "not reproducible"; exit 1; }
[ "$(dump "$work/a.sqlite")" != "$(dump "$work/c.sqlite")" ] || { echo "seed has no effect"; exit 1; }

"$generate" "$work/a.sqlite" 2>"$work/err" && { echo "an existing file was replaced"; exit 1; }
[ "$(wc -l <"$work/err")" -eq 1 ] || { cat "$work/err"; exit 1; }
