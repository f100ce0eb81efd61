#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A client that keeps the device that it gave to the daemon can harm only its own mount: the daemon
# serves all other mounts, takes commands, and ends when asked to.
. "$(dirname "$0")/mounts.sh"
dataset 2 4
job a tensor.crop=32
job b tensor.crop=32
mkdir "$T/m"

# client CASE: starts shared_device.py, which mounts the job and keeps the device
client() {
	: >"$T/ready"
	exec {client}> >("$PYTHON" "$FS/shared_device.py" "$(ctl grant a)" a "$T/m" "$1" \
		>"$T/ready" 2>&1)
	until [[ -s $T/ready ]]; do sleep 0.05; done
	equal "the client" "$(<"$T/ready")" ready
}

# ends: checks that the daemon ends, and unmounts first
ends() {
	kill -TERM "$PID"
	while mounted "$M"; do sleep 0.05; done
	ls "$M"
	wait "$PID" || fail "it ended with $?"
	PID=
	exec {client}>&-
	umount -f "$T/m" 2>/dev/null || umount -l "$T/m" # forced: its readers are told
}

for fault in "" fuse.clone:EPERM; do
	# shellcheck disable=SC2086
	start ${fault:+--fault $fault}
	client blocks
	read_epoch b
	ends
done

# The kernel holds its own locks until a request is answered, and the daemon must not wait for
# them. So the daemon tells such a mount nothing, and the mount asks by itself. The daemon does not
# wait for the file system of a received descriptor, either.
start
client silent
client steals
mkdir "$T/n"
"$BUILD/joaderctl" -s "$(ctl grant a)" mount a "$T/n" >"$T/out"
ls "$T/n/epoch-0000" >"$T/out"
cat "$T/n/status" >"$T/out"
ctl dataset rescan images
ctl rm a
ctl ls >"$T/out"
while stat "$T/n/status" >"$T/out" 2>&1; do sleep 0.1; done
grep -q "No such device" "$T/out" || fail "$(<"$T/out")"
umount "$T/n"
read_epoch b
ends
