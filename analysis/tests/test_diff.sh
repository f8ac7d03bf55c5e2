#!/usr/bin/env bash
# diff: sums by SQL on a pair of captures, a capture with itself, a kernel renamed, one made slower,
# one gone, steps.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
status() { local rc=0; "$@" >"$work/out" 2>"$work/err" || rc=$?; echo "$rc"; }
check=analysis/tests/check_diff.py

"$CUTLINE_BUILD/generate" --steps 20 "$work/a.sqlite"
"$CUTLINE_BUILD/generate" --steps 40 --seed 2 "$work/b.sqlite"
python3 $check "$CUTLINE" "$work/a.sqlite" "$work/b.sqlite"
python3 $check "$CUTLINE" "$work/a.sqlite" "$work/a.sqlite" same

# A template argument changes: short name and launch shape find it again; nothing is new or gone.
cp "$work/a.sqlite" "$work/renamed.sqlite"
kernel=$(sqlite3 "$work/a.sqlite" "SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL
    GROUP BY 1 ORDER BY sum(end - start) DESC LIMIT 1")
sqlite3 "$work/renamed.sqlite" "UPDATE StringIds SET value = value || '<7>' WHERE id = $kernel"
"$CUTLINE" diff -f csv "$work/a.sqlite" "$work/renamed.sqlite" >"$work/renamed.csv"
python3 - "$work/renamed.csv" <<'EOF' || exit 1
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["Kind"] == "kernel"]
renamed = [r for r in rows if r["Base Name"]]
assert len(renamed) == 1 and renamed[0]["Name"] == renamed[0]["Base Name"] + "<7>", renamed
assert not [r for r in rows if r["Verdict"] in ("new", "gone")], "new or gone"
assert float(renamed[0]["Delta (ns)"]) == 0
EOF

# The same with another launch shape: one gone, one new.
cp "$work/renamed.sqlite" "$work/other.sqlite"
sqlite3 "$work/other.sqlite" "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = gridX + 1
    WHERE demangledName = $kernel"
"$CUTLINE" diff -f csv "$work/a.sqlite" "$work/other.sqlite" >"$work/other.csv"
[ "$(grep -c ',gone,' <(sed 's/^kernel,/,/' "$work/other.csv"))" -ge 1 ] || fail "none is gone"
grep -q '^kernel,new,' "$work/other.csv" || fail "none is new"

# 20 % slower: found above 10 %, not above 30 %; a capture without it passes.
cp "$work/a.sqlite" "$work/slow.sqlite"
sqlite3 "$work/slow.sqlite" "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + (end - start) / 5
    WHERE demangledName = $kernel"
[ "$(status "$CUTLINE" diff --fail-on-regression 10 "$work/a.sqlite" "$work/slow.sqlite")" -eq 3 ] ||
    fail "a kernel 20 % slower is no regression"
grep -q 'regression: kernel' "$work/err" || fail "$(cat "$work/err")"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line on stderr"
[ "$(status "$CUTLINE" diff --fail-on-regression 30 "$work/a.sqlite" "$work/slow.sqlite")" -eq 0 ] ||
    fail "20 % is more than 30 %"
[ "$(status "$CUTLINE" diff --fail-on-regression 10 "$work/slow.sqlite" "$work/a.sqlite")" -eq 0 ] ||
    fail "faster is a regression"

# The page for people: 79 columns where there is no terminal, the names and figures of the table, in units;
# -f column and --timeunit keep the tables.
"$CUTLINE" diff --all --rows -1 "$work/a.sqlite" "$work/slow.sqlite" >"$work/page"
"$CUTLINE" diff -f csv "$work/a.sqlite" "$work/slow.sqlite" >"$work/page.csv"
python3 - "$work" <<'EOF' || fail "$(cat "$work/page")"
import csv, re, sys
lines = open(f"{sys.argv[1]}/page", encoding="utf-8").read().split("\n")
rows = list(csv.DictReader(open(f"{sys.argv[1]}/page.csv")))
assert all(len(line) <= 79 for line in lines[2:]), [line for line in lines if len(line) > 79]
unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "": 1}
def amount(text):
    match = re.fullmatch(r"([-+]?[\d.]+) ?(\w*)", text.strip())
    return None if not match else float(match[1]) * unit[match[2]]
