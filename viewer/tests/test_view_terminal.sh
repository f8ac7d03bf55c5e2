#!/usr/bin/env bash
# The timeline in a real terminal (tmux): a person's path, resizes, signals, and the terminal as it
# was afterwards. Nothing sleeps for a time: each step polls for the text that it must bring.
set -euo pipefail
capture=$CUTLINE_BUILD/demo.sqlite
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
socket=cutline-test-$$
session=s
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
work=$(mktemp -d)
export CUTLINE_CONFIG=/dev/null XDG_STATE_HOME=$work/state

tmux_() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'tmux_ kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

screen() { tmux_ capture-pane -p -t $session; }
send() { tmux_ send-keys -t $session "$@"; }

# expect TEXT: until the screen shows it; a bounded number of looks.
expect() {
    local i
    for i in $(seq 1 200); do
        screen | grep -qF -- "$1" && return 0
        sleep 0.05
    done
    echo "never saw '$1' (look $i); the screen:"
    screen
    exit 1
}
# gone TEXT: until the screen does not show it any more.
gone() {
    local i
    for i in $(seq 1 200); do
        screen | grep -qF -- "$1" || return 0
        sleep 0.05
    done
    echo "'$1' stays (look $i); the screen:"
    screen
    exit 1
}

tmux_ new-session -d -x 80 -y 24 -s $session "env PS1='ready> ' bash --norc"
expect 'ready>'
send "cd $work; stty -g >before; clear; echo be''fore" Enter
expect 'before'
view="$CUTLINE view $capture"

echo "a person's path"
send "$view; echo status=\$?" Enter
expect 'GPU0'
expect '? help'
send '+'
expect 'zoom'
send 'g'
expect 'Idle gaps in view'
send 'Enter'
expect 'GPU1'
send 'Escape'
gone 'Idle gaps in view'
send 'f' 'gemm'
expect 'filter: gemm'
expect '/gemm/'
send 'Enter'
gone 'filter: gemm'
tmux_ resize-window -t $session -x 50 -y 12
expect 'GPU'
tmux_ resize-window -t $session -x 20 -y 5
expect 'GPU'
tmux_ resize-window -t $session -x 100 -y 30
expect '/gemm/'
send '?'
expect 'What one sees'
send 'q'
gone 'What one sees'
send 'q'
expect 'status=0'
expect 'before'
send 'stty -g >after; cmp before after && echo sa''me' Enter
expect 'same'

echo "what is folded stays folded"
send "clear; $view; echo status=\$?" Enter
expect '? help'
send 'Space'
expect '▸GPU 0'
send 'q'
expect 'status=0'
send "clear; $view; echo status=\$?" Enter
expect '▸GPU 0'
send 'Space'
gone '▸GPU 0'
send 'q'
expect 'status=0'

for signal in TERM HUP INT; do
    echo "SIG$signal gives the terminal back"
    send "clear; echo be''fore" Enter
    expect 'before'
    send "$view & echo \$! >pid; fg; echo en''ded=\$?" Enter
    expect '? help'
    child=$work/pid
    kill -s "$signal" "$(cat "$child")"
    expect 'ended='
    send 'stty -g >after; cmp before after && echo sa''me' Enter
    expect 'same'
done

# ended FILE: until no process of the numbers in FILE runs any more.
ended() {
    local i pid running
    for i in $(seq 1 200); do
        running=
        for pid in $(cat "$1"); do
            grep -qs '^State:[[:space:]]*[^Z[:space:]]' "/proc/$pid/status" && running=$pid
        done
        [ -n "$running" ] || return 0
        sleep 0.05
    done
    echo "process $running goes on (look $i)"
    exit 1
}

echo "while a file is read the screen says so, and can be left"
mkdir "$work/bin"
mkfifo "$work/go"
cat >"$work/bin/nsys" <<SH
#!/bin/bash
# A stand-in that exports when it is told to; a process of its own, too.
sleep 1000 &
echo \$\$ \$! >"$work/nsys.pids"
while [ "\$1" != --output ]; do shift; done
touch "\$2"
read -r go <"$work/go"
kill %1
cp "$capture" "\$2"
SH
chmod +x "$work/bin/nsys"
slow="XDG_CACHE_HOME=$work/cache PATH=$work/bin:\$PATH $CUTLINE"
touch "$work/one.nsys-rep"
send "clear; $slow view one.nsys-rep; echo en''ded=\$?" Enter
expect 'reading 0 %'
expect 'q quit'
echo go >"$work/go"
expect '? help'
send 'q'
expect 'ended=0'
[ "$(ls "$work/cache/cutline" | wc -l)" -eq 1 ]

for how in q C-c TERM HUP KILL; do
    echo "$how leaves at once while nsys exports, and nsys ends"
    touch "$work/$how.nsys-rep"
    rm -f "$work/nsys.pids" "$work/pid"
    send "clear; stty sane; $slow view $how.nsys-rep & echo \$! >pid; fg; echo en''ded=\$?" Enter
    expect 'reading 0 %'
    status=0
    case $how in
    q) send q ;;
    C-c) send C-c; status=130 ;;
    *) kill -s "$how" "$(cat "$work/pid")"; status=$((128 + $(kill -l "$how"))) ;;
    esac
    expect "ended=$status"
    ended "$work/nsys.pids"
    [ "$how" = KILL ] || {
        send 'stty -g >after; cmp before after && echo sa''me' Enter
        expect 'same'
    }
