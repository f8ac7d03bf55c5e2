#!/usr/bin/env bash
# The names of captures: recordings at the same time each keep their own, ranks are in the name, a name
# that is being recorded to is refused before the command runs, a killed recorder's name is free again.
set -euo pipefail
client=$CUTLINE_BUILD/tests/client_nvtx
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
unset RANK LOCAL_RANK SLURM_PROCID OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; cat err* 2>/dev/null || true; exit 1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"; }
ask() { sqlite3 "$1" "$2" | tr '\n' ' ' | sed 's/ $//'; }
# awaited FILE...: all are there; a recorder that ended before is a failure.
awaited() {
    local file
    for file in "$@"; do
        while [ ! -e "$file" ]; do
            [ -n "$(jobs -rp)" ] || fail "no $file"
        done
    done
}

# --- eight at once without -o: all run before the first may end
mkfifo gate
exec 9<>gate # kept open: each line is for one reader
for i in 1 2 3 4 5 6 7 8; do
    "$CUTLINE" record sh -c ": >started.$i; read -r _ <gate; exec '$client' mark 'text $i'" >/dev/null 2>err.$i </dev/null &
    recorders[i]=$!
done
awaited started.{1,2,3,4,5,6,7,8}
printf '%s\n' 1 2 3 4 5 6 7 8 >&9
for i in 1 2 3 4 5 6 7 8; do wait "${recorders[i]}" || fail "recorder $i"; done
for i in 1 2 3 4 5 6 7 8; do sqlite3 "report$i.sqlite" 'SELECT text FROM NVTX_EVENTS'; done | sort >texts
equal "eight captures" "$(tr '\n' ' ' <texts)" "text 1 text 2 text 3 text 4 text 5 text 6 text 7 text 8 "
[ ! -e report9.sqlite ] || fail "a ninth capture"
"$CUTLINE" record true 2>err
[ -e report9.sqlite ] || fail "%n does not count on"

# --- a rank is in the name that was not given, from each of the launchers' variables
mkdir ranks && cd ranks
for variable in RANK LOCAL_RANK SLURM_PROCID OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK; do
    env "$variable=3" "$CUTLINE" record true 2>../err
    [ -e report1-rank3.sqlite ] || fail "$variable: $(ls)"
    rm report1-rank3.sqlite
done
env LOCAL_RANK=1 RANK=5 "$CUTLINE" record true 2>../err
env LOCAL_RANK=1 RANK=5 "$CUTLINE" record true 2>../err
equal "the rank of the whole job" "$(ls)" "report1-rank5.sqlite
report2-rank5.sqlite"
env RANK=../../x "$CUTLINE" record true 2>../err
[ -e report1.sqlite ] || fail "a rank that is no number: $(ls)"
cd ..

# --- the same name twice: the second is told before its command starts, with -f and without
"$CUTLINE" record -f -o same sh -c ": >running; read -r _ <gate; exec '$client' mark first" 2>err.1 </dev/null &
recorder=$!
awaited running
for option in -f --; do
    status=0
    "$CUTLINE" record -o same "$option" touch ran 2>err || status=$?
    equal "status of the second" "$status" 1
    grep -q "another recording is writing 'same.sqlite'" err || fail "the second is not told"
    [ ! -e ran ] || fail "the second ran its command"
done
echo >&9
wait $recorder || fail "the first"
equal "capture of the first" "$(ask same.sqlite 'SELECT text FROM NVTX_EVENTS')" first
"$CUTLINE" record -f -o same "$client" mark again 2>err
equal "replaced" "$(ask same.sqlite 'SELECT text FROM NVTX_EVENTS')" again
: >mine.sqlite
"$CUTLINE" record -o mine true 2>err && fail "an empty file of somebody was replaced"

# --- a killed recorder: its name is free again
"$CUTLINE" record -o killed sh -c 'echo $$ >pid.new; mv pid.new pid; read -r _ <gate' 2>/dev/null </dev/null &
recorder=$!
awaited pid
kill -KILL $recorder
{ wait $recorder || true; } 2>/dev/null
"$CUTLINE" record -o killed "$client" mark 'after it' 2>err || fail "the name of a killed recorder"
equal "its name" "$(ask killed.sqlite 'SELECT text FROM NVTX_EVENTS')" "after it"
kill -KILL "$(cat pid)"

# --- no capture: that is a failure, and the command's own failure goes before it; nothing is promised that is gone
status=0
"$CUTLINE" record -o gone sh -c 'rm -r "${NVTX_INJECTION64_PATH%/*}"' 2>err || status=$?
equal "status without a capture" "$status" 1
! grep -q recover err || fail "a session that is gone is offered"
status=0
"$CUTLINE" record -o gone sh -c 'rm -r "${NVTX_INJECTION64_PATH%/*}"; exit 7' 2>err || status=$?
equal "status of a failing command" "$status" 7
[ ! -e gone.sqlite ] || fail "the reserved name is left"
status=0
"$CUTLINE" record -o gone ./nothing 2>err || status=$?
equal "status of no command" "$status" 127
[ ! -e gone.sqlite ] || fail "the reserved name is left"

# --- jobs, where there is an MPI
if command -v mpirun >/dev/null; then
    mkdir job && cd job
    mpi=(mpirun --allow-run-as-root --oversubscribe -np 8)
    # what is tested is our part: a machine on which no job starts at all is none of ours
    if "${mpi[@]}" true >/dev/null 2>&1; then
        "${mpi[@]}" "$CUTLINE" record "$client" many 5 2>../err || fail "mpirun of recorders"
        equal "captures by rank" "$(echo ./*)" "$(for i in 0 1 2 3 4 5 6 7; do printf './report1-rank%d.sqlite ' $i; done | sed 's/ $//')"
        for i in 0 1 2 3 4 5 6 7; do
            equal "rank $i" "$(ask "report1-rank$i.sqlite" 'SELECT count(*) FROM NVTX_EVENTS')" 5
        done
        "$CUTLINE" record -o all "${mpi[@]}" "$client" many 5 2>../err || fail "recorder of mpirun"
        equal "one capture of all" "$(ask all.sqlite 'SELECT count(*), count(DISTINCT globalTid) FROM NVTX_EVENTS')" "40|8"
    fi
    cd ..
fi
echo ok
