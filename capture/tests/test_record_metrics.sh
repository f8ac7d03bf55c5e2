#!/usr/bin/env bash
# GPU metrics by a stand-in NVML: which GPUs, which metrics, their values, the time line; and what is
# said where there is no NVML.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh
unset CUDA_VISIBLE_DEVICES
ask() { sqlite3 cap.sqlite "$1" | tr '\n' ' ' | sed 's/ $//'; }
# record OPTION...: with the stand-in
record() {
    LD_LIBRARY_PATH=$CUTLINE_BUILD/tests/standin "$CUTLINE" record -f -o cap "$@" >out 2>err </dev/null || fail "record $*: $?"
    [ -z "$(ls -A "$TMPDIR")" ] || fail "record $*: left $(ls -A "$TMPDIR")"
}
metrics='SELECT metricName FROM TARGET_INFO_GPU_METRICS WHERE typeId = (1 << 56) + '

record --gpu-metrics-devices=all --gpu-metrics-frequency 100 "$client" mark here
equal "GPUs" "$(ask 'SELECT id || " " || name || " " || uuid || "," FROM TARGET_INFO_GPU')" \
    "0 NVIDIA Stand-in 0 00000000-1111-2222-3333-444444444444, 1 NVIDIA Stand-in 1 00000001-1111-2222-3333-444444444444,"
equal "metrics of the first" "$(sqlite3 cap.sqlite "$metrics 0" | sort | tr '\n' ';')" "GPU Busy [%];Memory Busy [%];Memory Clock [MHz];\
Memory Used [MiB];NVLink Received [kB/s];NVLink Sent [kB/s];PCIe Received [kB/s];PCIe Sent [kB/s];Power [mW];SM Clock [MHz];\
Temperature [C];Throttle Reasons [mask];"
equal "what the second lacks" "$(sqlite3 cap.sqlite "$metrics 1" | grep -cE 'NVLink|Power')" 0
# value NAME GPU: of a metric that does not change
value() { ask "SELECT DISTINCT value FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId)
    WHERE metricName LIKE '$1%' AND typeId & 255 = $2"; }
equal "memory" "$(value 'Memory Used' 0),$(value 'Memory Used' 1)" "100,101"
equal "clocks" "$(value 'SM Clock' 1),$(value 'Memory Clock' 0)" "1001,2000"
equal "power, heat, throttling" "$(value Power 0),$(value Temperature 0),$(value Throttle 1)" "123456,55,65"
equal "PCIe" "$(value 'PCIe Sent' 0),$(value 'PCIe Received' 0)" "5000,5001"
equal "a sample at the start and at the end, each value once" "$(ask 'SELECT count(*) >= 2 AND count(*) = count(DISTINCT value) AND
    max(value) = count(*) - 1 FROM GPU_METRICS WHERE metricId = 0 AND typeId & 255 = 0')" 1
equal "time line" "$(ask 'SELECT count(*) FROM GPU_METRICS, (SELECT duration FROM ANALYSIS_DETAILS) WHERE timestamp <= 0 OR
    timestamp > duration')" 0
equal "the rate of NVLink" "$(ask 'SELECT min(value) > 0 FROM GPU_METRICS WHERE metricId = 10')" 1
export STANDIN_CUDA=$CUTLINE_BUILD/tests/standin/libcuda.so.1 STANDIN_CUPTI_PATH=$CUTLINE_BUILD/tests/standin/libcupti.so.13
record --gpu-metrics-devices=all --cupti "$STANDIN_CUPTI_PATH" "$CUTLINE_BUILD/tests/client_cuda" memory 2 # kernels on two GPUs
"$CUTLINE" view --dump --size 140x50 cap.sqlite >frame || fail "the capture cannot be shown"
grep -q 'GPU Busy' frame || fail "the timeline has no row of GPU metrics: $(cat frame)"

record --gpu-metrics-devices=1 "$client" mark here
equal "one GPU" "$(ask 'SELECT DISTINCT typeName FROM TARGET_INFO_GPU_METRICS')" "NVIDIA Stand-in 1"
CUDA_VISIBLE_DEVICES=GPU-00000001 record --gpu-metrics-devices=cuda-visible "$client" mark here
equal "the visible GPU" "$(ask 'SELECT DISTINCT typeName FROM TARGET_INFO_GPU_METRICS')" "NVIDIA Stand-in 1"
record "$client" mark here
equal "unasked" "$(ask "SELECT count(*) FROM sqlite_master WHERE name LIKE '%GPU_METRICS%'")" 0
record --gpu-metrics-devices=none "$client" mark here
equal "none" "$(ask "SELECT count(*) FROM sqlite_master WHERE name LIKE '%GPU_METRICS%'")" 0
record --gpu-metrics-devices=all --gpu-metrics-frequency=10000 true
grep -q 'not recorded: GPU metrics more often than 100 times a second' err || fail "a frequency that cannot be is not told"
record --gpu-metrics-devices=all -y 100 true
equal "outside the recording" "$(ask "SELECT count(*) FROM sqlite_master WHERE name = 'GPU_METRICS'")" 0
record --gpu-metrics-devices=7 "$client" mark here
grep -q "GPU metrics are not recorded: NVML has no GPU '7'" err || fail "a GPU that is not there"
STANDIN_NVML_FAILS=1 record --gpu-metrics-devices=all "$client" mark here
grep -q 'GPU metrics are not recorded: nvmlInit failed with result 9' err || fail "a failing NVML"
if ! ldconfig -p | grep -q libnvidia-ml.so.1; then
    "$CUTLINE" record -f -o cap --gpu-metrics-devices=all "$client" mark here 2>err
    grep -q 'GPU metrics are not recorded: libnvidia-ml.so.1' err || fail "no NVML"
    equal "recorded all the same" "$(ask 'SELECT text FROM NVTX_EVENTS WHERE eventType = 34')" here
fi
echo ok
