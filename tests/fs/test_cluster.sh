#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The ranks of one training on two daemons, which agree through a Redis server. In each epoch each
# sample goes to one rank, also when a daemon or the server is killed and comes back, and when the
# server comes back without its latest data. Refused: another selection of samples, and a node's
# name that is in use.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 24
whole=$(seq 0 47)

# ranks NODE RANK...: writes the node's ini and the jobs of its ranks
ranks() {
	local number
	node "$1" 'ttl = 1s'
	for number in "${@:2}"; do
		rank "$1" "$number" tensor.crop=32 view.lookahead=4
	done
}

# files EPOCH FIRST LAST: reads these files of all ranks, with a process for each rank
files() {
	local rank k readers=() at
	for ((rank = 0; rank < RANKS; rank++)); do
		at=$T/a
		((rank < 2)) || at=$T/b
		(
			for ((k = $2; k <= $3; k++)); do
				timeout 60 cat "$at/mnt/jobs/r$rank/epoch-000$1/$(printf %08d "$k").ppm"
			done >/dev/null
		) &
		readers+=($!)
	done
	for k in "${readers[@]}"; do
		wait "$k" || fail "a reader of epoch $1 failed"
	done
}

ids() {
	cut -f2 "$T"/[ab]/mnt/jobs/r?/epoch-"$1".order | sort -n
}

redis
ranks a 0 1
ranks b 2 3
launch a
launch b
files 0 0 11
equal "epoch 0" "$(ids 0000)" "$whole"
shows a '^member b '
shows b '^member a '

# A daemon is killed in the middle of an epoch: bound samples stay, and the other samples come.
files 1 0 5
cp "$T/b/mnt/jobs/r2/epoch-0001.order" "$T/before"
kill_node b
launch b
files 1 6 11
equal "epoch 1" "$(ids 0001)" "$whole"
head -n "$(wc -l <"$T/before")" "$T/b/mnt/jobs/r2/epoch-0001.order" | cut -f1,2 |
	cmp - <(cut -f1,2 "$T/before") || fail "rank 2 has another order"

# The server dies: readers continue when it is back.
files 2 0 3
kill_redis
shows a '^state away$'
redis
files 2 4 11
equal "epoch 2" "$(ids 0002)" "$whole"

# The server forgets everything: the samples in the nodes' journals are restored.
files 3 0 5
kill_redis
rm -r "$T/engine"
redis
files 3 6 11
equal "epoch 3" "$(ids 0003)" "$whole"

# In the middle of an epoch another daemon takes the ranks of a daemon that is gone, which later
# takes them back.
files 4 0 5
shows b '^rank net 2/4 .* committed 4:6'
shows b '^rank net 3/4 .* committed 4:6'
cp "$T/b/mnt/jobs/r2/epoch-0004.order" "$T/before"
end b
mv "$T/b/state" "$T/b/kept"
launch b
until [[ $(wc -l <"$T/b/mnt/jobs/r2/epoch-0004.order" 2>/dev/null) -ge 6 ]] &&
	[[ $(wc -l <"$T/b/mnt/jobs/r3/epoch-0004.order" 2>/dev/null) -ge 6 ]]; do
	sleep 0.05
done
files 4 6 11
equal "epoch 4" "$(ids 0004)" "$whole"
head -n 6 "$T/b/mnt/jobs/r2/epoch-0004.order" | cut -f2 | cmp - <(head -n 6 "$T/before" | cut -f2) ||
	fail "rank 2 had another order"
files 5 0 11
equal "epoch 5" "$(ids 0005)" "$whole"
shows b '^rank net 2/4 .* committed 5:12'
shows b '^rank net 3/4 .* committed 5:12'
end b
rm -r "$T/b/state"
mv "$T/b/kept" "$T/b/state"
launch b
shows b '^rank net 2/4 job r2 held epoch 6 '
files 6 0 11
equal "epoch 6" "$(ids 0006)" "$whole"

# The ranks move again, at the end of an epoch that all ranks have read, so that the server has
# forgotten it.
timeout 60 cat "$T"/a/mnt/jobs/r0/epoch-0007/00000000.ppm >/dev/null
until [[ $(ask exists '{joaderfs}:log:net:6') == 0 ]]; do sleep 0.05; done
end b
mv "$T/b/state" "$T/b/kept"
launch b
until [[ -e $T/b/mnt/jobs/r2/epoch-0007 && -e $T/b/mnt/jobs/r3/epoch-0007 ]]; do sleep 0.05; done
files 7 0 11
equal "epoch 7" "$(ids 0007)" "$whole"

# Daemons and jobs that do not fit the group are refused.
ranks c 0
sed -i 's/^node = c/node = a/' "$T/c/joaderfs.ini"
launch c
shows c '^state refused$'
end c
sed -i 's/^node = a/node = c/' "$T/c/joaderfs.ini"
sed -i '/^\[job\]/a where = id < 40' "$T/c/jobs/r0.ini"
launch c
shows c '^rank net .* refused: '
files 8 0 11
equal "epoch 8" "$(ids 0008)" "$whole"
