#!/usr/bin/env bash
# cutline doctor: text and JSON say the same, it sees what is put in its way, and it changes nothing.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
fail() { echo "FAILED: $*"; exit 1; }

# doctor ARG...: its output in $work/out, its status in status.
doctor() { status=0; "$CUTLINE" doctor "$@" >"$work/out" 2>"$work/err" || status=$?; }
has() { grep -q "$1" "$work/out" || { cat "$work/out"; fail "no '$1'"; }; }

doctor
problems=$(grep -c '^problem' "$work/out" || true)
[ "$status" -eq $((problems > 0)) ] || fail "status $status with $problems problems"
has '^ok  *recorder .*libcutline_inject.so'
has '^ok  *environment'
cp "$work/out" "$work/text"
doctor -f json
python3 - "$work/out" "$work/text" <<'END'
import json, re, sys
document = json.load(open(sys.argv[1]))
assert (document["schema"], document["version"]) == ("cutline-doctor", 1)
rows = document["checks"]
text = [line.split(None, 2) for line in open(sys.argv[2]) if re.match("ok|note|problem", line)]
assert len(rows) == len(text), (rows, text)
for row, (status, check, _) in zip(rows, text):
    assert (row["status"], row["check"]) == (status, check), (row, status, check)
    assert set(row) == {"check", "status", "text", "advice"}
    assert (row["advice"] is not None) or row["status"] == "ok" or row["check"] in ("mig", "system")
END
CUDA_INJECTION64_PATH=/other/tool.so doctor
has "^problem  *environment  *CUDA_INJECTION64_PATH is set to '/other/tool.so'"
[ "$status" -eq 1 ] || fail "status $status"
KINETO_USE_DAEMON=1 doctor
has '^note  *environment'
doctor --session-dir /nowhere/at/all
has "^problem  *space  *'/nowhere/at/all'"
doctor --cupti /nowhere/libcupti.so
has '^problem  *cupti'

# a recording that was left behind is found
"$CUTLINE" record --print-env >"$work/env" &
wait $!
doctor
has '^note  *leftovers  *1 recordings'
[ -z "$(ls "$work"/cutline-*/*.spool 2>/dev/null)" ] || fail "the doctor recorded itself"
echo ok
