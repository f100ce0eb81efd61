#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Without -f the command returns when the mount is ready. The daemon then logs to the state
# directory, ends after umount, and can be started again.
. "$(dirname "$0")/lib.sh"
dataset 2 8
job a tensor.crop=32
config
mount_it() { "$PROGRAM" "$T/joaderfs.ini" "$M" 2>>"$LOG" >&2; }

mount_it || fail "it ended with $?"
[[ -e $M/README ]] || fail "it returned before it was mounted"
cat "$(epoch a)/00000000.ppm" >/dev/null
[[ -e $T/state/joaderfs.log ]] || fail "no log in the state directory"
umount "$M" 2>/dev/null || fusermount3 -u "$M"
for _ in $(seq 50); do # the daemon unlocks the state directory a moment later
	mount_it && break
	sleep 0.1
done
read_epoch a
once a 16
unmount "$M"
