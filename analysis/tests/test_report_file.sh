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

# The export in the cache is the user's alone; one that others could have written is made again.
rm "${report%.nsys-rep}.sqlite"
export_file=$(ls "$XDG_CACHE_HOME"/cutline/export-* | tail -1)
"$CUTLINE" info "$report" >"$work/out"
[ "$(stat -c %a "$export_file")" = 600 ] || fail "the export is open to others: $(stat -c %a "$export_file")"
calls=$(wc -l <"$work/calls")
for change in 'chmod 0606' 'chmod 0660'; do
    $change "$export_file"
    "$CUTLINE" info -f json "$report" | grep -q '"kernels": 4' || fail "$change: not exported again"
    calls=$((calls + 1))
    [ "$(wc -l <"$work/calls")" -eq "$calls" ] || fail "$change: a file that others could write was taken"
done
rm "$export_file" && mkfifo -m 600 "$export_file"
timeout 60 "$CUTLINE" info -f json "$report" | grep -q '"kernels": 4' || fail "a pipe in the cache"
rm "$export_file" && ln -s /dev/zero "$export_file"
timeout 60 "$CUTLINE" info -f json "$report" | grep -q '"kernels": 4' || fail "a link in the cache"
chmod 0777 "$XDG_CACHE_HOME/cutline"
if "$CUTLINE" info "$report" >"$work/out" 2>"$work/err"; then
    fail "a folder that others can write to was used"
fi
grep -q "others can write" "$work/err" || fail "no reason: $(cat "$work/err")"
chmod 0700 "$XDG_CACHE_HOME/cutline"

# Above 4 GiB the oldest exports are removed, and rests of killed programs.
old="$XDG_CACHE_HOME/cutline/export-1.sqlite"
truncate -s 5G "$old" && touch -d '-3 days' "$old"
: >"$XDG_CACHE_HOME/cutline/part-1-0.sqlite" && touch -d '-3 days' "$XDG_CACHE_HOME/cutline/part-1-0.sqlite"
echo "a third report" >"$report"
"$CUTLINE" info "$report" >"$work/out"
[ ! -e "$old" ] || fail "the oldest export was kept above the limit"
[ ! -e "$XDG_CACHE_HOME/cutline/part-1-0.sqlite" ] || fail "rests were kept"

# A limit of file sizes ends the export: one line says so, no rests.
echo "a fourth report" >"$report"
if (ulimit -f 1 && exec "$CUTLINE" info "$report") >"$work/out" 2>"$work/err"; then
    fail "an export beyond the limit was opened"
fi
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line: $(cat "$work/err")"
! ls "$XDG_CACHE_HOME"/cutline/part-* 2>/dev/null || fail "rests of an export that was too large"

# nsys fails: its last line comes through, nothing stays in the cache.
printf '#!/bin/bash\necho one; printf "\\033[31mbroken report\\n\\n" >&2; exit 1\n' >"$work/bin/nsys"
rm -r "$XDG_CACHE_HOME"
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
