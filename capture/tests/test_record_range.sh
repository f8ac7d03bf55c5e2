#!/usr/bin/env bash
# Capture ranges: each process has its own, as many as were wanted of it and whole ones.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh

# record STATUS NAME ARG...; what is here must end by itself: a minute is for ever
record() {
    local status=0
    timeout -k 5 60 "$CUTLINE" record -o "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "record ${*:2}: status $status, not $1"
    [ -z "$(ls -A "$TMPDIR")" ] || fail "record ${*:2}: left $(ls -A "$TMPDIR")"
}
says() { grep -qF -- "$1" err || fail "no '$1' on stderr"; }
marks="SELECT group_concat(text, '; ') FROM (SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY substr(text, 9), text)"
steps='SELECT count(*), count(DISTINCT globalTid), sum("end" IS NULL) FROM NVTX_EVENTS WHERE eventType = 59'
step=(-c nvtx -p 'a step of a worker')

# --- two workers, one of whose steps is open at any time: each has its own ranges
record 0 stop "${step[@]}" "$client" workers 9
equal "stop" "$(ask stop "$marks")" "in step 0 of worker 0; in step 0 of worker 1"
equal "stop, whole" "$(ask stop "$steps")" "2|2|0"
says "2 capture ranges in 2 processes"
record 0 three "${step[@]}" --capture-range-end repeat:3 "$client" workers 9
equal "repeat:3" "$(ask three "$marks")" \
    "in step 0 of worker 0; in step 0 of worker 1; in step 1 of worker 0; in step 1 of worker 1; in step 2 of worker 0; in step 2 of worker 1"
equal "repeat:3, whole" "$(ask three "$steps")" "6|2|0"
record 0 all "${step[@]}" --capture-range-end repeat "$client" workers 9
equal "repeat" "$(ask all "$steps")" "18|2|0"
record 0 none "${step[@]}" --capture-range-end none "$client" workers 9
equal "none" "$(ask none "$steps")" "18|2|0"

# --- and the run ends when both are through
record 143 shutdown "${step[@]}" --capture-range-end stop-shutdown --kill sigterm "$client" workers 0
equal "stop-shutdown" "$(ask shutdown "$marks")" "in step 0 of worker 0; in step 0 of worker 1"
record 143 shutdown3 "${step[@]}" --capture-range-end repeat-shutdown:3 "$client" workers 0
equal "repeat-shutdown:3" "$(ask shutdown3 "$steps")" "6|2|0"
# one that has opened a range and is gone is not waited for, nor one that records none
record 143 gone -c nvtx -p 'one of many events' --capture-range-end repeat-shutdown:4 \
    sh -c '"$0" many 3; "$0" count /dev/null; "$0" many 5; sleep 1000' "$client"
equal "those that are gone" "$(ask gone 'SELECT group_concat(n) FROM (SELECT count(*) AS n FROM NVTX_EVENTS GROUP BY globalTid ORDER BY n)')" "3,4"

# --- after the delay the next whole range is recorded, not the rest of the one that is open
record 143 whole -y 0.1 -c nvtx -p 'a step of the loop' --capture-range-end repeat-shutdown:2 "$client" steps 20000
equal "whole steps" "$(ask whole 'SELECT count(*), sum("end" IS NULL), (SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34) FROM NVTX_EVENTS WHERE eventType = 59')" "2|0|40000"
record 0 early -y 1000 -c nvtx -p 'one of many events' "$client" many 10
says "nothing was recorded"

# --- ranges of other threads that cross the beginning or the end are whole, or not there
record 0 crossing -c nvtx -p 'a step with others' --capture-range-end repeat "$client" crossing
equal "crossing ranges" "$(ask crossing 'SELECT text, "end" IS NOT NULL FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start')" \
    "a step with others|1 from within the step|1 a step with others|1 within the second step|1"
equal "where they end" "$(ask crossing "SELECT sum(c.\"end\" > s.\"end\") FROM NVTX_EVENTS c, (SELECT min(\"end\") AS \"end\" FROM NVTX_EVENTS WHERE text = 'a step with others') s WHERE c.text = 'from within the step'")" 1
equal "losses of crossing" "$(ask crossing "SELECT count(*) FROM sqlite_master WHERE name = 'CUTLINE_LOSS'")" 0

# --- thousands of ranges, with kernels in them and between them
export STANDIN_CUDA=$CUTLINE_BUILD/tests/standin/libcuda.so.1 STANDIN_CUPTI_PATH=$CUTLINE_BUILD/tests/standin/libcupti.so.13
for range in cudaProfilerApi nvtx; do
    name=(); [ "$range" != nvtx ] || name=(-p 'a range of many')
    record 0 "many-$range" --cupti "$STANDIN_CUPTI_PATH" -c "$range" "${name[@]}" --capture-range-end repeat "$CUTLINE_BUILD/tests/client_cuda" ranges 5000
    equal "kernels in ranges, $range" "$(ask "many-$range" 'SELECT count(*), value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = shortName GROUP BY 2')" "5000|inside"
    equal "ranges, $range" "$(ask "many-$range" "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'a range of many'")" 5000
    says "5,000 capture ranges in 1 process"
done
record 0 some --cupti "$STANDIN_CUPTI_PATH" -c cudaProfilerApi --capture-range-end repeat:4321 "$CUTLINE_BUILD/tests/client_cuda" ranges 5000
equal "some of the ranges" "$(ask some 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" 4321
echo ok
