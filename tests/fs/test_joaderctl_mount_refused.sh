#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl mount reports problems of the place, the job or the daemon, and then mounts nothing.
. "$(dirname "$0")/mounts.sh"
alone
dataset 2 4
job first tensor.crop=32
start
alone=$(sessions)
mkdir "$T/x"
touch "$T/file"

# refuses TEXT ARGUMENT...
refuses() {
	local text=$1 status=0
	shift
	ctl mount "$@" >"$T/out" 2>"$T/error" || status=$?
	((status == 1 || status == 2)) || fail "mount $*: status $status"
	grep -qF -- "$text" "$T/error" || fail "'$text' is not in: $(cat "$T/error")"
	equal "said on standard output" "$(<"$T/out")" ""
}

refuses "No such file" first "$T/missing"
refuses "not a directory" first "$T/file"
refuses "is already a mount point" first "$M"
refuses "no job firts, did you mean first?" firts "$T/x"
refuses "usage:" first
refuses "allow_other" -o ro first "$T/x"
wait_sessions "$alone"
! mounted "$T/x" || fail "it was refused, and mounted"

# Descriptors that joaderctl does not send are refused and closed.
before=$(find "/proc/$PID/fd" -type l | wc -l)
"$PYTHON" - "$T/socket" <<'END'
import os, socket, sys

def ask(expected, *descriptors):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        socket.send_fds(connection, [b"mount\0first\0"], descriptors)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile().read()
    assert answer.startswith("error ") and expected in answer, answer

null, fuse = os.open("/dev/null", os.O_RDWR), os.open("/dev/fuse", os.O_RDWR)
ask("no descriptor")
ask("not of /dev/fuse", null)
ask("not of /dev/fuse", null, fuse, fuse)
ask("belongs to no mount", fuse)
END
equal "the daemon's descriptors" "$(find "/proc/$PID/fd" -type l | wc -l)" "$before"

stop
refuses "no joaderfs answers" first "$T/x"
! mounted "$T/x" || fail "there is no daemon, and it was mounted"

start
ctl mount first "$T/x" >/dev/null
kill -KILL "$PID"
wait "$PID" 2>/dev/null || true
PID=
refuses "fusermount3 -u $T/x" first "$T/x"
umount "$T/x"
unmount "$M"
