#!/usr/bin/env bash
# Command lines that were written for nsys run as they are: no option that nsys knows ends in wrong
# usage, what is not recorded is said once, on one line, and what asks for nothing is not said.
set -euo pipefail
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
trap 'rm -rf "$work"' EXIT
here=$PWD
cd "$work"

fail() { echo "FAILED: $*"; [ ! -s err ] || cat err; exit 1; }
# record STATUS ARG...
record() {
    local status=0
    "$CUTLINE" record "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "record ${*:2}: status $status, not $1"
    [ "$(grep -c '^cutline: not recorded: ' err)" -le 1 ] || fail "record ${*:2}: said twice"
}
asked() { sed -n 's/^cutline: not recorded: //p' err; }
# says TEXT / silent: what the last run said of what it does not record.
says() { [ "$(asked)" = "$1" ] || fail "said '$(asked)', not '$1'"; }

# --- each option of nsys, with an argument, without one where it is a switch, and with "no"
"$CUTLINE" record --help | sed -n '/^Accepted from nsys profile/,/^Examples/p' | grep -oE -- '--[a-z0-9-]+' | sed 's/^--//' >names
[ "$(wc -l <names)" -ge 80 ] || fail "$(wc -l <names) options of nsys"
while read -r name; do
    case $name in run-as | command-file) continue ;; esac
    record 0 -f -o x "--$name=false" true
    says ""
    record 0 -f -o x "--$name" true true
done <names
record 2 -o x --run-as nobody true
grep -q 'runuser -u nobody -- ' err || fail "no way to run as another user"
record 2 -o x --command-file options.txt true

# --- what they ask for
record 0 -f -o x -s cpu -s process-tree --cpuctxsw=process-tree true
says "CPU samples, context switches"
record 0 -f -o x -s none --cpuctxsw none --backtrace=fp --cudabacktrace=none --python-backtrace=none true
says ""
record 0 -f -o x --gpu-metrics-devices=all --gpu-metrics-device=0 --gpu-metrics-set=gh100 --gpu-metrics-frequency 10000 true
says "GPU metrics"
record 0 -f -o x --gpu-metrics-devices=none true
says ""
record 0 -f -o x --python-sampling=true --cudabacktrace=all:1000 -t cuda,nvtx,osrt,openacc,osrt true
says "samples of Python, call stacks of CUDA calls, osrt, openacc"
record 0 -f -o x -t cuda-hw,nvtx true
says "the GPU's own trace (cuda-hw; CUPTI's is recorded)"
record 0 -f -o x --cuda-graph-trace=graph:host-only true
says ""
record 0 -f -o x --cuda-graph-trace=node:host-and-device:nvtx-live true
says "graphs that the device launches"
record 0 -f -o x --cuda-trace-scope=process-tree --export=sqlite --cuda-flush-interval=10000000 true
says ""
record 0 -f -o x --cuda-trace-scope=system-wide --export=json true
says "processes that the command does not start, exports (cutline export and stats -f write them)"
record 0 -f -o x -p step@lib true
says "--nvtx-capture (it needs --capture-range=nvtx)"
record 0 -f -o x -c hotkey --hotkey-capture=F11 true
says "a range by hot key (all is recorded)"
record 0 -f -o x --start-later=false -Y false --session-new=mine --auto-report-name=true -x true true
says ""
for word in gds nvvideo dx12 opengl-annotations vulkan syscall python-gil cudla wddm; do
    record 0 -f -o x -t "cuda,$word" true
    says "$word"
done
record 2 -o x -t cuda,no-such-thing true
record 2 -o x --gpu-metrcs-devices=all true
grep -q 'did you mean --gpu-metrics-devices' err || fail "a mistyped option of nsys has no hint"

# --- what they do
record 0 -f -o x --cuda-event-trace=false true
record 0 -f -o x --cuda-event-trace auto true
record 2 -f -o x --cuda-event-trace=perhaps true
# shellcheck disable=SC2016 # the shell of the command expands it
CUTLINE_TEST=here record 0 -f -o x -n false -e CUTLINE_OTHER=there /bin/sh -c 'echo "${CUTLINE_TEST-none} $CUTLINE_OTHER"'
[ "$(cat out)" = "none there" ] || fail "-n false: $(cat out)"
# shellcheck disable=SC2016
CUTLINE_TEST=here record 0 -f -o x --inherit-environment=true /bin/sh -c 'echo "$CUTLINE_TEST"'
[ "$(cat out)" = here ] || fail "-n true: $(cat out)"
for name in a.nsys-rep b.qdrep c.qdstrm d.sqlite e.x; do
    record 0 -o "$name" true
done
[ "$(echo ./*.sqlite)" = "./a.sqlite ./b.sqlite ./c.sqlite ./d.sqlite ./e.x.sqlite ./x.sqlite" ] || fail "$(echo ./*.sqlite)"
record 1 -o a.nsys-rep true
grep -q "'a.sqlite' exists already" err || fail "not a.sqlite"
# The name that nsys would have written opens what was written.
rm -f x.sqlite
cp "$CUTLINE_BUILD/demo.sqlite" x.sqlite
"$CUTLINE" stats -q -r cuda_api_sum x.nsys-rep >one
"$CUTLINE" stats -q -r cuda_api_sum x.sqlite | cmp - one || fail "x.nsys-rep is not x.sqlite"
"$CUTLINE" info x.qdrep >/dev/null || fail "x.qdrep is not x.sqlite"

# --- whole lines of people, where the list of them is at hand
lines=${CUTLINE_CAPTURES:-$here/../shared/captures}/../cases/nsys-command-lines.txt
if [ -f "$lines" ]; then
    export SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=2 SLURM_PROCID=0
    count=0
    while read -r line; do
        # shellcheck disable=SC2086 # a list of words
        record 0 -f true $line true
        count=$((count + 1))
    done <"$lines"
    [ "$count" -ge 84 ] || fail "$count lines"
fi
echo "ok"
