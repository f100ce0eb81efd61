#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# After a restart, and after a crash, an epoch goes on where it was: bound positions keep their
# samples, and the whole epoch has every sample once.
. "$(dirname "$0")/lib.sh"
alone
dataset 3 16
job a tensor.crop=32
config joaderfs.seed=0
start
first() { (cd "$(epoch a)" && md5sum 000000{00..09}.ppm); }
second() { (cd "$(epoch a)" && md5sum 000000{10..19}.ppm); }
bound() { order a | cut -f1-3,5 | sort -n; }

first >"$T/first"
bound >"$T/bound"
stop
start
first | cmp - "$T/first"
bound | cmp - "$T/bound"
second >"$T/second"
bound >"$T/bound"

kill -KILL "$PID"
wait "$PID" || true
unmount "$M"
start
first | cmp - "$T/first"
second | cmp - "$T/second"
bound | cmp - "$T/bound"
read_epoch a
once a 48
pixels "a 0 32"
stop
