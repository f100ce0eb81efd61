#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Mounts of jobs come and go, with and without their jobs, while they are read.
. "$(dirname "$0")/mounts.sh"
dataset 3 8
job steady tensor.crop=32 job.epochs=4
for name in x y z; do
	job "$name" tensor.crop=32
	mkdir "$T/$name"
done
start
alone=$(sessions)

# come_and_go NAME: adds a job, mounts and reads it, and then removes it before or after the
# unmount
come_and_go() {
	local i
	for i in 1 2 3 4 5 6; do
		ctl mount "$1" "$T/$1"
		cat "$T/$1/epoch-0000"/*.ppm &
		local reader=$!
		((i % 2)) || ctl rm "$1"
		cat "$T/$1/status" || ((i % 2 == 0))
		((i % 3)) || umount -f "$T/$1" || true
		wait "$reader" || ((i % 2 == 0 || i % 3 == 0))
		umount "$T/$1" || ((i % 3 == 0))
		((i % 2 == 0)) || ctl rm "$1"
		ctl add "$T/jobs.d/$1.ini"
	done >/dev/null 2>&1
}

for name in x y z; do
	come_and_go "$name" &
	loops+=($!)
done
for e in 0000 0001 0002 0003; do
	read_epoch steady "$e" || fail "a read failed"
	once steady 24 "$e"
done
for loop in "${loops[@]}"; do
	wait "$loop" || fail "a loop failed"
done
wait_sessions "$alone"
for name in x y z; do
	cat "$(epoch "$name")"/*.ppm >/dev/null
	once "$name" 24
done
nothing_held
stop
