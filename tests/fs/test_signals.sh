#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# No signal leaves a dead mount. Signals that ask for the end end the daemon, also while readers
# wait, and as soon as it is mounted: it unmounts with status 0, and the readers get an error
# instead of waiting for ever. Other signals are ignored. An unmount ends the daemon, too.
. "$(dirname "$0")/lib.sh"
dataset 2 8
job a tensor.crop=32

# ended CAUSE: checks that the daemon, which got a signal or was unmounted, unmounts and ends
ended() {
	wait "$PID" || fail "ended with $? after $1"
	PID=
	! mounted "$M" || fail "still mounted after $1"
}

start
for signal in USR1 USR2 ALRM XFSZ PIPE VTALRM PROF IO PWR STKFLT RTMIN RTMAX; do
	kill -"$signal" "$PID"
	cat "$(epoch a)/00000000.ppm" >/dev/null || fail "no answer after SIG$signal"
done
stop
for signal in INT TERM HUP QUIT XCPU; do
	start
	cat "$(epoch a)/00000000.ppm" >/dev/null
	kill -"$signal" "$PID"
	ended "SIG$signal"
done

# early SIGNAL: sends SIGNAL when the file system is mounted, and no thread serves it yet
early() {
	rm -f "$T/go"
	env --default-signal=INT,QUIT "$PROGRAM" "$T/joaderfs.ini" "$M" -f \
		--fault "session.run:NONE:until=$T/go" >>"$LOG" 2>&1 &
	PID=$!
	until grep -qF -- " $M fuse" /proc/self/mounts; do
		kill -0 "$PID" || fail "it did not start"
		sleep 0.02
	done
	kill -"$1" "$PID"
	touch "$T/go"
	ended "SIG$1"
}

for signal in TERM INT HUP QUIT; do early $signal; done

start
exec 3<"$(epoch a)/00000000.ppm"
umount "$M" 2>/dev/null && fail "it was not busy"
exec 3<&-
umount "$M" 2>/dev/null || fusermount3 -u "$M"
ended umount
