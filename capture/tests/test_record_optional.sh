#!/usr/bin/env bash
# What CUPTI records only where it is asked for: unified memory, graphs that a device launches, times
# of events on the device, its own buffers; and the flush before a context ends.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh
build=$CUTLINE_BUILD
export STANDIN_CUDA=$build/tests/standin/libcuda.so.1
ask() { sqlite3 cap.sqlite "$1" | tr '\n' ' ' | sed 's/ $//'; }

# record LIBRARY MODE OPTION...: client_cuda in that mode
record() {
    export STANDIN_CUPTI_PATH=$build/tests/standin/$1
    "$CUTLINE" record -f -o cap --cupti "$STANDIN_CUPTI_PATH" "${@:3}" "$build/tests/client_cuda" "$2" 1 >out 2>err </dev/null ||
        fail "$*: status $?"
}

moves='SELECT copyKind || ":" || bytes || "@" || deviceId || " " || contextId || streamId || correlationId || " cause " ||
    migrationCause || " " || printf("%x", virtualAddress) || " " || ("end" - start) || "," FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start'
cpu='SELECT printf("%x %x", address, originalFaultPc) || "," FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS JOIN StringIds ON id = module ORDER BY start'
gpu='SELECT deviceId || " " || numberOfPageFaults || " " || faultAccessType || " " || printf("%x", address) || " " ||
    ("end" - start) FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS'
tables="SELECT count(*) FROM sqlite_master WHERE name LIKE 'CUDA_UM_%' OR name = 'CUPTI_ACTIVITY_KIND_MEMCPY'"
for layout in 12.1 13.0 13.4; do
    export STANDIN_CUPTI=layout=$layout
    record libcupti.so.13 um --cuda-um-gpu-page-faults=true --cuda-um-cpu-page-faults true
    equal "$layout: migrations" "$(ask "$moves")" "11:65536@1 000 cause 2 7f0000000000 500, 12:4096@1 000 cause 4 7f0000001000 500, \
13:8192@1 000 cause 1 7f0000002000 500,"
    equal "$layout: page faults of the CPU" "$(ask "$cpu")" "7f0000003000 401234, 7f0000004000 401238,"
    equal "$layout: page faults of the GPU" "$(ask "$gpu")" "1 12 2 7f0000005000 500"
    ! grep -q 'lost or not' err || fail "something of unified memory was lost"
done
record libcupti.so.13 um --cuda-um-gpu-page-faults=true
equal "faults of the GPU alone" "$(ask "$moves" | grep -o : | wc -l) $(ask "$gpu" | wc -w) $(ask "SELECT count(*) FROM sqlite_master
    WHERE name = 'CUDA_UM_CPU_PAGE_FAULT_EVENTS'")" "3 5 0"
"$CUTLINE" stats -q -r um_total_sum -f csv cap.sqlite >stats.csv
grep -q '12' stats.csv || fail "um_total_sum: $(cat stats.csv)"
record libcupti.so.13 um
equal "unified memory unasked" "$(ask "$tables")" 0

export STANDIN_CUPTI=layout=13.0
record libcupti.so.13 device-graph
equal "a graph of a device" "$(ask 'SELECT graphId || " " || contextId || " " || streamId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE')" "5 1 13"
record libcupti.so.13 device-graph --cuda-graph-trace=node
equal "in node mode" "$(ask "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE'")" 0

record libcupti.so.13 context-ends --cuda-flush-interval 0
equal "flushes" "$(grep flushes out | tr '\n' ' ')" "flushes 1 flushes 2 flushes 3 flushes 3 "
equal "kernels" "$(ask 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" 4

record libcupti.so.13 attributes
grep -qx 'attributes 0 0, times 0' out || fail "attributes unasked: $(cat out)"
record libcupti.so.13 attributes --device-buffer-size 8M --device-buffers 20 --cuda-event-trace=true
grep -qx 'attributes 8388608 20, times 1' out || fail "attributes: $(cat out)"
STANDIN_CUPTI=layout=12.1 record libcupti.so.12 attributes --cuda-event-trace=true # it cannot, and goes on
grep -qx 'attributes 0 0, times 0' out || fail "attributes of an old CUPTI: $(cat out)"
echo ok
