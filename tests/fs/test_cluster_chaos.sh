#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# Six ranks read on three daemons while failures happen at random moments. In each epoch each sample
# comes once, positions keep their samples, the samples that were read agree with the server's log,
# and all ranks go on after the failures.
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/cluster.sh"
command -v openssl >/dev/null || skip "no openssl"
CHAOS_SECONDS=${CHAOS_SECONDS:-120}
CHAOS_FAULTS=${CHAOS_FAULTS:-1000000}
PROGRAM=${DAEMON:-$PROGRAM}
RANDOM=${CHAOS_SEED:-1}
dataset 2 60 48x36
address=127.0.0.1 server=127.0.0.1
if "$ROOT/tools/network" --allowed; then
	networks a b c
	# shellcheck disable=SC2153
	address=ADDRESS server=${ADDRESS[bridge]}
fi
# The engine and the nodes are reached by TLS.
authority ours
certificate server ours "IP:$server"
port=$(free_port)
# shellcheck disable=SC2034 # cluster.sh uses it
LISTEN=(--port 0 --tls-port "$port" --bind "$server" --protected-mode no --tls-auth-clients no
	--tls-cert-file "$T/server.crt" --tls-key-file "$T/server.key"
	--tls-ca-cert-file "$T/ours.crt")
# shellcheck disable=SC2034 # cluster.sh uses it
ENGINE=rediss://$server:$port/0
redis
three_nodes "listen = $address:0" "engine_ca = $T/ours.crt"
read_three 10
they_go_on "${ALL[@]}"
NODES=(a b c)
declare -A faults longest


a_while() {
	sleep "$((RANDOM % $1)).$((RANDOM % 10))"
}

# --- failures, and their ends ----------------------------------------------------------

killed() {
	local name=${NODES[RANDOM % 3]}
	kill_node "$name"
	a_while 3
	launch "$name"
}

leader_killed() {
	local name
	name=$(leader)
	kill_node "$name"
	a_while 2
	launch "$name"
}

two_killed() {
	local first=$((RANDOM % 3)) name
	for name in "${NODES[first]}" "${NODES[(first + 1) % 3]}"; do kill_node "$name"; done
	a_while 2
	for name in "${NODES[first]}" "${NODES[(first + 1) % 3]}"; do launch "$name"; done
}

stopped() {
	local name=${NODES[RANDOM % 3]}
	kill -STOP "${PIDS[$name]}"
	a_while 5
	kill -CONT "${PIDS[$name]}"
}

leader_stopped() {
	local name
	name=$(leader)
	kill -STOP "${PIDS[$name]}"
	a_while 5
	kill -CONT "${PIDS[$name]}"
}

server_killed() {
	kill_redis
	a_while 3
	redis
}

server_stopped() {
	kill -STOP "$REDIS"
	a_while 4
	kill -CONT "$REDIS"
}

server_slow() {
	slow_server $((100 + RANDOM % 1400)) 2
}

rolled_back() {
	roll_back a_while 3
	a_while 2
	redis
}

rolled_back_and_leader_killed() {
	local name
	name=$(leader)
	roll_back a_while 3
	kill_node "$name"
	redis
	launch "$name"
}

rolled_back_and_stopped() {
	local name=${NODES[RANDOM % 3]}
	kill -STOP "${PIDS[$name]}"
	roll_back a_while 2
	redis
	kill -CONT "${PIDS[$name]}"
}

emptied() {
	kill_redis
	rm -r "$T/engine"
	redis
}

link_down() {
	local name=${NODES[RANDOM % 3]}
	link "$name" down
	a_while 6
	link "$name" up
}

one_way() {
	local from=${NODES[RANDOM % 3]} to=bridge
	if ((RANDOM % 2)); then
		to=$from
		from=bridge
	fi
	silent "$from" "$to"
	a_while 4
	heard "$from" "$to"
}

between_nodes() {
	local from=$((RANDOM % 3)) to
	to=${NODES[(from + 1) % 3]}
	from=${NODES[from]}
	silent "$from" "$to"
	a_while 4
	heard "$from" "$to"
}

kinds=(killed leader_killed two_killed stopped leader_stopped server_killed server_stopped
	server_slow rolled_back rolled_back_and_leader_killed rolled_back_and_stopped emptied)
[[ $address == 127.0.0.1 ]] || kinds+=(link_down one_way between_nodes)
read -ra kinds <<<"${CHAOS_KINDS:-${kinds[*]}}"

# settled: waits until the log is whole again. If a daemon were away for more than three ttl during
# the repair, other ranks would get its readers' samples.
settled() {
	local name life
	life=$(ask info server | sed -n 's/^run_id:\([0-9a-f]*\).*/\1/p')
	for name in $(seq 600); do
		[[ $(ask get '{joaderfs}:ready') != "$life" ]] || break
		((name < 600)) || fail "the log is not made whole"
		sleep 0.05
	done
	for name in "${NODES[@]}"; do
		shows "$name" '^state \(leads\|follows\)$'
		shows "$name" '^repairing no$'
	done
}

# --- one after the other ---------------------------------------------------------------

end=$((SECONDS + CHAOS_SECONDS))
while ((SECONDS < end && CHAOS_FAULTS-- > 0)); do
	kind=${kinds[RANDOM % ${#kinds[@]}]}
	echo "$SECONDS s: $kind"
	$kind
	faults[$kind]=$((${faults[$kind]:-0} + 1))
	healed=$SECONDS
	they_go_on "${ALL[@]}"
	settled
	((SECONDS - healed <= ${longest[$kind]:-0})) || longest[$kind]=$((SECONDS - healed))
	((RANDOM % 3)) || a_while 2
done
finish_reading
for kind in "${!faults[@]}"; do
	echo "$kind: ${faults[$kind]}, they went on after ${longest[$kind]:-0} s at most"
done | sort
# Other ranks may get the samples of a node's readers only if the node was silent for three ttl,
# which can happen on a slow machine.
silent='repaired without node .*, which has not reported'
if ! grep "$silent" "$LOG" && grep -B 10 'drew other samples for' "$LOG"; then
	fail "a reader's samples were given otherwise"
fi
