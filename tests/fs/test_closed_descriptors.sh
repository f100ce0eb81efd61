#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A daemon that is started without standard descriptors gives their numbers to no other file, so
# that no message can get into the state directory or the device.
. "$(dirname "$0")/lib.sh"
dataset 2 8
echo "no image" >"$D/class0/0000.jpg" # so that it has something to say
job a tensor.crop=32
config
"$PROGRAM" "$T/joaderfs.ini" "$M" -f 0<&- 1>&- 2>&- &
PID=$!
until [[ -e $M/README ]]; do
	kill -0 "$PID" || fail "it did not start"
	sleep 0.05
done
cat "$(epoch a)"/*.ppm >/dev/null 2>&1 || true
once a 16
for number in 0 1 2; do
	equal "descriptor $number" "$(readlink "/proc/$PID/fd/$number")" /dev/null
done
stop
