# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# What tests of joaderctl mount source instead of lib.sh: a mount name space of their own,
# so that nothing can stay mounted after them.

if ((EUID == 0)) && [[ -z ${OWN_MOUNTS-} ]]; then
	OWN_MOUNTS=1 exec unshare -m bash "$0"
fi
# shellcheck source=tests/fs/lib.sh
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || skip "runs as root, to mount in a name space of its own"

# FUSE descriptors of the daemon: one per session
sessions() {
	find "/proc/$(pgrep -P "$PID" || echo "$PID")/fd" -lname /dev/fuse | wc -l
}

# wait_sessions NUMBER: a session ends a moment after its mount, or when the samples that
# were waited for at it are prepared
wait_sessions() {
	local _
	for _ in $(seq 300); do
		[[ $(sessions) != "$1" ]] || return 0
		sleep 0.1
	done
	equal "sessions" "$(sessions)" "$1"
}
