#!/usr/bin/env bash
# Odd captures (testdata/cases): the timeline opens them, or says in one line why not; whatever keys
# are pressed, no control byte reaches the terminal, and nothing but ASCII with --ascii.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 CUTLINE_CONFIG=/dev/null
unset NO_COLOR

fail() { echo "$*"; exit 1; }
printf '%s' 'jwwww<Enter><Enter>%zVVA5w)I<Enter><Esc>g<Enter><Esc>TRZDt<Tab><Esc>EmwmM/.<Enter>nnf.<Enter>' \
    >"$work/keys"
for case in testdata/cases/*.sql; do
    name=$(basename "$case" .sql)
    sqlite3 "$work/$name.sqlite" <"$case"
    for size in 80x24 20x5 200x50; do
        for form in --dump --dump=roles '--dump --ascii'; do
            status=0
            # shellcheck disable=SC2086
            "$CUTLINE" view $form --size $size --script "$work/keys" "$work/$name.sqlite" \
                >"$work/out" 2>"$work/err" || status=$?
            case $name in
            not-*) [ "$status" -eq 1 ] || fail "$name: status $status, not 1" ;;
            *) [ "$status" -eq 0 ] || { cat "$work/err"; fail "$name $size $form: status $status"; } ;;
            esac
            [ "$(wc -l <"$work/err")" -le 1 ] || fail "$name: more than one line on stderr"
            LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$work/out" &&
                fail "$name $size $form: a control byte in the frame"
            if [ "$form" = '--dump --ascii' ]; then
                LC_ALL=C grep -q '[^ -~]' "$work/out" && fail "$name $size: not ASCII"
            fi
        done
    done
done

# Hundreds of near-empty streams: the busiest have rows of their own, the rest is packed on as few as
# hold them; no op is lost.
python3 - "$work/streams.sqlite" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
db.execute("""CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
    contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER, shortName INTEGER)""")
db.execute("INSERT INTO StringIds VALUES (1, 'node_kernel')")
for stream in range(300):
    # Two at a time: 300 streams fit on 2 rows (and the busiest 11 are longer).
    begin = stream // 2 * 1000
    end = begin + (900 if stream < 11 else 500)
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,1,?,?,?,1,1)",
               (begin, end, stream + 7, stream + 1, 281474976710656))
db.commit()
END
printf t >"$work/keys"
"$CUTLINE" view --dump --size 120x40 --script "$work/keys" "$work/streams.sqlite" >"$work/out"
grep -q '289 streams' "$work/out" || { cat "$work/out"; fail "289 of 300 streams should be packed"; }
[ "$(grep -c '^ *+[0-9]' "$work/out")" -eq 1 ] || { cat "$work/out"; fail "the packed streams need 2 rows"; }
grep -q ' 300 .*node_kernel' "$work/out" || { cat "$work/out"; fail "not all 300 kernels"; }

# Fifty devices with sampled metrics: each row is there, the header speaks of the current device, and a
# long name of a metric ends before its value.
python3 - "$work/devices.sqlite" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
db.execute("""CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
    contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER, shortName INTEGER)""")
db.execute("""CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL,
    typeName TEXT NOT NULL, metricId INTEGER NOT NULL, metricName TEXT NOT NULL)""")
db.execute("""CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER NOT NULL,
    metricId INTEGER NOT NULL, value INTEGER NOT NULL)""")
db.execute("INSERT INTO StringIds VALUES (1, 'kernel')")
for device in range(50):
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,1,7,?,?,1,1)",
        [(1000 * i, 1000 * i + 10 * (device + 1), device, 100 * device + i + 1, 281474976710656)
         for i in range(101)])
    db.execute("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?, 0, 'GPU', 1, ?)",
        (512 + device, 'Tensor Active [Throughput %]'))
    db.executemany("INSERT INTO GPU_METRICS VALUES (?, ?, 1, ?)",
        [(1000 * i, 512 + device, 42 if i == 50 else 20) for i in range(101)])
db.commit()
END
printf '>k' >"$work/keys"
"$CUTLINE" view --dump --size 80x160 --script "$work/keys" "$work/devices.sqlite" >"$work/out"
[ "$(grep -c '▾GPU [0-9]' "$work/out")" -eq 50 ] || { cat "$work/out"; fail "not all 50 devices"; }
[ "$(grep -c 'Tensor Acti 42 ' "$work/out")" -eq 50 ] || { cat "$work/out"; fail "not all metrics"; }
grep -q '^devices .* GPU49 50' "$work/out" || { head -1 "$work/out"; fail "the header is not about GPU 49"; }

# Times that make no sense are told.
"$CUTLINE" view --dump --at 99s --size 80x24 "$work/devices.sqlite" >"$work/out"
grep -q '^--at 99s is outside of the capture: ' "$work/out" || fail "--at outside of the capture is not told"
status=0
"$CUTLINE" view --dump --span 0 "$work/devices.sqlite" >"$work/out" 2>"$work/err" || status=$?
[ "$status" -eq 2 ] || fail "--span 0: status $status, not 2"

# What is no capture.
for how in missing empty folder text; do
    case $how in
    missing) file=$work/none.sqlite ;;
    empty) file=$work/empty.sqlite && : >"$file" ;;
    folder) file=$work ;;
    text) file=$work/keys ;;
    esac
    status=0
    "$CUTLINE" view --dump "$file" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 1 ] || fail "$how: status $status, not 1"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$how: not one line on stderr"
    [ ! -s "$work/out" ] || fail "$how: something on stdout"
done
echo ok
