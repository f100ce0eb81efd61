#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it only mounts empty file systems
# The end of a test unmounts everything below the test's directory, also mounts that follow each
# other in the list of mounts.
. "$(dirname "$0")/lib.sh"
mount -t tmpfs tmpfs "$M" 2>/dev/null || skip "needs root, to mount a tmpfs"
umount "$M"
bash -c '. "$1/lib.sh"
	echo "$T"
	for name in a b c d; do
		mkdir "$T/$name"
		mount -t tmpfs tmpfs "$T/$name"
	done' bash "$FS" >"$T/directory" || fail "the test ended with $?"
[[ ! -e $(<"$T/directory") ]] || fail "its directory is still there"
