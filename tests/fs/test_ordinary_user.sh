#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Without root the daemon mounts through fusermount3, and keeps its state below XDG_STATE_HOME. When
# its engine dies, another one takes over, and unmounts at the end.
. "$(dirname "$0")/user.sh"
. "$FS/engine.sh"
[[ -e /etc/mtab ]] || skip "no /etc/mtab here: fusermount3 can't unmount without it"
dataset 2 4
job a tensor.crop=32
start_user
equal "files" "$(as_user bash -c "cat '$(epoch a)'/*.cls | wc -w")" 8
as_user bash -c "cat '$(epoch a)'/*.ppm | wc -c" | grep -qx $((8 * (13 + 32 * 32 * 3)))
as_user cat "$(epoch a)/00000003.ppm" >"$T/before"
before=$(engine)
kill -KILL "$before"
for _ in $(seq 500); do
	now=$(engine || true)
	[[ -z $now || $now == "$before" ]] || break
	sleep 0.01
done
# shellcheck disable=SC2154 # user.sh's
timeout 20 "${user[@]}" cat "$(epoch a)/00000003.ppm" | cmp - "$T/before"
[[ -d $T/home/state/joaderfs ]] || fail "no state below XDG_STATE_HOME"
stop

# Both processes are killed, and leave a dead mount, which this user's next daemon detaches.
start_user
last=$(engine)
kill -STOP "$last" # it has no time to unmount
kill -KILL "$PID" "$last"
wait "$PID" 2>/dev/null || true
PID=
dead() {
	[[ $(as_user stat "$M" 2>&1) == *"not connected"* ]]
}
for _ in $(seq 500); do
	! dead || break
	sleep 0.01 # the engine is about to end
done
dead || fail "the mount is not dead"
start_user
grep -q "detached the mount of a daemon that was killed" "$LOG" || fail "$(<"$LOG")"
equal "mounts there" "$(grep -c " $M " /proc/self/mounts)" 1
timeout 20 "${user[@]}" cat "$(epoch a)/00000003.ppm" | cmp - "$T/before"
stop
