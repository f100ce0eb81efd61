#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A person opens files of a running job: wholly or in part, files that the job has read, and, of
# many files and early in the epoch, others. The job gets the same samples as without this, each
# once per epoch.
. "$(dirname "$0")/lib.sh"
dataset 4 25
for layout in flat classes batch tar; do
	size=()
	[[ $layout != batch ]] || size=(view.batch=4)
	[[ $layout != tar ]] || size=(view.shard=4)
	job $layout tensor.crop=32 view.layout=$layout job.epochs=2 "${size[@]}"
done
start

cat >"$T/script.py" <<'PY'
import glob, hashlib, os, subprocess, sys

# A script reads an epoch of current/ twice, while a person looks at some files.
job = sys.argv[1]
names = sorted(os.path.relpath(path, f"{job}/current")
               for path in glob.glob(f"{job}/current/**", recursive=True)
               if path.endswith((".ppm", ".npy", ".tar")) and ".labels." not in path)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()


given = []
for epoch in range(2):
    for i, name in enumerate(names):
        if i % 7 == 2:
            ahead = i + 5 if i < len(names) // 3 and len(names) > 30 else i // 3
            for look, place in (("cat", i - 1), ("cat", ahead), ("head -c 100", i // 2),
                                ("tail -c 100", i // 4)):
                subprocess.run([*look.split(), f"{job}/current/{names[place]}"],
                               stdout=subprocess.DEVNULL, check=True)
        given.append((epoch, name, digest(f"{job}/current/{name}")))
for epoch, name, found in given:
    assert found == digest(f"{job}/epoch-{epoch:04d}/{name}"), f"epoch {epoch}, {name}"
PY
for layout in flat classes batch tar; do
	"$PYTHON" "$T/script.py" "$M/jobs/$layout"
	once $layout 100 0000
	once $layout 100 0001
done
nothing_held
