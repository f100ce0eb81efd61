# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash disable=SC2034
#
# Simulated machines for tests of documents and examples, which use paths such as /etc/joaderfs.
# Sourced after cluster.sh.
#
#     machines node1 node2    makes machines: each has a name space of processes, mounts and the
#                             network, its own /etc, /var/lib, /run, /mnt and /data, and an address:
#                             10.0.0.1, 10.0.0.2 and so on
#     on node1 COMMAND...     runs a command on a machine

declare -A MACHINE # a process in the name spaces of a machine
APART=(-p --mount-proc) # (): without name spaces of processes
STARTED=()         # parents of the first processes of machines
MADE=()            # mount points that the test had to make on the real machine

# machine NAME NUMBER: makes a machine in name spaces of its own; it ends with its first process
machine() {
	mkdir -p "$T/$1"/{etc,var/lib/redis,run,mnt,data/photos}
	cp -a /etc/{passwd,group,nsswitch.conf,ld.so.cache,alternatives} "$T/$1/etc"
	inside "$1" ip address add "10.0.0.$2/24" dev eth0
	# shellcheck disable=SC2016
	nsenter -t "${NET[$1]}" -n unshare -m -u "${APART[@]}" --fork --kill-child --propagation private bash -c '
		set -e
		hostname "$2"
		for place in /etc /var/lib /run /mnt /data; do
			mount --bind "$1/$2$place" "$place"
		done
		mount --bind "$3" /data/photos
		touch "$1/$2/ready"
		exec sleep infinity' machine "$T" "$1" "$D" 2>/dev/null &
	until [[ -e $T/$1/ready ]]; do
		kill -0 $! 2>/dev/null || skip "no name spaces of mounts and processes here"
		sleep 0.02
	done
	MACHINE[$1]=$(pgrep -P $!)
	STARTED+=($!)
}

# machines NAME...: starts the machines
machines() {
	local name other place number=0
	for place in /mnt /data; do
		! mkdir "$place" 2>/dev/null || MADE+=("$place")
	done
	networks "$@"
	for name; do
		number=$((number + 1))
		machine "$name" $number
		printf '127.0.0.1 localhost\n' >"$T/$name/etc/hosts"
	done
	number=0
	for name; do
		number=$((number + 1))
		for other; do echo "10.0.0.$number $name" >>"$T/$other/etc/hosts"; done
	done
}

on() {
	nsenter -t "${MACHINE[$1]}" -m -u "${APART[@]:0:1}" -n "${@:2}"
}

# A machine ends with its first process.
at_end() {
	kill -KILL "${MACHINE[@]}"
	wait "${STARTED[@]}" 2>/dev/null
	((${#MADE[@]} == 0)) || rmdir "${MADE[@]}"
}
