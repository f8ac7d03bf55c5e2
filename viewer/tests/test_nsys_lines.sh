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
says "GPU metrics more often than 100 times a second"
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
record 0 -f -o x --session=mine true
says "a session that other commands control (this command is recorded from its begin to its end)"
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

# --- nsys stats and analyze
demo=$CUTLINE_BUILD/demo.sqlite
# same COMMAND OLD NOW: an old name prints the table of the present one.
same() {
    "$CUTLINE" "$1" -q -f csv -r "$2" "$demo" >one 2>err || fail "$1 -r $2: $(cat err)"
    "$CUTLINE" "$1" -q -f csv -r "$3" "$demo" >two
    cmp -s one two || fail "$1 -r $2 is not $3"
}
while read -r old now; do
    same stats "$old" "$now"
done <<'END'
apigpusum cuda_api_gpu_sum
cudaapisum cuda_api_sum
cudaapitrace cuda_api_trace
gpukerngbsum:base cuda_gpu_kern_gb_sum:base
gpukernsum cuda_gpu_kern_sum
gpumemsizesum cuda_gpu_mem_size_sum
gpumemtimesum cuda_gpu_mem_time_sum
gpusum cuda_gpu_sum
gputrace:nvtx-name cuda_gpu_trace:nvtx-name
kernexecsum cuda_kern_exec_sum
kernexectrace cuda_kern_exec_trace
nvtxgpuproj nvtx_gpu_proj_trace
nvtxkernsum:base nvtx_kern_sum:base
nvtxppsum nvtx_pushpop_sum
nvtxpptrace nvtx_pushpop_trace
nvtxsssum nvtx_startend_sum
nvtxsum nvtx_sum
osrtsum osrt_sum
umsum um_sum
umtotalsum um_total_sum
END
same analyze cuda-async-memcpy cuda_memcpy_async
same analyze gpu-starvation:gap=1 gpu_gaps:gap=1
same analyze cuda_gpu_time_util_map gpu_time_util
"$CUTLINE" stats -q -r gpukernsum -o lol "$demo"
[ -s lol_gpukernsum.csv ] || fail "the file of an old name has another one: $(echo lol*)"
"$CUTLINE" stats --help-reports=gpukernsum | grep -q '^cuda_gpu_kern_sum' || fail "no help by an old name"
status=0
"$CUTLINE" analyze --fail-on gpugaps:1000000 "$demo" >/dev/null 2>err || status=$?
[ "$status" -eq 0 ] || fail "--fail-on by an old name: $status"
# hint COMMAND NAME TEXT: wrong usage that says where it is.
hint() {
    status=0
    "$CUTLINE" "$1" -r "$2" "$demo" >out 2>err || status=$?
    [ "$status" -eq 2 ] && grep -qF -- "$3" err && [ "$(wc -l <err)" -eq 1 ] || fail "$1 -r $2: status $status, no '$3'"
}
hint stats gpu_gaps "it is a rule: cutline analyze -r gpu_gaps"
hint stats gpu-starvation "it is a rule: cutline analyze -r gpu_gaps"
hint analyze gpukernsum "it is a report: cutline stats -r cuda_gpu_kern_sum"
hint analyze nvtx_sum "it is a report: cutline stats -r nvtx_sum"
hint stats cuda_gpu_kern_hist "cuda_gpu_kern_pct"
hint stats nvtx_gpu_proj_pace "nvtx_pace:RANGE"
hint stats diff "cutline diff BASE NEW"
hint stats openmp_sum "cutline reads no such data"
hint stats dx12_gpu_marker_sum "cutline reads no such data"
hint stats nonsense "--help-reports lists them"
hint analyze nonsense "--help-rules lists them"

"$CUTLINE" stats -q -r cuda_api_sum "$demo" >one
for words in "--force-export=true $demo" "--force-export true $demo" "--force-export $demo" "-i $demo" "--input=$demo" \
    "--sqlite $demo" "--sqlite=$demo nothing.nsys-rep" "--sqlite nothing.sqlite $demo" \
    "--force-overwrite=true --sqlite nothing.sqlite -i $demo"; do
    # shellcheck disable=SC2086 # a list of words
    "$CUTLINE" stats -q -r cuda_api_sum $words >two 2>err && cmp -s one two || fail "stats $words"
    [ ! -s err ] || fail "stats $words speaks"
    # shellcheck disable=SC2086
    "$CUTLINE" analyze -q -r cuda_api_sync $words >/dev/null 2>err || fail "analyze $words"
done
"$CUTLINE" stats -q -r cuda_api_sum --report-dir here "$demo" >two 2>err && cmp -s one two || fail "--report-dir"
grep -q -- '--report-dir is not used' err || fail "--report-dir: not said"
status=0
"$CUTLINE" stats -i "$demo" "$demo" >out 2>err || status=$?
[ "$status" -eq 2 ] || fail "two captures: $status"
for word in profile:record status:doctor recipe:stats; do
    status=0
    "$CUTLINE" "${word%:*}" >out 2>err || status=$?
    [ "$status" -eq 2 ] && grep -q "did you mean '${word#*:}'" err || fail "cutline ${word%:*}"
done

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
