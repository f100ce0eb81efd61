#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Training programs shuffle current/ themselves while people look at all its files, look for epochs
# that do not exist, or train with a second script: each epoch has each sample once.
. "$(dirname "$0")/lib.sh"
. "$FS/trainer.sh"
dataset 3 100 48x36
for name in shuffled looked; do
	job $name tensor.crop=32 job.epochs=200
done
job folder tensor.crop=32 job.epochs=9 view.layout=classes
for name in two split little labels handles; do
	job $name tensor.crop=32 job.epochs=9
done
for name in "" -numbers; do
	job batch$name tensor.crop=32 job.epochs=60 view.layout=batch view.batch=300 tensor.format=npy
	job tar$name tensor.crop=32 job.epochs=60 view.layout=tar view.shard=150
	job one$name tensor.crop=32 job.epochs=60 "job.where=id < 1"
	job two_files$name tensor.crop=32 job.epochs=60 "job.where=id < 2"
	job three$name tensor.crop=32 job.epochs=60 "job.where=id < 3"
done
job all tensor.crop=32
job first tensor.crop=32 job.epochs=60 job.second_script=refused "job.where=label = 0"
start
train flat "$M/jobs/all/current" 1
cut -d' ' -f2,3 "$T/given" | sort >"$T/all"
equal "images" "$(cut -d' ' -f1 "$T/all" | sort -u | wc -l)" 300

# all_once NAME EPOCHS: checks that each epoch had each sample once, with its label
all_once() {
	local epoch
	for ((epoch = 0; epoch < $2; epoch++)); do
		grep "^$epoch " "$T/given" | cut -d' ' -f2,3 | sort | cmp - "$T/all" ||
			fail "$1, epoch $epoch"
	done
}

train flat-shuffle-4-stay "$M/jobs/shuffled/current" 6
all_once shuffled 6

# A person looks at all files, and at epochs that do not exist.
while cat "$M/jobs/looked/current/"*; do
	head -c 10 "$M/jobs/looked/epoch-0199/00000000.ppm" 2>>"$T/late" || true
done >/dev/null 2>&1 &
LOOKER=$!
train flat-shuffle-2-stay "$M/jobs/looked/current" 4
kill "$LOOKER"
wait "$LOOKER" || true
all_once looked 4
grep -q "No such file" "$T/late" || fail "an epoch that is far off is there: $(cat "$T/late")"

! grep -qE "job (shuffled|looked):" <(grep -v "opened by its number" "$LOG") ||
	fail "a false alarm: $(cat "$LOG")"

inexact=$("$PYTHON" "$FS/two_scripts.py" "$M/jobs/two/current" 5) || fail "$inexact"
[[ -z $inexact ]] || grep -q "job two: .*two scripts read current/" "$LOG" ||
	fail "the second is not told: $inexact"

# A second script is refused, the first one continues, and the log says why.
"$PYTHON" - "$M/jobs/first/current" <<'PY'
import errno, os, sys, time

names = sorted(name for name in os.listdir(sys.argv[1]) if name.endswith(".ppm"))


def read(name):
    with open(f"{sys.argv[1]}/{name}", "rb") as file:
        return file.read()


begun = os.pipe()
first = os.fork()
if first == 0:
    os.setsid()
    passes = [{read(name) for name in names}, set()]
    for name in names:  # slowly
        passes[1].add(read(name))
        os.write(begun[1], b"x")
        time.sleep(0.02)
    os._exit([len(given) for given in passes] != [len(names), len(names)])
os.read(begun[0], 1)
try:
    for _ in range(4):
        for name in names:
            read(name)
            time.sleep(0.001)
    sys.exit("a second script is not refused")
except OSError as error:
    assert error.errno == errno.EBUSY, error
assert os.waitpid(first, 0)[1] == 0, "the first one lost an image"
PY
equal "lines of first" "$(grep -c "job first: .*two scripts read current/" "$LOG")" 1

# Epochs of one to three files, pass after pass, also if the kernel reports a close after the next
# open.
"$PYTHON" - "$M/jobs" <<'PY'
import glob, hashlib, os, sys

