#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# Three daemons in network name spaces of their own. Links are cut, or drop packets in one
# direction. Readers get the drawn samples, wait, and go on when the link is mended. Another daemon
# takes over the ranks of one that can't be reached.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 60 48x36
networks a b c
redis
three_nodes 'listen = ADDRESS:0'
read_three 20
they_go_on "${ALL[@]}"

# cut_off NODE: waits until the node does not reach the engine, and its readers wait
cut_off() {
	shows "$1" '^state away$'
	they_wait
}

row "a daemon that does not lead can't be reached: its readers read on, then they wait"
name=$(follower)
link "$name" down
cut_off "$name"
link "$name" up
they_go_on "${ALL[@]}"
shows "$name" '^state follows$'

row "nor can the leader: another one leads"
name=$(leader)
link "$name" down
another_leads "$name"
cut_off "$name"
link "$name" up
they_go_on "${ALL[@]}"
shows "$name" '^state follows$'

row "what the leader sends does not come to the server"
name=$(leader)
silent "$name" bridge
another_leads "$name"
cut_off "$name"
heard "$name" bridge
they_go_on "${ALL[@]}"

row "what the server sends does not come to the leader: it has done what it was asked"
name=$(leader)
silent bridge "$name"
another_leads "$name"
cut_off "$name"
heard bridge "$name"
they_go_on "${ALL[@]}"

row "two daemons do not hear each other: what the other one has is prepared here"
silent a b
silent c b
failures=$(($(of a fetch_failures) + $(of b fetch_failures) + $(of c fetch_failures)))
for _ in $(seq 600); do
	they_go_on "${ALL[@]}"
	((failures == $(of a fetch_failures) + $(of b fetch_failures) + $(of c fetch_failures))) || break
done
heard a b
heard c b
they_go_on "${ALL[@]}"

row "another daemon goes on with the ranks of one that can't be reached, and gives them back"
# move RANK NODE: tells the rank's reader to read at the node
move() {
	echo "$T/$2/mnt/jobs/r$1" >"$T/new"
	mv "$T/new" "$T/moved-$1"
}
move 4 a
move 5 a
they_wait
link c down
for number in 4 5; do
	rank a $number tensor.crop=32 view.lookahead=4
	ctl_of a add "$T/a/jobs/r$number.ini" >"$T/out"
done
they_go_on "${ALL[@]}"
shows a '^rank net 4/6 job r4 held'
link c up
shows c '^state follows$'
shows c '^rank net 4/6 job r4 waits'
they_go_on "${ALL[@]}"
move 4 c
move 5 c
they_wait
ctl_of a rm r4 >"$T/out"
ctl_of a rm r5 >"$T/out"
they_go_on "${ALL[@]}"
shows c '^rank net 4/6 job r4 held'

finish_reading
