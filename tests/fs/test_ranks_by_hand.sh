#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Ranks that a shell or multiprocessing starts count as one script, with or without workers, and
# with or without padding: each epoch has each sample once, and the next epoch another order.
# Unmarked ranks do so, too, if the job says so, also when the engine is killed while they read. Two
# runs with different parameters are two scripts, whichever process has started them.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
N=97 # padded by 1 to 3 for 2, 3 and 4 ranks
EPOCHS=$(effort 4 12)
dataset 1 $N 48x36
declare -A options=([flat]=view.layout=flat [classes]="view.layout=classes view.mapping=fresh")
for layout in flat classes; do options[$layout-one]="${options[$layout]} job.script=one"; done
# Each case: ranks, the way to start them, workers of each rank, layout.
cases=(2-options-0-classes 2-options-2-flat 3-options-0-flat 3-options-2-classes 4-options-0-classes
	4-options-2-flat 2-environment-0-classes 3-environment-2-flat 2-shells-2-classes
	2-strangers-{0-classes,2-flat} 3-strangers-0-flat 2-killed-0-classes
	2-launched_shells-0-flat 3-{fork,forkserver}-2-classes 3-{spawn,looked_spawn}-2-flat)
[[ $EPOCHS == 4 ]] || cases=({2,3,4}-{options,environment,shells,launched_shells,strangers,killed}-{0,2}-{flat,classes}
	{2,3,4}-{fork,forkserver,spawn,looked_spawn}-2-{flat,classes})
! unshare -p -f true 2>/dev/null || cases+=(2-contained-2-flat 3-contained-0-classes)
for case in "${cases[@]}"; do
	IFS=- read -r _ _ _ layout <<<"$case"
	[[ $case != *-@(strangers|killed)-* ]] || layout+=-one
	# shellcheck disable=SC2086 # two words
	job "$case" tensor.crop=32 job.epochs=99 ${options[$layout]}
done
for name in rank lr seed lora-rank; do job run-$name tensor.crop=32 job.epochs=99; done
start

children=()
all_end() {
	local child
	for child in "${children[@]}"; do wait "$child" || fail "a process of $case failed"; done
	children=()
}

# rank ARGUMENT...: starts a rank beside the others
rank() {
	"$PYTHON" "$FS/ranks.py" "$M/jobs/$case/current" "$T/meet" --workers "$workers" \
		--epochs "$EPOCHS" "$@" >>"$T/given" &
	children+=($!)
}

options() {
	rank --world-size "$ranks" --rank "$1"
}

environment() {
	RANK=$1 WORLD_SIZE=$ranks rank
}

in_a_shell() {
	bash -c "'$PYTHON' '$FS/ranks.py' '$M/jobs/$case/current' '$T/meet' --workers $workers \
		--epochs $EPOCHS $* >>'$T/given'; exit \$?" &
	children+=($!)
}

shells() {
	in_a_shell --world-size "$ranks" --rank "$1"
}

launched_shells() {
	RANK=$1 WORLD_SIZE=$ranks in_a_shell
}

# The command lines differ in a word, and each rank has its own session.
strangers() {
	local names=(first second third fourth)
	printf '%s\n' --world-size "$ranks" --rank "$1" >"$T/${names[$1]}"
	setsid "$PYTHON" "$FS/ranks.py" "$M/jobs/$case/current" "$T/meet" --workers "$workers" \
		--epochs "$EPOCHS" "@$T/${names[$1]}" >>"$T/given" &
	children+=($!)
}

killed() {
	strangers "$1"
	if (($1 == ranks - 1)); then
		until grep -qs "^1 " "$T/given"; do sleep 0.01; done
		kill_engine
	fi
}

# Each rank has its own name space of processes, as in a container; the daemon sees its children.
contained() {
	unshare -p -f "$PYTHON" "$FS/ranks.py" "$M/jobs/$case/current" "$T/meet" --workers "$workers" \
		--epochs "$EPOCHS" --world-size "$ranks" --rank "$1" >>"$T/given" &
	children+=($!)
}

fork() {
	[[ $1 != 0 ]] || rank --world-size "$ranks" --launch fork
}

spawn() {
	[[ $1 != 0 ]] || rank --world-size "$ranks" --launch spawn
}

looked_spawn() {
	[[ $1 != 0 ]] || rank --world-size "$ranks" --launch spawn --look 5
}

forkserver() {
	[[ $1 != 0 ]] || rank --world-size "$ranks" --launch forkserver
}

# exact: checks that each epoch had each sample, and that about one position kept its sample
exact() {
	local epoch held
	for ((epoch = 0; epoch < EPOCHS; epoch++)); do
		equal "different samples of $case, epoch $epoch" \
			"$(grep "^$epoch " "$T/given" | cut -d' ' -f2 | sort -u | wc -l)" $N
	done
	held=$(cut -d' ' -f2,3 "$T/given" | sort -u | wc -l)
	((held > (EPOCHS - 1) * N)) || fail "$case: positions have held $held samples in $EPOCHS epochs"
	equal "notices of $case" "$(status_of "$case" notice)" ""
	rm "$T/given"
}

for case in "${cases[@]}"; do
	IFS=- read -r ranks how workers _ <<<"$case"
	for ((training = ranks > 2; training < 2; training++)); do # one after the other, from one shell
		for ((r = 0; r < ranks; r++)); do "$how" "$r"; done
		all_end
		exact
	done
done

# One run is in the middle of its second epoch, while another one reads ten files.
cat >"$T/run.py" <<'PY'
import glob, os, sys

names = sorted(glob.glob(sys.argv[1] + "/*.ppm"))


def read(some):
    for name in some:
        with open(name, "rb") as file:
            file.read()


if os.environ["RUN"] == "slow":
    read(names)
    slow = iter(names)
    read([next(slow)])
    with open(sys.argv[2], encoding="ascii") as steps:
        for _ in steps:
            read([next(slow)])
    read(slow)
else:
    with open(sys.argv[2], "w", encoding="ascii", buffering=1) as steps:
        for _ in range(4):
            for i in range(0, len(names), 10):
                read(names[i:i + 10])
                print(file=steps)
PY
mkfifo "$T/steps"
for name in rank lr seed lora-rank; do
	values=(0 1)
	[[ $name != lora-rank ]] || values=(8 16)
	case=run-$name
	for run in 0 1; do
		RUN=$( ((run)) && echo fast || echo slow) "$PYTHON" "$T/run.py" "$M/jobs/$case/current" "$T/steps" \
			"--$name" "${values[run]}" &
		children+=($!)
	done
	all_end
	said=$(status_of "$case" notice)
	if [[ $name == rank ]]; then equal "notice of ranks" "$said" ""; else
		[[ $said == "two scripts"* ]] || fail "two runs with --$name are one script: $said"
	fi
done
