#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# An engine with nonsensical answers crashes no daemon. Jobs outside the group are read without an
# error, and the group goes on when the answers are right again.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 12
# shellcheck disable=SC2034 # cluster.sh's
RANKS=2 ENGINE=redis+unix://$T/liar
redis
touch "$T/truth"
"$PYTHON" "$FS/lying_proxy.py" "$T/liar" "$T/redis" "$T/truth" >"$T/proxy" &
PROXY=$!
until [[ -s $T/proxy ]]; do sleep 0.02; done
node a 'ttl = 1s'
rank a 0 tensor.crop=32 view.lookahead=4
rank a 1 tensor.crop=32 view.lookahead=4
job_text alone job.epochs=9999 tensor.crop=32 >"$T/a/jobs/alone.ini"
launch a
shows a '^state leads$'

# ranks: the ranks ask the group for samples all the time, with or without success
ranks() {
	local number file
	while [[ -e $T/asks ]]; do
		for number in 0 1; do
			for file in "$T/a/mnt/jobs/r$number/current"/*.ppm; do
				timeout 1 cat "$file" >/dev/null 2>&1 || true
			done
		done
	done
}
touch "$T/asks"
ranks &
ASKS=$!
rm "$T/truth"
errors=0 files=0
for ((epoch = 0; epoch < $(effort 60 1000); epoch++)); do
	for file in "$T/a/mnt/jobs/alone/epoch-$(printf %04d $epoch)"/*.ppm; do
		cat "$file" >/dev/null 2>"$T/message" || errors=$((errors + 1))
		files=$((files + 1))
	done
	((epoch % 20)) || ask flushall >/dev/null
done
equal "errors of $files files" "$errors" 0
ctl_of a cluster >"$T/cluster"
grep -q '^state away$' "$T/cluster" || shows a '^state away$'
touch "$T/truth"
ask flushall >/dev/null
shows a '^state \(leads\|follows\)$'
rm "$T/asks"
wait $ASKS
end a
kill $PROXY
kill_redis
