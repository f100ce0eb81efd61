#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Injected failures. After a failure while prefetching the open tries again. When all reading fails
# from some point on, later opens get EIO, and the daemon goes on.
. "$(dirname "$0")/lib.sh"
dataset 2 8
job a tensor.crop=32
start --fault load.read:EIO:after=3:times=2
failed=0
for file in "$(epoch a)"/*.ppm; do cat "$file" >/dev/null 2>&1 || failed=$((failed + 1)); done
((failed <= 2)) || fail "$failed files failed of 2 faults"
equal "errors" "$(status_of a errors)" $failed
equal "decode errors" "$(counter decode_errors)" 2
once a 16
read_epoch a || fail "a file that failed once fails for ever"
pixels "a 0 32"
stop

rm -r "$T/state"
mkdir "$T/state"
start --fault load.decode:EIO:after=5
failed=0
for file in "$(epoch a)"/*.ppm; do
	cat "$file" >/dev/null 2>"$T/message" && continue
	grep -q 'Input/output error' "$T/message" || fail "$(cat "$T/message")"
	failed=$((failed + 1))
done
equal "files that failed" $failed 11
equal "errors" "$(status_of a errors)" 11
once a 16
