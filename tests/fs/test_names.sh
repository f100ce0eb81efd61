#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Names with characters of all Unicode categories, and bytes that are no text, are escaped in one
# way in all outputs. The setting that the log recommends leaves out the right sample when it is
# pasted into an ini.
. "$(dirname "$0")/lib.sh"
dataset 1 1 8x8
D=$T/$'d\u009bx\u202ey'
"$PYTHON" "$FS/names.py" make "$D" "$T/data/class0/0000.jpg" "$(effort 1 3)"
job a view.layout=flat job.epochs=2 job.bad_sample=skip
job j view.layout=flat view.json=yes
start

for file in "$M"/jobs/j/epoch-0000/*.ppm; do cat "$file" >/dev/null 2>&1 || true; done
"$PYTHON" "$FS/names.py" advice "$LOG" >"$T/advice"
n=0
while IFS= read -r where; do
	job_text "w$n" view.layout=mirror tensor.format=source "job.where=$where" >"$T/w.ini"
	ctl add "$T/w.ini" >/dev/null || fail "refused: $where"
	n=$((n + 1))
done <"$T/advice"

mkdir "$T/out"
cp "$M"/{README,stats,stats.json,metrics,dashboard.html} "$M/jobs/a/status" \
	"$M/jobs/j/epoch-0000/"*.json "$T/out/"
cat "$M/datasets/images/info" >"$T/out/info"
ctl ls >"$T/out/ls"
ctl dataset ls >"$T/out/datasets"
ctl top --once --interval 0.1 >"$T/out/top"
ctl top --json --once --interval 0.1 >"$T/out/top.json"
ctl explain a >"$T/out/explain" 2>&1 || true
"$PYTHON" "$FS/names.py" check "$D" "$LOG" "$M/jobs" "$M/jobs/j/epoch-0000.order" \
	"$M/jobs/a/classes.txt" "$M/datasets/images/bad" "$T"/out/* || fail "names"

# A JSON reader gets the unescaped name.
"$PYTHON" - "$D" "$T"/out/0*.json <<'PY' || fail "names in .json"
import json, os, sys
top = sys.argv[1]
found = [json.load(open(path, encoding="utf-8"))["path"] for path in sys.argv[2:]]
expected = [os.path.relpath(os.path.join(d, n), top) for d, _, names in os.walk(top) for n in names]
assert sorted(map(os.fsencode, found)) == sorted(map(os.fsencode, expected)), found
PY

# The Python module gives the names of the directories.
PYTHONPATH=$ROOT/tools/python PYTHONDONTWRITEBYTECODE=1 "$PYTHON" - "$D" "$M/jobs/j" <<'PY' || fail "classes in Python"
import os, sys
import joaderfs
found = joaderfs.Dataset(sys.argv[2]).classes
assert list(map(os.fsencode, found)) == sorted(os.listdir(os.fsencode(sys.argv[1]))), found
PY
