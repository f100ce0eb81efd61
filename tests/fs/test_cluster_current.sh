#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Ranks on two nodes read current/ in epochs that are longer than one draw. Several training scripts
# run one after the other, also after one that was killed in the middle of an epoch. No rank waits
# for ever, and in each pass all ranks together get each sample once.
# beside: it waits most of the time
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=480
export RANKS=2
dataset 2 $((N / 2)) 32x24
redis
for number in 0 1; do
	node n$number 'ttl = 1s'
	rank n$number $number tensor.crop=16 view.lookahead=4
	launch n$number
done
SCRIPTS=0

# script PASSES [FILES]: runs rank_script.py for both ranks, on the two nodes
script() {
	local number readers=()
	SCRIPTS=$((SCRIPTS + 1))
	for number in 0 1; do
		timeout 50 "$PYTHON" "$FS/rank_script.py" "$T/n$number/mnt/jobs/r$number/current" \
			"$SCRIPTS$number" "$@" >"$T/script.$number" &
		readers+=($!)
	done
	for number in 0 1; do
		wait "${readers[$number]}" && continue
		(($# == 2)) || fail "script $SCRIPTS, rank $number does not go on: $(wc -l <"$T/script.$number") files"
	done
}

# passes PASSES: checks that each pass of the script had all samples
passes() {
	local number
	for ((number = 0; number < $1; number++)); do
		equal "script $SCRIPTS, pass $number" \
			"$(sed -n "s/^$number //p" "$T"/script.[01] | sort -u | wc -l)" $N
	done
}

# paused: waits until the reading rate is forgotten, so that few samples are drawn ahead
paused() {
	sleep 2
}

script 2
passes 2
paused
script 1
passes 1
script 0 180
paused
script 1
passes 1
script 0 60
script 2
passes 2
end n0
end n1
