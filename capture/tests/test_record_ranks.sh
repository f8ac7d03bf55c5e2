#!/usr/bin/env bash
# The place of processes in a job: what their environments say of it and nothing else of them, for a recorder
# around the job's launcher and for one in each rank.
set -euo pipefail
# shellcheck source=capture/tests/recording.sh
. capture/tests/recording.sh
for name in $(env | sed -n 's/^\(\(SLURM\|OMPI\|PMI\|PMIX\|MV2\|PBS\|LSB\|TORCHELASTIC\)_[A-Z_0-9]*\|RANK\|WORLD_SIZE\|LOCAL_RANK\|GROUP_RANK\|MPI_LOCALRANKID\)=.*/\1/p'); do
    unset "$name"
done

record() { "$CUTLINE" record -o "$@" >out 2>err </dev/null || fail "record $*: status $?"; }
place="rank, worldSize, localRank, node, jobId"

# --- one recorder around the launcher of four ranks on two made-up machines
cat >launch.sh <<'END'
for rank in 0 1 2 3; do
    RANK=$rank WORLD_SIZE=4 LOCAL_RANK=$((rank % 2)) GROUP_RANK=$((rank / 2)) TORCHELASTIC_RUN_ID=run-7 \
        SLURM_PROCID=9 OMPI_COMM_WORLD_SIZE=99 API_KEY=not-for-anybody "$1" mark "rank $rank" &
done
wait
END
record around sh launch.sh "$client"
equal "four ranks" "$(ask around "SELECT $place FROM CUTLINE_RANK ORDER BY rank")" \
    "0|4|0|0|run-7 1|4|1|0|run-7 2|4|0|1|run-7 3|4|1|1|run-7"
equal "whose they are" "$(ask around "SELECT count(*) FROM CUTLINE_RANK r JOIN NVTX_EVENTS e ON e.globalTid / 0x1000000 = r.globalPid / 0x1000000 AND e.text = 'rank ' || r.rank")" 4
equal "their host" "$(ask around "SELECT DISTINCT host FROM CUTLINE_RANK")" "$(uname -n)"
equal "their clocks" "$(ask around "SELECT count(*) FROM CUTLINE_RANK r, TARGET_INFO_SESSION_START_TIME t, ANALYSIS_DETAILS d WHERE r.monotonicNs = d.startTime + r.session AND abs(r.realtimeNs - t.utcEpochNs - r.session) < 1000000 AND r.session BETWEEN 0 AND d.duration")" 4
! grep -q 'not-for-anybody' around.sqlite || fail "the environment was stored"

# --- a recorder in each rank, by the variables of the other launchers
OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 record mpi "$client" mark a
equal "Open MPI" "$(ask mpi "SELECT $place FROM CUTLINE_RANK")" "5|8|1||"
PMI_RANK=2 PMI_SIZE=3 MPI_LOCALRANKID=2 PBS_JOBID=77.host record pmi "$client" mark a
equal "MPICH" "$(ask pmi "SELECT $place FROM CUTLINE_RANK")" "2|3|2||77.host"
SLURM_PROCID=0 SLURM_NTASKS=16 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_JOB_ID=123456 record slurm "$client" mark a
equal "Slurm" "$(ask slurm "SELECT $place FROM CUTLINE_RANK")" "0|16|0|0|123456"

# --- no job, and values that are none
record alone "$client" mark a
equal "no job" "$(ask alone "SELECT $place FROM CUTLINE_RANK")" "||||"
RANK=-1 WORLD_SIZE=0x10 LOCAL_RANK=12345678901234567890 GROUP_RANK='' SLURM_NODEID='1;2' \
    SLURM_JOB_ID=$'\xff'"$(printf '%500s' '' | tr ' ' j)" record odd "$client" mark a
equal "odd values" "$(ask odd "SELECT rank, worldSize, localRank, node, length(jobId), unicode(jobId) FROM CUTLINE_RANK")" \
    "||||128|65533"
echo ok
