#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A joaderctl mount that is killed half way leaves no mount and no session.
. "$(dirname "$0")/mounts.sh"
dataset 2 4
job a tensor.crop=32
start
alone=$(sessions)
mkdir "$T/x"

# killed [DAEMON]: lets kill_client.py kill joaderctl mount half way, or the daemon, and checks
# that no mount is left
killed() {
	local status=0
	"$PYTHON" "$FS/kill_client.py" "$T/killer" "$@" >"$T/answer" &
	until [[ -S $T/killer ]]; do sleep 0.02; done
	"$BUILD/joaderctl" -s "$T/killer" mount a "$T/x" || status=$?
	equal "status of the killed one" "$status" 137
	rm "$T/killer"
	! mounted "$T/x" || fail "the killed one has left its mount"
	wait_sessions "$alone"
}

killed
killed "$T/socket"
equal "the daemon's answer" "$(<"$T/answer")" ok
ctl mount a "$T/x" >/dev/null
cat "$T/x/status" >/dev/null
umount "$T/x"
stop
