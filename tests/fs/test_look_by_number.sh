#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# People grep through epoch-0000/, epoch-0001/ and so on while a script trains on current/: each
# pass of the script is exact, in layouts flat and classes, and no process hangs.
. "$(dirname "$0")/lib.sh"
dataset 4 40
for layout in flat classes; do
	job "$layout" tensor.crop=32 job.epochs=40 view.layout="$layout" view.mapping=fresh
done
start
train() {
	"$PYTHON" - "$M/jobs/$1/current" <<-'END'
		import hashlib, os, random, sys, time
		paths = [os.path.join(top, name) for top, _, names in os.walk(sys.argv[1])
		         for name in names if name.endswith(".ppm")]
		assert len(paths) == 160, paths
		chance = random.Random(1)
		for epoch in range(5):
		    chance.shuffle(paths)
		    given = set()
		    for path in paths:
		        with open(path, "rb") as file:
		            given.add(hashlib.sha1(file.read()).digest())
		        time.sleep(0.002)
		    if len(given) != len(paths):
		        sys.exit(f"pass {epoch}: {len(given)} different samples of {len(paths)}")
	END
}
looks() {
	while [[ ! -e $T/over ]]; do
		grep -rl nothing "$M/jobs" >"$T/found.$1" 2>&1 || true
		find "$M/jobs" -name '*.cls' -exec cat {} + >"$T/found.$1" 2>&1 || true
	done
}
for i in 1 2 3; do
	looks "$i" &
	people[i]=$!
done
train flat &
trainer=$!
train classes || fail "classes"
wait "$trainer" || fail "flat"
touch "$T/over"
wait "${people[@]}"

# People who look do not delay the job when the script has ended.
cat "$M/jobs/flat/current/"*.ppm >"$T/all"
running=$(status_of flat epoch | head -n 1)
cat "$(epoch flat "$(printf '%04d' $((${running%% *} + 1)))")/00000000.ppm" >"$T/first"
stop
