#!/usr/bin/env bash
# The GPU smoke test: 17 points, each one line "LETTER ok|FAIL|skipped what". Runs where a GPU is; elsewhere "skipped: no GPU", 77.
#
#   capture/tests/gpu/smoke.sh [BUILD]      BUILD is the build folder (default build/release)
#
# SMOKE_SECONDS   length of the long run (q), default 60
# SMOKE_LAUNCHES  kernels of the overhead measurement (l), default 1000000
# SMOKE_CUPTIS    libcupti files to try one after another (k), separated by colons
set -uo pipefail
build=$(realpath "${1:-${CUTLINE_BUILD:-build/release}}")
smoke=$build/tests/gpu_smoke
cutline=$build/cutline
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if ! "$smoke" none >/dev/null 2>&1; then
    echo "skipped: no GPU"
    exit 77
fi

say() { # LETTER ok|FAIL|skipped TEXT
    echo "$1 $2 $3"
    [ "$2" != FAIL ] || failed=1
}

# record NAME "RECORD OPTIONS" MODE...: leaves $work/NAME.sqlite, .out, .err; the status is the program's
record() {
    local name=$1 options=$2
    shift 2
    # shellcheck disable=SC2086
    "$cutline" record -f true -o "$work/$name.sqlite" $options -- "$smoke" "$@" \
        >"$work/$name.out" 2>"$work/$name.err"
}

sql() { sqlite3 "$work/$1.sqlite" "$2" 2>/dev/null || true; }

# expect LETTER TEXT WANTED GOT
expect() {
    if [ "$3" = "$4" ]; then say "$1" ok "$2: $4"; else say "$1" FAIL "$2: $4, expected $3"; fi
}

KERNEL=CUPTI_ACTIVITY_KIND_KERNEL
MEMCPY=CUPTI_ACTIVITY_KIND_MEMCPY
RUNTIME=CUPTI_ACTIVITY_KIND_RUNTIME
all="--cuda-trace-all-apis=true"

# a: counts, shapes, order, correlation
record a "$all" a 1000
expect a "kernels" 3000 "$(sql a "SELECT count(*) FROM $KERNEL")"
expect a "shapes" "2|3|4|32|2|1|1024" \
    "$(sql a "SELECT DISTINCT gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicSharedMemory FROM $KERNEL")"
expect a "kernels a stream" "1000|1000|1000" \
    "$(sql a "SELECT group_concat(n, '|') FROM (SELECT count(*) AS n FROM $KERNEL GROUP BY streamId)")"
expect a "overlaps within a stream" 0 "$(sql a "SELECT count(*) FROM (SELECT start, lag(end) OVER (PARTITION BY streamId
    ORDER BY start) AS before FROM $KERNEL) WHERE start < before")"
expect a "kernels with a launch" 3000 \
    "$(sql a "SELECT count(*) FROM $KERNEL k WHERE EXISTS (SELECT 1 FROM $RUNTIME r WHERE r.correlationId = k.correlationId)")"

# b: copies and memset
record b "$all" b
expect b "bytes HtoD, DtoH, DtoD" "1:1179648|2:524288|8:262144" \
    "$(sql b "SELECT group_concat(copyKind || ':' || n, '|') FROM (SELECT copyKind, sum(bytes) AS n FROM $MEMCPY
    GROUP BY copyKind ORDER BY copyKind)")"
expect b "memset" "12345|7" "$(sql b "SELECT bytes, value FROM CUPTI_ACTIVITY_KIND_MEMSET")"

# c: graphs as a whole, and by node
record c1 "$all --cuda-graph-trace=graph" c
expect c "graph launches" 100 "$(sql c1 "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE")"
record c2 "$all --cuda-graph-trace=node" c
expect c "kernels of graphs by node" 1000 "$(sql c2 "SELECT count(*) FROM $KERNEL WHERE graphNodeId IS NOT NULL")"
expect c "copies of graphs by node" 100 "$(sql c2 "SELECT count(*) FROM $MEMCPY WHERE bytes = 4096")"

# d: launches lie in the NVTX ranges in which they were made
record d "$all" d
expect d "ranges" 30 "$(sql d "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59")"
expect d "launches in forward and backward" "backward:10|forward:10" \
    "$(sql d "SELECT group_concat(t || ':' || n, '|') FROM (SELECT coalesce(x.text, s.value) AS t, count(*) AS n
    FROM NVTX_EVENTS x LEFT JOIN StringIds s ON s.id = x.textId JOIN $RUNTIME r ON r.start >= x.start AND r.end <= x.end
    AND r.globalTid = x.globalTid JOIN $KERNEL k ON k.correlationId = r.correlationId
    WHERE coalesce(x.text, s.value) <> 'step' GROUP BY 1 ORDER BY 1)")"

# e: memory
record e "$all --cuda-memory-usage=true" e
got=$(sql e "SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE bytes IN (65536, 1048576)")
if [ "${got:-0}" -ge 4 ]; then say e ok "memory events: $got"; else say e FAIL "memory events: ${got:-0}"; fi

# f: waits
record f "$all" f
got=$(sql f "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")
if [ "${got:-0}" -ge 15 ]; then say f ok "waits: $got"; else say f FAIL "waits: ${got:-0}, expected 15 or more"; fi

