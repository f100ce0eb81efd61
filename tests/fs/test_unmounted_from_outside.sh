#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Unmounted with umount while files are read: the daemon ends by itself, with status 0.
. "$(dirname "$0")/lib.sh"
dataset 2 8
job a tensor.crop=32
start
exec 3<"$(epoch a)/00000000.ppm"
umount "$M" 2>/dev/null && fail "it was not busy"
exec 3<&-
umount "$M" 2>/dev/null || fusermount3 -u "$M"
wait "$PID" || fail "the daemon ended with $?"
PID=
