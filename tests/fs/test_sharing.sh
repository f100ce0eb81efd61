#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Jobs in step share: far fewer decodes than samples served, and the counters agree with
# the order files.
. "$(dirname "$0")/lib.sh"
dataset 4 12
job a tensor.crop=32
job b tensor.crop=32
start

for position in $(seq -f %08g 0 47); do
	cat "$(epoch a)/$position.ppm" "$(epoch b)/$position.ppm" >/dev/null
done
equal "samples served" "$(counter samples_served)" 96
(($(counter decodes) <= 60)) || fail "$(counter decodes) decodes of 48 samples for two jobs"
for name in a b; do
	for how in decoded hit shared; do
		equal "$name $how" "$(status_of $name $how)" "$(order $name | cut -f4 | grep -cx $how)"
	done
done
