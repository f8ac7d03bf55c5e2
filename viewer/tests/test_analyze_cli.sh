#!/usr/bin/env bash
# analyze as a command: every rule in every format on captures of all ages, files, thresholds, the page of
# findings, help.
set -euo pipefail
shopt -s nullglob
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
status() { local rc=0; "$@" >"$work/out" 2>"$work/err" || rc=$?; echo "$rc"; }

"$CUTLINE_BUILD/generate" --steps 20 "$work/gen.sqlite"
captures=("$work/gen.sqlite")
if [ -d "$CUTLINE_CAPTURES" ]; then
    for name in h100-2gpu-1s lm-2.7b-cudagraph saxpy-mpi no-cuda-tables schema-2020; do
        captures+=("$CUTLINE_CAPTURES/$name.sqlite")
    done
else
    echo "skipped: no real captures"
fi
rules=$("$CUTLINE" analyze --help-rules | sed 's/ .*//')
[ "$(wc -w <<<"$rules")" -ge 12 ] || fail "rules: $rules"

cat >"$work/parse.py" <<'EOF'
import csv, json, sys
for stem in sys.argv[1:]:
    read = lambda form: open(f"{stem}.{form}", encoding="utf-8", newline="")
    rows = list(csv.DictReader(read("csv")))
    tabs = list(csv.reader(read("tsv"), delimiter="\t"))
    table, = json.load(read("json"))["tables"]
    objects = table["rows"]
    assert table["columns"] == tabs[0], (stem, table["columns"])
    assert len(rows) == len(objects) == len(tabs) - 1, (stem, len(rows), len(objects), len(tabs))
    assert all(len(line) == len(tabs[0]) for line in tabs), f"{stem}: ragged tsv"
    for row, item in zip(rows, objects):
        assert list(row) == list(item) == tabs[0], (stem, list(row), list(item))
        for key, value in item.items():
            assert value is None or row[key] != "", (stem, key)
EOF

# Every table parses, has its columns whatever the data, and findings do too.
for capture in "${captures[@]}"; do
    for form in csv tsv json; do
        "$CUTLINE" analyze -q -f $form "$capture" >"$work/findings.$form"
        "$CUTLINE" analyze -q -r all -f $form -o "$work/all" --force-overwrite "$capture"
    done
    stems=("$work/findings")
    for file in "$work"/all_*.csv; do
        stems+=("${file%.csv}")
    done
    python3 "$work/parse.py" "${stems[@]}" || fail "$capture"
    rm -f "$work"/all_*
    # The page: 79 columns at most but for commands, which are one line each; each finding with advice and command.
    "$CUTLINE" analyze "$capture" >"$work/page"
    python3 - "$work/page" <<'EOF' || fail "page of $capture"
import re, sys, unicodedata
text = open(sys.argv[1], encoding="utf-8").read()
for line in text.splitlines():
    assert len(line) <= 79 or " " not in line.strip() or line.startswith("    See: "), line  # a path may be longer
count = len(re.findall(r"^ ?\d+\. ", text, re.M))
assert count == text.count("    Try: ") == text.count("    See: cutline analyze -r "), text
EOF
done

# A loss is ranked once: what another finding counts already comes after all of those, in one line for each
# rule; --all has everything. Copies have no thread.
for capture in "${captures[@]}"; do
    "$CUTLINE" analyze "$capture" >"$work/page"
    "$CUTLINE" analyze --all "$capture" >"$work/every"
    "$CUTLINE" analyze --whole -f csv "$capture" >"$work/findings.csv"
    python3 - "$work" <<'EOF' || fail "losses of $capture"
import csv, re, sys
page, every = (open(f"{sys.argv[1]}/{name}", encoding="utf-8").read() for name in ("page", "every"))
rows = list(csv.DictReader(open(f"{sys.argv[1]}/findings.csv")))
again = [bool(re.search("counts this time|in idle_gaps too", row["Evidence"])) for row in rows]
assert again == sorted(again), again
assert len(re.findall(r"^ ?\d+\. ", every, re.M)) == len(rows), every
ranked, _, last = page.partition("\nCounted above")
assert not re.search("counts this time|in idle_gaps too", ranked), ranked
told = re.findall(r"^    ([a-z_]+): ", last, re.M)
assert len(told) == len(set(told)) and set(told) <= {row["Rule"] for row, a in zip(rows, again) if a}, told
for row in rows:
    if row["Rule"] in ("hidden_transfers", "small_copies"):
        assert row["TID"] == "" and row["Device ID"] != "", row
