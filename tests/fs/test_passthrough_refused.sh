#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Files that the kernel does not accept for passthrough are served by the daemon. No open fails,
# also when two opens of one file would be of different epochs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/passthrough.sh"
dataset 3 8
job a tensor.crop=40 job.order=sequential
job b tensor.crop=40 job.order=sequential view.io=direct
start_passing --fault backing.add:EPERM:times=1
equal "passed through after a refusal" "$(passed diff -r "$(epoch a)" "$(epoch b)")" 0
grep -q "the kernel refuses" "$LOG" || fail "it is not said"
stop

rm -r "$T/state"/*
for fault in backing.memory:ENOMEM backing.add:ENOMEM; do
	start --fault "$fault:after=7:times=9"
	cat "$(epoch a)"/*.ppm >/dev/null
	some=$(passed diff -r "$(epoch a)" "$(epoch b)")
	((some > 0 && some < 24)) || fail "$some files were passed through"
	for number in 00000000 00000012 00000023; do # served in both ways, and open
		exec 3<"$(epoch a)/$number.ppm"
		cmp "$(epoch a)/$number.ppm" "$(epoch b)/$number.ppm"
		cmp - "$(epoch b)/$number.ppm" <&3
		exec 3<&-
	done
	stop
	rm -r "$T/state"/*
done

# A reader that keeps a file open shares it with readers that open it in the next epoch.
job a tensor.crop=40 job.epochs=3
start
C=$M/jobs/a/current
exec 3<"$C/00000000.ppm"
for _ in 0 1; do
	for i in {1..23}; do
		exec 4<"$C/$(printf %08d "$i").ppm" # by this process, which is one script
		exec 4<&-
	done
done
exec 4<"$C/00000000.ppm"
cat <&4 >"$T/late"
exec 4<&-
cmp "$T/late" - <&3
cmp "$T/late" "$(epoch a)/00000000.ppm"
equal "position 0 in the next epoch" "$(order a 0001 | cut -f1 | grep -cx 0)" 1
exec 3<&-
settled counter open_files 0
exec 4<"$C/00000001.ppm" # the next pass: it does not begin with the file that ended this one
exec 4<&-
exec 4<"$C/00000000.ppm"
cat <&4 >"$T/next"
exec 4<&-
cmp "$T/next" "$(epoch a 0002)/00000000.ppm"
! cmp -s "$T/next" "$T/late" || [[ $(order a | awk '$1 == 0 {print $2}') == \
	$(order a 0002 | awk '$1 == 0 {print $2}') ]] || fail "it is the old one"
