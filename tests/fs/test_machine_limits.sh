#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The daemon in a container: the default cache is half of the container's free memory, and an epoch
# larger than that is read without a kill. A larger cache gets the engine killed: the log says that
# memory ran out, and how much there is; no image is blamed. `workers = auto` counts the CPUs of the
# affinity and of the container's quota.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
LIMIT=400M
ulimit -c 0
# ASan keeps freed memory.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=8

# new_group CONTROLLER: prints the directory of a new control group for this test, if one can be
# made
new_group() {
	local path top
	if path=$(grep -E "^[0-9]+:([a-z_]+,)*$1(,[a-z_]+)*:" /proc/self/cgroup); then
		top=/sys/fs/cgroup/$1
	else
		path=$(grep ^0:: /proc/self/cgroup) || return 1
		top=/sys/fs/cgroup
		echo "+$1" 2>/dev/null >"$top${path#*::}/cgroup.subtree_control" || return 1
	fi
	path=${path##*:}
	[[ -d $top$path ]] || path=
	mkdir "$top$path/joaderfs-test.$$" 2>/dev/null || return 1
	echo "$top$path/joaderfs-test.$$"
}
MEMORY=$(new_group memory) || skip "no control groups for memory that this user may make"
CPU=
leave() {
	local group
	for group in "$MEMORY" ${CPU:+"$CPU"}; do
		echo $$ >"$(dirname "$group")/cgroup.procs"
	done
	rmdir "$MEMORY" ${CPU:+"$CPU"}
}
put() { # VALUE FILE...: into the first one that there is
	local value=$1 file
	shift
	for file; do
		[[ ! -e $file ]] || { echo "$value" >"$file" && return; }
	done
	fail "none of $*"
}
# start_in GROUP: starts the daemon in the group, alone
start_in() {
	local home
	home=$(dirname "$1")
	echo $$ >"$1/cgroup.procs"
	start
	echo $$ >"$home/cgroup.procs"
}
in_top() {
	ctl top --once --json -i 0.1 | "$PYTHON" -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}
put $LIMIT "$MEMORY/memory.max" "$MEMORY/memory.limit_in_bytes"
at_end() {
	[[ -z $PID ]] || { kill -TERM "$PID" && wait "$PID" && PID=; } || true
	leave
}

mkdir -p "$D/big"
"$PYTHON" - "$D/big" <<-'END'
	import sys
	import numpy
	from PIL import Image
	noise = numpy.random.default_rng(1).integers(0, 256, (6, 8, 3), dtype=numpy.uint8)
	Image.fromarray(noise).resize((1600, 1200)).save(f"{sys.argv[1]}/0000.jpg")
END
for i in $(seq 99); do cp "$D/big/0000.jpg" "$D/big/$(printf %04d "$i").jpg"; done # 550 MB
job a job.epochs=9

# --- the default ---
config
sed -i '/^cache = /d' "$T/joaderfs.ini"
start_in "$MEMORY"
read_epoch a
once a 100
! grep "a new engine takes over" "$LOG" || fail "the engine was killed: $(<"$LOG")"
line=$(grep -E "cache = auto: [0-9]+M, half of the [0-9]+M that .*(memory.max|limit_in_bytes) leaves" "$LOG") ||
	fail "the log does not say how large the cache is: $(<"$LOG")"
read -r cache left < <(sed -E 's/.*auto: ([0-9]+)M, half of the ([0-9]+)M.*/\1 \2/' <<<"$line")
((left <= 400 && cache == left / 2)) || fail "$line"
equal "the cache's capacity" "$(in_top cache_capacity)" $((cache << 20))
stop

# --- a cache that is too large ---
config joaderfs.cache=4G
start_in "$MEMORY"
grep -qE "warning: .*cache: 4G is more than the memory of .*(memory.max|limit_in_bytes), 400M" "$LOG" ||
	fail "no warning: $(<"$LOG")"
read_epoch a 0001
once a 100 0001
grep -qE "warning: the engine was killed because memory ran out \(.* has 400M\): set a smaller cache" "$LOG" ||
	fail "the log does not say why: $(<"$LOG")"
equal "bad" "$(cat "$M/datasets/images/bad")" ""
! grep "preparing it ended" "$LOG" || fail "an image is blamed"
stop

# --- CPUs ---
config joaderfs.cache=64M
start
equal "workers" "$(in_top workers)" "$(nproc)"
stop
CPU=$(new_group cpu) || exit 0
put 50000 "$CPU/cpu.cfs_quota_us" "$CPU/cpu.max"
start_in "$CPU"
equal "workers of half a CPU" "$(in_top workers)" 1
stop
