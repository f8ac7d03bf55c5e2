#!/usr/bin/env bash
# Details in which a table must be nsys's to the last digit: rounding by version, rows of equal
# totals, cells of tables that a capture lacks; and the numbers by which a device and a driver are
# known.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
G="(1 << 48) + (7 << 24)"
# capture NAME VERSION: a base to add rows to; SQL comes on stdin.
capture() {
    {
        cat <<SQL
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'), ('EXPORT_PRODUCT_VERSION', '$2');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
SQL
        cat
    } | sqlite3 "$work/$1.sqlite"
}
stats() { "$CUTLINE" stats -q -f csv -r "$1" "$work/$2.sqlite"; }

# --- 20 calls, 146133 ns: the mean is a little less than 7306.65 in binary
calls=$(for i in $(seq 0 18); do echo "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ($i * 1000000, $i * 1000000 + 7306, 0, $G + 7, $i, 1, 0);"; done
    echo "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (19000000, 19007319, 0, $G + 7, 19, 1, 0); INSERT INTO StringIds VALUES (1, 'cuLaunchKernel');")
for version in 2020.4.3.7:7306.7 2024.2.3.38:7306.7 2024.4.1.61:7306.7 2024.5.1.113:7306.6 2025.1.3.140:7306.6 2026.2.1.210:7306.6; do
    rm -f "$work/mean.sqlite"
    capture mean "${version%:*}" <<<"$calls"
    got=$(stats cuda_api_sum mean | sed 1d | cut -d, -f4)
    [ "$got" = "${version#*:}" ] || fail "nsys ${version%:*}: $got, not ${version#*:}"
    got=$("$CUTLINE" stats -q -f csv --timeunit us -r cuda_api_sum "$work/mean.sqlite" | sed 1d | cut -d, -f4)
    [ "$got" = "$(sed 's/^7306\.\(.\)$/7.306\10/; s/0$//' <<<"${version#*:}")" ] || fail "nsys ${version%:*} in us: $got"
done
sqlite3 "$work/mean.sqlite" "UPDATE META_DATA_EXPORT SET value = 'cutline' WHERE name = 'EXPORT_PRODUCT_NAME';
    UPDATE META_DATA_EXPORT SET value = '0.1.0' WHERE name = 'EXPORT_PRODUCT_VERSION'"
[ "$(stats cuda_api_sum mean | sed 1d | cut -d, -f4)" = 7306.6 ] || fail "a capture of our own"

# --- equal totals: by the id of the name, copies by their kind, whatever the names and counts
capture ties 2026.1.1.1 <<SQL
INSERT INTO StringIds VALUES (3, 'zeta_v3020'), (5, 'alpha'), (4, 'mid_v7000'), (9, 'kern_b'), (8, 'kern_c'), (7, 'kern_d');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 100, 0, $G + 7, 1, 5, 0), (200, 260, 0, $G + 7, 2, 3, 0),
  (300, 340, 0, $G + 7, 3, 3, 0), (400, 500, 0, $G + 7, 4, 4, 0);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (600, 700, 0, 1, 7, 1, $G, 9, 9, 1, 1, 1, 32, 1, 1),
  (800, 900, 0, 1, 7, 4, $G, 8, 8, 1, 1, 1, 32, 1, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1000, 1100, 0, 1, 7, 2, $G, 50, 8, 2, 2), (1200, 1300, 0, 1, 7, 3, $G, 50, 1, 0, 2);
SQL
names() { stats "$1" ties | sed 1d | sed 's/.*,//' | paste -sd' '; }
[ "$(names cuda_api_sum)" = "zeta mid alpha" ] || fail "cuda_api_sum: $(names cuda_api_sum)"
[ "$(names cuda_gpu_mem_time_sum)" = "[CUDA memcpy Host-to-Device] [CUDA memcpy Device-to-Device]" ] || fail "cuda_gpu_mem_time_sum: $(names cuda_gpu_mem_time_sum)"
[ "$(names cuda_gpu_mem_size_sum)" = "[CUDA memcpy Host-to-Device] [CUDA memcpy Device-to-Device]" ] || fail "cuda_gpu_mem_size_sum: $(names cuda_gpu_mem_size_sum)"
[ "$(names cuda_gpu_sum)" = "kern_c kern_b [CUDA memcpy Host-to-Device] [CUDA memcpy Device-to-Device]" ] || fail "cuda_gpu_sum: $(names cuda_gpu_sum)"
[ "$(names cuda_api_gpu_sum)" = "kern_c kern_b [CUDA memcpy Host-to-Device] [CUDA memcpy Device-to-Device] zeta mid alpha" ] ||
    fail "cuda_api_gpu_sum: $(names cuda_api_gpu_sum)"

# --- no number where there is no table, and no address where the file has none
capture um 2026.1.1.1 <<SQL
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 100, 0, 1, 0, 0, $G, 174762, 12, 2, 0), (200, 300, 0, 1, 0, 0, $G, 174762, 12, 2, 0);
SQL
[ "$(stats um_total_sum um | sed 1d)" = "0.000,0.350,,,," ] || fail "um_total_sum: $(stats um_total_sum um)"
[ "$(stats um_sum um | sed 1d | cut -d, -f1-5)" = ",0.000,0.350,," ] || fail "um_sum: $(stats um_sum um)"
sqlite3 "$work/um.sqlite" "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER, address INTEGER);"
[ "$(stats um_total_sum um | sed 1d)" = "0.000,0.350,0,,," ] || fail "an empty table of faults: $(stats um_total_sum um)"
sqlite3 "$work/um.sqlite" "DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY; INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (5, $G, 4096);"
[ "$(stats um_total_sum um | sed 1d)" = ",,1,,0x1000,0x1000" ] || fail "no copies: $(stats um_total_sum um)"

