#!/usr/bin/env bash
# cutline record from the outside: exit statuses, names, signals, the process tree, capture ranges, a
# killed recorder, a full disk; the capture is asked with sqlite3, and nothing is left behind.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh

ask() { sqlite3 "$1" "$2" | tr '\n' ' ' | sed 's/ $//'; }

# record STATUS ARG...: runs cutline record with its output in files, checks status and leftovers.
record() {
    local status=0
    "$CUTLINE" record "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "record ${*:2}: status $status, not $1"
    [ -z "$(ls -A "$TMPDIR")" ] || fail "record ${*:2}: left $(ls -A "$TMPDIR") behind"
    nameless
}
# Every range and mark of the capture that was just written has its text.
nameless() {
    local file
    file=$(sed -n 's/^cutline: wrote \([^ ,(]*\).*/\1/p' err)
    [ -n "$file" ] && [ -e "$file" ] || return 0
    [ -z "$(sqlite3 "$file" "SELECT 1 FROM sqlite_master WHERE name = 'NVTX_EVENTS'")" ] ||
        equal "events without a text in $file" "$(ask "$file" 'SELECT count(*) FROM NVTX_EVENTS WHERE text IS NULL AND textId IS NULL')" 0
}
# equal WHAT GOT WANTED
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"; }
says() { grep -qF -- "$1" err || fail "no '$1' on stderr"; }

# --- the command's status and output are its own
record 0 -o a true
record 7 -o b sh -c 'exit 7'
record 143 -o c sh -c 'kill -TERM $$'
record 137 -o d "$client" end kill
record 139 -o e sh -c 'kill -SEGV $$'
record 11 -o f "$client" end _exit
equal "ranges of _exit" "$(ask f.sqlite "SELECT text FROM NVTX_EVENTS WHERE eventType = 59")" "before the end"
record 127 -o g ./nothing
says "cannot run './nothing': No such file or directory"
[ ! -e g.sqlite ] || fail "a capture of nothing"
record 126 -o g /
"$client" forks >plain
record 0 -o h "$client" forks
cmp -s plain out || fail "the command's output is not its own"
says "cutline: wrote h.sqlite"
says client_nvtx
record 0 -o i -w false "$client" forks
[ ! -s out ] || fail "-w false let it print"
record 0 -o j -e 'CUTLINE_A=secret1,x,CUTLINE_B=2' sh -c 'echo "$CUTLINE_A $CUTLINE_B"; env | grep -c INJECTION64'
equal "environment" "$(tr '\n' ' ' <out)" "secret1,x 2 2 "
! grep -q secret1 j.sqlite || fail "a variable was stored"

# --- names
record 1 -o h true
says "'h.sqlite' exists already; choose another name with -o, or -f to replace it"
record 0 -f -o h true
equal "replaced" "$(ask h.sqlite 'SELECT count(*) FROM CUTLINE_RECORDER WHERE name = "version"')" 1
record 0 -o 'n%n' true
record 0 -o 'n%n' true
[ -e n1.sqlite ] && [ -e n2.sqlite ] || fail "%n"
CUTLINE_RANK=5 record 0 -o 'r%q{CUTLINE_RANK}-%h-%p-%%.sqlite' sh -c 'echo $$'
[ -e "r5-$(uname -n)-$(cat out)-%.sqlite" ] || fail "macros: $(ls r5*)"
record 1 -o 'x%z' true
says "unknown macro '%z'"
record 1 -o 'x%q{CUTLINE_NOT_SET}' true
says CUTLINE_NOT_SET
record 1 -o no/such/folder/x true
says "cannot write to 'no/such/folder/'"
record 0 true
[ -e report1.sqlite ] || fail "no report1.sqlite"

# --- what is wrong is said before anything runs
CUDA_INJECTION64_PATH=/other/tool.so record 1 -o k touch ran
says "CUDA_INJECTION64_PATH is set to '/other/tool.so'"
[ ! -e ran ] || fail "the command ran"
NVTX_INJECTION64_PATH=/other/tool.so record 0 -o k --replace-injection "$client" mark here
equal "replaced injection" "$(ask k.sqlite 'SELECT text FROM NVTX_EVENTS')" here
record 1 -o l --session-dir /proc true
says "cannot make a session folder in '/proc'"
record 2 -o l
record 2 -o l -t nonsense true
record 2 -o l -c nvtx true
record 0 -o m -t cuda,nvtx,osrt -s none --trace-fork-before-exec=true true
says "not recorded: osrt"
# a command line as it is written for nsys profile
record 0 -f true -o m --trace=cuda,nvtx,cublas,cudnn --sample=cpu --cpuctxsw=none -b none --cudabacktrace=none -x true \
    --flush-on-cudaprofilerstop=false --cuda-memory-usage true --cuda-graph-trace=graph:host-only -w true "$client" mark here
