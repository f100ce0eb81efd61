#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A node that listens at all its addresses gives other nodes the address (number or name) from its
# ini, or else the address from which it reaches the engine.
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/cluster.sh"
dataset 1 4
redis
(umask 077 && head -c 32 /dev/urandom | base64 >"$T/one")

# advertises ADVERTISE ADDRESS: checks that other nodes are told this address, without its port
advertises() {
	rm -rf "$T/a/state"
	node a 'ttl = 2s' 'listen = :0' "secret = $T/one" "advertise = $1"
	launch a
	shows a "^member a $2[0-9]*$"
	end a
	unmount "$T/a/mnt"
}
advertises 127.0.0.2 '127\.0\.0\.2:'
advertises 127.0.0.2:4711 '127\.0\.0\.2:4711'
advertises localhost '\(127\.0\.0\.1\|\[::1\]\):'
advertises ::1 '\[::1\]:'
advertises '[::1]:4711' '\[::1\]:4711'
for wrong in no.such.name.invalid :7070 0.0.0.0; do
	node a 'ttl = 2s' 'listen = :0' "secret = $T/one" "advertise = $wrong"
	! "$PROGRAM" --no-supervisor "$T/a/joaderfs.ini" "$T/a/mnt" -f >"$T/out" 2>&1 || fail "it advertises $wrong"
	grep -qF "advertise: found \"$wrong\", allowed: auto, or the address" "$T/out" || fail "$(<"$T/out")"
done
# If the engine is reached by a network, the route to it gives the address.
port=$(free_port)
ask config set port "$port" >/dev/null
# shellcheck disable=SC2034 # cluster.sh uses it
ENGINE=redis://localhost:$port
node a 'ttl = 2s' 'listen = :0' "secret = $T/one"
launch a
shows a '^member a \(127\.0\.0\.1\|\[::1\]\):[1-9][0-9]*$'
end a
