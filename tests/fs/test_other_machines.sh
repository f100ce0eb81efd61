#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Two daemons, and a training with ranks on both machines, which divides an ImageFolder as
# DistributedSampler does. If files hold the same samples on both machines, each sample comes once.
# If not, the daemon refuses or warns, and names the right setting. Launchers tell a rank of other
# machines through its environment.
. "$(dirname "$0")/lib.sh"
dataset 3 20 48x36
M2=$T/mnt2
mkdir -p "$M2" "$T/second"
for layout in classes mirror flat; do
	job "$layout" view.layout=$layout tensor.crop=32 job.epochs=60
done
job fixed view.layout=classes view.mapping=fixed tensor.crop=32 job.epochs=60
job fresh view.layout=classes view.mapping=fresh tensor.crop=32 job.epochs=60
job warned view.layout=classes view.mapping=fresh tensor.crop=32 job.epochs=60 \
	job.other_machines=warned
job sorted view.layout=flat tensor.crop=32 job.order=sequential job.epochs=60
job rank view.layout=flat tensor.crop=32 job.ranks=2 job.rank=0 job.global_batch=6
config
sed "s,$T/state,$T/second/state,; s,$T/socket,$T/second/socket,; s/^seed = 1/seed = 2/" \
	"$T/joaderfs.ini" >"$T/second.ini"
start
"$PROGRAM" --no-supervisor "$T/second.ini" "$M2" -f >>"$LOG" 2>&1 &
SECOND=$!
at_end() {
	kill "$SECOND"
	wait "$SECOND" || true
}
until [[ -e $M2/README ]]; do
	kill -0 "$SECOND" || fail "the second daemon has ended: $(<"$LOG")"
	sleep 0.02
done

# divided JOB: prints a line for each sample that the two ranks of a launcher get; each rank reads
# its half of the files, in an order that both have shuffled alike
divided() {
	local rank mounts=("$M" "$M2")
	for rank in 0 1; do
		# shellcheck disable=SC2016 # the inner shell expands them
		env RANK=$rank WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 bash -c '
			cd "$1" && find . -name "*.ppm" | sort | shuf --random-source=<(yes) |
				awk "NR % 2 == $2" | xargs sha1sum' _ \
			"${mounts[rank]}/jobs/$1/current" "$rank" 2>>"$T/errors"
	done | cut -d' ' -f1 | sort
}

all=$(cd "$M/jobs/sorted/epoch-0000" && sha1sum ./*.ppm | cut -d' ' -f1 | sort)
equal "samples" "$(sort -u <<<"$all" | wc -l)" 60
for name in fixed mirror; do
	equal "what $name gave" "$(divided $name)" "$all"
	equal "notices of $name" "$(status_of $name notice)" ""
done
[[ $(divided warned) != "$all" ]] || fail "two orders are the same by chance"
! grep -q . "$T/errors" || fail "refused: $(<"$T/errors")"
NOTICE="ranks of the training also run on other machines.*mapping = fixed"
status_of warned notice | grep -q "$NOTICE" || fail "status: $(status_of warned notice)"
equal "what fresh gave" "$(divided fresh)" ""
grep -q "Operation not supported" "$T/errors" || fail "$(<"$T/errors")"
status_of fresh notice | grep -q "$NOTICE" || fail "status: $(status_of fresh notice)"
equal "lines in the log, of two daemons" "$(grep -c "job fresh: .*$NOTICE" "$LOG")" 2

# reads JOB VARIABLE...: tells whether a process with these variables can read a file of the job
reads() {
	env "${@:2}" cat "$M/jobs/$1"/current/*/00000001.ppm >/dev/null 2>&1
}
refused() {
	! reads fresh "$@" || fail "not refused: $*"
}
read_by() {
	reads fresh "$@" || fail "refused: $*"
}
refused WORLD_SIZE=8 LOCAL_WORLD_SIZE=4 SLURM_STEP_NUM_TASKS=2 "SLURM_STEP_TASKS_PER_NODE=1(x2)"
refused WORLD_SIZE=2 NODE_RANK=1
refused WORLD_SIZE=2 SLURM_STEP_NUM_TASKS=2 "SLURM_STEP_TASKS_PER_NODE=1(x2)"
refused SLURM_STEP_NUM_TASKS=5 SLURM_STEP_TASKS_PER_NODE=2,3
refused OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=2
refused PMI_SIZE=4 MPI_LOCALNRANKS=2
refused WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 "LONG=$(head -c 100000 /dev/zero | tr '\0' x)"
read_by WORLD_SIZE=1 LOCAL_WORLD_SIZE=1
read_by WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 SLURM_STEP_NUM_TASKS=2 "SLURM_STEP_TASKS_PER_NODE=1(x2)"
read_by WORLD_SIZE=4 NODE_RANK=0
read_by SLURM_STEP_NUM_TASKS=4 SLURM_STEP_TASKS_PER_NODE=4
read_by OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=4

# A rank that reads files in order may read all of them, and a job with ranks is right, so neither
# is refused.
for name in flat sorted rank; do
	WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 cat "$M/jobs/$name/current/00000001.ppm" >/dev/null
done
status_of flat notice | grep -q "$NOTICE" || fail "status: $(status_of flat notice)"
for name in sorted rank; do
	equal "notices of $name" "$(status_of $name notice)" ""
done
