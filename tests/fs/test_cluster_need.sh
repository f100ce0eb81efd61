#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The cache keeps samples that ranks of a training still need: a sample that stays in the cache of
# its home from epoch to epoch is prepared once. Three ranks on one node, and on three nodes with a
# third of the memory each, need nearly as few decodes per sample as one job.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=960 EPOCHS=4
BYTES=$((N * 16 * 16 * 3))
dataset 2 $((N / 2)) 32x24
redis

# start PART NAME [CLUSTER-LINE...]: starts a node whose cache holds PART percent of all tensors
start() {
	node "$2" "${@:3}"
	sed -i "s/^cache = .*/cache = $((BYTES * $1 / 100))/; 1a sampler = $SAMPLER" "$T/$2/joaderfs.ini"
	launch "$2"
}

# add NAME NUMBER: adds a rank at the node
add() {
	job_text "r$2" job.epochs=9999 job.ranks=3 job.rank="$2" job.training=net \
		job.global_batch=48 tensor.crop=16 view.lookahead=16 >"$T/r$2.ini"
	ctl_of "$1" add "$T/r$2.ini" >/dev/null
}

decodes() {
	local name sum=0
	for name; do sum=$((sum + $(of "$name" decodes))); done
	echo $sum
}

# read_epoch EPOCH DIRECTORY...: reads the epoch in all directories at once
read_epoch() {
	local epoch directory readers=()
	epoch=$(printf 'epoch-%04d' "$1")
	for directory in "${@:2}"; do
		timeout 60 cat "$directory/$epoch"/*.ppm >/dev/null &
		readers+=($!)
	done
	for directory in "${readers[@]}"; do
		wait "$directory" || fail "a reader failed"
	done
}

# per_epoch "NODE..." DIRECTORY...: sets $ret to the decodes per 100 samples in the later epochs
per_epoch() {
	local nodes=$1 epoch before
	shift
	read_epoch 0 "$@"
	# shellcheck disable=SC2086
	before=$(decodes $nodes)
	for ((epoch = 1; epoch < EPOCHS; epoch++)); do read_epoch $epoch "$@"; done
	# shellcheck disable=SC2086
	ret=$((($(decodes $nodes) - before) * 100 / (EPOCHS - 1) / N))
}

# compare PART [SAMPLER]: compares a single job with ranks on one node and on three nodes
compare() {
	local name r one single
	PART=$1 SAMPLER=$2
	start "$PART" alone
	job_text one job.epochs=9999 tensor.crop=16 view.lookahead=16 >"$T/one.ini"
	ctl_of alone add "$T/one.ini" >/dev/null
	per_epoch alone "$T/alone/mnt/jobs/one"
	one=$ret
	end alone

	start "$PART" single
	for r in 0 1 2; do add single $r; done
	per_epoch single "$T/single/mnt/jobs"/r[012]
	single=$ret
	end single

	for name in a b c; do start $((PART / 3 + 1)) $name 'ttl = 2s' 'listen = 127.0.0.1:0'; done
	for name in a b c; do
		for r in a b c; do shows $name "^member $r "; done
	done
	r=0
	for name in a b c; do
		add $name $r
		shows $name "^rank net $r/3 .* held"
		r=$((r + 1))
	done
	per_epoch "a b c" "$T"/[abc]/mnt/jobs/r[012]
	for name in a b c; do end $name; done
	ask FLUSHALL >/dev/null
	rm -rf "$T"/*/state
	echo "$SAMPLER, a cache of $PART %: one job $one, ranks on one node $single, on three $ret"
	((one < 110 - PART)) || fail "one job: $one decodes of 100 samples"
	((single * 10 <= one * 11 + 10)) || fail "ranks on one node: $single, one job: $one"
	((ret * 10 <= one * 11 + 10)) || fail "ranks on three nodes: $ret, one job: $one"
}

compare 53 dsa
compare 80 exchange
[[ ${JOADERFS_LONG-} != 1 ]] || {
	compare 80 dsa
	compare 53 exchange
}
