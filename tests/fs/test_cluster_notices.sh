#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# test_cluster_chaos.sh fails for a daemon that does not restore the data that the server has lost.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
[[ -x $BUILD/tests/mutant/joaderfs ]] || skip "the mutant is not built: make check-fs"
for number in 0 4; do # coord_mutant.h: none, MUTANT_NO_REPAIR
	status=0
	COORD_MUTANT=$number DAEMON=$BUILD/tests/mutant/joaderfs CHAOS_FAULTS=3 CHAOS_SEED=2 \
		CHAOS_KINDS="rolled_back rolled_back_and_leader_killed" TMPDIR=$T \
		bash "$FS/test_cluster_chaos.sh" >"$T/out" 2>&1 || status=$?
	if ((number == 0)); then
		((status == 0)) || fail "it fails without a mutant: $(<"$T/out")"
		continue
	fi
	((status == 1)) || fail "status $status: $(<"$T/out")"
	grep -m 2 -E 'twice or more|did not come|another sample|otherwise' "$T/out" ||
		fail "$(<"$T/out")"
done
