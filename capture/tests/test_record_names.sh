#!/usr/bin/env bash
# The names of a recording: every way in which a program gives a text, again and again.
set -euo pipefail
client=$CUTLINE_BUILD/tests/client_nvtx
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; [ ! -s err ] || cat err; exit 1; }
ask() { sqlite3 "$1.sqlite" "$2" | tr '\n' ' ' | sed 's/ $//'; }
record() { "$CUTLINE" record -o "$@" >out 2>err </dev/null || fail "record $*: status $?"; }
# equal WHAT GOT WANTED
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"; }
texts="SELECT coalesce(text, value) AS name, n.* FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = textId"

# --- 3,000 rounds are several segments: a literal is written once in each and pointed at from then on
record names "$client" names 3000
equal "names and their events" \
    "$(sqlite3 names.sqlite "SELECT name, count(*) FROM ($texts) WHERE eventType IN (34, 59, 60) AND name NOT LIKE 'changing text %' GROUP BY 1 ORDER BY 1")" \
    'a literal of a mark|3000
a literal of a range|3000
a literal of a start|3000
a registered text|3000
a registered wide text|3000
a wide literal of a range|3000
short|3000
the text of an attribute|3000
the wide text of an attribute|3000'
equal "changing texts" "$(ask names "SELECT count(*), count(DISTINCT name), sum(substr(name, 15) + 0) FROM ($texts) WHERE name LIKE 'changing text %'")" \
    "3000|3000|4498500"
equal "without a text" "$(ask names "SELECT count(*) FROM ($texts) WHERE name IS NULL")" 0
equal "without an end" "$(ask names "SELECT count(*) FROM ($texts) WHERE eventType IN (59, 60) AND \"end\" IS NULL")" 0
equal "lost" "$(ask names "SELECT count(*) FROM sqlite_master WHERE name = 'CUTLINE_LOSS'")" 0
# the right one: each text has its own kind of event, and its place in the nesting
equal "kinds" "$(ask names "SELECT DISTINCT eventType, name FROM ($texts) WHERE name LIKE 'a literal%' ORDER BY 1")" \
    "34|a literal of a mark 59|a literal of a range 60|a literal of a start"
equal "changing texts in the literal's range" "$(ask names "SELECT count(*) FROM ($texts) i JOIN ($texts) o ON o.start <= i.start AND i.\"end\" <= o.\"end\" AND o.name = 'a literal of a range' WHERE i.name = 'changing text 2999'")" 1

# --- a text that is longer than is kept, and one whose registration was lost, is counted
record long "$client" long
equal "cut texts" "$(ask long "SELECT kind, reason, count FROM CUTLINE_LOSS ORDER BY 2")" \
    "NVTX|NVTX text cut|5 NVTX|registered text not known|1"
equal "what is kept" "$(ask long "SELECT length(name), count(*) FROM ($texts) GROUP BY 1")" "11|1 8192|5"
echo ok
