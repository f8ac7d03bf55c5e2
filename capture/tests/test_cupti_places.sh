#!/usr/bin/env bash
# Which libcupti: cutline doctor and a recorded process find the same one in every place where one may lie, and
# both pass over one that is newer than the driver.
set -euo pipefail
standin=$CUTLINE_BUILD/tests/standin
export STANDIN_CUDA=$standin/libcuda.so.1
work=$(mktemp -d)
work=$(cd "$work" && pwd -P)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH VIRTUAL_ENV CONDA_PREFIX CUDA_HOME CUDA_PATH CUDA_ROOT LD_LIBRARY_PATH
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*"; cat err 2>/dev/null || true; exit 1; }

# found FILE VARIABLE=VALUE...: both find FILE with these variables, and kernels are recorded through it.
found() {
    local file=$1 doctor record
    shift
    doctor=$(env LD_LIBRARY_PATH="$standin" "$@" "$CUTLINE" doctor -f json | python3 -c '
import json, sys
print([row["text"] for row in json.load(sys.stdin)["checks"] if row["check"] == "cupti"][0].split(": ", 1)[1])') ||
        [ -n "$doctor" ] || fail "doctor $*"
    [ "$(realpath "$doctor")" = "$(realpath "$file")" ] || fail "doctor $*: $doctor, not $file"
    env STANDIN_CUPTI_PATH="$file" "$@" "$CUTLINE" record -f -o cap --cuda-flush-interval 20 \
        "$CUTLINE_BUILD/tests/client_cuda" records 5 >out 2>err </dev/null || fail "record $*"
    record=$(sqlite3 cap.sqlite "SELECT substr(text, instr(text, ': ') + 2) FROM DIAGNOSTIC_EVENT
        WHERE text LIKE 'CUPTI %: /%' AND text NOT LIKE '%newer%'")
    [ "$record" = "$doctor" ] || fail "record $*: '$record', doctor '$doctor'"
    [ "$(sqlite3 cap.sqlite 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" = 5 ] || fail "record $*: no kernels"
}
# at PLACE [VERSION]: a libcupti there.
at() {
    mkdir -p "$1"
    cp "$standin/libcupti.so.${2:-13}" "$1/"
}

packages=lib/python3.11/site-packages/nvidia
at "venv/$packages/cuda_cupti/lib"
at "wheel13/$packages/cu13/lib"
at "conda/lib"
at "conda-packages/$packages/cuda_cupti/lib"
at "conda-target/targets/x86_64-linux/lib"
at "toolkit/extras/CUPTI/lib64"
at "python/$packages/cuda_cupti/lib"
at "base/$packages/cuda_cupti/lib"
at "pyenv/versions/3.11.9/$packages/cuda_cupti/lib"
mkdir -p python/bin linked/bin base/bin pyenv/shims none
printf '#!/bin/sh\n' | tee python/bin/python3 base/bin/python3.11 pyenv/shims/python >/dev/null
chmod +x python/bin/python3 base/bin/python3.11 pyenv/shims/python
ln -s "$work/base/bin/python3.11" linked/bin/python
# no python of this machine on PATH
only() { echo "PATH=$work/$1:$work/none"; }

found "$work/venv/$packages/cuda_cupti/lib/libcupti.so.13" VIRTUAL_ENV="$work/venv"
found "$work/wheel13/$packages/cu13/lib/libcupti.so.13" VIRTUAL_ENV="$work/wheel13"
found "$work/conda/lib/libcupti.so.13" CONDA_PREFIX="$work/conda"
found "$work/conda-packages/$packages/cuda_cupti/lib/libcupti.so.13" CONDA_PREFIX="$work/conda-packages"
found "$work/conda-target/targets/x86_64-linux/lib/libcupti.so.13" CONDA_PREFIX="$work/conda-target"
for variable in CUDA_HOME CUDA_PATH CUDA_ROOT; do
    found "$work/toolkit/extras/CUPTI/lib64/libcupti.so.13" "$variable=$work/toolkit"
done
found "$work/python/$packages/cuda_cupti/lib/libcupti.so.13" "$(only python/bin)"
found "$work/base/$packages/cuda_cupti/lib/libcupti.so.13" "$(only linked/bin)"
found "$work/pyenv/versions/3.11.9/$packages/cuda_cupti/lib/libcupti.so.13" "$(only pyenv/shims)"
# a folder with characters that mean something in a pattern
at "odd [x]*/$packages/cuda_cupti/lib"
found "$work/odd [x]*/$packages/cuda_cupti/lib/libcupti.so.13" VIRTUAL_ENV="$work/odd [x]*"

# --- newer than the driver: by its name it is not even loaded, and what does not start is passed over
at "venv/$packages/cuda_cupti/lib" 12
found "$work/venv/$packages/cuda_cupti/lib/libcupti.so.13" VIRTUAL_ENV="$work/venv"
found "$work/venv/$packages/cuda_cupti/lib/libcupti.so.12" VIRTUAL_ENV="$work/venv" STANDIN_DRIVER=12080
found "$work/venv/$packages/cuda_cupti/lib/libcupti.so.12" VIRTUAL_ENV="$work/venv" STANDIN_CUPTI=too_new=1
sqlite3 cap.sqlite 'SELECT text FROM DIAGNOSTIC_EVENT' | grep -q 'newer than the driver: .*libcupti.so.13' ||
    fail "what was passed over is not said"
at "toolkit12/extras/CUPTI/lib64" 12
found "$work/toolkit12/extras/CUPTI/lib64/libcupti.so.12" VIRTUAL_ENV="$work/wheel13" CUDA_HOME="$work/toolkit12" \
    STANDIN_CUPTI=too_new=1
echo ok
