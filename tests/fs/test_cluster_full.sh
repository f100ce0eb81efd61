#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# The disk of the server, and that of a daemon, becomes full; the server's clock jumps, and a
# daemon's clock differs. Readers wait or read on, and no sample is lost.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 60 48x36
mkdir -p "$T/engine" "$T/b/state"
for name in engine b/state; do
	mount -t tmpfs -o size=2m,mode=700 tmpfs "$T/$name" 2>/dev/null ||
		skip "needs root, to mount a tmpfs"
done
"${CC:-cc}" -shared -fPIC -o "$T/clock_ahead.so" "$FS/clock_ahead.c"
# clock SECONDS: sets the server's clock ahead by SECONDS
clock() {
	echo "$1" >"$T/clock.new"
	mv "$T/clock.new" "$T/clock"
}
clock 0
under=(env "LD_PRELOAD=$T/clock_ahead.so" "CLOCK_AHEAD=$T/clock")
redis --appendfsync everysec
under=()
three_nodes 'listen = 127.0.0.1:0'
read_three 20
they_go_on "${ALL[@]}"

fill() {
	cat /dev/zero >"$1/full" 2>/dev/null || true
}

row "the server's disk is full"
fill "$T/engine"
shows a '^state away$'
they_wait
rm "$T/engine/full"
they_go_on "${ALL[@]}"
grep -q 'the engine refuses .*: MISCONF' "$LOG" || fail "no line about its disk"

row "the disk of a daemon's state is full"
fill "$T/b/state"
they_go_on "${ALL[@]}"
for _ in 1 2 3; do
	they_go_on "${ALL[@]}"
	sleep 0.5
done
rm "$T/b/state/full"
they_go_on "${ALL[@]}"
row "the daemon is killed then"
kill_node b
launch b
they_go_on "${ALL[@]}"

before=$(ask time | sed -n 1p)
row "the server's clock jumps ahead by an hour: all leases end"
clock 3600
(($(ask time | sed -n 1p) >= before + 3600)) || fail "it does not jump"
they_go_on "${ALL[@]}"
row "and back by two, when the leader has just died: its leases still end"
lead=$(leader)
kill_node "$lead"
clock -3600
another_leads "$lead"
launch "$lead"
they_go_on "${ALL[@]}"

row "a daemon comes back with a clock that is a day ahead"
kill_node c
# shellcheck disable=SC2034 # for launch
under=("${day_ahead[@]}")
launch c
if [[ $(readlink "/proc/${PIDS[c]}/ns/time") == $(readlink /proc/self/ns/time) ]]; then
	echo "its clock is not ahead: this Linux makes no name space of time for a program"
fi
they_go_on "${ALL[@]}"
finish_reading
