#!/usr/bin/env bash
# NVTX ranges by their names and domains: what is spelt exactly is found, "default" is the domain
# without a name everywhere, a name filter sees what the tables print; and start/end ranges that end
# on another thread count by process and are named where they are left out.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
SCHEMA="
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'fwd'), (2, 'cudaLaunchKernel'), (3, 'bwd'), (4, 'reduce');
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, domainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);"
KERNELS="
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start + 700, start + 1000, 0, 1, 7, correlationId, (1 << 48) + (7 << 24),
  returnValue, returnValue, 1, 1, 1, 32, 1, 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME;
UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 0;"

# --- names: one range after the other, each 1000 ns long with a call 100 ns after its begin
names=('layer' 'layer' 'layer' 'layer/1' 'user@host' 'aten::add' 'user' 'layer' 'sum' 'a/0' ':odd' 'layer/2/9')
domains=(0 0 0 0 0 0 1 1 1 2 0 0)
{
    echo "$SCHEMA"
    echo "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, 'host', (1 << 48) + (7 << 24) + 7, NULL, 1),
        (0, NULL, 75, NULL, 'x/y', (1 << 48) + (7 << 24) + 7, NULL, 2);"
    for i in "${!names[@]}"; do
        echo "INSERT INTO NVTX_EVENTS VALUES ($((i * 1000)), $((i * 1000 + 1000)), 59, NULL, '${names[i]}', (1 << 48) + (7 << 24) + 7, NULL, ${domains[i]});"
        echo "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ($((i * 1000 + 100)), $((i * 1000 + 150)), 0, (1 << 48) + (7 << 24) + 7, $((i + 1)), 2, 1);"
    done
    echo "$KERNELS"
} | sqlite3 "$work/names.sqlite"
# found TEXT N: --filter-nvtx TEXT is the range of that number.
found() {
    local got
    got=$("$CUTLINE" stats -q -f csv -r cuda_api_trace --filter-nvtx "$1" "$work/names.sqlite" | sed 1d | cut -d, -f1)
    [ "$got" = $(($2 * 1000 + 100)) ] || fail "--filter-nvtx $1 is at '$got', not in range $2"
}
found layer 0
found layer/2 2
found layer/1 3
found layer@default/1 1
found layer/1@default 3
found layer/1/0 3
found layer/2/9 11
found user@host 4
found user@host/0 4
found user@host@default 4
found user@*/0 6
found host:user 6
found layer@host 7
found layer@host/0 7
found host:layer 7
found layer@*/3 7
found sum@* 8
found a/0@x/y 9
found a/0@x/y/0 9
found x/y:a/0 9
found aten::add 5
found :aten::add 5
found :odd 10
found ::odd 10
for text in nothing layer@nowhere sum sum@default layer/7 sum@host/1 nowhere:layer; do
    "$CUTLINE" stats -q -r cuda_api_trace --filter-nvtx "$text" "$work/names.sqlite" >"$work/out" 2>"$work/err" &&
        fail "--filter-nvtx $text finds something"
    grep -q 'NVTX range' "$work/err" || fail "--filter-nvtx $text: $(cat "$work/err")"
done
# The same words for the steps of diff and for the pace of a range.
for text in layer@default:3 layer@host:1 layer:4 host:layer:1 user@host:1 layer@*:4; do
    "$CUTLINE" diff --per "${text%:*}" "$work/names.sqlite" "$work/names.sqlite" >"$work/out" || fail "diff --per ${text%:*}"
    grep -qF "(${text##*:} steps)" "$work/out" || fail "diff --per ${text%:*}: not ${text##*:} steps: $(head -2 "$work/out")"
    "$CUTLINE" stats -q -f csv -r "nvtx_pace:${text%:*}" "$work/names.sqlite" >"$work/out" 2>/dev/null ||
        [[ ${text%:*} == *:* ]] || fail "nvtx_pace:${text%:*}"
done
# A rule's own range.
"$CUTLINE" analyze -q -r 'idle_gaps:min=0:nvtx=layer@default/1' "$work/names.sqlite" >/dev/null || fail "nvtx= of a rule"

# --- the name filter sees what the table prints
ranges() { "$CUTLINE" stats -q -f csv -r nvtx_sum --filter-name "$1" "$work/names.sqlite" | sed 1d | awk -F, '{ n += $3 } END { print n + 0 }'; }
[ "$(ranges '^host:')" -eq 3 ] || fail "--filter-name ^host: keeps $(ranges '^host:')"
[ "$(ranges '^:layer$')" -eq 3 ] || fail "--filter-name ^:layer$ keeps $(ranges '^:layer$')"
[ "$(ranges '^layer$')" -eq 4 ] || fail "--filter-name ^layer$ keeps $(ranges '^layer$')"
[ "$(ranges 'host:layer')" -eq 1 ] || fail "--filter-name host:layer keeps $(ranges 'host:layer')"

