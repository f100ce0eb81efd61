#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Nothing on the mount can be changed, and names that do not exist give ENOENT.
. "$(dirname "$0")/lib.sh"
dataset 2 4
job a tensor.crop=32
start

for command in "touch $M/x" "mkdir $M/jobs/b" "rm $(epoch a)/00000000.ppm" \
	"mv $M/README $M/x" "truncate -s 0 $(epoch a)/00000000.ppm" "chmod 777 $M/README"; do
	if $command 2>"$T/message"; then fail "this worked: $command"; fi
	grep -qE 'Read-only|not permitted|denied' "$T/message" || fail "$command: $(cat "$T/message")"
done
for name in x jobs/b jobs/a/epoch-0001 "jobs/a/epoch-0000/00000008.ppm" \
	jobs/a/epoch-0000/0.ppm jobs/a/epoch-0000/00000000.jpg jobs/a/epoch-0; do
	[[ ! -e $M/$name ]] || fail "there is a $name"
done
equal "bindings" "$(order a)" ""