EOF
done
if [ -d "$CUTLINE_CAPTURES" ]; then
    # Advice that fits: 921 ms of copies cannot hide behind 42 ms of kernels; a slow launch that copies is no
    # matter of warming up; "most" is half at least.
    "$CUTLINE" analyze "$CUTLINE_CAPTURES/h100-2gpu-1s.sqlite" | tr -s ' \n' ' ' >"$work/page"
    grep -q "Other work takes 42.0 ms: copying beside it can hide no more than that. Copy less" "$work/page" || fail "$(cat "$work/page")"
    "$CUTLINE" analyze "$CUTLINE_CAPTURES/cloverleaf-4gpu.sqlite" | tr -s ' \n' ' ' >"$work/page"
    # 1,312 synchronisations for 1,312 launches: that is why launching stands in the gaps.
    grep -q "slow launch [0-9.]* ms .* Try: The thread launches only when cudaDeviceSynchronize" "$work/page" ||
        fail "$(cat "$work/page")"
    "$CUTLINE" analyze "$CUTLINE_CAPTURES/power-iteration.sqlite" | tr -s ' \n' ' ' >"$work/page"
    # The copy of pageable memory waits for the kernels, not the synchronisation after it.
    grep -q "most after cudaMemcpyAsync (656 ms); most in range IO # (644 ms)" "$work/page" ||
        fail "$(cat "$work/page")"
fi

# The list of the timeline says of such losses that they are counted above.
"$CUTLINE" view --dump --size 100x60 --script <(printf DG) "$work/gen.sqlite" >"$work/frame"
grep -q '^ *above  *CUDA Synchronization APIs: ' "$work/frame" || fail "$(cat "$work/frame")"

# What the findings say of idle time is what the gaps of 1 us and longer add up to, but for the short ones that
# the zones count; their keys are those of the timeline.
for capture in "${captures[@]}"; do
    "$CUTLINE" analyze -f csv "$capture" >"$work/findings.csv"
    "$CUTLINE" analyze -q -r idle_gaps:min=1us -f csv "$capture" >"$work/rows.csv" 2>/dev/null
    python3 - "$work" <<'EOF' || fail "idle time of $capture"
import collections, csv, re, sys
want, got, zones, wins = (collections.Counter() for _ in range(4))
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
for row in csv.DictReader(open(f"{sys.argv[1]}/rows.csv")):
    want[row["Device ID"], row["Cause"]] += int(row["Duration (ns)"])
for row in csv.DictReader(open(f"{sys.argv[1]}/findings.csv")):
    if row["Rule"] == "idle_gaps":
        got[row["Device ID"], row["Finding"].partition("of its span: ")[2]] += int(row["Recoverable (ns)"])
    elif row["Rule"] == "launch_density":
        # The idle time stands before what a graph leaves of it.
        idle = re.search(r"(?:wins [\d.]+ \w+: |at most the )([\d.]+) (\w+)", row["Evidence"])
        zones[row["Device ID"]] += float(idle[1]) * UNITS[idle[2]]
        wins[row["Device ID"]] += int(row["Recoverable (ns)"])
launching = ("cpu work: launching too slowly", "slow launch", "launched, waits: not started",
             "launched, waits: graph start")
for device in {device for device, _ in want}:
    left = {cause: ns - got[device, cause] for (of, cause), ns in want.items() if of == device}
    assert all(ns >= 0 for ns in left.values()), (device, left)
    assert all(ns == 0 or cause in launching for cause, ns in left.items()), (device, left)
    assert abs(sum(left.values()) - zones[device]) <= 0.01 * zones[device], (device, left, zones)
    assert wins[device] <= sum(left.values()), (device, left, wins)
