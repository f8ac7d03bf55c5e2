#!/usr/bin/env bash
# The path of a person with a real two-GPU capture in a terminal of 80x24: the longest gap of device 1,
# its cause, the call that ended it, the next step, only NCCL kernels, the other capture, a copy.
set -euo pipefail
before=$CUTLINE_CAPTURES/mfu-2gpu-before.sqlite
after=$CUTLINE_CAPTURES/mfu-2gpu-after.sqlite
[ -f "$before" ] || { echo "skipped: no real captures"; exit 77; }
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
socket=cutline-path-$$
work=$(mktemp -d)
export LC_ALL=C.UTF-8 CUTLINE_CONFIG=/dev/null XDG_STATE_HOME=$work/state
unset NO_COLOR TMUX

tmux_() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'tmux_ kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
screen() { tmux_ capture-pane -p -t s; }
send() { tmux_ send-keys -t s "$@"; }
expect() {
    local i
    for i in $(seq 1 200); do
        screen | grep -q -- "$1" && return 0
        sleep 0.05
    done
    echo "never saw '$1' (look $i); the screen:"
    screen
    exit 1
}

# The longest gap of device 1 and its cause, as another command tells them.
longest=$("$CUTLINE" analyze -f csv -r idle_gaps:min=50us "$before" |
    python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["Device ID"] == "1":
        print("%.2f ms" % (int(row["Duration (ns)"]) / 1e6)); break')
[ -n "$longest" ] || { echo "analyze names no gap of device 1"; exit 1; }

tmux_ new-session -d -x 80 -y 24 -s s -c "$work" "env PS1='ready> ' bash --norc"
expect 'ready>'
send "$CUTLINE view $before $after; echo sta''tus=\$?" Enter
expect '^BASE mfu'
expect '^NEW mfu'
send 'g'
expect 'Idle gaps'
send $'\x5c' 'GPU 1' 'Enter'
send 'Enter'
send 'q'
expect "idle gap of GPU 1: $longest"
expect 'cause: '
send '%'
expect 'the call that launched the op after the gap'
expect 'cuda'
send 'Escape'
send '/' 'ProfilerStep|FlashAttn' 'Enter'
send '}'
expect 'step [0-9]* of [0-9]*\|first step\|last step\|no repeated'
send 'f' 'nccl' 'Enter'
expect '/nccl/ [1-9][0-9]* of [0-9]* names'
send 'd'
expect 'Differences in view'
expect 'nccl'
send 'q'
send 'C-w'
send 'y'
expect 'copied to the clipboard and to cutline-copy.txt'
grep -q 'GPU 1' "$work/cutline-copy.txt"
send 'q'
expect 'status=0'
echo ok
