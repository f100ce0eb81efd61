#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A container with the socket of one job can mount and read this job only, and change no job. The
# grant outlasts a restart, and ends with the job or by revoke.
. "$(dirname "$0")/mounts.sh"
dataset 2 6
job a tensor.crop=32 job.epochs=2
job b tensor.crop=32
start
mkdir "$T/run" "$T/x" "$T/y"
job_text c tensor.crop=32 >"$T/c.ini"
G=$T/state/grants/a

equal "the socket" "$(ctl grant a)" "$G/socket"
equal "again" "$(ctl grant a)" "$G/socket"
equal "reach of others" "$(stat -c %a "$T/state/grants" "$G" "$G/socket" | tr '\n' ' ')" \
	"700 755 666 "

# In a name space like a container's, which has only this socket of the daemon.
cat >"$T/inside" <<'END'
set -eu
mount --bind "$T/state/grants/a" "$T/run"
mount -t tmpfs none "$T/state"
umount "$T/mnt"
ctl() { "$BUILD/joaderctl" -s "$T/run/socket" "$@"; }
refused() {
	! ctl "$@" >"$T/out" 2>&1 || { echo "allowed: $*"; exit 1; }
	grep -q 'only for job a' "$T/out" || { echo "$*: $(cat "$T/out")"; exit 1; }
}
refused ls
refused rm a
refused rm b
refused add "$T/c.ini"
refused grant a
refused grant b
refused revoke a
refused status
refused status b
refused order b
refused stats
refused datasets
refused mount b "$T/x"
refused nonsense
ctl status a | grep -qx 'name a'
ctl mount a "$T/x"
cat "$T/x/epoch-000$EPOCH"/*.ppm | wc -c
ctl order a $EPOCH | wc -l
END
export T BUILD
inside() {
	EPOCH=$1 unshare -m bash "$T/inside"
}
wanted="mounted a on $T/x $((12 * (13 + 32 * 32 * 3))) 12"
equal "inside" "$(inside 0 | xargs)" "$wanted"
equal "jobs" "$(ctl ls | tail -n +2 | cut -d ' ' -f 1 | xargs)" "a b"

# Requests to this socket are limited to the size that its commands need.
"$PYTHON" -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b"x" * 100000)
except BrokenPipeError:
    pass
assert b"larger than 4096 bytes" in s.recv(1000)
' "$G/socket"

# Clients of this socket displace each other, and no client of other sockets.
exec {silent}> >("$PYTHON" "$FS/control_clients.py" "$G/socket" silent 100 >"$T/silent")
until [[ -s $T/silent ]]; do sleep 0.05; done
ctl ls >"$T/out"
exec {silent}>&-

# The number of mounts of a job is limited, because each mount takes threads.
for i in $(seq 65); do
	mkdir "$T/y/$i"
	"$BUILD/joaderctl" -s "$G/socket" mount a "$T/y/$i" >"$T/out" 2>&1 || break
done
equal "mounts" "$i" 65
grep -q 'a has 64 mounts' "$T/out" || fail "$(<"$T/out")"
umount "$T/y"/*/ 2>"$T/out" || ! mounted "$T/y/64" || fail "$(<"$T/out")"

stop
[[ -d $G && ! -e $G/socket ]] || fail "the grant's directory after the end: $(ls -a "$G")"
start
equal "inside, after a restart" "$(inside 1 | xargs)" "$wanted"

# A client that is connected when the grant ends loses its rights. A new job of the same name is
# another job.
equal "revoked" "$(ctl revoke a)" "revoked a"
[[ ! -e $G ]] || fail "$G is left"
! ctl revoke a 2>"$T/out" || fail "revoked twice"
grep -q 'job a is not granted' "$T/out" || fail "$(<"$T/out")"
ctl grant a >"$T/out"
ctl rm a >"$T/out"
[[ ! -e $G ]] || fail "$G is left without its job"
ctl add "$T/jobs.d/a.ini" >"$T/out"
[[ ! -e $G ]] || fail "a job of the same name is granted"
stop

# The client can change the grant's directory. A link in the place of the socket has no effect on
# the daemon, and files that the client leaves there are no grants.
echo secret >"$T/secret"
chmod 600 "$T/secret"
start --fault "control.bound:NONE:after=1:times=1:until=$T/go"
ctl grant b >"$T/out" 2>&1 &
granting=$!
until [[ -S $T/state/grants/b/socket ]]; do sleep 0.02; done
ln -sfn "$T/secret" "$T/state/grants/b/socket"
touch "$T/go"
status=0
wait "$granting" || status=$?
equal "mode of another file" "$(stat -c %a "$T/secret")" 600
((status != 0)) || fail "granted: $(<"$T/out")"
rm "$T/state/grants/b/socket"
ctl grant b >"$T/out"
touch "$T/state/grants/b/mine"
ctl revoke b >"$T/out"
stop
start
[[ ! -e $T/state/grants/b ]] || fail "granted again: $(ls "$T/state/grants/b")"
equal "what is the client's" "$(ls "$T/state/grants/.b.0")" mine
stop
