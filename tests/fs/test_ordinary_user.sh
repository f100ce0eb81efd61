#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Without root: mounts through fusermount3, and keeps its state below XDG_STATE_HOME.
others=$(stat -c %a /dev/fuse)
if ((EUID == 0)) && [[ $others != *6 && -z ${OWN_DEVICES-} ]]; then
	OWN_DEVICES=1 exec unshare -m bash "$0" # where /dev/fuse is as on most machines
fi
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || skip "runs as root, to become another user"
[[ -e /etc/mtab ]] || skip "no /etc/mtab here: fusermount3 can't unmount without it"
if [[ -n ${OWN_DEVICES-} ]]; then
	mknod -m 666 "$T/fuse" c 10 229 || skip "can't make a device here"
	mount --bind "$T/fuse" /dev/fuse || skip "can't mount here"
fi
dataset 2 4
job a tensor.crop=32
printf '[joaderfs]\njobs = jobs.d\nsocket = %s/run/socket\n[dataset images]\npath = %s\n' \
	"$T" "$D" >"$T/joaderfs.ini"
mkdir "$T/home" "$T/run"
chown 65534:65534 "$T/home" "$T/run" "$M"
chmod 755 "$T"
user=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$T/home"
	XDG_STATE_HOME="$T/home/state")
"${user[@]}" test -x "$PROGRAM" || skip "another user can't reach $PROGRAM"

"${user[@]}" "$PROGRAM" "$T/joaderfs.ini" "$M" -f >"$LOG" 2>&1 &
PID=$!
until "${user[@]}" test -e "$M/README"; do
	kill -0 "$PID" 2>/dev/null || {
		grep -qi 'permi\|fuse' "$LOG" && skip "no FUSE for other users here: $(tail -n 1 "$LOG")"
		fail "the daemon ended"
	}
	sleep 0.05
done
equal "files" "$("${user[@]}" bash -c "cat '$(epoch a)'/*.cls | wc -w")" 8
"${user[@]}" bash -c "cat '$(epoch a)'/*.ppm | wc -c" | grep -qx $((8 * (13 + 32 * 32 * 3)))
[[ -d $T/home/state/joaderfs ]] || fail "no state below XDG_STATE_HOME"
stop
