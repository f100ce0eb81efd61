#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl explain names the causes of waits and the changes that would help: a larger cache for
# readers that wait for a storage, and nothing for a slow script. It says when it can't tell.
. "$(dirname "$0")/lib.sh"
dataset 2 12
mkdir "$T/slow"
"$BUILD/tests/clients/slow_storage" "$D" "$T/slow" 60 &
for _ in $(seq 400); do
	[[ ! -e $T/slow/class0 ]] || break
	sleep 0.05
done

# One read at a time, of 60 ms each, and a cache of four samples.
config joaderfs.cache=13000 joaderfs.reads=1
sed -i "s|^path = .*|path = $T/slow|" "$T/joaderfs.ini"
job a tensor.crop=32 job.epochs=3
job b tensor.crop=32 job.epochs=3
job c tensor.crop=32 job.epochs=3
job d tensor.crop=32 job.epochs=3
job e tensor.crop=32 job.epochs=3
job m tensor.crop=32 view.layout=mirror
start

# says TEXT COMMAND...: checks that the command fails with TEXT
says() {
	local text=$1 status=0
	shift
	"$@" >"$T/out" 2>&1 || status=$?
	((status == 1 || status == 2)) || fail "$*: status $status"
	grep -qF -- "$text" "$T/out" || fail "$*: $(cat "$T/out")"
}
says "a job has to complete an epoch first" ctl explain
says "no job nobody" ctl explain nobody
says '--plan: found "0", allowed: 1 to 64' ctl explain --plan 0
says "usage: joaderctl explain" ctl explain a b
says "m has to complete an epoch first, of samples that it draws" ctl explain m

# An epoch of which only labels were read has no end when the next one begins.
exec {file}<"$(epoch e)/00000000.ppm"
cat "$(epoch e)"/000000{01..13}.cls >/dev/null
cat "$(epoch e 0001)/00000000.ppm" >/dev/null
says "e has to complete an epoch first" ctl explain e
exec {file}<&-
ctl rm e >/dev/null

# read_laps JOB EPOCHS SECONDS: reads by one reader, SECONDS for each sample
read_laps() {
	"$PYTHON" - "$M/jobs/$1" "$2" "$3" <<'PYTHON'
import os, sys, time
top, epochs, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
for epoch in range(epochs):
    directory = os.path.join(top, f"epoch-{epoch:04d}")
    for name in sorted(os.listdir(directory)):
        if name.endswith(".ppm"):
            with open(os.path.join(directory, name), "rb") as file:
                file.read()
            time.sleep(pause)
PYTHON
}

# lap JOB N: waits for the end of the job's N-th epoch
lap() {
	local _
	for _ in $(seq 200); do # the kernel closes files a moment later
		(($(status_of "$1" consumed) < 24)) || return 0
		sleep 0.02
	done
	fail "$1 has not read an epoch"
}
read_laps a 3 0
lap a
ctl explain a >"$T/a"
grep -Eq '^a: waited [0-9]+ % of epoch 2, [0-9.]+ s: storage [0-9]+, decoding [0-9]+, queue [0-9]+, file system [0-9]+$' \
	"$T/a" || fail "$(cat "$T/a")"
grep -Eq '^  simulated as it is: [0-9.e+-]+ s per epoch instead of [0-9.e+-]+, [0-9]+ % off$' "$T/a" ||
	fail "$(cat "$T/a")"
grep -qx '  a sample has 3072 bytes: opening its file takes longer than preparing it;' "$T/a" ||
	fail "$(cat "$T/a")"
