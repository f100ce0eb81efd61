# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# Sourced instead of lib.sh by tests with an ordinary user: runs the test in a mount name space of its
# own, where all users may open /dev/fuse, as on most machines.
#
#     as_user COMMAND...      runs the command as the user
#     start_user              starts the daemon as the user, mounted on $M
#
# $T/home and $T/run belong to the user.

others=$(stat -c %a /dev/fuse)
if ((EUID == 0)) && [[ $others != *6 && -z ${OWN_DEVICES-} ]]; then
	OWN_DEVICES=1 exec unshare -m bash "$0"
fi
# shellcheck source=tests/fs/lib.sh
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || skip "runs as root, to become another user"
if [[ -n ${OWN_DEVICES-} ]]; then
	mknod -m 666 "$T/fuse" c 10 229 || skip "can't make a device here"
	mount --bind "$T/fuse" /dev/fuse || skip "can't mount here"
fi
mkdir "$T/home" "$T/run"
chown 65534:65534 "$T/home" "$T/run" "$M"
chmod 755 "$T"
user=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$T/home"
	XDG_STATE_HOME="$T/home/state")
as_user() {
	"${user[@]}" "$@"
}

as_user test -x "$PROGRAM" || skip "another user can't reach $PROGRAM"

start_user() {
	printf '[joaderfs]\njobs = jobs.d\nsocket = %s/run/socket\n[dataset images]\npath = %s\n' \
		"$T" "$D" >"$T/joaderfs.ini"
	"${user[@]}" "$PROGRAM" "$T/joaderfs.ini" "$M" -f >>"$LOG" 2>&1 &
	PID=$!
	until as_user test -e "$M/README"; do
		kill -0 "$PID" 2>/dev/null || {
			grep -qi 'permi\|fuse:' "$LOG" &&
				skip "no FUSE for other users here: $(tail -n 1 "$LOG")"
			fail "the daemon ended"
		}
		sleep 0.05
	done
}