done
send "clear; stty \$(cat before); $slow stats KILL.nsys-rep & echo \$! >pid; fg; echo en''ded=\$?" Enter
rm "$work/nsys.pids"
for i in $(seq 1 200); do [ -s "$work/nsys.pids" ] && break; sleep 0.05; done
kill "$(cat "$work/pid")"
expect 'ended=143'
ended "$work/nsys.pids"
# Nothing half-done stays.
for i in $(seq 1 200); do
    [ "$(ls "$work/cache/cutline" | wc -l)" -eq 1 ] && break
    sleep 0.05
done
[ "$(ls "$work/cache/cutline" | wc -l)" -eq 1 ] || { ls "$work/cache/cutline"; exit 1; }

echo "copies are new files: no link is followed, nothing is written over, no pipe is waited for"
ln -s "$work/target" "$work/cutline-copy.txt"
mkfifo "$work/cutline-copy-2.txt" "$work/cutline-1.svg"
echo mine >"$work/cutline-copy-3.txt"
send "clear; $view; echo sta''tus=\$?" Enter
expect '? help'
send 'y'
expect 'copied to the clipboard and to cutline-copy-4.txt'
send 'Y'
expect 'copied (cutline-copy-5.txt): cutline view'
send 'S'
expect 'saved as cutline-2.svg'
send 'y'
expect 'copied to the clipboard and to cutline-copy-6.txt'
send 'q'
expect 'status=0'
[ ! -e "$work/target" ] || { echo "a link was followed"; exit 1; }
[ "$(cat "$work/cutline-copy-3.txt")" = mine ] || { echo "a file was written over"; exit 1; }
grep -q 'GPU 0' "$work/cutline-copy-4.txt"
grep -q '^cutline view --at' "$work/cutline-copy-5.txt"

echo ":w writes a new file of that name, :q leaves, Ctrl-C in a list only closes it"
send "clear; $view; echo sta''tus=\$?" Enter
expect '? help'
send ':w frame.txt' Enter
expect 'written: frame.txt'
send ':w frame.txt' Enter
expect 'frame.txt: File exists'
send 'g'
expect 'Idle gaps in view'
send 'C-c'
gone 'Idle gaps in view'
send ':q' Enter
expect 'status=0'
grep -q 'GPU 0' "$work/frame.txt"

echo "what is kept of a capture replaces a link, and is not read from a pipe"
kept=$(ls "$XDG_STATE_HOME"/cutline/demo.sqlite-*)
rm "$kept"
ln -s "$work/target" "$kept"
send "clear; $view; echo sta''tus=\$?" Enter
expect '? help'
send 'Space'
expect '▸GPU 0'
send 'q'
expect 'status=0'
[ ! -e "$work/target" ] || { echo "a link was followed"; exit 1; }
grep -q '^row f GPU 0' "$kept"
rm "$kept"
mkfifo "$kept"
send "clear; $view; echo sta''tus=\$?" Enter
expect '? help'
send 'q'
expect 'status=0'
rm "$kept"

echo "two captures are read again"
send "clear; $CUTLINE view $capture $capture; echo sta''tus=\$?" Enter
expect 'BASE'
send 'd'
expect 'Differences in view'
send 'Escape'
send 'F5'
expect 'read again'
send 'd'
expect 'Differences in view'
send 'Escape' 'q'
expect 'status=0'

echo "the file goes away, comes back changed, and is read again"
cp "$capture" "$work/file.sqlite"
send "clear; $CUTLINE view file.sqlite; echo sta''tus=\$?" Enter
expect '? help'
rm "$work/file.sqlite"
send 'jjw'
expect 'the file is gone'
send 'F5'
expect 'no such file'
cp "$capture" "$work/file.sqlite"
send 'F5'
expect 'read again'
touch -d tomorrow "$work/file.sqlite"
send 'j'
expect 'the file has changed'
send 'q'
expect 'status=0'

if command -v screen >/dev/null; then
    echo "Escape in GNU screen"
    mkdir -m 700 "$work/screen"
    send "clear; SCREENDIR=$work/screen screen -c /dev/null -U $view; echo le''ft" Enter
    expect '? help'
    send 'g'
    expect 'Idle gaps in view'
    send 'Escape'
    gone 'Idle gaps in view'
    send 'q'
    expect 'left'
fi

echo "stopped and continued"
send "clear; $view" Enter
expect '? help'
send 'C-z'
expect 'Stopped'
gone '? help'
send "fg" Enter
expect '? help'
send 'q'
gone '? help'
for kind in unheard-of xterm-unheard-of tmux-unheard-of screen.unheard-of ''; do
    echo "TERM=$kind is taken for a terminal that is known"
    send "clear; TERM=$kind $view; echo sta''tus=\$?" Enter
    expect 'taken for'
    expect 'GPU 0'
    send 'g'
    expect 'Idle gaps in view'
    gone 'taken for'
    send 'Escape' 'q'
    expect 'status=0'
done
send "clear; TERM=dumb $view; echo sta''tus=\$?" Enter
expect 'status=1'
send "clear; TERM=vt100 $view" Enter
expect '? help'
send 'q'
gone '? help'
send 'exit' Enter
