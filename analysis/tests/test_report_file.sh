#!/bin/bash
# .nsys-rep files: a stand-in nsys on PATH does the export; without one the message says how.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/data"
export XDG_CACHE_HOME=$work/cache
case_file=$CUTLINE_BUILD/cases/two-processes.sqlite
report="$work/data/a b'\$(x).nsys-rep"
echo report >"$report"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Without nsys: how to export, exit status 1, one line.
if PATH=/nonexistent "$CUTLINE" info "$report" >"$work/out" 2>"$work/err"; then
    fail "opened a report without nsys"
fi
grep -q "nsys export --type sqlite" "$work/err" || fail "no advice: $(cat "$work/err")"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line"
[ ! -s "$work/out" ] || fail "output beside the error"

# With nsys: it is called once, the export is kept in the cache, nothing is written beside.
cat >"$work/bin/nsys" <<SH
#!/bin/bash
echo "\$@" >>"$work/calls"
[ "\$1 \$2 \$3 \$4 \$5 \$6" = "export --type sqlite --force-overwrite true --output" ] || exit 9
cp "$case_file" "\$7"
SH
chmod +x "$work/bin/nsys"
export PATH=$work/bin:$PATH
"$CUTLINE" info -f json "$report" | grep -q '"kernels": 4' || fail "the export was not read"
"$CUTLINE" info -f json "$report" | grep -q '"kernels": 4' || fail "the cached export was not read"
[ "$(wc -l <"$work/calls")" -eq 1 ] || fail "nsys ran $(wc -l <"$work/calls") times"
[ "$(ls "$work/data" | wc -l)" -eq 1 ] || fail "something was written beside the report"
[ "$(cat "$report")" = report ] || fail "the report was changed"
[ "$(ls "$XDG_CACHE_HOME/cutline" | wc -l)" -eq 1 ] || fail "rests in the cache"

# The report changes: it is exported anew.
echo "another report" >"$report"
"$CUTLINE" info "$report" >"$work/out"
[ "$(wc -l <"$work/calls")" -eq 2 ] || fail "a changed report was not exported again"

# An export beside it that is not older is taken as it is; an older one is not.
cp "$CUTLINE_BUILD/cases/callchain.sqlite" "${report%.nsys-rep}.sqlite"
touch -d '+1 hour' "${report%.nsys-rep}.sqlite"
"$CUTLINE" info -f json "$report" | grep -q '"kernels": 1,' || fail "the export beside was not taken"
touch -d '-1 hour' "${report%.nsys-rep}.sqlite"
"$CUTLINE" info -f json "$report" | grep -q '"kernels": 4' || fail "an older export was taken"
[ "$(wc -l <"$work/calls")" -eq 2 ] || fail "exported once more"

# nsys fails: its last line comes through, nothing stays in the cache.
printf '#!/bin/bash\necho one; printf "\\033[31mbroken report\\n\\n" >&2; exit 1\n' >"$work/bin/nsys"
rm -r "$XDG_CACHE_HOME"
rm "${report%.nsys-rep}.sqlite"
if "$CUTLINE" info "$report" >"$work/out" 2>"$work/err"; then
    fail "a failed export was opened"
fi
grep -q "broken report" "$work/err" || fail "the reason is missing: $(cat "$work/err")"
if grep -q $'\033' "$work/err"; then
    fail "a control byte came through"
fi
[ "$(ls "$XDG_CACHE_HOME/cutline" | wc -l)" -eq 0 ] || fail "rests of a failed export"
if "$CUTLINE" info "$work/none.nsys-rep" 2>"$work/err"; then
    fail "opened a report that is not there"
fi
grep -q "no such file" "$work/err" || fail "$(cat "$work/err")"
echo "reports: all as expected"
