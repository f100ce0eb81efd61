#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderfs --try DATASET MOUNTPOINT: without any ini there is a job of each layout, the program says
# what to do next, another engine can take over, and an unmount ends it.
. "$(dirname "$0")/user.sh"
. "$FS/engine.sh"
[[ -e /etc/mtab ]] || skip "no /etc/mtab here: fusermount3 can't unmount without it"
dataset 2 4
mv "$D" "$T/some images"

# Uses a relative path, with a blank in it.
cd "$T" || exit
# shellcheck disable=SC2154 # user.sh's
"${user[@]}" env -u XDG_RUNTIME_DIR "$PROGRAM" --try "some images/" "$M" -f >"$T/out" 2>>"$LOG" &
PID=$!
until as_user test -e "$M/README"; do
	kill -0 "$PID" 2>/dev/null || {
		grep -qi 'permi\|fuse:' "$LOG" && skip "no FUSE for other users here"
		fail "the daemon ended"
	}
	sleep 0.05
done
ask() {
	as_user env -u XDG_RUNTIME_DIR "$BUILD/joaderctl" "$@"
}
equal "jobs" "$(ask ls | awk 'NR > 1 { print $1, $2 }' | sort | xargs)" \
	"batch some-images classes some-images flat some-images mirror some-images tar some-images"

bytes() { # JOB
	as_user find "$M/jobs/$1/current/" -type f \( -name '*.ppm' -o -name '*.tar' -o -name '*.npy' \) \
		-exec cat {} + | wc -c
}
image=$((15 + 341 * 256 * 3)) # the shorter side is 256
equal "bytes of classes" "$(bytes classes)" $((8 * image))
kill -KILL "$(engine)"
equal "bytes of flat, by another engine" "$(bytes flat)" $((8 * image))
equal "bytes of mirror" "$(bytes mirror)" $((8 * image))
(($(bytes tar) > 8 * image && $(bytes batch) > 8 * 224 * 224 * 3)) || fail "too few bytes"

as_user fusermount3 -u "$M"
wait "$PID" || fail "it ended with $?"
PID=
grep -qF "$M/jobs/classes/current" "$T/out" || fail "it did not say where: $(cat "$T/out")"
equal "times that it said so" "$(grep -c "as ImageFolder" "$T/out")" 1

# --- a dataset that is not there ---
refuses() { # TEXT ARGUMENT...
	local text=$1
	shift
	as_user "$PROGRAM" "$@" >"$T/err" 2>&1 && fail "it started: $*"
	grep -qF -- "$text" "$T/err" || fail "it did not say '$text': $(cat "$T/err")"
}
refuses "$T/nowhere: does not exist" --try nowhere "$M" -f
refuses "usage:" --try "some images"
refuses "usage:" --try "some images" joaderfs.ini "$M"
