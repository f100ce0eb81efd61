#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# stat and reads agree about sizes, before and after the sample is bound.
. "$(dirname "$0")/lib.sh"
dataset 2 6
job fixed tensor.crop=32
job padded
start

file=$(epoch fixed)/00000003.ppm
equal "size before" "$(stat -c %s "$file")" $((13 + 32 * 32 * 3))
equal "bytes read" "$(wc -c <"$file")" $((13 + 32 * 32 * 3))
for file in "$(epoch padded)"/*.ppm; do
	before=$(stat -c %s "$file")
	equal "bytes of $file" "$(wc -c < <(cat "$file"))" "$before"
	equal "size of $file" "$(stat -c %s "$file")" "$before"
done
