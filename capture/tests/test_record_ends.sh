#!/usr/bin/env bash
# How a recording ends: by its duration while the command goes on, by the first and the second Ctrl-C, with
# processes whose parents are gone; what is said, and what is not with --quiet.
set -euo pipefail
client=$CUTLINE_BUILD/tests/client_nvtx
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; cat err 2>/dev/null || true; exit 1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"; }
ask() { sqlite3 "$1" "$2" | tr '\n' ' ' | sed 's/ $//'; }
says() { grep -qF -- "$1" err || fail "no '$1' on stderr"; }
# begin ARG...: a recording in the background. bash starts those with SIGINT ignored, which it would keep.
begin() {
    env --default-signal=INT "$CUTLINE" record "$@" >out 2>err </dev/null &
    recorder=$!
}
ended() { local status=0; wait $recorder || status=$?; equal "status" "$status" "$1"; }
# until COMMAND...: it is true; the recording must go on until then.
until_true() {
    while ! "$@" 2>/dev/null; do
        kill -0 $recorder 2>/dev/null || fail "ended before: $*"
    done
}
said() { grep -qF -- "$1" err; }

# --- a duration: the capture is there while the command goes on, which is not touched
truncate -s 4096 counter
begin -o part -d 0.05 "$client" count "$work/counter"
until_true said "cutline: wrote part.sqlite"
says "the recording has ended, the command goes on"
[ "$(ask part.sqlite 'SELECT count(*) FROM NVTX_EVENTS')" -gt 0 ] || fail "nothing in the duration"
equal "how its process is" "$(ask part.sqlite 'SELECT ending FROM CUTLINE_PROCESS')" running
kill -0 $recorder || fail "the recorder did not wait for the command"
[ "$(ls "$TMPDIR" | wc -l)" = 1 ] || fail "the library went away while the command runs"
before=$(cksum <part.sqlite)
kill -TERM $recorder
ended 143
equal "the capture afterwards" "$(cksum <part.sqlite)" "$before"
[ -z "$(ls -A "$TMPDIR")" ] || fail "left files"
begin -o status -d 0.01 sh -c 'read -r _ <fifo; exit 9'
mkfifo fifo
until_true test -e status.sqlite
until_true said "cutline: wrote status.sqlite"
echo >fifo
ended 9

# --- Ctrl-C: the first says what happens, the second leaves nothing running
begin -o twice sh -c 'trap "" INT; sleep 1000 & echo $! >pids; (sleep 1000 & echo $! >>pids; wait) & echo $$ >>pids; : >ready; wait'
until_true test -e ready
kill -INT $recorder
until_true said "interrupted: the recording has ended; waiting for the command to end, Ctrl-C again kills it"
kill -INT $recorder
ended 137
says "its events are in '$TMPDIR/cutline-"
says "cutline: wrote twice.sqlite"
while read -r pid; do
    ! kill -0 "$pid" 2>/dev/null || [ "$(awk '{ print $3 }' "/proc/$pid/stat")" = Z ] || fail "$pid goes on"
done <pids
[ -z "$(ls -A "$TMPDIR")" ] || fail "left files"
# one that comes while the command ends does not cost the capture
begin -o late sh -c 'trap "" INT; kill -INT $PPID'
ended 0
says "cutline: wrote late.sqlite"

# --- a process whose parent is gone sees that, as it does without a recorder, and is waited for
cat >orphan.py <<'END'
import os, subprocess, sys
down, up = os.pipe()
parent = os.getpid()
if os.fork() == 0:
    os.close(up)
    os.read(down, 1)
    while os.getppid() == parent:
        pass
    print(os.getppid(), flush=True)
    subprocess.run([sys.argv[1], "mark", "orphan"])
END
python3 orphan.py "$client" >plain
while [ ! -s plain ]; do :; done
"$CUTLINE" record -o orphan python3 orphan.py "$client" >recorded 2>err
cmp plain recorded || fail "the new parent: $(cat plain) without, $(cat recorded) with a recorder"
equal "the orphan" "$(ask orphan.sqlite 'SELECT text FROM NVTX_EVENTS')" orphan

# --- --quiet, and times that cannot be
"$CUTLINE" record --quiet -o quiet -t nvtx,osrt "$client" many 10 2>err
[ ! -s err ] || fail "--quiet says something"
equal "quiet" "$(ask quiet.sqlite 'SELECT count(*) FROM NVTX_EVENTS')" 10
status=0
"$CUTLINE" record --quiet -o quiet true 2>err || status=$?
equal "status" "$status" 1
says "'quiet.sqlite' exists already"
for option in -d --duration -y --delay; do
    status=0
    "$CUTLINE" record -o never "$option" -1 true 2>err || status=$?
    equal "$option -1" "$status" 2
    says "takes a time of 0 or longer, not '-1'"
done

# --- a session folder in memory is said before the command runs
if unshare -rm true 2>/dev/null; then
    mkdir memory
    unshare -rm bash -c 'mount -t tmpfs none memory
        "$1" record -o memory/a --session-dir memory sh -c "grep -c \"is in memory\" err" >out 2>err' _ "$CUTLINE"
    says "memory/cutline-"
    equal "before the command" "$(cat out)" 1
else
    echo "skipped: no file system can be mounted here"
fi
echo ok
