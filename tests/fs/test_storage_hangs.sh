#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A storage that does not answer delays only its own jobs: jobs on other storages read on, waiting
# readers can be interrupted, jobs can be removed, SIGTERM ends the daemon, and status names the
# storage. When the storage answers again, its jobs go on.
. "$(dirname "$0")/lib.sh"
dataset 2 40 160x120
mkdir "$T/remote"
"$BUILD/tests/clients/slow_storage" "$D" "$T/remote" 0 &
SLOW=$!
wait_for() { # COMMAND...: until it is so, at most ten seconds
	local _
	for _ in $(seq 200); do
		if "$@"; then return; fi
		sleep 0.05
	done
	fail "not so: $*"
}
wait_for test -e "$T/remote/class0"

config joaderfs.workers=2
job near tensor.crop=32
job far tensor.crop=32 job.dataset=remote view.lookahead=4
job far2 tensor.crop=24 job.dataset=remote view.lookahead=4
printf '[dataset remote]\npath = %s\n' "$T/remote" >>"$T/joaderfs.ini"
start

ended() { # PID: also if nobody has waited for it yet
	[[ ! -e /proc/$1/exe ]]
}
# idle: waits until the storage has no request. If it had one while it is stopped, the thread that
# waits for this request could not even be killed.
idle() {
	local before
	before=$(counter decodes)
	sleep 0.3
	((before > 1 && before == $(counter decodes)))
}
# within SECONDS COMMAND...: checks that the command succeeds in this time
within() {
	timeout "$1" "${@:2}" || fail "not within $1 s: ${*:2}"
}

cat "$(epoch far)/00000000.ppm" >/dev/null
wait_for idle
kill -STOP "$SLOW"
at_end() {
	kill -CONT "$SLOW" 2>/dev/null
}

# Readers wait for the storage.
cat "$(epoch far)/000000"[0-7]?.ppm >/dev/null &
reader=$!
cat "$(epoch far2)/00000000.ppm" >/dev/null &
reader2=$!
bound() { # JOB: more positions than were consumed
	(($(status_of "$1" bound) > $(status_of "$1" consumed)))
}
wait_for bound far
wait_for bound far2

# --- jobs on other storages continue
export -f read_epoch epoch
export M
within 30 bash -c 'read_epoch near'
once near 80

# --- status reports the storage
no_answer() {
	[[ $(status_of far storage) == *"does not answer"* ]]
}
wait_for no_answer
[[ $(status_of near storage) == "answers"* ]] || fail "near: $(status_of near storage)"
wait_for grep -q "$T/remote.*does not answer" "$LOG"

# --- a reader can be interrupted, and a job can be removed
kill -KILL "$reader2"
wait_for ended "$reader2"
within 10 "$BUILD/joaderctl" --socket "$T/socket" rm far2

# --- the storage comes back, and nothing is lost
kill -CONT "$SLOW"
wait "$reader" || fail "the reader got an error"
within 30 bash -c 'read_epoch far'
once far 80
answers() {
	[[ $(status_of far storage) == "answers"* ]]
}
wait_for answers
wait_for grep -q "$T/remote.*answers again" "$LOG"
nothing_held

# --- SIGTERM while it is away
stop
rm -rf "$T/state"/*
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # LeakSanitizer stops all threads
start
cat "$(epoch far)/00000000.ppm" >/dev/null
wait_for idle
kill -STOP "$SLOW"
cat "$(epoch far)/000000"[0-7]?.ppm >/dev/null 2>&1 &
wait_for bound far
kill -TERM "$PID"
wait_for ended "$PID"
status=0
wait "$PID" || status=$?
PID=
equal "exit status" "$status" 0
kill -CONT "$SLOW"
umount "$T/remote"
wait "$SLOW" || true
