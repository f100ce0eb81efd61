#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A client that keeps the device that it has given to the daemon can harm its own mount alone:
# the daemon serves all others, takes commands, and ends as it is asked to.
. "$(dirname "$0")/mounts.sh"
dataset 2 4
job a tensor.crop=32
job b tensor.crop=32
mkdir "$T/m"

# client WHAT
client() {
	: >"$T/ready"
	exec {client}> >("$PYTHON" "$FS/shared_device.py" "$(ctl grant a)" a "$T/m" "$1" \
		>"$T/ready" 2>&1)
	until [[ -s $T/ready ]]; do sleep 0.05; done
	equal "the client" "$(<"$T/ready")" ready
}

# ends: the daemon, and the mount of all before it
ends() {
	kill -TERM "$PID"
	while mounted "$M"; do sleep 0.05; done
	ls "$M"
	wait "$PID" || fail "it ended with $?"
	PID=
	exec {client}>&-
	umount -f "$T/m"
}

for fault in "" fuse.clone:EPERM; do
	# shellcheck disable=SC2086
	start ${fault:+--fault $fault}
	client blocks
	read_epoch b
	ends
done