equal "as nsys" "$(ask m.sqlite "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'here'")" 1

# --- NVTX: counts, threads, processes
record 0 -o t "$client" threads 4
equal "threads" "$(ask t.sqlite 'SELECT count(*), count(DISTINCT globalTid), sum("end" >= start) FROM NVTX_EVENTS WHERE eventType = 59')" "24000|12|24000"
equal "nesting" "$(ask t.sqlite "SELECT count(*) FROM NVTX_EVENTS i JOIN NVTX_EVENTS o ON o.globalTid = i.globalTid AND o.start <= i.start AND i.\"end\" <= o.\"end\" AND o.text = 'thread 3 range 17' WHERE i.text = 'inside of the range'")" 1
record 0 -o u "$client" forks
equal "forks" "$(ask u.sqlite 'SELECT coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds s ON s.id = textId WHERE eventType IN (34, 59) ORDER BY start')" "parent known before grandchild"
equal "processes" "$(ask u.sqlite 'SELECT count(*), count(DISTINCT globalPid) FROM CUTLINE_PROCESS')" "3|3"
record 0 -o v "$client" children 300
equal "short children" "$(ask v.sqlite 'SELECT count(*), count(DISTINCT text), count(DISTINCT globalTid), sum("end" IS NULL) FROM NVTX_EVENTS WHERE eventType = 59')" "300|300|300|0"
says "more processes"
record 0 -o w "$client" end exec
equal "exec" "$(ask w.sqlite 'SELECT count(*), count(DISTINCT pid) FROM CUTLINE_PROCESS')" "2|1"
equal "exec texts" "$(ask w.sqlite 'SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY start')" "exec after exec"
equal "open range" "$(ask w.sqlite 'SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59 AND "end" IS NULL')" 1
record 4 -o x sh -c "('$client' many 10 &) ; exit 4"
equal "left running" "$(ask x.sqlite 'SELECT count(*) FROM NVTX_EVENTS')" 10
# what goes on may still load the library: it stays, alone, as long as a process names it
status=0
"$CUTLINE" record -o y --wait primary sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!; exit 3' >out 2>err || status=$?
equal "status of the primary" "$status" 3
equal "what stays" "$(cd "$TMPDIR" && find . -type f -printf '%f ')" "libcutline_inject.so "
kill "$(cat out)" || fail "--wait primary waited for the rest"
rm -rf "$TMPDIR"/cutline-*
record 0 -o y2 --wait primary true
record 0 -o y3 --stats "$client" many 10
grep -q 'nvtx_sum' out || fail "--stats printed nothing"

# --- capture ranges
range() { ask "$1" 'SELECT group_concat(text, " ") FROM (SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY start)'; }
record 0 -o r1 -c nvtx -p epoch "$client" phases
equal "one epoch" "$(range r1.sqlite)" "inside of an epoch"
record 0 -o r2 -c nvtx -p epoch --capture-range-end repeat:2 "$client" phases
equal "two epochs" "$(range r2.sqlite)" "inside of an epoch inside of an epoch"
record 0 -o r3 -c nvtx -p step@train --capture-range-end repeat "$client" phases
equal "registered text of a domain" "$(range r3.sqlite)" "inside of a step inside of a step inside of a step"
record 0 -o r4 -c nvtx -p never@train "$client" phases
says "the NVTX range 'never' was never opened; seen:"
says "step@train"
equal "ranges seen" "$(ask r4.sqlite "SELECT count(*) FROM CUTLINE_RANGE WHERE text = 'epoch'")" 1
record 0 -o r5 -c cudaProfilerApi "$client" phases
says "cudaProfilerStart was never called"
record 0 -o r6 -y 1000 "$client" phases
says "nothing was recorded: it ended within its --delay"
equal "before the delay" "$(ask r6.sqlite "SELECT count(*) FROM sqlite_master WHERE name = 'NVTX_EVENTS'")" 0
record 0 -o r7 --nvtx-domain-include train "$client" phases
equal "one domain" "$(ask r7.sqlite 'SELECT count(*), count(DISTINCT domainId) FROM NVTX_EVENTS WHERE eventType = 59')" "6|1"
record 143 -o r8 -d 0.1 --kill sigterm sleep 1000
record 137 -o r9 -d 0.1 --kill sigkill sh -c 'trap "" TERM; sleep 1000 & wait'

