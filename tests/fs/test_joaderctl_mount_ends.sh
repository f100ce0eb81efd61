#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A mount of a job is forced off, or its job removed, or its daemon stopped, while readers wait: no
# process hangs, and open files of a removed job can be read as long as the daemon runs.
. "$(dirname "$0")/mounts.sh"
dataset 1 6
size=64
for name in forced removed stopped open; do # the sizes differ, so that each job decodes for itself
	job "$name" tensor.resize=$size tensor.crop=$size
	size=$((size - 2))
done
start --fault "load.read:NONE:until=$T/go"
alone=$(sessions)
mkdir "$T/m"

# readers JOB: mounts the job and starts six readers, which wait there; $T/error* has their errors
readers() {
	local i
	rm -f "$T/go"
	ctl mount "$1" "$T/m" >/dev/null
	for i in 0 1 2 3 4 5; do
		cat "$T/m/epoch-0000/0000000$i.ppm" >/dev/null 2>"$T/error$i" &
	done
	for _ in $(seq 1000); do
		(($(status_of "$1" bound) == 6)) && return 0
		sleep 0.01
	done
	fail "the readers of $1 don't wait"
}

wait_readers() {
	local reader
	for reader in $(jobs -p); do
		[[ $reader == "$PID" ]] || wait "$reader" || true
	done
}

# The kernel ends the session. Results that a worker still has for it are dropped.
readers forced
umount -f "$T/m" 2>/dev/null || umount -l "$T/m"
wait_readers
[[ $(cat "$T"/error*) ]] || fail "all readers were served"
touch "$T/go"
wait_sessions "$alone"
for _ in $(seq 50); do # files are consumed a moment after their close
	[[ $(status_of forced consumed) != "$(find "$T"/error* -empty | wc -l)" ]] || break
	sleep 0.1
done
equal "consumed, not by readers that got nothing" "$(status_of forced consumed)" \
	"$(find "$T"/error* -empty | wc -l)"
read_epoch forced
once forced 6
nothing_held

readers removed
ctl rm removed >/dev/null
wait_readers
grep -q "No such device" "$T"/error* || fail "no reader was told: $(cat "$T"/error*)"
touch "$T/go"
umount "$T/m"
wait_sessions "$alone"

ctl mount open "$T/m" >/dev/null
exec 5<"$T/m/epoch-0000/00000000.ppm"
ctl rm open >/dev/null
equal "what was open" "$(wc -c <&5)" $((13 + 58 * 58 * 3))
exec 5<&-
for path in "" /status /epoch-0000 /epoch-0000/00000000.ppm; do
	! stat "$T/m$path" >/dev/null 2>"$T/error" || fail "$path is still there"
	grep -q "No such device" "$T/error" || fail "$(cat "$T/error")"
done
ctl add "$T/jobs.d/open.ini" >/dev/null
! ls "$T/m" 2>/dev/null || fail "another job has taken the place of the removed one"
umount "$T/m"
wait_sessions "$alone"

readers stopped
(sleep 1 && touch "$T/go") &
stop
wait
[[ $(cat "$T"/error*) ]] || fail "all readers were served"
! ls "$T/m" 2>"$T/error" || fail "it can be listed, with no daemon"
grep -q "not connected" "$T/error" || fail "$(cat "$T/error")"
umount "$T/m"
