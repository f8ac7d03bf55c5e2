#!/usr/bin/env bash
# What is no capture gets one clear line and status 1 from every command that reads one; output that
# cannot be written is reported; a reader that goes away is not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commands=()
for name in info stats analyze diff export view; do
    if "$CUTLINE" help "$name" >/dev/null 2>&1; then commands+=("$name"); fi
done
[ ${#commands[@]} -gt 0 ] || { echo "skipped: no command reads a capture"; exit 77; }
good=$CUTLINE_BUILD/demo.sqlite

# run COMMAND FILE: the command with what it needs beside the file.
run() {
    case $1 in
    diff) "$CUTLINE" diff "$2" "$good" ;;
    export) rm -f "$work/exported"; "$CUTLINE" export -t chrome -o "$work/exported" "$2" ;;
    view) "$CUTLINE" view --dump --size 80x24 "$2" ;;
    *) "$CUTLINE" "$1" "$2" ;;
    esac
}

# refused FILE TEXT: every command says TEXT (a grep -E pattern) in one line, with status 1.
refused() {
    local name status
    for name in "${commands[@]}"; do
        status=0
        run "$name" "$1" >"$work/out" 2>"$work/err" </dev/null || status=$?
        if [ "$status" -ne 1 ] || [ "$(wc -l <"$work/err")" -ne 1 ] || [ -s "$work/out" ] ||
            ! grep -Eqi -- "$2" "$work/err" || ! grep -q "^cutline $name: " "$work/err"; then
            echo "cutline $name ${1##*/}: status $status, wanted 1 and one line with '$2':"
            cat "$work/err" "$work/out" | head -5
            exit 1
        fi
        [ ! -e "$work/exported" ] || { echo "cutline $name ${1##*/}: left an output file"; exit 1; }
    done
}

refused "$work/nothing.sqlite" "no such file|not there|does not exist"
: >"$work/empty.sqlite"
refused "$work/empty.sqlite" "empty"
mkdir "$work/folder.sqlite"
refused "$work/folder.sqlite" "directory|folder"
echo "step,loss" >"$work/text.sqlite"
refused "$work/text.sqlite" "text file"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12345\n' 0 >"$work/lfs.sqlite"
refused "$work/lfs.sqlite" "LFS"
head -c 9000 "$good" >"$work/cut.sqlite"
refused "$work/cut.sqlite" "damaged|malformed|truncated|cut|incomplete"
head -c 40 "$good" >"$work/header.sqlite"
refused "$work/header.sqlite" "damaged|malformed|truncated|cut|incomplete|not a database"
{ printf 'SQLite format 3\0'; head -c 8176 /dev/urandom; } >"$work/noise.sqlite"
refused "$work/noise.sqlite" "."
refused "$CUTLINE_BUILD/cases/not-dlprof.sqlite" "DLProf"
refused "$CUTLINE_BUILD/cases/not-nvprof.sqlite" "nvprof"
refused "$CUTLINE_BUILD/cases/not-a-capture.sqlite" "not a capture|no capture|not an nsys|another program"
refused "$CUTLINE_BUILD/cases/not-only-strings.sqlite" "not a capture|no capture|not an nsys|another program|no table"
printf '\x80\x01\x02binary' >"$work/run.nsys-rep"
refused "$work/run.nsys-rep" "nsys export"
mkfifo "$work/pipe.sqlite"
refused "$work/pipe.sqlite" "not a (regular )?file|pipe"
printf 'evil\n' >"$work/"$'a\e[31m\nb.sqlite'
refused "$work/"$'a\e[31m\nb.sqlite' "text file"
if [ "$(id -u)" -ne 0 ]; then
    cp "$good" "$work/closed.sqlite"
    chmod 000 "$work/closed.sqlite"
    refused "$work/closed.sqlite" "permission"
fi

# Locked by another program: it is read all the same, or the lock is named.
cp "$good" "$work/locked.sqlite"
mkfifo "$work/hold" "$work/held"
python3 - "$work" <<'END' &
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/locked.sqlite", isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
open(sys.argv[1] + "/held", "w").write("y")
open(sys.argv[1] + "/hold").read()
END
cat "$work/held" >/dev/null
for name in "${commands[@]}"; do
    status=0
    run "$name" "$work/locked.sqlite" >"$work/out" 2>"$work/err" </dev/null || status=$?
    if [ "$status" -ne 0 ] && { [ "$status" -ne 1 ] || ! grep -q lock "$work/err"; }; then
        echo "cutline $name on a locked file: status $status"
        cat "$work/err"
        exit 1
    fi
done
echo >"$work/hold"
wait

for name in "${commands[@]}"; do
    # Names that would break a terminal, captures with nearly nothing in them.
    for case in names empty api-only no-cuda nvtx-open times graphs layout-2020 edited unified-memory; do
        run "$name" "$CUTLINE_BUILD/cases/$case.sqlite" >"$work/out" 2>"$work/err" </dev/null ||
            { echo "cutline $name on $case:"; cat "$work/err"; exit 1; }
        if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]|\x1b' "$work/out" "$work/err"; then
            echo "cutline $name on $case: a control byte in the output"
            exit 1
        fi
        iconv -f UTF-8 -t UTF-8 "$work/out" >/dev/null || { echo "cutline $name on $case: bad UTF-8"; exit 1; }
    done
    # A full disk is reported.
    if [ "$name" != export ] && [ -w /dev/full ]; then
        status=0
        run "$name" "$good" >/dev/full 2>"$work/err" </dev/null || status=$?
        if [ "$status" -ne 1 ] || ! grep -q "No space left" "$work/err"; then
            echo "cutline $name >/dev/full: status $status"
            cat "$work/err"
            exit 1
        fi
    fi
    # A reader that goes away is not.
    { run "$name" "$good" 2>"$work/err" </dev/null || true; } | head -1 >/dev/null
    [ ! -s "$work/err" ] || { echo "cutline $name | head -1:"; cat "$work/err"; exit 1; }
    # Wrong usage.
    status=0
    "$CUTLINE" "$name" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] ||
        { echo "cutline $name without a file: status $status"; cat "$work/err"; exit 1; }
done
echo "ok: ${commands[*]}"
