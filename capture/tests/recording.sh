# recording: what the tests of cutline record begin with, to be sourced: a folder of their own, which is the
# working directory and goes at the end with what still runs in it, and no recorder around them.
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by those that source it
client=$CUTLINE_BUILD/tests/client_nvtx
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() { echo "FAILED: $*"; [ ! -s err ] || cat err; exit 1; }
# equal WHAT GOT WANTED
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"; }
# ask NAME SQL: of NAME.sqlite, in one line
ask() { sqlite3 "$1.sqlite" "$2" | tr '\n' ' ' | sed 's/ $//'; }
