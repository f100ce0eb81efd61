#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Two equal jobs wait for a slow storage, with a cache for a twentieth of it. They read each sample
# about once together: the prefetches of one job do not delay the other job's reader, so they draw
# together.
. "$(dirname "$0")/lib.sh"
N=800
dataset 2 $((N / 2)) 64x48
mkdir "$T/slow"
"$BUILD/tests/clients/slow_storage" "$D" "$T/slow" 10 &
for _ in $(seq 400); do
	[[ ! -e $T/slow/class0 ]] || break
	sleep 0.05
done
config joaderfs.cache=$((N * 32 * 32 * 3 / 20)) joaderfs.reads=3
sed -i "s|^path = .*|path = $T/slow|" "$T/joaderfs.ini"
job a tensor.crop=32
job b tensor.crop=32
start
cat "$M"/jobs/a/epoch-0000/*.ppm >/dev/null &
a=$!
cat "$M"/jobs/b/epoch-0000/*.ppm >/dev/null
wait $a
decodes=$(counter decodes)
((decodes <= N * 9 / 8)) || fail "$decodes decodes of $N samples for two jobs"