ctl explain --json >"$T/a.json"
ctl explain --plan 3 --json a >"$T/plan.json"
"$PYTHON" - "$T/a.json" "$T/plan.json" <<'PYTHON'
import json, sys
said, plan = (json.load(open(path)) for path in sys.argv[1:])
(a,) = said["jobs"] # the others have read nothing
assert a["name"] == "a" and a["samples"] == 24 and a["readers"] == 1, a
waited = a["waited"]
assert waited["storage"] == max(waited[key] for key in waited if key != "all"), waited
assert waited["all"] > .5, waited
assert abs(sum(waited.values()) - 2 * waited["all"]) < .01, waited
assert a["decoded"] + a["shared"] + a["hit"] == 24, a
assert a["read"] >= .06, a
changes = {key: change["seconds"] for key, change in a["changes"].items()}
assert set(changes) >= {"cache/2", "cache*2", "cache=all", "exchange", "workers+1", "cpu+1",
                        "lookahead*2", "lookahead/2", "tier", "alone"}, changes
now = a["seconds"]
assert changes["cache=all"] < now * .7 and changes["tier"] < now * .7, (now, changes)
assert changes["workers+1"] > now * .9 and changes["alone"] > now * .9, (now, changes)
assert plan["jobs"] == 3 and plan["like"] == "a", plan
assert {row["sampler"] for row in plan["rows"]} == {"dsa", "exchange"}, plan
assert plan["recommended"]["cache"] == 24 * 3072, plan
PYTHON
ctl explain --plan 3 | grep -q '^recommended: cache = 72K, sampler = ' || fail "$(ctl explain --plan 3)"

# Four processes, one after the other in each epoch, count as one reader.
ctl rm a >/dev/null
"$PYTHON" - "$M/jobs/c" <<'PYTHON'
import os, subprocess, sys
for epoch in range(3):
    directory = os.path.join(sys.argv[1], f"epoch-{epoch:04d}")
    names = sorted(os.path.join(directory, name) for name in os.listdir(directory)
                   if name.endswith(".ppm"))
    for i in range(0, 24, 6):
        subprocess.run(["cat", *names[i:i + 6]], stdout=subprocess.DEVNULL, check=True)
PYTHON
lap c
# Four processes at once live as long as their script.
"$PYTHON" - "$M/jobs/d" <<'PYTHON'
import os, sys
from concurrent.futures import ThreadPoolExecutor
def read(path):
    with open(path, "rb") as file:
        file.read()
with ThreadPoolExecutor(4) as pool:
    for epoch in range(3):
        directory = os.path.join(sys.argv[1], f"epoch-{epoch:04d}")
        list(pool.map(read, sorted(os.path.join(directory, name)
                                   for name in os.listdir(directory) if name.endswith(".ppm"))))
PYTHON
lap d
for name in c d; do
	ctl explain --json "$name" >"$T/$name.json"
done
"$PYTHON" - "$T/c.json" "$T/d.json" <<'PYTHON'
import json, sys
# In a short epoch not all of four processes read to the end.
for path, readers in zip(sys.argv[1:], ((1,), (3, 4, 5))):
    (job,) = json.load(open(path))["jobs"]
    assert job["readers"] in readers, job
    assert job["changes"]["cache=all"]["seconds"] < job["seconds"] * .7, job
PYTHON

# joader-sim reads the figures of the mount.
"$BUILD/joader-sim" --jobs 2 --dataset "$M/datasets/images" --cache "36K 72K" --sampler dsa >"$T/sim" ||
	fail "joader-sim --dataset"
grep -Eq '^ +36K +50.00% ' "$T/sim" || fail "$(cat "$T/sim")"
says "allowed: MOUNT/datasets/NAME" "$BUILD/joader-sim" --jobs 2 --dataset "$M/datasets/none"

# The script takes more time than its samples, so no change helps.
ctl rm c >/dev/null
ctl rm d >/dev/null
read_laps b 2 0.12
lap b
ctl explain b >"$T/b"
ctl explain --json b >"$T/b.json"
"$PYTHON" - "$T/b.json" <<'PYTHON'
import json, sys
(b,) = json.load(open(sys.argv[1]))["jobs"]
assert b["name"] == "b" and b["think"] > .115, b
for key in "cache=all", "cache*2", "exchange", "tier", "cpu+1":
    assert b["changes"][key]["seconds"] > b["seconds"] * .8, (key, b)
PYTHON
