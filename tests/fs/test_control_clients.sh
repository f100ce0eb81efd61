#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Clients of the control socket that are silent, or don't read, delay no other client. If there is
# no room for a new client, the client that was silent longest is told and hung up on. The order of
# an epoch is sent in pieces, without memory for the rest, without a lock, and in turns with other
# clients.
. "$(dirname "$0")/lib.sh"
alone
samples=12000
# Lets ASan return freed memory, so that the test does not count it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1
dataset 1 1
"$PYTHON" -c '
import os, sys
for i in range(1, int(sys.argv[2])):
    os.link(f"{sys.argv[1]}/class0/0000.jpg", f"{sys.argv[1]}/class0/{i:05}.jpg")
' "$D" $samples
job a tensor.crop=8 view.layout=batch tensor.format=npy view.batch=$samples
job b tensor.crop=8
start

# clients NAME ARGUMENT...: starts clients in the background until finish_clients; $T/NAME has
# their output
declare -A input pid
clients() {
	local name=$1 fd
	mkfifo "$T/$name.in"
	"$PYTHON" "$FS/control_clients.py" "$T/socket" "${@:2}" >"$T/$name" <"$T/$name.in" &
	pid[$name]=$!
	exec {fd}>"$T/$name.in"
	input[$name]=$fd
	until [[ -s $T/$name ]]; do sleep 0.05; done
	equal "$name" "$(<"$T/$name")" ready
}

finish_clients() {
	local fd=${input[$1]}
	exec {fd}>&-
	wait "${pid[$1]}" || fail "$(<"$T/$1")"
}

# answers ARGUMENT...: checks that the daemon answers. Only a daemon that never answers fails.
answers() {
	local status=0
	timeout 60 "$BUILD/joaderctl" -s "$T/socket" "$@" >"$T/answer" || status=$?
	equal "status of $*" $status 0
}

clients silent silent 300
answers ls
grep -q '^b  *images' "$T/answer" || fail "$(<"$T/answer")"
finish_clients silent
grep -q '^(error)$' "$T/silent" || fail "$(<"$T/silent")"
grep -q 'allowed: 256 clients' "$T/silent" || fail "who had to go was told: $(<"$T/silent")"

# Descriptors limit the number of clients, too.
limits=$(prlimit --pid "$PID" --nofile --output SOFT,HARD --noheadings --raw | tr ' ' :)
prlimit --pid "$PID" --nofile=$(($(find "/proc/$PID/fd" | wc -l) + 20)):
clients few silent 100
answers ls
finish_clients few
prlimit --pid "$PID" --nofile="$limits"

cat "$(epoch a)/batch-000000.labels.npy" >/dev/null # binds them all
until (($(counter decodes) == samples)); do sleep 0.05; done
resident() { sed -n 's/^RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$PID/status"; }
before=$(resident)
clients unread unread 150 order a
answers ls
answers rm b
answers order a
grew=$(($(resident) - before))
((grew < 32768)) || fail "the daemon grew by $grew KiB for 150 clients that do not read"
order a | cmp - "$T/answer"
equal "lines" "$(wc -l <"$T/answer")" $samples
finish_clients unread
equal "the end of what is read late" "$(grep -v ready "$T/unread" | tail -n 1)" "(ok)"
grep -vx 'ready\|(ok)' "$T/unread" | cmp - "$T/answer"

# A reader that stops early, such as head, ends joaderctl and nothing else.
set +o pipefail
ctl order a | sed -n 1,3p | cmp - <(head -n 3 "$T/answer")
answers ls
