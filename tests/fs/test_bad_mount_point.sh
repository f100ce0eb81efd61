#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Refused at the start: a dataset that is missing, a file, or empty, by name; a mount point that is
# missing, a file, or busy; and a second daemon with the same state directory.
. "$(dirname "$0")/lib.sh"
alone
refused "$D" images
touch "$D"
refused "$D"
rm "$D"
mkdir -p "$D/class0"
refused "$D"
rm -r "$D" "$T/joaderfs.ini"
dataset 2 4
job a tensor.crop=32
config
rmdir "$M"
refused "$M"
touch "$M"
refused "$M"
rm "$M"
mkdir "$M"
start

status=0
timeout 20 "$PROGRAM" "$T/joaderfs.ini" "$M" -f >"$T/second" 2>&1 || status=$?
((status != 0 && status < 124)) || fail "a second daemon ended with $status"
grep -q joaderfs: "$T/second" || fail "the second daemon said nothing"
read_epoch a || fail "the first daemon stopped serving"
once a 8
stop

# The supervisor and the engine are killed together: the next daemon detaches their mount, and
# continues the order.
start
order a >"$T/before"
kill -KILL "$PID"
wait "$PID" 2>/dev/null || true
PID=
[[ $(stat "$M" 2>&1) == *"not connected"* ]] || fail "the mount is not dead: $(stat "$M" 2>&1)"
start
grep -q "detached the mount of a daemon that was killed" "$LOG" || fail "it did not say so"
equal "order after a kill" "$(order a)" "$(<"$T/before")"
equal "mounts there" "$(grep -c " $M " /proc/self/mounts)" 1
stop

# The next daemon detaches several dead mounts, one above the other, and keeps the mounts below.
if ((EUID == 0)); then
	touch "$M/below"
	"$PYTHON" - "$M" <<-'END'
		import ctypes, os, sys
		libc = ctypes.CDLL(None, use_errno=True)
		for _ in range(3):
		    device = os.open("/dev/fuse", os.O_RDWR)
		    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
		    if libc.mount(b"joaderfs", sys.argv[1].encode(), b"fuse.joaderfs", 1, options) != 0:
		        sys.exit(os.strerror(ctypes.get_errno()))
		    os.close(device)
	END
	equal "dead mounts" "$(grep -c " $M " /proc/self/mounts)" 3
	start
	equal "mounts there" "$(grep -c " $M " /proc/self/mounts)" 1
	read_epoch a
	stop
	equal "what is below" "$(ls "$M")" below
	rm "$M/below"
fi

# The dead mount of another file system stays, and the message gives the remedy.
"$PROGRAM" --no-supervisor "$T/joaderfs.ini" "$M" -f -o subtype=other >"$T/first" 2>&1 &
PID=$!
until mounted "$M"; do kill -0 "$PID" || fail "$(cat "$T/first")"; done
kill -KILL "$PID"
wait "$PID" 2>/dev/null || true
PID=
timeout 20 "$PROGRAM" "$T/joaderfs.ini" "$M" -f >"$T/second" 2>&1 && fail "mounted over a dead mount"
grep -q 'is gone' "$T/second" || fail "$(cat "$T/second")"
unmount "$M"
