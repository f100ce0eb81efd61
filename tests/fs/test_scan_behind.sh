#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A start serves the result of the last scan, and looks for changes in the background.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"

samples() { sed -n 's/^samples //p' "$M/datasets/images/info"; }

# becomes N: waits until the dataset has N samples
becomes() {
	local _
	for _ in $(seq 200); do
		[[ $(samples) != "$1" ]] || return 0
		sleep 0.05
	done
	fail "the dataset has $(samples) samples, not $1"
}

# more NAME: adds a file of this name
more() { cp "$D/class1/0000.jpg" "$D/class2/$1.jpg"; }

# scans TRY: waits until the scan is tried for the TRY-th time
scans() {
	local _
	for _ in $(seq 200); do
		[[ $(cat "$T/state/datasets/images.looking" 2>/dev/null) != "$1" ]] || return 0
		sleep 0.02
	done
	fail "the scan is not tried for the ${1}th time: $(cat "$LOG")"
}

dataset 3 8
job a tensor.crop=32 job.epochs=9
start
equal "samples of the first scan" "$(samples)" 24
head -c 1 "$(epoch a)/00000003.ppm" >/dev/null
bound=$(order a)
stop

# --- the mount does not wait for the scan
more new
start --fault "dataset.list:NONE:until=$T/go"
equal "samples while it scans" "$(samples)" 24
equal "what was bound" "$(order a)" "$bound"
read_epoch a
once a 24
job_text b tensor.crop=32 >"$T/b.ini"
ctl add "$T/b.ini" >/dev/null # not refused
touch "$T/go"
becomes 25
! grep -q "next start" "$LOG" || fail "$(cat "$LOG")"
equal "names of the next epoch" "$(names "$M/jobs/a/epoch-0001" | grep -c ppm)" 25
stop

# --- the next start scans again if the result could not be installed
more newer
start --fault dataset.install:EIO:times=1
for _ in $(seq 200); do
	! grep -q "the next start scans before it serves" "$LOG" || break
	sleep 0.05
done
grep -q "dataset images: the scan after the start failed: .*images is as it was" "$LOG" || fail "$(cat "$LOG")"
equal "samples as they were" "$(samples)" 25
stop
start
equal "samples of a scan before" "$(samples)" 26
stop

# --- the next engine continues a scan in which the previous one died
rm -f "$T/go"
more newest
start --fault "dataset.list:NONE:until=$T/go"
for try in 1 2; do
	scans "$try"
	equal "samples while it scans" "$(samples)" 26
	kill_engine
done
touch "$T/go"
becomes 27
for _ in $(seq 100); do
	[[ -e $T/state/datasets/images.looking ]] || break
	sleep 0.02
done
[[ ! -e $T/state/datasets/images.looking ]] || fail "the scan has left its file"
stop

# --- but not a scan in which several engines died
rm "$T/go"
more last
start --fault "dataset.list:NONE:until=$T/go"
for try in 1 2 3; do
	scans "$try"
	kill_engine
done
touch "$T/go"
for _ in $(seq 200); do
	! grep -q "dataset images: 3 engines ended while they scanned it" "$LOG" || break
	sleep 0.02
done
grep -q "dataset images: 3 engines ended while they scanned it" "$LOG" || fail "$(cat "$LOG")"
equal "samples of a scan that nobody goes on with" "$(samples)" 27
stop
rm "$D/class2/last.jpg"

# --- other keys find other samples, also for a job that can't change
cp "$D/class1/0000.jpg" "$D/class1/other.jpe"
config images.extensions="jpg jpe"
start
equal "samples with another ending" "$(samples)" 28
stop
job m view.layout=mirror
more for-mirror
start
equal "samples of a mirror" "$(names "$M/jobs/m/epoch-0000/class2" | grep -c mirror)" 1
equal "samples with a mirror" "$(samples)" 29
stop
rm "$T/jobs.d/m.ini"

# --- scan = before and never
more before
config images.extensions="jpg jpe" images.scan=before
start
equal "samples with scan = before" "$(samples)" 30
stop
more never
config images.extensions="jpg jpe" images.scan=never
start
ctl dataset ls >/dev/null # after any work that the scanner has begun
equal "samples with scan = never" "$(samples)" 30
ctl dataset rescan images >/dev/null
equal "samples that rescan has found" "$(samples)" 31
stop