# --- signals
# counting NAME ARG...: a recording of the endless counter, in the background; returns when it counts.
counting() {
    : >counter && truncate -s 4096 counter
    # bash starts background commands with SIGINT ignored, which a recorder would keep
    env --default-signal=INT "$CUTLINE" record -o "$1" "${@:2}" "$client" count "$work/counter" >out 2>err </dev/null &
    recorder=$!
    while [ "$(od -An -tu8 -N8 counter | tr -d ' ')" -lt 1000 ]; do
        kill -0 $recorder 2>/dev/null || fail "the recording ended"
    done
}
ended() { local status=0; wait $recorder || status=$?; equal "status" "$status" "$1"; }
counted() { od -An -tu8 -N8 counter | tr -d ' '; }
for signal in INT TERM; do
    counting "s$signal"
    kill -$signal $recorder
    ended $((128 + $(kill -l $signal)))
    [ -z "$(ls -A "$TMPDIR")" ] || fail "SIG$signal left files"
    [ "$(ask "s$signal.sqlite" 'SELECT max(text + 0) FROM NVTX_EVENTS')" -ge 999 ] || fail "SIG$signal lost events"
done
# Ctrl-C on a terminal reaches recorder and command at once: the command gets it once, the recording
# is kept, and the terminal sees a progress bar that is gone at the end.
cat >terminal.py <<'END'
import os, pty, struct, sys
counter, argv = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(argv[0], argv)
while struct.unpack("Q", open(counter, "rb").read(8))[0] < 1000:
    pass
os.write(fd, b"\x03")
text = b""
try:
    while part := os.read(fd, 4096):
        text += part
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 130, (status, text)
assert b"converting [" in text and b"cutline: wrote tty.sqlite" in text, text
assert text.index(b"wrote tty.sqlite") > text.rindex(b"converting ["), text
END
truncate -s 0 counter && truncate -s 4096 counter
python3 terminal.py "$work/counter" "$CUTLINE" record -o tty "$client" count "$work/counter" || fail "Ctrl-C on a terminal"
[ -z "$(ls -A "$TMPDIR")" ] || fail "Ctrl-C left files"
"$CUTLINE" record -o z sh -c 'trap "exit 5" USR1; : >ready; while :; do read -t 1 x <>fifo; done' 2>err </dev/null &
recorder=$!
mkfifo fifo 2>/dev/null || true
while [ ! -e ready ]; do kill -0 $recorder || fail "ended"; done
kill -USR1 $recorder
ended 5

# --- the recorder is killed: what was published is recovered, and its folder says so
counting killed
child=$(tr -d " " <"/proc/$recorder/task/$recorder/children")
kill -KILL $recorder
{ wait $recorder || true; } 2>/dev/null
kill -KILL "$child"
session=$(echo "$TMPDIR"/cutline-*)
published=$(counted)
"$CUTLINE" record --recover "$session" -o recovered 2>err || fail "--recover"
says "$session"
[ "$(ask recovered.sqlite 'SELECT count(DISTINCT text) FROM NVTX_EVENTS')" -ge "$published" ] ||
    fail "recovered fewer than the $published published"
equal "how it ended" "$(ask recovered.sqlite 'SELECT ending FROM CUTLINE_PROCESS')" "no exit handler"
equal "events behind the end" "$(ask recovered.sqlite 'SELECT count(*) FROM NVTX_EVENTS, ANALYSIS_DETAILS WHERE max(start, coalesce(end, start)) > duration')" 0
rm -rf "$session"
status=0
"$CUTLINE" record --recover "$work" -o never 2>err || status=$?
equal "--recover of no session" "$status" 1
says "is no session folder"

# --- a command that we do not start
"$CUTLINE" record --print-env >env.sh
(. ./env.sh && "$client" many 20)
session=$(sed -n 's/.*--recover \([^ ]*\) -o.*/\1/p' env.sh)
"$CUTLINE" record --recover "$session" -o env 2>err
equal "--print-env" "$(ask env.sqlite 'SELECT count(*) FROM NVTX_EVENTS')" 20
rm -rf "$session"

# --- a full disk: the command is not touched, the recording is kept, nothing half-made is left
if unshare -rm true 2>/dev/null; then
    mkdir -p small
    unshare -rm bash -c 'mount -t tmpfs -o size=200k tmpfs small
        "$1" record -o small/full -- "$2" threads 4 2>err; echo $? >status; ls -A small >left' _ "$CUTLINE" "$client"
    equal "status with a full disk" "$(cat status)" 1
    equal "files with a full disk" "$(cat left)" ""
    says "disk"
    session=$(echo "$TMPDIR"/cutline-*)
    says "--recover $session"
    "$CUTLINE" record --recover "$session" -o later 2>err
    equal "recovered after a full disk" "$(ask later.sqlite 'SELECT count(*) FROM NVTX_EVENTS')" 24000
    rm -rf "$session"
else
    echo "skipped: no small file system can be mounted here"
fi
echo ok
