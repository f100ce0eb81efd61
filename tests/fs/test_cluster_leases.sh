#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Leases and cursors of nodes, with a ttl that is longer than any wait of this test. A daemon that
# ends gives back its leases at its last position; one that was killed takes them again at its next
# start. The number of ranks may change when no node runs the training. Nodes tell the contents of
# their caches, for exchange.
. "$(dirname "$0")/lib.sh"
export DATASET_LINES='sampler = exchange'
. "$FS/cluster.sh"
N=96
dataset 2 $((N / 2)) 32x24
redis

# adds NODE JOB RANK RANKS: a rank of net
adds() {
	job_text "$2" job.epochs=4 job.ranks="$4" job.rank="$3" job.training=net job.global_batch=8 \
		tensor.crop=16 >"$T/$2.ini"
	ctl_of "$1" add "$T/$2.ini" >/dev/null
}

# cursor RANK: prints the rank's cursor in the group
cursor() {
	redis-cli -s "$T/redis" hget '{joaderfs}:cur:net' "$1"
}

# With a short ttl the log is completed. Then the ttl becomes long, so that leases last.
node a 'ttl = 1s'
launch a
shows a '^repairing no$'
end a
node a 'ttl = 40s'
node b 'ttl = 40s'
launch a
launch b
adds a r0 0 2
adds b r1 1 2
reads a r0 0 0 6
reads b r1 0 0 4

# The node ends: other nodes know its last position, and serve its rank at once.
end a
equal "cursor of the node that ended" "$(cursor 0)" 0:7
adds b r0 0 2
reads b r0 0 7 9
shows b '^rank net 0/2 job r0 held'

# The node is killed: after its start it has its ranks and its name again.
kill_node b
launch b
shows b '^rank net 0/2 job r0 held'
shows b '^rank net 1/2 job r1 held'
shows b '^state leads$'
reads b r0 0 10 47
reads b r1 0 5 47
until (($(redis-cli -s "$T/redis" strlen '{joaderfs}:has:images:b') > 8)); do
	sleep 0.05 # the bitmap of no samples has 8 bytes
done

# Three ranks instead of two are refused as long as a node serves two.
rm -r "$T/a/state"
launch a
adds a n0 0 3
adds a n1 1 3
logged 'job n0: ranks: 3 here, 2 in the group; it begins when no node runs the training with the old settings'
ctl_of b rm r0 >/dev/null
ctl_of b rm r1 >/dev/null
adds b n2 2 3
shows a '^rank net 0/3 job n0 held'
shows b '^rank net 2/3 job n2 held'
reads a n0 0 0 $((N * 3 / 8 - 1)) &
first=$!
reads a n1 0 0 $((N * 3 / 8 - 1)) &
second=$!
reads b n2 0 0 $((N / 4 - 1))
wait $first
wait $second
equal "epoch 0" "$(cut -f2 "$T"/[ab]/mnt/jobs/n?/epoch-0000.order | sort -n)" "$(seq 0 $((N - 1)))"
end a
end b
