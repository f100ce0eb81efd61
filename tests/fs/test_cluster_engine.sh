#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Engines of all kinds: users and passwords of any bytes, in the URL, a file or the environment; by
# a socket, a name, IPv6, and the second of two hosts. Missing rights, and a policy that evicts
# keys, are reported. No password gets into the log.
# shellcheck disable=SC2034 # cluster.sh uses them
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/cluster.sh"
dataset 1 4
PORT=$(free_port)
LISTEN=(--port "$PORT" --bind 127.0.0.1 ::1)
redis
SECRET='hunter2@/:?%#'
CODED=hunter2%40%2F%3a%3F%25%23
ask acl setuser alice on ">$SECRET" '~*' +@all >/dev/null
ask acl setuser default ">$SECRET" >/dev/null
REDISCLI_AUTH=$SECRET
export REDISCLI_AUTH

# reached URL [LINE...]: checks that a daemon reaches the engine at URL
reached() {
	ENGINE=$1
	row "reached ${1%%:*}: ${1##*@}"
	node a 'ttl = 1s' "${@:2}"
	launch a
	shows a '^engine reached$'
	end a
	! grep -q hunter2 "$LOG" || fail "the password is in the log: $(<"$LOG")"
	unmount "$T/a/mnt"
	rm -r "$T/a"
}

reached "redis://:$CODED@127.0.0.1:$PORT"
reached "redis://alice:$CODED@localhost:$PORT/3"
reached "redis://alice:$CODED@[::1]:$PORT"
reached "redis+unix://alice:$CODED@$T/redis"
reached "redis://:$CODED@127.0.0.1:1,127.0.0.1:$PORT"
printf '%s\n' "$SECRET" >"$T/password"
chmod 640 "$T/password"
reached "redis://alice@127.0.0.1:$PORT" "engine_password_file = $T/password"
export JOADERFS_ENGINE_PASSWORD=$SECRET
reached "redis://127.0.0.1:$PORT"
unset JOADERFS_ENGINE_PASSWORD

not_started '[cluster]:engine: a user or password has @ as %40; allowed: redis[s]://' \
	'redis://:hun@ter2@127.0.0.1'
not_started '[cluster]:engine: a colon is followed by a port, a number from 1 to 65535' 'redis://alice:hunter2'
not_started 'engine_password_file is set, too' "redis://:hunter2@127.0.0.1" \
	"engine_password_file = $T/password"
chmod 644 "$T/password"
not_started "[cluster]:engine: engine_password_file: $T/password: any user may use the file (mode 644)" \
	"redis://127.0.0.1:$PORT" "engine_password_file = $T/password"
chmod 600 "$T/password"
: >"$T/password"
not_started "[cluster]:engine: engine_password_file: $T/password: not a password" \
	"redis://127.0.0.1:$PORT" "engine_password_file = $T/password"

# A user has few rights: the message names the missing ones, and a command that grants them and
# suffices.
ask function flush >/dev/null
ask acl setuser bob on '>secret' '~{joaderfs}*' -@all +fcall +role >/dev/null
ENGINE="redis://bob:secret@127.0.0.1:$PORT"
node a 'ttl = 1s'
launch a
logged 'the engine refuses FUNCTION: NOPERM.*this grants all needed rights: ACL SETUSER bob ~{joaderfs}\* +fcall '
shows a '^message the engine refuses FUNCTION: NOPERM'
"$BUILD/joaderctl" doctor "$T/a/joaderfs.ini" >"$T/doctor" 2>&1 && fail "doctor finds nothing"
grep -q '^breaks .*the engine refuses .*NOPERM' "$T/doctor" || fail "doctor: $(<"$T/doctor")"
read -r -a line < <(sed -n 's/.*this grants all needed rights: ACL SETUSER bob //p' "$LOG" | head -n 1)
ask acl setuser bob "${line[@]}" >/dev/null
shows a '^engine reached$'
shows a '^state leads$'
ask acl setuser bob -set >/dev/null
shows a '^message the engine refuses joaderfs_2_.*'
ask acl setuser bob +set -function >/dev/null
shows a '^state leads$'
end a
# The library is loaded already, so no node loads it.
launch a
shows a '^state leads$'
end a
equal "loads" "$(ask info commandstats | sed -n 's/cmdstat_function|load:calls=\([0-9]*\),.*/\1/p')" 2

# A changed library must have another revision, otherwise nodes keep the old library.
LUA=$ROOT/src/coord/coord.lua
equal "revision of coord.lua and checksum" \
	"$(sed -n 's/^local REVISION = //p' "$LUA") $(cksum <"$LUA")" "8 3474554295 25780"

# A server that may evict any key is reported.
! grep -q 'maxmemory-policy' "$LOG" || fail "a policy was named: $(<"$LOG")"
ask config set maxmemory-policy allkeys-lru >/dev/null
launch a
logged 'may evict any key (maxmemory-policy allkeys-lru), and each evicted log.*allowed: noeviction or volatile-'
"$BUILD/joaderctl" doctor "$T/a/joaderfs.ini" >"$T/doctor" 2>&1 || true
grep -q '^costs .*evict any key (maxmemory-policy allkeys-lru)' "$T/doctor" ||
	fail "doctor: $(<"$T/doctor")"
end a
unmount "$T/a/mnt"
rm -r "$T/a"

# A wrong password; and a server that repeats unknown words.
ENGINE="redis://:hunter2@127.0.0.1:$PORT"
node a 'ttl = 1s'
launch a
logged 'the engine refuses AUTH: WRONGPASS'
shows a '^state away$'
end a
unmount "$T/a/mnt"
kill_redis
unset REDISCLI_AUTH
redis --rename-command AUTH ''
rm -r "$T/a"
node a 'ttl = 1s'
launch a
logged 'the engine refuses AUTH: ERR$'
end a
! grep -q hunter2 "$LOG" || fail "the password is in the log: $(<"$LOG")"
