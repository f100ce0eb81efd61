#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# fusermount3 can't unmount without /etc/mtab: an ordinary user's daemon does not start without it,
# and if it disappears later, the daemon says that its mount stays.
if ((EUID == 0)) && [[ -z ${OWN_ETC-} ]]; then
	OWN_ETC=1 exec unshare -m bash "$0"
fi
. "$(dirname "$0")/user.sh"
dataset 2 4
job a tensor.crop=32
mkdir "$T/etc"
cp -a /etc/. "$T/etc/"
mount --bind "$T/etc" /etc || skip "can't mount here"
rm -f /etc/mtab
ln -s /proc/self/mounts /etc/mtab

start_user
rm /etc/mtab
kill -TERM "$PID"
status=0
wait "$PID" || status=$?
PID=
equal "exit status" "$status" 1
grep -qF "$M: can't be unmounted" "$LOG"
umount "$M"

: >"$LOG"
status=0
as_user "$PROGRAM" "$T/joaderfs.ini" "$M" -f >>"$LOG" 2>&1 || status=$?
equal "exit status without mtab" "$status" 1
grep -qF "/etc/mtab: No such file" "$LOG"
! mounted "$M" || fail "it left a mount"

# Root mounts and unmounts without fusermount3.
chown 0:0 "$M"
config
start
stop
umount /etc
