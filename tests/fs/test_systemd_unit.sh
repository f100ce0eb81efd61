#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The unit under a real systemd: it starts, reloads and stops. If any of its processes is killed,
# systemd restarts it and the mount is back, although the dead mount was left.
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || skip "runs as root, to be systemd's"
SYSTEMD=/lib/systemd/systemd
[[ -x $SYSTEMD ]] || skip "no systemd on this system"
dataset 2 4
job a tensor.crop=32 job.epochs=9
config
mkdir "$T/units" "$T/etc"
mv "$T/joaderfs.ini" "$T/etc/x.ini"
sed -i "s|^jobs = .*|jobs = $T/jobs.d|" "$T/etc/x.ini"
# The unit's filter forbids ptrace(2), which a search for leaks needs. Other tests search for
# leaks.
sed "s|^ExecStart=|Environment=ASAN_OPTIONS=detect_leaks=0\n&|; s|/usr/local/bin/|$BUILD/|g; s|/etc/joaderfs/|$T/etc/|g; s|^RestartSec=.*|RestartSec=100ms|" \
	"$ROOT/config/joaderfs@.service" >"$T/units/joaderfs@.service"
for target in test sysinit basic shutdown umount final exit; do
	printf '[Unit]\nDefaultDependencies=no\n' >"$T/units/$target.target"
done

# This systemd sees only its own control group.
NAME=joaderfs-test.$$
if [[ $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]]; then
	GROUP=/sys/fs/cgroup/$NAME view="mount -t cgroup2 none /sys/fs/cgroup"
else
	GROUP=/sys/fs/cgroup/systemd/$NAME
	view="mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/systemd &&
		mount -t cgroup -o none,name=systemd none /sys/fs/cgroup/systemd"
fi
mkdir "$GROUP" 2>/dev/null || skip "no group of processes can be made here"
at_end() {
	kill -KILL "$OUTER" 2>/dev/null || true
	wait "$OUTER" 2>/dev/null || true
	while [[ -n $(find "$GROUP" -name cgroup.procs -exec cat {} +) ]]; do sleep 0.05; done
	find "$GROUP" -depth -type d -exec rmdir {} +
}
(
	echo "$BASHPID" >"$GROUP/cgroup.procs"
	export container=test SYSTEMD_UNIT_PATH=$T/units
	exec unshare -m -p -f -u -i -C --mount-proc --kill-child bash -c "$view &&
		mount -t tmpfs none /run && mount -t tmpfs none /var/lib &&
		exec $SYSTEMD --system --unit=test.target --log-target=console --show-status=no"
) >"$T/systemd" 2>&1 </dev/null &
OUTER=$!
inside() {
	nsenter -t "$(pgrep -P "$OUTER")" -a "$@"
}
for _ in $(seq 100); do
	! inside systemctl is-active test.target >"$T/out" 2>&1 || break
	kill -0 "$OUTER" 2>/dev/null || skip "systemd does not start here: $(tail -n 1 "$T/systemd")"
	sleep 0.1
done
inside systemctl is-active test.target >"$T/out" || skip "systemd does not start here: $(<"$T/out")"

unit() {
	inside systemctl "$1" joaderfs@x || {
		inside systemctl status joaderfs@x || true
		fail "$1: $(tail -n 20 "$T/systemd")"
	}
}
about() {
	inside systemctl show -P "$1" joaderfs@x
}
# reads EPOCH: reads the epoch, and checks the number of bytes
reads() {
	equal "files of epoch $1" "$(inside bash -c \
		"cat /run/joaderfs/x/jobs/a/epoch-000$1/*.ppm | wc -c")" $((8 * (13 + 32 * 32 * 3)))
}

# killed N WHO: checks that systemd has started the unit for the N-th time after the kill. The
# engine was stopped before, so that it could not unmount.
killed() {
	local _
	inside kill -STOP "$(inside pgrep -P "$(about MainPID)")"
	inside systemctl kill -s KILL "--kill-who=$2" joaderfs@x
	for _ in $(seq 200); do
		[[ $(about NRestarts) != "$1" || $(about ActiveState) != active ]] || return 0
		[[ $(about ActiveState) != failed ]] || break
		sleep 0.1
	done
	fail "$2 killed: $(about ActiveState), restarts: $(about NRestarts), $(tail -n 20 "$T/systemd")"
}
unit start
reads 0
unit reload
reads 1
killed 1 all
reads 2
killed 2 main
reads 3
unit stop
! inside grep -q ' /run/joaderfs/x ' /proc/self/mounts || fail "it is still mounted"
