# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# Sourced instead of lib.sh by tests of joaderctl mount: runs the test in a mount name space of its
# own, so that no mount can outlive it.

if ((EUID == 0)) && [[ -z ${OWN_MOUNTS-} ]]; then
	OWN_MOUNTS=1 exec unshare -m bash "$0"
fi
# shellcheck source=tests/fs/lib.sh
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || skip "runs as root, to mount in a name space of its own"

# sessions: prints the number of FUSE descriptors of the daemon, one per session
sessions() {
	find "/proc/$(pgrep -P "$PID" || echo "$PID")/fd" -lname /dev/fuse | wc -l
}

# wait_sessions NUMBER: waits for this number of sessions. A session ends a moment after its mount,
# or when the samples for which its readers wait are prepared.
wait_sessions() {
	local _
	for _ in $(seq 300); do
		[[ $(sessions) != "$1" ]] || return 0
		sleep 0.1
	done
	equal "sessions" "$(sessions)" "$1"
}
