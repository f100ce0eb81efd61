#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A transient error, which is not the image's fault, is tried again, and no reader notices it. A
# lasting error reaches the reader, and the position stays unread: the epoch has every sample once,
# after the error has gone.
. "$(dirname "$0")/lib.sh"
alone
dataset 2 8
job a tensor.crop=32

# --- short errors: no reader notices them
for error in read:EMFILE read:ENFILE read:ENOMEM read:ESTALE read:EINTR read:EAGAIN remote:EIO \
	decode:ENOMEM; do
	rm -rf "$T/state"/*
	start --fault "load.$error:after=4:times=3"
	read_epoch a || fail "$error: a reader noticed"
	equal "$error: errors" "$(status_of a errors)" 0
	equal "$error: tried again" "$(counter retries)" 3
	once a 16
	stop
done

# --- an error that lasts: the reader gets it, and finds everything later
errno() { # of opening a file
	"$PYTHON" -c 'import errno, sys
try: open(sys.argv[1]).close()
except OSError as e: print(errno.errorcode[e.errno])' "$1"
}
rm -rf "$T/state"/*
job one tensor.crop=32 "job.where=id = 3"
job b tensor.crop=32 "job.where=label = 1" view.lookahead=1
start --fault load.read:ENOMEM:times=7
mv "$D/class1" "$D/away" # as a mount that is missing
errno "$(epoch b)/00000002.ppm" >"$T/missing" &
equal "no memory" "$(errno "$(epoch one)/00000000.ppm")" ENOMEM
wait $!
equal "without the directory" "$(cat "$T/missing")" EIO
grep -q 'class1/.*No such file or directory' "$LOG" || fail "the log does not tell the error"
mv "$D/away" "$D/class1"
for name in one b; do
	equal "consumed by $name" "$(status_of $name consumed)" 0
	equal "errors of $name" "$(status_of $name errors)" 1
	read_epoch $name || fail "it is back, and a file can't be read"
done
once b 8
pixels "one 0 32" "b 0 32"
nothing_held

# --- the number of descriptors is the hard limit
soft=$(awk '/^Max open files/ {print $4}' "/proc/$PID/limits")
hard=$(awk '/^Max open files/ {print $5}' "/proc/$PID/limits")
equal "soft limit of descriptors" "$soft" "$hard"
