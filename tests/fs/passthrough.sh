# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# Functions for the tests of passthrough. Sourced after lib.sh.

# start_passing [ARGUMENT...]: starts the daemon; skips the test if the kernel grants no passthrough
start_passing() {
	start "$@"
	grep -q "the kernel itself reads the samples" "$LOG" ||
		skip "no passthrough: Linux before 6.9, or without the right to it"
}

# calm COMMAND...: repeats the command until it prints the same text twice, and prints this text,
# because opens are counted after they are answered
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

# passed COMMAND...: prints the number of files that were passed through while the command ran
passed() {
	local before
	before=$(calm counter opens_passed_through)
	"$@" >/dev/null
	echo $(($(calm counter opens_passed_through) - before))
}

# mapped_files: prints the number of files that the daemon has mapped
mapped_files() {
	grep -c memfd:joaderfs "/proc/$PID/maps" || true
}

# settled COMMAND... VALUE: waits until the command prints VALUE, because releases come late
settled() {
	local value=${*: -1} _
	for _ in $(seq 100); do
		[[ $("${@:1:$#-1}") != "$value" ]] || return 0
		sleep 0.05
	done
	fail "$* : $("${@:1:$#-1}")"
}
