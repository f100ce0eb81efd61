#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# docs/machines.md: its commands for two machines run as printed on two simulated machines
# (unshare), and print the same output; each rank reads its samples.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
. "$FS/machines.sh"
needs_torch
dataset 2 30 300x260
machines node1 node2
mkdir "$T/bin"
ln -s "$PROGRAM" "$BUILD/joaderctl" "$PYTHON" "$T/bin/"
# The torchrun of some distributions does not start. This one sets the same variables for the
# ranks.
cat >"$T/bin/torchrun" <<'END'
#!/bin/bash
while [[ $1 == --* ]]; do
	declare "${1#--}=$2"
	shift 2
done
export MASTER_ADDR=$master_addr WORLD_SIZE=$((nnodes * nproc_per_node)) LOCAL_WORLD_SIZE=$nproc_per_node
ranks=()
for ((local = 0; local < nproc_per_node; local++)); do
	RANK=$((node_rank * nproc_per_node + local)) LOCAL_RANK=$local python3 "$@" &
	ranks+=($!)
done
for rank in "${ranks[@]}"; do wait "$rank" || exit; done
END
chmod +x "$T/bin/torchrun"
ln -s "$ROOT/tools/examples/train_ranks.py" "$T/"
sed 's|node2:|node2|' >"$T/bin/scp" <<END
#!/bin/bash
to=\${!#}
cp "\${@:1:\$#-1}" "$T/\${to%%:*}/\${to#*:}"
END
chmod +x "$T/bin/scp"

# typed MACHINE COMMAND: runs the command as in a shell of root on the machine
typed() {
	on "$1" env -u JOADERFS_SOCKET PATH="$T/bin:$PATH" OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=eth0 \
		bash -c "cd $T && $2"
}

# gives MACHINE COMMAND TEXT: repeats the command until it prints TEXT
gives() {
	local _
	for _ in $(seq 100); do
		typed "$1" "$2" >"$T/out" 2>&1 || fail "$1# $2"$'\n'"$(<"$T/out")"
		[[ "$(<"$T/out")" != "$3" ]] || return 0
		sleep 0.1
	done
	equal "$1# $2" "$(<"$T/out")" "$3"
}

# Prints lines of the machine, the command and its output, with \\0 after each.
"$PYTHON" - "$ROOT/docs/machines.md" >"$T/commands" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
lines = [line[4:] for line in re.findall(r"^    .*", text, re.M)]
commands = []
for line in lines:
    start = re.match(r"(node1|node2|both)# (.*)", line)
    if start:
        commands.append([start[1], start[2], "", "END" if re.search("<<'?END", line) else ""])
    elif commands and (commands[-1][3] or commands[-1][1].endswith("\\")):
        commands[-1][1] += "\n" + line
        if line == "END":
            commands[-1][3] = ""
    elif commands:
        commands[-1][2] += line + "\n"
assert len(commands) >= 10, commands
for machine, command, printed, _ in commands:
    print(machine, command, printed.rstrip("\n"), sep="\0", end="\0")
END
trainings=()
while IFS= read -r -d '' machine && IFS= read -r -d '' command && IFS= read -r -d '' printed; do
	case $machine in both) names=(node1 node2) ;; *) names=("$machine") ;; esac
	for name in "${names[@]}"; do
		if [[ $command == NODE_RANK=* ]]; then
			typed "$name" "$command" >"$T/training.$name" 2>&1 </dev/null &
			trainings+=($!)
		elif [[ -n $printed ]]; then
			gives "$name" "$command" "$printed" </dev/null
		else
			typed "$name" "$command" >"$T/out" 2>&1 </dev/null ||
				fail "$name# $command"$'\n'"$(<"$T/out")"
		fi
	done
done <"$T/commands"
equal "trainings" "${#trainings[@]}" 2
for training in "${trainings[@]}"; do
	wait "$training" || fail "$(cat "$T"/training.*)"
done
for epoch in 0 1; do
	equal "samples of epoch $epoch" "$(sed -n "s/^rank \([0-3]\), epoch $epoch: \(.*\) samples,.*/\1 \2/p" \
		"$T"/training.* | sort | xargs)" "0 15 1 15 2 15 3 15"
done
fetched=$(sed -n 's/^samples_fetched //p' <(on node1 cat /mnt/joaderfs/stats))
((fetched > 0)) || fail "node1 has fetched nothing from node2"

# The inis in config equal those of the document, except for comments.
for name in cluster ranks; do
	equal "config/$name.ini" "$(sed 's/ *[;#].*//; /^$/d' "$ROOT/config/$name.ini")" "$(<"$T/node1/etc/joaderfs/$name.ini")"
done
for name in node1 node2; do on $name umount /mnt/joaderfs; done