EOF
done
"$CUTLINE" analyze "$work/gen.sqlite" | grep -q '(key g in the timeline)$' || fail "no key"
# The command can be typed as it stands, whatever the file is called.
ln -s gen.sqlite "$work/it's a run.sqlite"
(
    cd "$work"
    "$CUTLINE" analyze "it's a run.sqlite" | tr -s ' \n' ' ' |
        sed "s|.*See: cutline \(analyze -r hidden_transfers --device 0 .*\)|$CUTLINE \1|; s|sqlite.*|sqlite'|" >"$work/typed"
    bash "$work/typed" | grep -q 'Hidden Transfers'
) || fail "$(cat "$work/typed")"
grep -q '"gaps", "g"' viewer/app/actions.h || fail "the key of the gap list is another"
grep -q '"zones", "Z"' viewer/app/actions.h || fail "the key of the zone list is another"

# A capture without the data of a rule: SKIPPED for people, a header for programs.
if [ -d "$CUTLINE_CAPTURES" ]; then
    none=$CUTLINE_CAPTURES/no-cuda-tables.sqlite
    "$CUTLINE" analyze -r idle_gaps "$none" | grep -q '^SKIPPED: .* does not contain GPU data\.$' ||
        fail "no SKIPPED line"
    [ "$("$CUTLINE" analyze -r idle_gaps -f csv "$none" 2>/dev/null | wc -l)" -eq 1 ] ||
        fail "csv without data"
    "$CUTLINE" analyze "$none" | grep -q '^No GPU work' || fail "no word about no GPU work"
    for name in "gtls-23k-kernels" "mfu-2gpu-before 144=3 145=3" "mfu-2gpu-after 148=19 149=15" \
        "h100-2gpu-1s 111=0 112=0" lm-2.7b cloverleaf-4gpu; do
        read -r -a words <<<"$name"
        python3 analysis/tests/check_density.py "$CUTLINE" "$CUTLINE_CAPTURES/${words[0]}.sqlite" \
            "${words[@]:1}"
    done
    for name in h100-2gpu-1s mfu-2gpu-after lm-2.7b lm-2.7b-cudagraph jacobi-gh200 saxpy-mpi schema-2020; do
        python3 analysis/tests/check_copies.py "$CUTLINE" "$CUTLINE_CAPTURES/$name.sqlite"
    done
fi
python3 analysis/tests/check_copies.py "$CUTLINE" "$work/gen.sqlite"
python3 analysis/tests/check_density.py "$CUTLINE" "$work/gen.sqlite"

# Names of strangers: no control byte reaches a terminal.
cp "$work/gen.sqlite" "$work/dirty.sqlite"
sqlite3 "$work/dirty.sqlite" "UPDATE StringIds SET value = value || char(27, 7, 10) || '[31m' ||
    CAST(x'ff9b' AS TEXT); UPDATE NVTX_EVENTS SET text = text || char(27) || 'c' WHERE text IS NOT NULL"
{
    "$CUTLINE" analyze --all "$work/dirty.sqlite"
    "$CUTLINE" analyze -r all "$work/dirty.sqlite"
    "$CUTLINE" diff --all --rows -1 "$work/gen.sqlite" "$work/dirty.sqlite"
} >"$work/shown"
if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$work/shown"; then
    fail "a control byte: $(LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]' "$work/shown" | head -1 | cat -v)"
fi
python3 -c 'import sys; open(sys.argv[1], encoding="utf-8").read()' "$work/shown"

# Files are named as nsys names them, and not replaced unasked.
"$CUTLINE" analyze -q -r idle_gaps:min=1ms,gpu_gaps -o "$work/base" "$work/gen.sqlite"
[ -s "$work/base_idle_gaps_min=1ms.csv" ] || fail "$(ls "$work")"
[ -s "$work/base_gpu_gaps.csv" ] || fail "$(ls "$work")"
[ "$(status "$CUTLINE" analyze -r gpu_gaps -o "$work/base" "$work/gen.sqlite")" -eq 1 ] ||
    fail "a file was replaced"

# The window cuts gaps; min leaves out rows, not totals.
"$CUTLINE" analyze -r idle_gaps:min=0 -f csv "$work/gen.sqlite" >"$work/every.csv"
total=$("$CUTLINE" analyze -r idle_gaps:min=1h "$work/gen.sqlite" | sed -n 's/^\([0-9]*\) gaps, total.*/\1/p')
[ "$(($(wc -l <"$work/every.csv") - 1))" -eq "$total" ] || fail "min=0 lists not all of $total gaps"
"$CUTLINE" analyze -r idle_gaps:min=0 --filter-time 100ms/200ms -f csv "$work/gen.sqlite" >"$work/cut.csv"
python3 - "$work" <<'EOF' || fail "the window"
import csv, sys
read = lambda name: list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
span = lambda row: (int(row["Start (ns)"]), int(row["End (ns)"]))
begin, end = 100_000_000, 200_000_000
want = sorted((max(b, begin), min(e, end)) for b, e in map(span, read("every")) if e > begin and b < end)
got = sorted(map(span, read("cut")))
assert got == want, (len(got), len(want))
EOF

