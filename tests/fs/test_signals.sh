#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# SIGINT, SIGTERM and SIGHUP end it, also while readers wait: unmounted, status 0, and the
# readers get an error instead of waiting for ever.
. "$(dirname "$0")/lib.sh"
dataset 2 8
job a tensor.crop=32
for signal in INT TERM HUP; do
	start
	cat "$(epoch a)/00000000.ppm" >/dev/null
	kill -"$signal" "$PID"
	wait "$PID" || fail "ended with $? after SIG$signal"
	PID=
	! mountpoint -q "$M" || fail "still mounted after SIG$signal"
done
