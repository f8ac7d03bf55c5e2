#!/usr/bin/env bash
# What analyze finds: planted faults of the generator, and the gaps of real captures against the
# definition, computed apart.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

planted() {
    local name=$1 mode=$2
    shift 2
    "$CUTLINE_BUILD/generate" --key "$work/$name.json" "$@" "$work/$name.sqlite"
    python3 analysis/tests/check_planted.py "$CUTLINE" "$work/$name.sqlite" "$work/$name.json" "$mode"
}

planted clean clean --plants 3 --zones 3 --exposed 4 --steps 60 --devices 2
planted other clean --plants 2 --zones 2 --steps 40 --seed 11
planted node clean --graphs node --steps 30 --seed 4
planted jitter jitter --plants 3 --zones 3 --steps 60 --jitter 40
planted bare no-osrt --no-osrt --plants 2 --steps 40
planted mute no-api --no-api --plants 2 --steps 40

python3 analysis/tests/check_causes.py "$CUTLINE" "$work/clean.sqlite" "$work/jitter.sqlite" \
    "$work/bare.sqlite" "$work/mute.sqlite" "$CUTLINE_BUILD/demo.sqlite"

# Where event records are in the file, launched work that waits for an event names the stream of the event: that of the last
# record before the wait, of the same process.
cp "$work/clean.sqlite" "$work/events.sqlite"
sqlite3 "$work/events.sqlite" "
    CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, contextId INT, streamId INT,
        correlationId INT, globalPid INT, eventId INT);
    CREATE TEMP TABLE waits AS SELECT DISTINCT globalPid, eventId, correlationId
        FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
        WHERE streamId != 4294967295 AND eventId != 4294967295;
    INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT
        SELECT 0, 1, 76, correlationId - 2, globalPid, eventId FROM waits
        UNION ALL SELECT 0, 1, 77, correlationId - 1, globalPid, eventId FROM waits
        UNION ALL SELECT 0, 1, 88, correlationId + 1, globalPid, eventId FROM waits
        UNION ALL SELECT 0, 1, 99, correlationId - 1, globalPid + (1 << 24), eventId FROM waits;"
"$CUTLINE" analyze -r idle_gaps -f csv "$work/events.sqlite" >"$work/events.csv"
waits=$(grep -c 'launched, waits: for an event' "$work/events.csv")
[ "$waits" -ge 3 ] || { echo "$waits waits for events"; exit 1; }
[ "$(grep -c 'waited for event [0-9]* of stream 77' "$work/events.csv")" -eq "$waits" ] || {
    grep 'launched, waits' "$work/events.csv"
    exit 1
}

if [ -d "$CUTLINE_CAPTURES" ]; then
    python3 analysis/tests/check_causes.py "$CUTLINE" "$CUTLINE_CAPTURES"/*.sqlite
else
    echo "skipped: no real captures"
fi