# g: capture range by cuProfilerStart and cuProfilerStop
record g "$all -c cudaProfilerApi" g
expect g "kernels in the range" 7 "$(sql g "SELECT count(*) FROM $KERNEL")"

# h: forks and exec
record h "$all" h
expect h "children" "child 0 child 0 child 0" "$(tr '\n' ' ' <"$work/h.out" | sed 's/ $//')"
expect h "kernels by process" "30|60|90" \
    "$(sql h "SELECT group_concat(n, '|') FROM (SELECT count(*) AS n FROM $KERNEL GROUP BY globalPid ORDER BY n)")"
expect h "range of the child without CUDA" 1 \
    "$(sql h "SELECT count(*) FROM NVTX_EVENTS x LEFT JOIN StringIds s ON s.id = x.textId
    WHERE coalesce(x.text, s.value) = 'child without CUDA'")"

# i: ends
for end in return:0 _exit:11 term:143 kill:137 abort:134; do
    record i "$all" i "${end%:*}"
    expect i "status after ${end%:*}" "${end#*:}" $?
    expect i "kernels after ${end%:*}" 150 "$(sql i "SELECT count(*) FROM $KERNEL")"
done

# j: another CUPTI client, before and after us
cupti=
for path in ${CUDA_HOME:-/nonexistent}/extras/CUPTI/lib64 /usr/local/cuda/extras/CUPTI/lib64 /usr/local/cuda/lib64; do
    [ -z "$cupti" ] && [ -e "$path/libcupti.so" ] && cupti=$(realpath "$path/libcupti.so")
done
if [ -z "$cupti" ]; then
    say j skipped "no libcupti in a toolkit"
else
    export SMOKE_CUPTI=$cupti
    record j1 "$all" j-first
    expect j "status with a client before us" 0 $?
    grep -qi "another CUPTI" "$work/j1.err" && say j ok "it is named" || say j FAIL "it is not named"
    record j2 "$all" j-after
    expect j "its result after us" "subscribe 39" "$(cat "$work/j2.out")"
    expect j "kernels" 30 "$(sql j2 "SELECT count(*) FROM $KERNEL")"
fi

# k: other versions of CUPTI
IFS=: read -ra versions <<<"${SMOKE_CUPTIS:-}"
[ ${#versions[@]} -gt 0 ] || say k skipped "SMOKE_CUPTIS names no other libcupti"
for path in "${versions[@]}"; do
    record k "$all --cupti=$path" a 100
    expect k "kernels with $path" 300 "$(sql k "SELECT count(*) FROM $KERNEL")"
done

# l: overhead
launches=${SMOKE_LAUNCHES:-1000000}
line="ns a launch: nothing $("$smoke" l "$launches" | cut -d' ' -f2)"
for way in "nvtx:-t nvtx" "kernels:--api=none" "launch:--api=launch" "all:--api=all" "driver:$all" \
    "nodes:--cuda-graph-trace=node"; do
    record l "${way#*:}" l "$launches"
    line+=", ${way%%:*} $(cut -d' ' -f2 <"$work/l.out")"
done
say l ok "$line"

# m: clocks: no kernel begins before its launch, none ends after the wait that follows
expect m "kernels before their launch" 0 \
    "$(sql a "SELECT count(*) FROM $KERNEL k JOIN $RUNTIME r USING (correlationId) WHERE k.start < r.start")"
expect m "kernels after the last wait" 0 \
    "$(sql a "SELECT count(*) FROM $KERNEL WHERE end > (SELECT max(end) FROM $RUNTIME)")"

# n: what the driver does with a library that is not there, and with one that is none
CUDA_INJECTION64_PATH=/nonexistent.so "$smoke" a 1 >/dev/null 2>&1
say n ok "status with a missing library: $?"
CUDA_INJECTION64_PATH=/dev/null "$smoke" a 1 >/dev/null 2>&1
say n ok "status with a file that is no library: $?"

# o: static CUDA runtime
if command -v nvcc >/dev/null 2>&1; then
    printf '__global__ void k() {}\nint main() { for (int i = 0; i < 100; i++) k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n' \
        >"$work/static.cu"
    if nvcc -cudart static -o "$work/static" "$work/static.cu" >/dev/null 2>&1; then
        "$cutline" record -f true -o "$work/o.sqlite" -- "$work/static" >/dev/null 2>&1
        expect o "kernels with the static runtime" 100 "$(sql o "SELECT count(*) FROM $KERNEL")"
        expect o "launches" 100 "$(sql o "SELECT count(*) FROM $RUNTIME r JOIN StringIds s ON s.id = r.nameId
            WHERE s.value LIKE 'cudaLaunchKernel%'")"
    else
        say o skipped "nvcc does not compile here"
    fi
else
    say o skipped "no nvcc"
fi

# p: MIG, MPS, containers: what cutline doctor says of this machine
say p ok "$("$cutline" doctor 2>/dev/null | tr '\n' ';' | cut -c1-400)"

# q: a long run
record q "$all" q "${SMOKE_SECONDS:-60}"
read -r _ early late <"$work/q.out"
if [ "${late:-0}" -lt $((${early:-0} + 65536)) ]; then
    say q ok "memory ${early:-?} KiB early, ${late:-?} KiB at the end"
else
    say q FAIL "memory grew from ${early:-?} to ${late:-?} KiB"
fi
exit $failed