# --- CUDA's device 0 is GPU 1
capture devices 2026.1.1.1 <<SQL
INSERT INTO StringIds VALUES (1, 'on one'), (2, 'on zero');
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'first'), (0, 1, 'second');
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 7), (0, 1, 7);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 100, 0, 1, 7, 1, $G, 1, 1, 1, 1, 1, 32, 1, 1);
SQL
device() { "$CUTLINE" stats -q -f csv -r cuda_gpu_kern_sum --device "$1" "$work/devices.sqlite" 2>"$work/err" | sed 1d | sed 's/.*,//'; }
[ "$(device 0)" = "on one" ] && [ "$(device 1)" = "on one" ] || fail "--device: $(device 0), $(device 1)"
"$CUTLINE" info "$work/devices.sqlite" | grep -q '^GPU  *1 (CUDA 0): second' || fail "info does not show both numbers"
"$CUTLINE" info -f json "$work/devices.sqlite" | grep -q '"id": 1, "cuda_id": 0' || fail "info -f json does not show both"
"$CUTLINE" analyze --device 0 "$work/devices.sqlite" | grep -q '^GPU 1 ' || fail "analyze --device 0"
device 2 >/dev/null || true
grep -q 'devices with work: 1 (CUDA 0)' "$work/err" || fail "a number of neither: $(cat "$work/err")"
sqlite3 "$work/devices.sqlite" "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 100, 1, 1, 7, 2, $G, 2, 2, 1, 1, 1, 32, 1, 1)"
[ "$(device 0)" = "on zero" ] || fail "the id that is shown goes first: $(device 0)"
grep -qF -- '--device 0 is GPU 0 (CUDA 1); also there is GPU 1 (CUDA 0)' "$work/err" || fail "not told: $(cat "$work/err")"
# Two processes that number their own GPUs from 0: no id means one, the number several.
for pid in 8 9; do
    sqlite3 "$work/devices.sqlite" "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES ($pid, 5, $pid);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 100, 5, 1, 7, 2, (1 << 48) + ($pid << 24), 2, 2, 1, 1, 1, 32, 1, 1)"
done
device 5 >/dev/null || true
grep -qF 'several devices are CUDA device 5; give an id: 0 (CUDA 1), 1 (CUDA 0), 8 (CUDA 5), 9 (CUDA 5)' "$work/err" ||
    fail "several: $(cat "$work/err")"

# --- the driver's version, and the answer of a query
capture driver 2023.1.1.1 <<SQL
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'NvDriverVersion', 205, '52510517');
INSERT INTO StringIds VALUES (1, 'cudaEventQuery_v3020'), (2, 'cudaMalloc_v3020'), (3, 'cudaLaunchKernel_v7000');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 0, $G + 7, 1, 1, 600), (300, 400, 0, $G + 7, 2, 2, 2);
SQL
for version in 52510517:525.105.17 5303002:530.30.02 550.54.15:550.54.15 580:580 525105170:525105170; do
    sqlite3 "$work/driver.sqlite" "UPDATE TARGET_INFO_SYSTEM_ENV SET value = '${version%:*}'"
    "$CUTLINE" info -f json "$work/driver.sqlite" | grep -qF "\"driver_version\": \"${version#*:}\"" || fail "driver ${version%:*}"
done
# pane KEYS: the pane of the event that the keys select.
pane() {
    echo "$1" >"$work/keys"
    "$CUTLINE" view --dump --script "$work/keys" --size 120x24 "$work/driver.sqlite"
}
pane w | grep -q 'FAILED: cudaErrorMemoryAllocation (2)' || fail "a failed call is not called so: $(pane w)"
pane wb | grep -q 'cudaErrorNotReady (600)' || fail "the answer of a query is not shown: $(pane wb)"
pane wb | grep 'FAILED' && fail "an event that is not ready yet is no failure"
echo "ok"
