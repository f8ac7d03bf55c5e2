#!/usr/bin/env bash
# cutline record -t cublas and the like: the variables by which the libraries emit NVTX ranges, the
# domains that they name; and, where the libraries are, their own ranges.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh
unset CUBLAS_NVTX_LEVEL CUBLASLT_NVTX_LEVEL CUBLASXT_NVTX_LEVEL \
    CUDNN_NVTX_LEVEL CUSPARSE_NVTX_LEVEL CUSOLVERDN_NVTX_LEVEL

# levels WHAT: the variables that the command gets
levels() {
    "$CUTLINE" record -f -o l -t "$1" sh -c 'env | grep NVTX_LEVEL | sort' 2>err | tr '\n' ' ' | sed 's/_NVTX_LEVEL//g;s/ $//'
}

equal nvtx "$(levels cuda,nvtx)" ""
equal cublas "$(levels cuda,nvtx,cublas)" "CUBLASLT=1 CUBLASXT=1 CUBLAS=1"
equal verbose "$(levels cublas-verbose)" "CUBLASLT=2 CUBLASXT=2 CUBLAS=2"
equal both "$(levels cublas-verbose,cublas)" "CUBLASLT=2 CUBLASXT=2 CUBLAS=2"
equal all "$(levels cublas,cudnn,cusparse,cusolver)" \
    "CUBLASLT=1 CUBLASXT=1 CUBLAS=1 CUDNN=1 CUSOLVERDN=2 CUSPARSE=2"
equal "nsys's spelling" "$(levels cuDNN-verbose,cusparse-verbose,cusolver-verbose)" "CUDNN=2 CUSOLVERDN=2 CUSPARSE=2"
equal "set higher" "$(CUDNN_NVTX_LEVEL=3 levels cudnn)" "CUDNN=3"
equal "set lower" "$(CUDNN_NVTX_LEVEL=0 levels cudnn)" "CUDNN=1"
"$CUTLINE" record --print-env -t cudnn >env.sh 2>err
grep -qx 'export CUDNN_NVTX_LEVEL=1' env.sh || fail "--print-env: $(cat env.sh)"
rm -rf "${TMPDIR:?}"/*

# marks WHAT: the domains that are recorded of those that the command uses
marks() {
    "$CUTLINE" record -f -o m -t "$1" sh -c \
        "for d in cuBLAS cuDNN CUSPARSE cusolverDn NCCL mine; do '$client' domain \$d; done" 2>err
    sqlite3 m.sqlite "SELECT d.text FROM NVTX_EVENTS n JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = n.domainId
        AND d.globalTid >> 24 = n.globalTid >> 24 WHERE n.eventType = 34 ORDER BY 1" | tr '\n' ' ' | sed 's/ $//'
}
equal "domains of libraries" "$(marks cublas,cudnn,cusparse,cusolver)" "CUSPARSE cuBLAS cuDNN cusolverDn"
equal "domain of NCCL" "$(marks nccl)" "NCCL"
equal "domain of one" "$(marks cusparse-verbose)" "CUSPARSE"
equal "all domains" "$(marks nvtx,cublas)" "CUSPARSE NCCL cuBLAS cuDNN cusolverDn mine"

# the libraries themselves: they fail without a GPU, but each call of them is a range
cuda=/usr/local/cuda/lib64
[ -e $cuda/libcublas.so.13 ] || cuda=/usr/local/cuda/lib
if [ ! -e $cuda/libcublas.so.13 ] || [ ! -e $cuda/libcusolver.so.12 ] || [ -n "$CUTLINE_SANITIZE" ]; then
    echo "ok, without the libraries"
    exit 0
fi
cat >libs.py <<'END'
import ctypes, sys
def call(lib, name, *args):
    getattr(ctypes.CDLL(f"{sys.argv[1]}/{lib}", mode=ctypes.RTLD_GLOBAL), name)(*args)
handle = ctypes.byref(ctypes.c_void_p())
call("libcublas.so.13", "cublasCreate_v2", handle)
call("libcublas.so.13", "cublasSetMathMode", ctypes.c_void_p(0), 0)
call("libcusparse.so.12", "cusparseCreate", handle)
call("libcusolver.so.12", "cusolverDnCreate", handle)
END
calls() {
    LD_LIBRARY_PATH=$cuda "$CUTLINE" record -f -o c -t "$1" python3 libs.py $cuda >out 2>err
    sqlite3 c.sqlite "SELECT d.text || '.' || coalesce(n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
        JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = n.domainId WHERE n.eventType = 59 ORDER BY 1" | tr '\n' ' ' | sed 's/ $//'
}
equal "calls of the libraries" "$(calls cublas,cusparse,cusolver)" \
    "CUSPARSE.cusparseCreate cuBLAS.cublasCreate_v2 cusolverDn.cusolverDnCreate"
equal "more calls of cuBLAS" "$(calls cublas-verbose)" "cuBLAS.cublasCreate_v2 cuBLAS.cublasSetMathMode"
echo ok
