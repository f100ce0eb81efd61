#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Ranks of a training on two nodes that listen for each other read mostly samples whose home is
# their own node. Together they read each sample once. joaderctl cluster prints the group.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=480
dataset 2 $((N / 2)) 32x24
redis

# begin [CLUSTER-LINE...]: starts nodes a and b, which serve ranks 0 and 1 of 2
begin() {
	local name r=0
	for name in a b; do
		node $name 'ttl = 2s' "$@"
		launch $name
	done
	shows a '^member b '
	shows b '^member a '
	for name in a b; do
		job_text r$r job.epochs=2 job.ranks=2 job.rank=$r job.training=net job.global_batch=32 \
			tensor.crop=16 >"$T/r$r.ini"
		ctl_of $name add "$T/r$r.ini" >/dev/null
		r=$((r + 1))
	done
	shows a '^rank net 0/2 .* held'
	shows b '^rank net 1/2 .* held'
	shows b '^rank net 1/2 .* lag [1-9]'
}

read_all() {
	local k readers=()
	timeout 60 cat "$T/a/mnt/jobs/r0/epoch-0000"/*.ppm >/dev/null &
	readers+=($!)
	timeout 60 cat "$T/b/mnt/jobs/r1/epoch-0000"/*.ppm >/dev/null &
	readers+=($!)
	for k in "${readers[@]}"; do
		wait "$k" || fail "a reader failed"
	done
	equal "epoch 0" "$(cut -f2 "$T"/[ab]/mnt/jobs/r?/epoch-0000.order | sort -n)" "$(seq 0 $((N - 1)))"
}

# Nodes that listen without a rank are no homes of the training's samples.
for name in c d; do
	node $name 'ttl = 2s' 'listen = 127.0.0.1:0'
	launch $name
done
begin 'listen = 127.0.0.1:0'
for name in c d; do shows a "^member $name "; done
read_all
equal "decodes" "$(($(of a decodes) + $(of b decodes)))" $N
# In the mean 2.2 of 32 samples exceed the half of a node: 34 of 480.
moved=$(($(of a samples_fetched) + $(of b samples_fetched)))
((moved < N / 8)) || fail "$moved of $N samples were read away from home"

# metric NODE NAME[LABELS]: waits some seconds until the metric has the expected value
metric() {
	local _ value
	for _ in $(seq 200); do
		value=$(awk -v name="joaderfs_$2" '$1 == name { print $2 }' "$T/$1/mnt/metrics")
		[[ $value != "$3" ]] || return 0
		sleep 0.05
	done
	fail "$2 of $1: found '$value', expected '$3'"
}
for name in a b; do
	metric $name cluster_members 4
	metric $name cluster_reached 1
	metric $name cluster_lag 0
	metric $name cluster_term 1
done
leads=0 drawn=0
for name in a b c d; do
	leads=$((leads + $(of $name cluster_leads)))
	drawn=$((drawn + $(of $name cluster_drawn)))
done
equal "leaders" $leads 1
equal "drawn" $drawn $N
metric b 'job_lag{job="r1",training="net",rank="1"}' 0
metric a 'peer_received_bytes_total{node="b"}' "$(of a fetched_bytes)"
metric a 'peer_sent_bytes_total{node="b"}' "$(of a given_bytes)"
for name in cluster_leads:gauge job_lag:gauge peer_sent_bytes_total:counter; do
	equal "types of $name" "$(grep -c "^# TYPE joaderfs_${name%:*} ${name#*:}$" "$T/a/mnt/metrics")" 1
	equal "helps of $name" "$(grep -c "^# HELP joaderfs_${name%:*} " "$T/a/mnt/metrics")" 1
done
shows a "^samples decoded $(of a decodes) (.*%) fetched $(of a samples_fetched) (.*%) cached .* given $(of a samples_given)$"
for name in a b c d; do end $name; done

# Homes by capacity: both nodes prepare all samples, and node a has most of the capacity.
readers=()
rm -rf "$T"/[ab]/state
for name in a b; do
	node $name 'ttl = 2s' 'listen = 127.0.0.1:0'
	job_text plain tensor.resize=16 view.lookahead=8 >"$T/$name/jobs/plain.ini"
done
echo 'capacity = 9' >>"$T/a/joaderfs.ini"
launch a
launch b
shows a '^member b '
shows b '^member a '
for name in a b; do
	timeout 60 cat "$T/$name/mnt/jobs/plain/epoch-0000"/*.ppm >/dev/null &
	readers+=($!)
done
for name in "${readers[@]}"; do
	wait "$name" || fail "a reader failed"
done
equal "decodes" "$(($(of a decodes) + $(of b decodes)))" $N
decodes=$(of b decodes)
((decodes < N / 4)) || fail "b is the home of $decodes of $N samples with a tenth of the capacity"
end a
end b