def read(path):
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()

def passes(job, names, epochs):
    return [[read(f"{sys.argv[1]}/{job}/{epoch}/{name}") for name in names] for epoch in epochs]

for job in "batch", "tar", "one", "two_files", "three":
    names = sorted(name for name in os.listdir(f"{sys.argv[1]}/{job}/current")
                   if not name.endswith((".cls", ".labels.npy")))
    for view, epochs in (job, 50 * ["current"]), (f"{job}-numbers", [f"epoch-{i:04}" for i in range(50)]):
        given = passes(view, names, epochs)
        with open(f"{sys.argv[1]}/{view}/status", encoding="ascii") as status:
            epoch = dict(line.split(" ", 1) for line in status)["epoch"]
        assert int(epoch) == 49, (view, epoch, len(set(map(str, given))))
        assert all(len(set(files)) == len(names) for files in given), view
        if job in ("batch", "tar"):
            assert len(set(map(str, given))) == 50, view
PY

# Each problem is reported once in the log, and in status.
job few tensor.crop=32 job.epochs=2
ctl add "$T/jobs.d/few.ini" >/dev/null
for _ in 1 2; do
	! head -c 1 "$(epoch few 0001)/00000000.ppm" 2>"$T/early" || fail "epoch 1 is there"
	head -c 1 "$(epoch few)/00000000.ppm" >/dev/null
done 2>/dev/null
"$PYTHON" - "$M/jobs/few/current" <<'PY'
import glob, sys

for _ in range(3):
    for path in sorted(glob.glob(sys.argv[1] + "/*.ppm")):
        with open(path, "rb") as file:
            file.read()
PY
equal "lines of few" "$(grep -c "job few:" "$LOG")" 2
grep -q "job few: epoch 1: an epoch was opened by its number .* (1 of 300 samples of epoch 0 " "$LOG" ||
	fail "nothing said of an epoch that is early: $(cat "$LOG")"
grep -q "job few: epoch 1: all epochs were read" "$LOG" || fail "nothing said of the last epoch"
equal "notices in status" "$(status_of few notice | wc -l)" 2
(($(counter notices) >= 2)) || fail "notices: $(counter notices)"

# Scripts whose use of positions, labels and handles does not have the effect that they expect.
"$PYTHON" - "$M/jobs" <<'PY'
import glob, os, random, sys

def script(job, run):
    child = os.fork()
    if child == 0:
        os.setsid()
        run(sorted(glob.glob(f"{sys.argv[1]}/{job}/current/*.ppm")))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, job

def read(path):
    with open(path, "rb") as file:
        file.read()

def split(paths):
    random.shuffle(paths)
    training, validation = paths[60:], paths[:60]
    for _ in range(3):
        random.shuffle(training)
        for path in training + validation:
            read(path)

def little(paths):
    for _ in range(6):
        for path in random.sample(paths[:100], 100):
            read(path)

def labels(paths):
    for path in paths:
        read(path.replace(".ppm", ".cls"))
    for _ in range(2):
        for path in paths:
            read(path)

def handles(paths):
    files = [open(path, "rb") for path in paths]
    for _ in range(3):
        for file in files:
            file.seek(0)
            file.read()

for run in split, little, labels, handles:
    script(run.__name__, run)
PY
said() {
	equal "notices of $1" "$(grep -c "job $1: epoch" "$LOG")" 1
	grep -q "job $1: epoch .*$2" "$LOG" || fail "$1: $(grep "job $1:" "$LOG")"
	status_of "$1" notice | grep -q "$2" || fail "$1 in status: $(status_of "$1" notice)"
	ctl ls | grep -q "^$1! " || fail "$1 has no mark: $(ctl ls)"
}
said split "divided by their positions"
said labels "then images without their labels"
said handles "stay open"
ctl ls | grep -q "^little " || fail "little has a mark: $(ctl ls)"
ctl ls | grep -q "^shuffled " || fail "shuffled has a mark: $(ctl ls)"
