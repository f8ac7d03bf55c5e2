#!/usr/bin/env bash
# Where NVIDIA's headers are found: our declarations equal them, and a client of the real NVTX headers (with the interop library of
# the toolkit as a second client) is recorded exactly. CUTLINE_CUDA_INCLUDES may name more include folders, separated by colons.
set -euo pipefail

includes=()
IFS=: read -ra named <<<"${CUTLINE_CUDA_INCLUDES:-}"
for dir in "${named[@]}" "${CUDA_HOME:-/nonexistent}/include" /usr/local/cuda*/include /opt/cuda/include; do
    [ -e "$dir/cupti_activity.h" ] || [ -e "$dir/nvtx3/nvToolsExt.h" ] || continue
    dir=$(realpath "$dir")
    [[ " ${includes[*]} " == *" $dir "* ]] || includes+=("$dir")
done
if [ ${#includes[@]} -eq 0 ]; then
    echo "skipped: no CUDA headers"
    exit 77
fi
for dir in "${includes[@]}"; do
    python3 capture/tests/check_abi.py "$PWD" "$dir" "$CUTLINE_CC"
done

# A wrong number must be found.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/wrong/capture/spool"
sed 's/X(CUPTI_KERNEL_START, Kernel4, start, 16, 8)/X(CUPTI_KERNEL_START, Kernel4, start, 24, 8)/' \
    capture/spool/cupti_abi.h >"$work/wrong/capture/spool/cupti_abi.h"
mkdir -p "$work/wrong/capture/inject"
cp capture/inject/nvtx_abi.h "$work/wrong/capture/inject"
if [ -e "${includes[0]}/cupti_activity.h" ] &&
    python3 capture/tests/check_abi.py "$work/wrong" "${includes[0]}" "$CUTLINE_CC" >/dev/null 2>&1; then
    echo "the comparison does not see a wrong offset" >&2
    exit 1
fi

nvtx=
for dir in "${includes[@]}"; do
    [ -e "$dir/nvtx3/nvToolsExt.h" ] && nvtx=$dir
done
if [ -z "$nvtx" ]; then
    echo "no NVTX headers: client not tried"
    exit 0
fi
sanitize=()
[ -z "${CUTLINE_SANITIZE:-}" ] || sanitize=("-fsanitize=$CUTLINE_SANITIZE")
"$CUTLINE_CC" -std=gnu17 "${sanitize[@]}" -isystem "$nvtx" capture/tests/real_nvtx.c -o "$work/real_nvtx" -ldl
interop=
for path in "$nvtx"/../lib/libnvtx3interop.so.1 "$nvtx"/../lib64/libnvtx3interop.so.1; do
    [ -e "$path" ] && interop=$path
done
mkdir "$work/session"
"$CUTLINE_BUILD/tests/spool_tool" make "$work/session" "$CUTLINE_BUILD/libcutline_inject.so"
NVTX_INJECTION64_PATH=$work/session/libcutline_inject.so \
    "$work/real_nvtx" ${interop:+"$interop"} >"$work/out" 2>"$work/err"
[ ! -s "$work/err" ]
cat >"$work/want" <<'END'
nvtx push [] outer
nvtx push [] inner é
nvtx pop [] 
nvtx mark [] marked
nvtx push [real] with everything colour=1:ff010203 category=5 payload=2:fffffffffffffffe
nvtx mark [real] registered
nvtx pop [real] 
nvtx start [] started
nvtx end [] 
nvtx pop [] 
END
if [ -n "$interop" ]; then
    printf 'nvtx push [] from the second client\nnvtx pop [] \n' >>"$work/want"
    grep -qx "one domain: 1" "$work/out"
fi
"$CUTLINE_BUILD/tests/spool_tool" dump "$work/session" >"$work/dump"
grep '^nvtx' "$work/dump" | diff "$work/want" -
grep -q '^meta category code=0 domain=1 5 0 0 five$' "$work/dump"
echo "real NVTX client recorded exactly${interop:+, with the interop library}"
