#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# seed = 1: random choices are the same under the same circumstances, and differ between epochs and
# between starts.
. "$(dirname "$0")/lib.sh"
dataset 2 32
job a tensor.crop=32 job.epochs=9
samples() { order "$@" | cut -f2; }
equal_lines() { paste "$1" "$2" | awk '$1 == $2' | wc -l; }
some() { # EPOCH FIRST LAST
	(cd "$(epoch a "$1")" && seq -f %08g.ppm "$2" "$3" | xargs cat >/dev/null)
}

start
some 0000 0 63
samples a >"$T/first"
stop
rm -r "$T/state"
mkdir "$T/state"
start
some 0000 0 63
samples a | diff "$T/first" - || fail "the same seed gives another order"

# The daemon restarts between epochs.
stop
start
some 0001 0 31
samples a 0000 | diff "$T/first" -
samples a 0001 >"$T/second"
equal=$(equal_lines "$T/second" <(head -n 32 "$T/first"))
((equal < 6)) || fail "$equal of 32 positions are those of the epoch before the start"

# It restarts within an epoch: each draw takes one of the remaining samples, in the order of their
# numbers.
stop
start
some 0001 32 63
samples a 0001 >"$T/second"
sort "$T/second" | diff <(sort "$T/first") -
"$PYTHON" - "$T/second" <<'END' || fail "after the start the same numbers came again"
import sys
drawn = [int(line) for line in open(sys.argv[1])]
left, places = list(range(64)), []
for sample in drawn:
    places.append(left.index(sample) / len(left))
    left.remove(sample)
near = [abs(a - b) < 0.06 for a, b in zip(places[:16], places[32:48])]
print(sum(near), "of 16 near")
sys.exit(sum(near) > 8)
END
once a 64 0001
