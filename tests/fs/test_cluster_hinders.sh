#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl cluster names each hindrance: ranks that no node, or another node, serves; a silent
# node; another dataset; another secret; an engine that is away.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 24 32x24
redis
for name in a b; do
	(umask 077 && head -c 32 /dev/urandom | base64 >"$T/secret.$name")
	node $name 'ttl = 1s' 'listen = 127.0.0.1:0' "secret = $T/secret.a"
	launch $name
	shows $name '^hinders nothing$'
done

# adds NODE RANK: adds one of three ranks
adds() {
	# shellcheck disable=SC2034 # cluster.sh uses it
	RANKS=3
	rank "$1" "$2" tensor.crop=16
	ctl_of "$1" add "$T/$1/jobs/r$2.ini" >/dev/null
}
adds a 0
shows a '^hinders training net: no node serves rank 1 to 2 of 3 '
adds b 1
shows a '^hinders training net: no node serves rank 2 of 3 '
shows b '^hinders training net: no node serves rank 2 of 3 '
adds b 2
adds b 0
shows a '^hinders nothing$'
shows b '^hinders job r0 waits: node a serves rank 0 of net '
ctl_of b rm r0 >/dev/null
shows b '^hinders nothing$'

kill_node b
shows a '^hinders node b has been silent for [1-9][0-9]* s: .*joaderctl cluster forget b$'
shows a '^hinders training net: no node serves rank 1 to 2 of 3 '
ctl_of a cluster forget b >/dev/null
while ctl_of a cluster | grep -q 'hinders node b'; do sleep 0.1; done

# Node b comes back with other times of its files, then with other files, then with another secret.
rm -r "$T/b/state" "$T/b/jobs"
cp -r "$D" "$T/other"
find "$T/other" -type f -exec touch -d yesterday {} +
D=$T/other node b 'ttl = 1s' 'listen = 127.0.0.1:0' "secret = $T/secret.a"
launch b
adds b 1
shows b "^hinders job r1 can't join training net: times: the files' paths and sizes are those of the group.*rsync -a"
end b
unmount "$T/b/mnt"
rm -r "$T/b/state" "$T/b/jobs"
for file in "$T"/other/class0/*; do echo >>"$file"; done
D=$T/other node b 'ttl = 1s' 'listen = 127.0.0.1:0' "secret = $T/secret.a"
launch b
adds b 1
shows b "^hinders job r1 can't join training net: samples: .*; all nodes need the same files (rsync -a)$"
end b
unmount "$T/b/mnt"
rm -r "$T/b/state" "$T/b/jobs"
node b 'ttl = 1s' 'listen = 127.0.0.1:0' "secret = $T/secret.b"
launch b
adds b 1
adds b 2
shows b '^rank net 2/3 job r2 held'
readers=()
for reader in a/mnt/jobs/r0 b/mnt/jobs/r1 b/mnt/jobs/r2; do
	cat "$T/$reader"/epoch-0000/*.ppm >/dev/null &
	readers+=($!)
done
shows b '^hinders node a .*another secret .*: this node prepares its samples, too$'
wait "${readers[@]}"

kill_redis
shows a '^hinders the engine can.t be reached for [0-9]* s (.*): readers get the samples drawn so far, then wait$'
redis
shows a '^engine reached$'
! grep 'hinders the engine' "$T/cluster" || fail "it is back"
end a
end b