# The sums say what the rows add up to.
for by in cause evidence nvtx; do
    "$CUTLINE" analyze -r idle_gaps:by=$by -f csv "$work/gen.sqlite" >"$work/by.csv"
    "$CUTLINE" analyze -r idle_gaps -f csv "$work/gen.sqlite" >"$work/rows.csv"
    python3 - "$work" $by <<'EOF' || fail "by=$by"
import collections, csv, sys
work, by = sys.argv[1:3]
rows = list(csv.DictReader(open(f"{work}/rows.csv")))
key = {"cause": lambda r: r["Cause"], "evidence": lambda r: (r["Evidence"], r["Cause"]),
       "nvtx": lambda r: r["NVTX"].rpartition(" > ")[2]}[by]
want = collections.Counter()
for row in rows:
    want[key(row)] += int(row["Duration (ns)"])
got = {((r["Name"], r["Cause"]) if by == "evidence" else r["Name"]): int(r["Total Time (ns)"])
       for r in csv.DictReader(open(f"{work}/by.csv"))}
assert got == dict(want), (got, want)
EOF
done

# Thresholds.
share=$("$CUTLINE" analyze -f csv "$work/gen.sqlite" | python3 -c '
import csv, sys
print(sum(float(r["Value"]) for r in csv.DictReader(sys.stdin) if r["Rule"] == "idle_gaps"))')
above=$(python3 -c "print($share + 1)") below=$(python3 -c "print($share - 1)")
[ "$(status "$CUTLINE" analyze --fail-on "idle_gaps:$below" "$work/gen.sqlite")" -eq 3 ] || fail "below"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "$(cat "$work/err")"
[ "$(status "$CUTLINE" analyze --fail-on "idle_gaps:$above%" "$work/gen.sqlite")" -eq 0 ] || fail "above"
[ "$(status "$CUTLINE" analyze --fail-on idle_gaps:1us "$work/gen.sqlite")" -eq 3 ] || fail "1 us"
[ "$(status "$CUTLINE" analyze --fail-on idle_gaps:1h "$work/gen.sqlite")" -eq 0 ] || fail "1 h"
[ "$(status "$CUTLINE" analyze --fail-on graph_opaque "$work/gen.sqlite")" -eq 0 ] || fail "no graphs"
[ "$(status "$CUTLINE" analyze -r gpu_gaps --fail-on launch_density "$work/gen.sqlite")" -eq 3 ] ||
    fail "with a rule"

# Wrong usage: status 2, one line.
for words in "--fail-on no_such_rule" "--fail-on idle_gaps:x" "-r no_such_rule" "-r idle_gaps:min=x" \
    "-r idle_gaps:no=1" "--timeunit parsec" "--filter-time 5" "--process 1" "-f yaml"; do
    # shellcheck disable=SC2086
    [ "$(status "$CUTLINE" analyze $words "$work/gen.sqlite")" -eq 2 ] || fail "$words"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$words: $(cat "$work/err")"
    [ ! -s "$work/out" ] || fail "$words: wrote to stdout"
done
for words in "-r idle_gaps:by=x" "-r launch_density:run=1" "-r low_utilisation:window=0" "--device 99"; do
    # shellcheck disable=SC2086
    [ "$(status "$CUTLINE" analyze $words "$work/gen.sqlite")" -eq 1 ] || fail "$words"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$words: $(cat "$work/err")"
done

# The manual describes each rule and each argument of ours; help lists them.
"$CUTLINE" analyze --help-rules=ALL >"$work/help"
for rule in $rules; do
    grep -q "$rule" man/cutline-analyze.1 || fail "$rule is not in the manual"
    grep -q "^$rule -- " "$work/help" || fail "$rule is not in the help"
    "$CUTLINE" analyze --help-rules="$rule" | grep -q "^$rule -- " || fail "--help-rules=$rule"
done
