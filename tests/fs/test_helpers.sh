#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Trainings that one shell starts one after the other count as separate scripts, whatever their
# command lines: each pass of the second one has each sample once.
. "$(dirname "$0")/lib.sh"
dataset 3 20
for number in 0 1 2; do job flat$number tensor.crop=32 job.epochs=50; done
start

cat >"$T/main.py" <<'PY'
import glob, hashlib, multiprocessing, sys

view, looks, passes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
names = sorted(glob.glob(view + "/*.ppm"))


def read(name):
    with open(name, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()


with multiprocessing.get_context("fork").Pool(2) as pool:
    for _ in range(passes):
        given = pool.map(read, names, chunksize=5)
        print(len(set(given)), flush=True)
    pool.map(read, names[:looks], chunksize=5)
PY
mkdir "$T/multiprocessing"
cp "$T/main.py" "$T/multiprocessing/main.py"

# trainings JOB ARGUMENT...: runs a training of Python twice
trainings() {
	local view="$M/jobs/$1/current"
	"$PYTHON" "${@:2}" "$view" 11 1 "${OPTION[@]}"
	"$PYTHON" "${@:2}" "$view" 0 3 "${OPTION[@]}"
}
OPTION=(--multiprocessing-distributed)
equal "an option" "$(trainings flat0 "$T/main.py" | xargs)" "60 60 60 60"
OPTION=()
equal "a directory" "$(trainings flat1 "$T/multiprocessing/main.py" | xargs)" "60 60 60 60"
equal "code" "$(trainings flat2 -c "import multiprocessing, sys
exec(open('$T/main.py').read())" | xargs)" "60 60 60 60"
