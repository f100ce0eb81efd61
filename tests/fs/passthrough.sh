# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# What the tests of passthrough share, after lib.sh.

# start_passing [ARGUMENT...]: as start; the test is skipped where the kernel grants nothing
start_passing() {
	start "$@"
	grep -q "read by the kernel itself" "$LOG" ||
		skip "no passthrough: Linux before 6.9, or without the right to it"
}

# calm COMMAND...: what it prints, once that is the same twice: an open is counted after it is
# answered
calm() {
	local value now
	now=$("$@")
	until
		value=$now
		sleep 0.1
		now=$("$@")
		[[ $now == "$value" ]]
	do :; done
	echo "$now"
}

# passed COMMAND...: how many files were passed through while it ran
passed() {
	local before
	before=$(calm counter opens_passed_through)
	"$@" >/dev/null
	echo $(($(calm counter opens_passed_through) - before))
}

# mapped_files: those that the daemon has mapped
mapped_files() {
	grep -c memfd:joaderfs "/proc/$PID/maps" || true
}

# settled COMMAND... VALUE: it says so, perhaps a moment later: releases are late
settled() {
	local value=${*: -1} _
	for _ in $(seq 100); do
		[[ $("${@:1:$#-1}") != "$value" ]] || return 0
		sleep 0.05
	done
	fail "$* : $("${@:1:$#-1}")"
}
