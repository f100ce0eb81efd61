#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A group whose readers rest asks its server less than once a second for each node, with the default
# ttl. It is awake at once: a training that begins on a node that does not lead, the end of an epoch,
# and the death of the leader are noticed as ever.
# beside: it waits most of the time
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=96
MEASURED=30 # seconds in which nodes list the members several times
dataset 2 $((N / 2)) 32x24
redis
export DATASET_LINES='sampler = exchange'
pair '' tensor.crop=16

# read_epoch_of JOB EPOCH NODE:RANK...: reads the epoch on both nodes, and checks that each sample
# comes once
read_epoch_of() {
	local at job=$1 epoch=$2 readers=()
	for at in "${@:3}"; do
		(
			for ((k = 0; k < N / 2; k++)); do
				timeout 60 cat "$T/${at%:*}/mnt/jobs/$job${at#*:}/epoch-000$epoch/$(printf %08d "$k").ppm" \
					>/dev/null || exit 1
			done
		) &
		readers+=($!)
	done
	for at in "${readers[@]}"; do
		wait "$at" || fail "epoch $epoch of $job can't be read"
	done
	equal "epoch $epoch of $job" "$(cut -f2 "$T"/[ab]/mnt/jobs/"$job"?/epoch-000"$epoch".order | sort -n)" \
		"$(seq 0 $((N - 1)))"
}

# rest: waits until the group is quiet, then prints the number of commands that daemons send
rest() {
	sleep 12
	ask config resetstat >/dev/null
	sleep "$MEASURED"
	# The server also counts commands that functions of the library call. They are left out.
	ask info commandstats | tr -d '\r' |
		sed -nE 's/^cmdstat_(fcall|xrange|getrange|ping|info|role|function.*):calls=([0-9]+),.*/\2/p' |
		paste -sd+ | bc
}

read_epoch_of r 0 a:0 b:1
calls=$(rest)
row "$calls commands of 2 idle nodes in $MEASURED s"
((calls > 0)) || fail "nothing was counted"
((calls <= 2 * MEASURED)) || fail "$calls commands of 2 idle nodes in $MEASURED s"

# A training that begins on the other node is drawn, and so is the next epoch of the first
# training.
lead=$(leader)
other=$(follower)
job_text r7 job.ranks=1 job.rank=0 job.training=alone job.global_batch=8 tensor.crop=16 \
	>"$T/$other/jobs/r7.ini"
ctl_of "$other" add "$T/$other/jobs/r7.ini" >/dev/null
timeout 60 cat "$T/$other/mnt/jobs/r7/epoch-0000/00000000.ppm" >/dev/null || fail "the training does not begin"
read_epoch_of r 1 a:0 b:1

# A quiet group gets another leader when its leader dies.
rest >/dev/null
kill_node "$lead"
shows "$other" "^leader $other"
timeout 60 cat "$T/$other/mnt/jobs/r7/epoch-0000/00000001.ppm" >/dev/null || fail "reading does not go on"
launch "$lead"
shows "$other" "^member $lead "
read_epoch_of r 2 a:0 b:1
end a
end b
