#!/usr/bin/env bash
# The names of a recording: every way in which a program gives a text, again and again.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh

record() { "$CUTLINE" record -o "$@" >out 2>err </dev/null || fail "record $*: status $?"; }
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
# --- the last name counts, that of NVTX before that of the system, be it given before the first event
names_of="SELECT value FROM ThreadNames JOIN StringIds s ON s.id = nameId"
for when in early late; do
    record "$when" "$client" renames "$when"
    equal "threads named $when" "$(ask "$when" "$names_of ORDER BY 1")" \
        "a new name of the main thread given by NVTX, then again name after name before worker of names"
    equal "the main thread named $when" "$(ask "$when" "$names_of JOIN CUTLINE_PROCESS p ON globalTid = globalPid | pid WHERE parentPid IS NOT (SELECT pid FROM CUTLINE_PROCESS WHERE name = 'renamed at last')")" \
        "a new name of the main thread"
    equal "categories named $when" "$(ask "$when" 'SELECT text, category FROM NVTX_EVENTS WHERE eventType = 33')" "a new category|5 a new category|5"
    equal "NVTX's names of threads $when" "$(ask "$when" 'SELECT text FROM NVTX_EVENTS WHERE eventType = 39 ORDER BY 1')" \
        "a new name of the main thread given by NVTX, then again"
    equal "processes $when" "$(ask "$when" 'SELECT name FROM PROCESSES ORDER BY 1')" "renamed at last worker of names"
done

# --- the command line is kept, its secrets are not: neither where the process says it nor where we do
record secret sh -c 'exec "$0" mark "$1" --token 0123secret --api-key=0123secret PASSWORD=0123secret' "$client" "it is here"
equal "command line" "$(ask secret 'SELECT commandLine FROM CUTLINE_PROCESS')" \
    "$client mark 'it is here' --token *** --api-key=*** PASSWORD=***"
equal "words" "$(ask secret "SELECT value FROM META_DATA_CAPTURE WHERE name IN ('PROCESS_0:COMMAND', 'PROCESS_0:ARGUMENT_0', 'PROCESS_0:ARGUMENT_3')")" \
    "sh -c it is here"
! grep -q 0123secret secret.sqlite || fail "a secret was stored"
"$CUTLINE" record --print-env --session-dir "$TMPDIR" >env
# shellcheck disable=SC1091
(. ./env && "$client" mark here --token 0123secret)
! grep -q 0123secret "$TMPDIR"/*/*.spool || fail "a secret was spooled"
rm -r "${TMPDIR:?}"/*

# --- push says its level, so that programs which pop only where it has not failed are recorded
record levels "$client" levels
equal "levels" "$(tr '\n' ' ' <out)" "push 0 1 0 2 pop 2 1 0 -2 0 "
equal "ranges by level" "$(ask levels "SELECT count(*), sum(\"end\" IS NULL) FROM NVTX_EVENTS WHERE eventType = 59")" "4|0"

# --- a forked worker's spool holds the strings that it uses, not all of its parent's
"$CUTLINE" record --print-env --session-dir "$TMPDIR" >env
(. ./env && "$client" fork-strings 20000)
session=$(echo "$TMPDIR"/*)
# the parent's is the largest; a worker's has the head, a page or two of names and one of events
sizes=$(stat -c %s "$session"/*.spool | sort -n)
[ "$(echo "$sizes" | wc -l)" -eq 5 ] || fail "spools: $sizes"
[ "$(echo "$sizes" | tail -1)" -gt 500000 ] || fail "the parent's spool has $(echo "$sizes" | tail -1) bytes"
[ "$(echo "$sizes" | sed -n 4p)" -le 40960 ] || fail "a worker's spool has $(echo "$sizes" | sed -n 4p) bytes"
"$CUTLINE" record --recover "$session" -o strings 2>err || fail "--recover"
equal "strings in workers" "$(ask strings "SELECT count(*), count(DISTINCT globalTid), name FROM ($texts) WHERE name LIKE '%worker' OR name LIKE '% 19999' GROUP BY name ORDER BY name")" \
    "12|4|a registered string of the parent, number 19999 4|4|a string of the worker"
equal "strings of the parent" "$(ask strings "SELECT count(DISTINCT name) FROM ($texts) WHERE name LIKE '%of the parent, number %'")" 10001
equal "their domain and category" "$(ask strings "SELECT count(*) FROM NVTX_EVENTS e JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.globalTid = e.globalTid AND d.domainId = e.domainId JOIN NVTX_EVENTS c ON c.eventType = 33 AND c.globalTid = e.globalTid AND c.category = e.category WHERE e.eventType = 34 AND d.text = 'a domain of the parent' AND c.text = 'a category of the parent'")" 10016
echo ok
