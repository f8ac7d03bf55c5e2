#!/usr/bin/env bash
# Help, manual pages, completion and parser agree; manual pages are clean; the main program's own
# words and statuses.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 viewer/tests/check_commands.py "$CUTLINE"

for page in man/*.[15]; do
    # Whether a manual that a page refers to is installed is not the question here.
    mandoc -T lint -W style "$page" | grep -v 'referenced manual not found' >"$work/lint" || true
    [ ! -s "$work/lint" ] || { cat "$work/lint"; exit 1; }
done
"$CUTLINE" completion bash | bash -n
if command -v zsh >/dev/null; then "$CUTLINE" completion zsh | zsh -n /dev/stdin; fi
if command -v fish >/dev/null; then "$CUTLINE" completion fish | fish -n; fi

# expect STATUS TEXT WORD...: the status, and one line on stderr that holds the text.
expect() {
    local status=0
    "$CUTLINE" "${@:3}" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq "$1" ] || { echo "cutline ${*:3}: status $status, not $1"; cat "$work/err"; exit 1; }
    [ "$(wc -l <"$work/err")" -le 1 ] || { echo "cutline ${*:3}: more than one line"; cat "$work/err"; exit 1; }
    grep -qF -- "$2" "$work/err" "$work/out" || { echo "cutline ${*:3}: no '$2' in:"; cat "$work/err"; exit 1; }
}
expect 0 "cutline $(sed -n 's/^project(cutline VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" --version
expect 0 "Commands:" --help
expect 0 "Commands:" help
expect 2 "name a capture or a command"
expect 2 "did you mean 'completion'" completoin
expect 2 "no command or file 'zzzzzzzz'" zzzzzzzz
expect 2 "did you mean --mdoc" help --mdco
expect 2 "no shell 'tcsh'" completion tcsh
expect 2 "one word too many: 'b'" help a b
expect 2 "something is missing after 'a'; write cutline diff BASE NEW" diff a

# A file as the first word is viewed.
demo=$CUTLINE_BUILD/demo.sqlite
"$CUTLINE" "$demo" --dump --size 80x24 >"$work/a"
"$CUTLINE" --dump --size 80x24 "$demo" >"$work/b"
"$CUTLINE" view --dump --size 80x24 "$demo" >"$work/c"
cmp -s "$work/a" "$work/c" && cmp -s "$work/b" "$work/c" || { echo "cutline FILE is not cutline view FILE"; exit 1; }
expect 1 "cutline view: " "$work/missing.sqlite"

# Completion does its work in a real bash.
cat >"$work/complete.sh" <<'END'
source <("$CUTLINE" completion bash)
try() { COMP_WORDS=(cutline "$@"); COMP_CWORD=$#; COMPREPLY=(); _cutline; echo "${COMPREPLY[*]}"; }
[[ " $(try '') " == *" completion "* ]] || { echo "no commands offered"; exit 1; }
[[ "$(try completion z)" == zsh ]] || { echo "no shell offered"; exit 1; }
[[ "$(try help --m)" == --mdoc ]] || { echo "no option offered"; exit 1; }
[[ " $(try help '') " == *" help "* ]] || { echo "no command offered to help"; exit 1; }
[[ " $(try stats -f '') " == *" csv "* ]] || { echo "no format offered"; exit 1; }
[[ " $(try stats --format = j) " == *" json "* ]] || { echo "no format offered after ="; exit 1; }
[[ " $(try stats -r cuda_gpu_k) " == *" cuda_gpu_kern_sum "* ]] || { echo "no report offered"; exit 1; }
cd "$WORK"
: >one.sqlite; : >two.txt; mkdir sub
[[ " $(try stats '') " == *" one.sqlite "* && " $(try stats '') " != *" two.txt "* &&
    " $(try stats '') " == *" sub "* ]] || { echo "captures and folders are not what is offered"; exit 1; }
[[ " $(try '') " == *" one.sqlite "* ]] || { echo "no capture offered as the first word"; exit 1; }
END
WORK=$work bash "$work/complete.sh"
echo "ok"
