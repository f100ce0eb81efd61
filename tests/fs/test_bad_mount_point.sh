#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A mount point that is missing, a file, or busy; a second daemon on the same state.
. "$(dirname "$0")/lib.sh"
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
