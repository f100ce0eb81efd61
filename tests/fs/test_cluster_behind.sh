#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Ranks of two nodes that are not in step. The one that comes to its third epoch waits until the other
# has read the first one: the wait is told, nothing else waits, and no sample is lost, even if the
# node of the slow rank is killed meanwhile. If the samples of a rank are gone all the same, its
# readers get an error at once.
# beside: it waits most of the time
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=48
HALF=$((N / 2))
dataset 2 $HALF 32x24
redis
pair 'ttl = 1s' tensor.crop=16
shows a '^rank net 0/2 job r0 held'
shows b '^rank net 1/2 job r1 held'

# whole EPOCH: both ranks together had each sample once
whole() {
	equal "epoch $1" "$(cut -f2 "$T"/[ab]/mnt/jobs/r?/epoch-000"$1".order | sort -n | xargs)" "$(seq -s " " 0 $((N - 1)))"
}

WHY='epoch 2 waits for the end of epoch 0 at rank 1'
reads b r1 0 0 4
for epoch in 0 1; do reads a r0 $epoch 0 $((HALF - 1)); done
reads a r0 2 0 $((HALF - 1)) &
waits=$!
shows a "^hinders training net: $WHY: read it there; if the rank's node is gone, add its job on another node$"
shows b "^hinders training net: $WHY: "
logged "job r0: training net: $WHY: please read it there"
for job in a/mnt/jobs/r0 b/mnt/jobs/r1; do
	equal "status of $job" "$(sed -n 's/^cluster //p' "$T/$job/status")" "$WHY"
done
reads a r0 1 3 5 || fail "files that were read can't be read again"
equal "samples of epoch 2" "$(wc -l <"$T/a/mnt/jobs/r0/epoch-0002.order")" 0

# The node of the slow rank is gone for longer than its lease.
kill_node b
shows a '^hinders training net: no node serves rank 1 of 2 '
sleep 2
shows a "^hinders training net: $WHY: "
launch b
reads b r1 0 0 $((HALF - 1)) || fail "the slow rank can't read epoch 0: $(ctl_of b cluster)"
wait "$waits" || fail "the rank that waited can't read epoch 2: $(ctl_of a cluster)"
shows a '^hinders nothing$'
for epoch in 1 2; do
	reads b r1 $epoch 0 $((HALF - 1)) || fail "the slow rank can't read epoch $epoch: $(ctl_of b cluster)"
done
for epoch in 0 1 2; do whole $epoch; done
equal "status of a" "$(sed -n 's/^cluster //p' "$T/a/mnt/jobs/r0/status")" ""

# The state directory of b is an older copy, and the server has lost the position of its rank.
reads b r1 3 0 3
# The node ends while a reader, which never comes back, has a file open.
exec 9<"$T/b/mnt/jobs/r1/epoch-0003/00000004.ppm"
sleep 1 # the journal has the binding
kill_node b
exec 9<&-
cp -r "$T/b/state" "$T/older"
launch b
[[ -n $(samples b r1 3 4 4) ]] || fail "the journal has not got the binding"
reads b r1 3 5 $((HALF - 1))
shows b "^rank net 1/2 job r1 held .* committed \(3:$HALF\|4:0\)"
for epoch in 3 4; do reads a r0 $epoch 0 $((HALF - 1)); done
reads b r1 4 0 $((HALF - 1))
reads a r0 5 0 2
kill_node b
rm -r "$T/b/state"
mv "$T/older" "$T/b/state"
ask hdel '{joaderfs}:cur:net' 1 >"$T/out"
launch b
logged 'job r1: rank 1 of net: the group has no samples from position .* of epoch 3 on any more: opens of epochs before 4 fail with ESTALE, and current/ continues with epoch 4'
! reads b r1 3 $((HALF - 1)) $((HALF - 1)) 2>"$T/out" || fail "a sample that is gone was read"
grep -q 'Stale file handle' "$T/out" || fail "$(<"$T/out")"
reads b r1 4 0 $((HALF - 1)) || fail "the next epoch can't be read: $(ctl_of b cluster)"
for job in 'a r0' 'b r1'; do
	# shellcheck disable=SC2086 # node and job
	reads $job 5 0 $((HALF - 1)) || fail "epoch 5 can't be read: $(ctl_of a cluster)"
done
for epoch in 4 5; do whole $epoch; done

# Scripts that read current/: that of b begins when that of a waits.
scripts=()
for job in a/mnt/jobs/r0 b/mnt/jobs/r1; do
	timeout 60 "$PYTHON" "$FS/ranks.py" "$T/$job/current" "$T/${job%%/*}/meet" --world-size 1 --rank 0 \
		--in-order --epochs 4 >"$T/${job%%/*}/given" &
	scripts+=($!)
	[[ $job == b/* ]] || shows a '^hinders training net: epoch 8 waits for the end of epoch 6 at rank 1'
done
for script in "${scripts[@]}"; do wait "$script" || fail "a script does not go on: $(ctl_of a cluster)"; done
for epoch in 6 7 8 9; do whole $epoch; done
equal "samples that scripts got" "$(cat "$T"/[ab]/given | cut -d' ' -f1,2 | sort -u | wc -l)" $((4 * N))
end a
end b
