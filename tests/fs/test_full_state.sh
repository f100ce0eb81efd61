#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A full state directory is refused at the start. If it fills up later, opens fail and the daemon
# goes on.
. "$(dirname "$0")/lib.sh"
mount -t tmpfs -o size=4m,mode=700 tmpfs "$T/state" 2>/dev/null || skip "needs root, to mount a tmpfs"
fill() { cat /dev/zero >"$T/state/full" 2>/dev/null || true; }
dataset 2 8
job a tensor.crop=32
fill
refused state
rm "$T/state/full"

start
fill
cat "$(epoch a)/00000000.ppm" >/dev/null 2>"$T/message" || true
grep -q . "$M/README" || fail "the daemon is gone"
rm "$T/state/full"
read_epoch a || fail "with room again, it can't be read"
once a 16
