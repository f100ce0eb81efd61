#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# Six ranks read on three daemons. Daemons die and stop, and their server dies, loses data, stops
# and refuses. In each epoch each sample comes once, positions keep their samples, and the samples
# that were read agree with the server's log.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 60 48x36
redis
three_nodes 'listen = 127.0.0.1:0'
read_three 20
they_go_on "${ALL[@]}"

row "the leader dies"
lead=$(leader)
kill_node "$lead"
another_leads "$lead"
launch "$lead"
they_go_on "${ALL[@]}"

row "the leader stops for longer than the ttl, and does not know that another one leads"
lead=$(leader)
kill -STOP "${PIDS[$lead]}"
another_leads "$lead"
kill -CONT "${PIDS[$lead]}"
shows "$lead" '^state follows$'
they_go_on "${ALL[@]}"

row "a daemon dies that does not lead"
follower=$(follower)
kill_node "$follower"
they_wait
launch "$follower"
they_go_on "${ALL[@]}"

row "the server comes back without the last that it knew"
roll_back they_go_on "${ALL[@]}"
redis
they_go_on "${ALL[@]}"

row "the same, and the leader is killed meanwhile"
lead=$(leader)
roll_back they_go_on "${ALL[@]}"
kill_node "$lead"
redis
launch "$lead"
they_go_on "${ALL[@]}"

row "the server stops: readers get what was drawn, then they wait; it does late what it was asked"
kill -STOP "$REDIS"
for name in a b c; do shows $name '^state away$'; done
they_wait
kill -CONT "$REDIS"
they_go_on "${ALL[@]}"

row "the server is slow: .3 s for each command"
slow_server 300 10
they_go_on "${ALL[@]}"

row "the server is so slow that answers come too late, but what was asked is done"
slow_server 1300 3
they_go_on "${ALL[@]}"

row "the server has no memory"
ask config set maxmemory 1 >"$T/out"
shows a '^state away$'
they_wait
ask config set maxmemory 0 >"$T/out"
they_go_on "${ALL[@]}"
grep -q 'the engine refuses .*: OOM' "$LOG" || fail "no line about its memory"

row "another program has a key of the group"
ask rename '{joaderfs}:nodes' nodes >"$T/out"
ask set '{joaderfs}:nodes' 'of another program' >"$T/out"
shows a '^state away$'
ask rename nodes '{joaderfs}:nodes' >"$T/out"
they_go_on "${ALL[@]}"
grep -q 'the engine refuses .*WRONGTYPE' "$LOG" || fail "no line about its key"

row "another version of the protocol"
ask set '{joaderfs}:version' 1 >"$T/out"
for name in a b c; do shows $name '^state refused$'; done
grep -q '^message .*version' "$T/cluster" || fail "no message: $(<"$T/cluster")"
they_wait
ask set '{joaderfs}:version' 2 >"$T/out"
they_go_on "${ALL[@]}"

finish_reading
