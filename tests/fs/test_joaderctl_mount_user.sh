#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl mount by an ordinary user, through fusermount3. If it is killed half way, or refused, no
# mount stays.
. "$(dirname "$0")/user.sh"
[[ -e /etc/mtab ]] || skip "no /etc/mtab here: fusermount3 can't unmount without it"
dataset 2 4
job a tensor.crop=32
start_user
mkdir "$T/x"
chown 65534:65534 "$T/x"

# client SOCKET ARGUMENT...
client() {
	as_user "$BUILD/joaderctl" -s "$@"
}

client "$T/run/socket" mount a "$T/x" >"$T/out"
equal "message" "$(<"$T/out")" "mounted a on $T/x"
as_user bash -c "cat '$T/x/epoch-0000'/*.ppm | wc -c" | grep -qx $((8 * (13 + 32 * 32 * 3)))
! ls "$T/x" 2>/dev/null || fail "others can read it, even root"
as_user fusermount3 -u "$T/x"

! client "$T/run/socket" mount b "$T/x" 2>"$T/error" || fail "there is no job b"
grep -q "no job b" "$T/error" || fail "$(cat "$T/error")"
! mounted "$T/x" || fail "it was refused, and left its mount"

"$PYTHON" "$FS/kill_client.py" "$T/killer" &
until [[ -S $T/killer ]]; do sleep 0.02; done
! client "$T/killer" mount a "$T/x" || fail "it was not killed"
for _ in $(seq 50); do
	mounted "$T/x" || break
	sleep 0.1
done
! mounted "$T/x" || fail "the killed one has left its mount"
stop
