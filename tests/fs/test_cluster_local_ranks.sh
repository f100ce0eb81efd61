#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# local_ranks: all ranks of a node read one job. Two nodes with three ranks each give each sample to
# one rank in each epoch, also when the engine of a node is killed in the middle of an epoch.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
. "$FS/cluster.sh"
N=87 LOCAL=3 EPOCHS=4
dataset 1 $N 48x36
redis
job_text vit job.epochs=9999 job.ranks=$((2 * LOCAL)) job.local_ranks=$LOCAL "job.node_rank=\$NODE_RANK" \
	job.training=net job.global_batch=12 tensor.crop=32 >"$T/vit.ini"
declare -A NODE_RANK=([a]=0 [b]=1)

# supervised NODE: starts the node with a supervisor, whose PID kill_engine needs
supervised() {
	"$PROGRAM" "$T/$1/joaderfs.ini" "$T/$1/mnt" -f >>"$LOG" 2>&1 &
	PIDS[$1]=$!
	until [[ -e $T/$1/mnt/README ]]; do
		kill -0 "${PIDS[$1]}" || fail "$1 has ended: $(<"$LOG")"
		sleep 0.02
	done
}
for name in a b; do
	node $name 'ttl = 2s' 'listen = 127.0.0.1:0'
	supervised $name
done
meet
for name in a b; do NODE_RANK=${NODE_RANK[$name]} ctl_of $name add "$T/vit.ini" >/dev/null; done
shows a '^rank net 0-2/6 job vit held'
shows b '^rank net 3-5/6 job vit held'

# read_all NODE: reads the node's ranks by children of one process, as with torchrun. The ranks of
# both nodes are in step, as DDP's are.
read_all() {
	local first=$((${NODE_RANK[$1]} * LOCAL)) r readers=()
	for ((r = 0; r < LOCAL; r++)); do
		RANK=$((first + r)) LOCAL_RANK=$r WORLD_SIZE=$((2 * LOCAL)) LOCAL_WORLD_SIZE=$LOCAL timeout 120 \
			"$PYTHON" "$FS/ranks.py" "$T/$1/mnt/jobs/vit/current" "$T/meet" --world-size $LOCAL \
			--first $first --together $((2 * LOCAL)) --in-order --rank "$r" --workers $((r % 2)) --epochs $EPOCHS >>"$T/given.$1" &
		readers+=($!)
	done
	for r in "${readers[@]}"; do wait "$r" || return; done
}
nodes=()
for name in a b; do
	read_all $name &
	nodes+=($!)
done
until grep -qs '^1 ' "$T/given.a"; do sleep 0.01; done
# shellcheck disable=SC2034 # engine.sh uses them
M=$T/a/mnt PID=${PIDS[a]}
kill_engine
for name in "${nodes[@]}"; do wait "$name" || fail "a rank failed"; done

for ((epoch = 0; epoch < EPOCHS; epoch++)); do
	grep -h "^$epoch " "$T"/given.[ab] | cut -d' ' -f2 >"$T/samples"
	equal "samples of epoch $epoch" "$(wc -l <"$T/samples") $(sort -u "$T/samples" | wc -l)" "$N $N"
done
equal "positions" "$(for name in a b; do wc -l <"$T/$name/mnt/jobs/vit/epoch-0000.order"; done | xargs)" "44 43"
for name in a b; do equal "notice of $name" "$(sed -n 's/^notice //p' "$T/$name/mnt/jobs/vit/status")" ""; done

! grep -q damaged "$LOG" || fail "$(grep damaged "$LOG")"

# The message names a missing node by its node_rank.
ctl_of b rm vit >/dev/null
shows a 'hinders training net: no node serves node_rank 1 of 2'

# refused TEXT KEY=VALUE...: checks that a job with these keys is refused with TEXT
refused() {
	! NODE_RANK=0 ctl_of b add --name other "${@:2}" "$T/vit.ini" >"$T/out" 2>&1 || fail "added with ${*:2}"
	grep -qF -- "$1" "$T/out" || fail "not '$1' in: $(<"$T/out")"
}

# A training is resized by the numbers of ranks in its jobs.
# resized RANKS [LOCAL_RANKS]: a's job ends, and a new job with these numbers continues
resized() {
	ctl_of a cluster resize net "$@" >"$T/out" || fail "$(<"$T/out")"
	grep -q "training net continues with ranks = $1:" "$T/out" || fail "$(<"$T/out")"
	ctl_of a rm vit >/dev/null
	sed -i "s/^ranks *=.*/ranks = $1/; s/^local_ranks *=.*/local_ranks = ${2-$LOCAL}/" "$T/vit.ini"
	NODE_RANK=0 ctl_of a add "$T/vit.ini" >/dev/null
	shows a "^rank net 0-$((${2-$LOCAL} - 1))/$1 job vit held"
}
cp "$T/vit.ini" "$T/six.ini"
# not_resized NUMBER RANKS [LOCAL_RANKS]: checks that the resize is refused
not_resized() {
	! ctl_of a cluster resize net "${@:2}" >"$T/out" 2>&1 || fail "resized to ${*:2}"
	grep -q "found $2 ranks, allowed: a multiple of $1, the number of local_ranks" "$T/out" || fail "$(<"$T/out")"
}
not_resized $LOCAL 4
not_resized 4 6 4
resized 3
resized 4 2
shows a 'hinders training net: no node serves node_rank 1 of 2'
resized 6 $LOCAL
mv "$T/six.ini" "$T/vit.ini"

refused 'local_ranks: found 4, allowed: a divisor of ranks, which is 6' --set job.local_ranks=4
refused 'node_rank: found 2, allowed: less than ranks / local_ranks, which is 2' --set job.node_rank=2
refused 'rank: found "rank", allowed: not with local_ranks, which has node_rank instead' --set job.rank=0
refused 'global_batch: found 8, allowed with local_ranks: a multiple of ranks, which is 6' --set job.global_batch=8
sed -i '/^local_ranks/d' "$T/vit.ini"
refused 'node_rank: found "node_rank", allowed: only with local_ranks'
sed -i '/^ranks/d' "$T/vit.ini"
refused 'node_rank: found "node_rank", allowed: only with ranks'
end a
end b
