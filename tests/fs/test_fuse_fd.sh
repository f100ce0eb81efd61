#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# --fuse-fd: a helper that may mount, and a daemon in a user name space that may not: the daemon
# serves, also after its engine dies. The process that mounted also unmounts.
. "$(dirname "$0")/user.sh"
. "$FS/engine.sh"
# shellcheck disable=SC2154 # user.sh's
"${user[@]}" unshare -U true 2>/dev/null || skip "no user name spaces for other users here"
dataset 2 4
job a tensor.crop=32
printf '[joaderfs]\njobs = jobs.d\nstate = %s/home/state\nsocket = %s/run/socket\n[dataset images]\npath = %s\n' \
	"$T" "$T" "$D" >"$T/joaderfs.ini"

# The helper opens /dev/fuse as descriptor 9, and mounts.
open_mount() {
	exec 9<>/dev/fuse
	mount -i -t fuse -o "fd=9,rootmode=40000,user_id=0,group_id=0,ro,allow_other" joaderfs "$M"
}
# start_fd ARGUMENT...: starts the daemon without any capability
start_fd() {
	"${user[@]}" unshare -U "$PROGRAM" -f "$@" --fuse-fd 9 "$T/joaderfs.ini" "$M" >>"$LOG" 2>&1 &
	PID=$!
	exec 9<&- # the daemon has inherited it
	until timeout 20 stat "$M/README" >/dev/null 2>&1; do
		kill -0 "$PID" 2>/dev/null || fail "the daemon ended"
		sleep 0.05
	done
}

open_mount
start_fd
grep -q 'CapEff:.*0000000000000000$' "/proc/$(engine)/status" || fail "the engine may do things"
equal "bytes" "$(cat "$(epoch a)"/*.ppm | wc -c)" $((8 * (13 + 32 * 32 * 3)))
cp "$(epoch a)/00000003.ppm" "$T/before"
kill_engine
cmp "$(epoch a)/00000003.ppm" "$T/before"
once a 8
upgrade() {
	"${user[@]}" "$BUILD/joaderctl" -s "$T/run/socket" upgrade
}
before=$(engine)
upgrade
another_engine "$before"
cmp "$(epoch a)/00000003.ppm" "$T/before"
# The supervisor keeps only one device, for its engines.
equal "devices of the supervisor" "$(find "/proc/$PID/fd" -lname '*fuse' | wc -l)" 1

# When the daemon ends, the mount stays until the helper unmounts it.
kill -TERM "$PID"
wait "$PID" || fail "it ended with $?"
PID=
mounted "$M" || fail "it has unmounted"
[[ $(stat "$M/README" 2>&1) == *"not connected"* ]] || fail "somebody answers"
umount "$M"

# The helper unmounts first; the daemon is a single process.
open_mount
start_fd --no-supervisor
cmp "$(epoch a)/00000003.ppm" "$T/before"
umount "$M"
wait "$PID" || fail "it ended with $?"
PID=

# --- mistakes ---
refuses() { # TEXT ARGUMENT...
	local text=$1 status=0
	shift
	timeout 20 "${user[@]}" unshare -U "$PROGRAM" -f "$@" "$T/joaderfs.ini" "$M" >"$T/err" 2>&1 ||
		status=$?
	((status != 0 && status != 124)) || fail "it started, or hangs: $*"
	grep -qF -- "$text" "$T/err" || fail "it did not say '$text': $(cat "$T/err")"
}
refuses '--fuse-fd 9: is not open' --fuse-fd 9
refuses '--fuse-fd: found "fuse"' --fuse-fd fuse
refuses '--fuse-fd: found "1"' --fuse-fd 1
exec 9</dev/null
refuses '--fuse-fd 9: is not /dev/fuse' --fuse-fd 9
exec 9<>/dev/fuse
refuses '--fuse-fd 9: is not mounted' --fuse-fd 9
exec 9<&-

# --- a user who is root of a name space mounts in it by itself ---
cat >"$T/inner" <<-'END'
	set -eu
	"$1" "$2" "$3"
	cat "$3"/jobs/a/current/*.ppm | wc -c
	umount "$3"
END
"${user[@]}" unshare -Urm bash "$T/inner" "$PROGRAM" "$T/joaderfs.ini" "$M" >"$T/out" 2>&1 ||
	fail "$(cat "$T/out")"
grep -qx $((8 * (13 + 32 * 32 * 3))) "$T/out" || fail "$(cat "$T/out")"