shown = [line for line in lines if re.match(r" *[-+\d].* (same|faster|slower|noise|new|gone|more|fewer) ", line)]
assert len(shown) == len(rows), (len(shown), len(rows))
for line, row in zip(shown, rows):
    for text, key in ((line[:8], "Base"), (line[9:17], "New")):
        value = row[f"{key} Total (ns)"] or (row[f"{key} Count"] if row["Kind"] == "total" else "")
        got = amount(text)
        assert (got is None) == (value == ""), (line, row)
        assert got is None or abs(got - float(value)) <= 0.006 * abs(float(value)), (line, row)
    assert line[46:53].strip() == row["Verdict"], (line, row)
    name = line[54:].removesuffix("..")
    assert name in row["Name"], (line, row)
assert any(line.endswith("..") for line in shown) and "\nKernels\n" in "\n".join(lines)
EOF
"$CUTLINE" diff -f column "$work/a.sqlite" "$work/slow.sqlite" | grep -q '^ Delta (ns)  Base Total (ns)' ||
    fail "-f column"
"$CUTLINE" diff --timeunit ms "$work/a.sqlite" "$work/slow.sqlite" | grep -q '^ Delta (ms)  Base Total (ms)' ||
    fail "--timeunit"
"$CUTLINE" diff -q "$work/a.sqlite" "$work/slow.sqlite" | grep -q '^ Delta (ns)  Base Total (ns)' || fail "-q"

# Per step: twice the steps of the same loop come out alike; the figures are those of SQL.
range=$(sqlite3 "$work/a.sqlite" "SELECT coalesce(text, (SELECT value FROM StringIds WHERE
    id = textId)) FROM NVTX_EVENTS WHERE eventType = 59 GROUP BY 1
    HAVING count(*) BETWEEN 15 AND 40 ORDER BY count(*), 1 LIMIT 1")
"$CUTLINE" diff --per "$range" -f csv "$work/a.sqlite" "$work/b.sqlite" >"$work/per.csv"
python3 - "$work" "$range" <<'EOF' || exit 1
import csv, math, sqlite3, sys
work, name = sys.argv[1:3]
rows = {(r["Kind"], r["Name"]): r for r in csv.DictReader(open(f"{work}/per.csv"))}
for side, file in (("Base", "a"), ("New", "b")):
    db = sqlite3.connect(f"{work}/{file}.sqlite")
    steps, begin, end = db.execute("""SELECT count(*), min(start), max(end) FROM NVTX_EVENTS
        LEFT JOIN StringIds s ON s.id = textId WHERE coalesce(text, s.value) = ?""",
                                   (name,)).fetchone()
    launches = db.execute("""SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL
        WHERE start >= ? AND start < ?""", (begin, end)).fetchone()[0]
    got = float(rows["total", "launches"][f"{side} Count"])
    assert math.isclose(got, launches / steps, abs_tol=0.006), (side, got, launches, steps)
EOF
[ "$(status "$CUTLINE" diff --per 'no such range' "$work/a.sqlite" "$work/b.sqlite")" -eq 1 ] ||
    fail "a range that is not there"

if [ -d "$CUTLINE_CAPTURES" ]; then
    captures=$CUTLINE_CAPTURES
    python3 $check "$CUTLINE" "$captures"/mfu-2gpu-{before,after}.sqlite
    python3 $check "$CUTLINE" "$captures"/mfu-2gpu-{after,after}.sqlite same
    python3 $check "$CUTLINE" "$captures"/{lm-2.7b,gtls-23k-kernels}.sqlite
    python3 $check "$CUTLINE" "$captures"/power-iteration.sqlite "$captures"/power-iteration.sqlite same
else
    echo "skipped: no real captures"
fi
