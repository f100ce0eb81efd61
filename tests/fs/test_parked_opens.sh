#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# While an epoch takes long to begin, readers that open its files wait: batches, labels, shards,
# JSON. The reader of another job is not delayed; readers that are killed end at once; the others
# get their bytes when the epoch has begun.
. "$(dirname "$0")/lib.sh"
dataset 3 8
size=(tensor.resize=48 tensor.crop=40)
job reader "${size[@]}"
job batches "${size[@]}" view.layout=batch view.batch=8
job shards "${size[@]}" view.layout=tar view.shard=8 view.json=yes
job images "${size[@]}" view.json=yes
start --fault "sched.stream:NONE:after=1:until=$T/go"
cat "$(epoch reader)/00000000.ppm" >/dev/null # its epoch has begun

files=()
for directory in epoch-0000 current; do
	files+=("$M/jobs/batches/$directory/"batch-000000{,.labels}.npy
		"$M/jobs/shards/$directory/shard-000000.tar"
		"$M/jobs/images/$directory/00000003.json")
done

# arrived N: waits until N opens have come since `before` was counted, answered or not
arrived() {
	local opens own
	for own in $(seq 300); do # each read of stats is an open, too
		opens=$(timeout 20 cat "$M/stats" | sed -n 's/^requests_open //p') ||
			fail "the daemon does not answer"
		((opens - before - own < $1)) || return 0
		sleep 0.05
	done
	fail "$((opens - before - own)) opens of $1 came"
}

# kill_readers N FILE...: opens the files in a process, which is killed when N opens wait
kill_readers() {
	local killed
	before=$(counter requests_open)
	"$PYTHON" "$FS/parked.py" 5 "${@:2}" &
	killed=$!
	arrived "$1"
	kill -KILL $killed
	wait $killed || true
	[[ ! -e /proc/$killed ]] || fail "a killed reader waits"
}

before=$(counter requests_open)
"$PYTHON" "$FS/parked.py" 40 "${files[@]}" >"$T/got" &
reader=$!
arrived 320
timeout 60 bash -c "cat '$(epoch reader)'/*.ppm >/dev/null" || fail "the other reader waits"
once reader 24

kill_readers 40 "${files[@]}"
(($(counter interrupts) > 0)) || fail "no open was interrupted"
equal "bound while it waits" "$(status_of batches bound)" 0

touch "$T/go"
wait $reader
equal "readers that got bytes" "$(cat "$T/got")" 320
for name in batches shards images; do
	read_epoch $name
	once $name 24
done
nothing_held

# Data that are computed for one reader, or read from files of the state, are made by workers.
# While no worker is free, opens that need no worker succeed.
stop
rm -r "$T/jobs.d" "$T/state" && mkdir "$T/jobs.d" "$T/state"
job plain "${size[@]}" job.epochs=2
job floats "${size[@]}" tensor.format=npy tensor.dtype=float32
job slow tensor.resize=50 tensor.crop=40
rm "$T/go"
config joaderfs.workers=1
start --fault "load.decode:NONE:after=24:until=$T/go"
read_epoch plain
cat "$(epoch plain 0001)/00000000.ppm" >/dev/null # the order of epoch 0 is saved
for _ in $(seq 100); do
	[[ ! -e $T/state/jobs/plain/epoch-0000.order ]] || break
	sleep 0.05
done
before=$(counter requests_open)
cat "$(epoch slow)/00000000.ppm" >/dev/null &
arrived 1
parked=("$(epoch floats)/00000000.npy" "$(epoch plain).order" "$(epoch plain)/00000001.ppm")
"$PYTHON" "$FS/parked.py" 20 "${parked[@]}" >"$T/got" &
reader=$!
arrived 61
kill_readers 15 "${parked[@]}"
read_epoch plain 0001
equal "answers without a worker" "$(cat "$T/got")" ""
touch "$T/go"
wait $reader
equal "readers that got bytes" "$(cat "$T/got")" 60
