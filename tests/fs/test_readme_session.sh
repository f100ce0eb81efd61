#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The session in README.md is what the programs print: its dataset and inis are made, its commands
# run one after the other, and their output is compared with the document, including blanks. Not
# compared: the places of the dataset and the mount point; the digits in a line of epoch-0000.order
# (fields with tabs between), because samples are drawn; and the rates and shares of joaderctl ls.
. "$(dirname "$0")/lib.sh"
README=${README:-$ROOT/README.md}
S=$T/session
# shellcheck disable=SC2034 # lib.sh shows it after a failure
LOG=$T/state/joaderfs.log
mkdir -p "$S/jobs.d"
export LC_ALL=C PATH=$BUILD:$PATH JOADERFS_SOCKET=$T/socket

# --- the document ------------------------------------------------------------------------

# The indented lines below "## A session".
sed -n '/^## A session$/,/^## /s/^    //p' "$README" >"$T/block"
commands=() printed=()
while IFS= read -r line; do
	if [[ $line == '$ '* ]]; then
		commands+=("${line#'$ '}")
		printed+=("")
	else
		((${#commands[@]} > 0)) || fail "the session begins with '$line', not with a command"
		printed[-1]+=$line$'\n'
	fi
done <"$T/block"
((${#commands[@]} > 0)) || fail "no session in $README"

# said COMMAND: prints the output of the command in the document
said() {
	local i
	for i in "${!commands[@]}"; do
		[[ ${commands[i]} != "$1" ]] || printf %s "${printed[i]}"
	done
}

# --- the dataset of the document ---------------------------------------------------------

# The dataset has as many samples as the daemon prints, in the classes that ls prints.
samples=$(sed -nE 's/^joaderfs: dataset .*: ([0-9,]+) samples.*/\1/p' "$T/block" | tr -d ,)
read -ra classes <<<"$(said 'ls /data/photos' | tr -s ' \n' '  ')"
[[ $samples =~ ^[0-9]+$ ]] || fail "the session does not tell the number of samples"
((${#classes[@]} > 0)) || fail "the session does not list the classes"
dataset 1 1
"$PYTHON" -c '
import os, sys
top, samples, *classes = sys.argv[1:]
for name in classes:
    os.mkdir(f"{top}/{name}")
for i in range(int(samples)):
    os.link(f"{top}/class0/0000.jpg", f"{top}/{classes[i % len(classes)]}/{i:05}.jpg")
' "$D" "$samples" "${classes[@]}"
rm -r "$D/class0"

for command in "${commands[@]}"; do
	[[ $command =~ ^cat\ ([a-z0-9./]+\.ini)$ ]] || continue
	said "$command" | sed "s|/data/photos|$D|" >"$S/${BASH_REMATCH[1]}"
done

# --- the commands -----------------------------------------------------------------------

# ls as on a terminal of 80 columns, unless its output is piped
ls() {
	if [[ -p /dev/stdout ]]; then command ls "$@"; else command ls -C -w 80 -T 0 "$@"; fi
}

# The daemon gets its own state and socket, which the document's ini does not set.
joaderfs() {
	sed "s|^\[joaderfs\]$|&\nstate = $T/state\nsocket = $T/socket|" "$1" >"${1%.ini}-here.ini"
	env --default-signal=INT "$PROGRAM" "${1%.ini}-here.ini" "${@:2}"
}

umount() {
	if ((EUID == 0)); then command umount "$@"; else fusermount3 -u "$@"; fi
}

# comparable TEXT: replaces the parts that are not compared
comparable() {
	sed -E "s|$D|/data/photos|g; s|$M|/mnt/x|g; /\t/s/[0-9]+/N/g
		s/(PROGRESS|[0-9]+\/[0-9]+ +[0-9]+%) .*/\1/" <<<"$1"
}

# only_looks COMMAND: tells whether the command can be repeated. The kernel reports a close a
# moment later, so such commands are tried again.
only_looks() {
	[[ $1 =~ ^(cat|ls|head|grep|joaderctl\ ls)\  || $1 == "joaderctl ls" ]] && [[ $1 != *'>'* ]]
}

run_session() {
	local i command wanted found
	cd "$S" || return
	set +o pipefail # as in a terminal: head may end before ls
	for i in "${!commands[@]}"; do
		command=${commands[i]//\/data\/photos/$D}
		command=${command//\/mnt\/x/$M}
		wanted=$(comparable "${printed[i]%$'\n'}")
		for _ in $(seq 50); do
			eval "$command" >"$T/out" 2>&1 </dev/null ||
				fail "$ ${commands[i]}"$'\n'"failed: $(cat "$T/out")"
			found=$(comparable "$(tr -d '\0' <"$T/out")")
			[[ $found != "$wanted" ]] || break
			only_looks "${commands[i]}" || break
			sleep 0.1
		done
		[[ $found == "$wanted" ]] ||
			fail "$ ${commands[i]}"$'\n'"README.md says:"$'\n'"$wanted"$'\n'"it prints:"$'\n'"$found"
	done
}
run_session
! mounted "$M" || fail "the session leaves the mount"
# The daemon has ended when the state directory can be locked.
flock -w 20 "$T/state/lock" true || fail "the daemon does not end"
