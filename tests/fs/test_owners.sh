#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A job has an owner, a group and a mode. Users without the right get EACCES and take no sample, on
# the daemon's mount and on mounts of the job. Only the owner and root may remove the job. A job
# that an ordinary user adds belongs to this user, also after a restart and after a crash of the
# engine.
. "$(dirname "$0")/mounts.sh"
. "$FS/engine.sh"
chmod 755 "$T"
setpriv --reuid=2001 --clear-groups test -x "$BUILD/joaderctl" || skip "others can't reach $BUILD"
dataset 3 8
config joaderfs.socket_group=3009
job flat job.owner=2001 job.group=3001 job.mode=0500 tensor.crop=32 job.epochs=2
job classes job.owner=2003 job.group=3001 job.mode=0550 tensor.crop=32 view.layout=classes job.epochs=2
job batch job.owner=2004 job.group=3004 job.mode=0510 tensor.crop=32 view.layout=batch view.batch=4 \
	job.epochs=2
job tar job.owner=2002 job.group=3002 job.mode=0505 tensor.crop=32 view.layout=tar view.shard=4 \
	job.epochs=2
job open job.owner=root tensor.crop=32
start -o allow_other

"$PYTHON" "$FS/owners.py" "$M" 1 "$(effort 200 5000)" flat:2001:3001:0500 classes:2003:3001:0550 \
	batch:2004:3004:0510 tar:2002:3002:0505 || fail "users took samples of each other"
equal "of an ini without a mode" "$(stat -c '%u %g %a' "$M/jobs/open")" "0 0 555"
equal "a file" "$(stat -c '%u %g %a' "$M/jobs/classes/current/class0/00000000.ppm")" "2003 3001 440"
equal "a text" "$(stat -c '%u %g %a' "$M/jobs/flat/status")" "2001 3001 400"

# as UID GID GROUPS COMMAND...
as() {
	setpriv --reuid="$1" --regid="$2" --groups="$3" "${@:4}"
}
user() { # UID COMMAND...: who reaches the socket
	as "$1" "$1" 3009 "$BUILD/joaderctl" --socket "$T/socket" "${@:2}" 2>&1
}
says() { # TEXT COMMAND...
	"${@:2}" >"$T/out" 2>&1 && fail "not refused: ${*:2}"
	grep -qF -- "$1" "$T/out" || fail "'$1' is not in: $(<"$T/out")"
}

# --- a job of an ordinary user ---
says "Permission denied" as 2001 2001 2001 "$BUILD/joaderctl" --socket "$T/socket" ls
job_text mine tensor.crop=32 job.epochs=2 >"$T/mine.ini"
equal "added" "$(user 2001 add "$T/mine.ini")" "added mine"
equal "again" "$(user 2001 add "$T/mine.ini")" "mine is there already"
says "owner = 2002" user 2002 add "$T/mine.ini"
is_mine() {
	equal "its directory" "$(stat -c '%u %g %a' "$M/jobs/mine")" "2001 2001 500"
	equal "in ls" "$(ctl ls | awk '$1 == "mine" { print $NF }')" 2001
	equal "in status" "$(status_of mine owner) $(status_of mine mode)" "2001 0500"
	as 2001 1 1 cat "$(epoch mine)/00000000.ppm" >"$T/out"
	! as 2002 2001 2001 cat "$(epoch mine)/00000000.ppm" >"$T/out" 2>&1 || fail "2002 reads it"
	grep -q "Permission denied" "$T/out" || fail "$(<"$T/out")"
	says "mine: the job belongs to 2001" user 2002 rm mine
	says "no job of yours" user 2002 rm 'm*'
	for command in export grant revoke order trace "status"; do
		says "mine: the job belongs to 2001" user 2002 $command mine
	done
	! user 2002 status | grep -q '^job mine' || fail "status tells of it"
}
is_mine
says "[job]:owner: an ordinary user may set only: this user" user 2002 add -n x -S job.owner=0 "$T/mine.ini"
says "[job]:group" user 2002 add -n x -S job.group=3001 "$T/mine.ini"
says "[job]:order" user 2002 add -n x -S job.order=replay:/etc/shadow "$T/mine.ini"
says "dataset: only root and the daemon's user are allowed" user 2002 dataset rescan images
says "upgrade: only root and the daemon's user are allowed" user 2002 upgrade
says "found \"nosuchuser\", allowed: the name of a user" ctl add -n x -S job.owner=nosuchuser "$T/mine.ini"
says "found \"nosuchgroup\", allowed: the name of a group" ctl add -n x -S job.group=nosuchgroup "$T/mine.ini"
says "(4) and search (1) only" ctl add -n x -S job.mode=0750 "$T/mine.ini"
equal "names" "$(ctl add -n named -S job.owner=nobody -S job.group=nogroup "$T/mine.ini"
	stat -c '%U %G %a' "$M/jobs/named")" "added named
nobody nogroup 555"
# shellcheck disable=SC2016
equal "run" "$(user 2002 run -n run "$T/mine.ini" -- sh -c 'stat -c "%u %a" "${1%/*}"; ls "$1" | wc -l' - {} |
	tail -n 2 | xargs)" "2002 500 48"

# --- mounts of the job ---
mkdir "$T/x" "$T/y"
ctl mount -o allow_other mine "$T/x" >"$T/out"
says "Permission denied" as 2002 2002 2002 cat "$T/x/epoch-0000/00000001.ppm"
says "Permission denied" as 2002 2002 2002 ls "$T/x/"
as 2001 2001 2001 cat "$T/x/epoch-0000/00000001.ppm" >"$T/out"
mknod -m 666 "$T/fuse" c 10 229 && mount --bind "$T/fuse" /dev/fuse
chown 65534 "$T/y"
says "mine: the job belongs to 2001" user 65534 mount mine "$T/y"
"$BUILD/joaderctl" -s "$(user 2001 grant mine)" mount -o allow_other mine "$T/y" >"$T/out"
as 2002 2002 2002 cat "$T/y/epoch-0000/00000001.ppm" >"$T/out" # a container's users have other numbers

# --- other engines ---
kill_engine
is_mine
says "Permission denied" as 2002 2002 2002 cat "$T/x/epoch-0000/00000001.ppm"
as 2002 2002 2002 cat "$T/y/epoch-0000/00000001.ppm" >"$T/out"
umount "$T/x" "$T/y"
stop
start -o allow_other
is_mine
equal "removed" "$(user 2001 rm mine)" "removed mine"
stop
