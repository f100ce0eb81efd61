#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Long work is visible: joaderctl status reports it while it runs, and a command that waits for it
# shows it on a terminal.
. "$(dirname "$0")/lib.sh"
dataset 2 4
job a tensor.crop=32
config
# ends all waits, also after a failure
at_end() {
	touch "$T/go" "$T/written"
}
# The first scan lists three directories; each later listing waits for the file.
start --fault "dataset.list:NONE:after=3:until=$T/go" --fault "order.write:NONE:until=$T/written"

# tells TEXT COMMAND...: waits until the command prints TEXT
tells() {
	local text=$1 said=
	shift
	for _ in $(seq 400); do
		said=$("$@" 2>&1 || true)
		[[ $said != *"$text"* ]] || return 0
		sleep 0.02
	done
	fail "'$text' does not come: $said"
}
ctl dataset add other --set "path=$D" >"$T/out" 2>&1 &
adding=$!
tells "scanning other: 0 files, 0 headers, for 0 s"$'\n\n'"job a"$'\n' ctl status
touch "$T/go"
wait $adding || fail "$(cat "$T/out")"
equal "status afterwards" "$(ctl status | head -n 1)" "job a"
ctl dataset rm other >/dev/null
rm "$T/go"

# The command runs on its own terminal, whose output is in the file.
command -v script >/dev/null || skip "no script(1)"
touch "$T/go"
ctl dataset add other --set "path=$D" >/dev/null
rm "$T/go"
script -q -e -f -c "'$BUILD/joaderctl' -s '$T/socket' dataset rescan other" "$T/terminal" >/dev/null </dev/null &
showing=$!
tells "scanning other: 0 files" cat "$T/terminal"
touch "$T/go"
wait $showing || fail "$(cat "$T/terminal")"
[[ $(tail -c 400 "$T/terminal") == *$'\r\e[K'*"scanned other"* ]] || fail "the line stays: $(cat -v "$T/terminal")"

# --- a restore ---
once_read() {
	local k
	for k in 0 1 2 3; do cat "$(epoch a)/0000000$k.ppm" >/dev/null; done
}
cat "$M/jobs/a/state" >"$T/state.0"
once_read
ctl restore a "$T/state.0" >"$T/out" 2>&1 &
restoring=$!
tells "restoring a: for 0 s" ctl status
touch "$T/written"
wait $restoring || fail "$(cat "$T/out")"
grep -q "restored a" "$T/out" || fail "$(cat "$T/out")"
