#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# test_cluster_chaos.sh fails for a daemon that does not restore the data that the server has lost.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
[[ -x $BUILD/tests/mutant/joaderfs ]] || skip "the mutant is not built: make check-fs"

# chaos NUMBER SEED FAULTS: runs test_cluster_chaos.sh with the mutant NUMBER of coord_mutant.h; 0:
# none
chaos() {
	COORD_MUTANT=$1 DAEMON=$BUILD/tests/mutant/joaderfs CHAOS_FAULTS=$3 CHAOS_SEED=$2 \
		CHAOS_KINDS="rolled_back rolled_back_and_leader_killed" TMPDIR=$T \
		bash "$FS/test_cluster_chaos.sh" >"$T/out" 2>&1
}

chaos 0 2 3 || fail "it fails without a mutant: $(<"$T/out")"
# MUTANT_NO_REPAIR does no harm if no reader has read since the server's snapshot. With three
# faults this was so in every second run.
for seed in 2 3 4 5 6; do
	status=0
	chaos 4 "$seed" 6 || status=$?
	((status > 1)) && fail "status $status: $(<"$T/out")"
	((status == 0)) || break
done
((status == 1)) || fail "five runs without a repair were right: $(<"$T/out")"
grep -m 2 -E 'twice or more|did not come|another sample|drew other samples' "$T/out" || fail "$(<"$T/out")"