# --- the filter of the timeline
count() { "$CUTLINE" view --dump --size 120x40 --filter "$1" "$work/names.sqlite" | grep -oE '[0-9]+ of [0-9]+ names' | sed 's, .*,,'; }
[ "$(count 'domain:host')" = "3" ] || fail "domain:host: $(count 'domain:host')"
[ "$(count 'domain:^default$')" = "6" ] || fail "domain:default: $(count 'domain:^default$')"
[ "$(count '-domain:default kind:nvtx')" = "4" ] || fail "-domain:default: $(count '-domain:default kind:nvtx')"
[ "$(count 'kind:nvtx "host:layer"')" = "1" ] || fail "\"host:layer\": $(count 'kind:nvtx "host:layer"')"

# --- ranges that end on another thread: four steps from the main thread to 8, in each 3 kernels of the main thread in a
# push/pop range, 5 of thread 8 within a push/pop range of the main thread, 1 of thread 9 in a range that overlaps both
{
    echo "$SCHEMA"
    id=0
    for i in 0 1 2 3; do
        b=$((1000000 + i * 130000))
        range() { echo "INSERT INTO NVTX_EVENTS VALUES ($((b + $2)), $((b + $3)), $4, $((i * 10 + $2 / 10000)), '$1', (1 << 48) + (7 << 24) + 7, $5, 0);"; }
        call() { id=$((id + 1)); echo "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ($((b + $1)), $((b + $1 + 500)), 0, (1 << 48) + (7 << 24) + $2, $id, 2, $3);"; }
        range step 0 120000 60 "(1 << 48) + (7 << 24) + 8"
        range forward 1000 40000 59 NULL
        range backward 50000 110000 59 NULL
        range comm 30000 80000 60 "(1 << 48) + (7 << 24) + 9"
        range own 20 119000 60 "(1 << 48) + (7 << 24) + 7"
        for k in 2000 12000 22000; do call $k 7 1; done
        for k in 52000 62000 72000 82000 92000; do call $k 8 3; done
        call 60000 9 4
    done
    echo "$KERNELS"
} | sqlite3 "$work/steps.sqlite"
"$CUTLINE" stats -q -f csv -r nvtx_kern_sum --nvtx-scope process "$work/steps.sqlite" | sed 1d | awk -F, '{ print $1, $6, $13 }' |
    sort >"$work/kern"
diff - "$work/kern" <<'END' || fail "kernels by process"
:backward 20 bwd
:backward 4 reduce
:comm 12 bwd
:comm 4 reduce
:forward 12 fwd
:own 12 fwd
:own 20 bwd
:own 4 reduce
:step 12 fwd
:step 20 bwd
:step 4 reduce
END
"$CUTLINE" stats -q -f csv -r nvtx_gpu_proj_sum --nvtx-scope process "$work/steps.sqlite" | sed 1d | awk -F, '{ print $1, $2, $5, $11 }' |
    sort >"$work/proj"
diff - "$work/proj" <<'END' || fail "projections by process"
:backward PushPop 4 24
:comm StartEnd 4 16
:forward PushPop 4 12
:own StartEnd 4 36
:step StartEnd 4 36
END
for report in nvtx_kern_sum nvtx_gpu_proj_sum nvtx_gpu_proj_trace; do
    "$CUTLINE" stats -q -r $report "$work/steps.sqlite" >"$work/out"
    grep -qF '8 start/end ranges ended on another thread, left out as in nsys: :step, :comm' "$work/out" ||
        fail "$report does not name what it leaves out"
    grep -qE '^ *:(step|comm) ' "$work/out" && fail "$report counts what ended elsewhere, by thread"
    "$CUTLINE" stats -q -r $report --nvtx-scope process "$work/steps.sqlite" | grep -F 'another thread' &&
        fail "$report names what it counts"
    "$CUTLINE" stats -q -r $report --filter-name forward "$work/steps.sqlite" | grep -F 'another thread' &&
        fail "$report names what was filtered out"
done
# The name in front of a kernel is that of the innermost range, of any thread by process.
"$CUTLINE" stats -q -f csv -r cuda_gpu_kern_sum:nvtx-name --nvtx-scope process "$work/steps.sqlite" >"$work/out"
grep -q ',:*backward/bwd$' "$work/out" ||
    fail "the innermost range by process"
echo "ok"
