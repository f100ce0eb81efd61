# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash disable=SC2034
#
# Functions for tests that kill the engine.

engine() {
	pgrep -P "$PID"
}

# another_engine PID: waits until an engine other than PID runs and serves the mount
another_engine() {
	local _ now
	for _ in $(seq 2000); do
		now=$(engine || true)
		if [[ -n $now && $now != "$1" ]]; then
			timeout 20 stat "$M/README" >/dev/null || fail "no engine answers"
			return
		fi
		kill -0 "$PID" || fail "the supervisor has ended"
		sleep 0.005
	done
	fail "there is no other engine"
}

kill_engine() {
	local killed
	killed=$(engine)
	kill "-${1:-KILL}" "$killed"
	another_engine "$killed"
}

jobs_for_chaos() {
	local more=(tensor.crop=32 job.epochs=9999)
	job mirror "${more[@]}" view.layout=mirror
	job flat "${more[@]}"
	job classes "${more[@]}" view.layout=classes
	job mapped "${more[@]}" tensor.format=npy
	job batch "${more[@]}" view.layout=batch view.batch=16
	job tar "${more[@]}" view.layout=tar view.shard=20
	job current "${more[@]}"
	job shards "${more[@]}" view.layout=tar view.shard=20
	job contained "${more[@]}"
}

# upgrade_engine: upgrades to a copy of the program, of another build if there is one; the next call
# goes back
upgrade_engine() {
	local before other=$BUILD/tests/sites/joaderfs
	before=$(engine)
	[[ -x $other ]] || other=$PROGRAM
	[[ -e $T/copy ]] || cp "$other" "$T/copy"
	if [[ $(readlink "/proc/$before/exe") == "$T/copy" ]]; then
		ctl upgrade "$PROGRAM"
	else
		ctl upgrade "$T/copy"
	fi
	another_engine "$before"
}

# kill_until_done SECONDS READER...: starts readers, and kills or upgrades the engine at random moments,
# for SECONDS and at least ten times. Then lets the readers finish their epochs.
kill_until_done() {
	local readers kills=0 end=$((SECONDS + $1))
	"$PYTHON" "$FS/undisturbed.py" "$M/jobs" "$@" &
	readers=$!
	while ((SECONDS < end || kills < 10)) && kill -0 $readers 2>/dev/null; do
		sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
		kills=$((kills + 1))
		if ((kills % 2)); then kill_engine; else upgrade_engine >/dev/null; fi
	done
	wait $readers || fail "readers noticed one of $kills ends of the engine"
	echo "$kills engines have ended"
}
