#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl dataset rescan while jobs read: files came and went, a new class changes labels, and a
# file that was read is another image. Epochs that have begun stay unchanged to their end, even
# after a kill of all processes; later epochs have the new scan's samples.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
dataset 3 8
job a tensor.crop=32 job.epochs=9 job.keep_epochs=2
job b tensor.crop=32 job.epochs=9
start

# some JOB FIRST LAST [DIRECTORY]: reads these positions, and their labels
some() {
	local i
	for ((i = $2; i <= $3; i++)); do
		cat "$M/jobs/$1/${4-epoch-0000}/$(printf %08d "$i").ppm" >/dev/null
		cat "$M/jobs/$1/${4-epoch-0000}/$(printf %08d "$i").cls" >>"$T/labels.$1"
	done
}

# One script reads job b in current/. asked FIRST LAST reads these positions, and their labels
coproc B { exec "$PYTHON" -u -c '
import sys
top, out = sys.argv[1], open(sys.argv[2], "a")
for line in sys.stdin:
    first, last = map(int, line.split())
    for i in range(first, last + 1):
        open(f"{top}/{i:08d}.ppm", "rb").read()
        out.write(open(f"{top}/{i:08d}.cls").read())
    out.flush()
    print("read")
' "$M/jobs/b/current" "$T/labels.b"; }
asked() {
	local line
	echo "$1 $2" >&"${B[1]}"
	read -r line <&"${B[0]}" || fail "the script of b has ended"
	equal "what the script of b says" "$line" read
}

# those JOB EPOCH: prints the sorted files of the epoch's order
those() {
	order "$1" "$2" | cut -f5 | LC_ALL=C sort
}

# is_there: prints the files of the tree
is_there() {
	(cd "$D" && find . -name '*.jpg' -printf '%P\n') | LC_ALL=C sort
}

some a 0 9
asked 0 9
is_there >"$T/first"

# --- the tree changes: a file that both jobs have read is gone
read=$(comm -12 <(order a | cut -f5 | sort) <(order b | cut -f5 | sort))
gone=$(sed -n 1p <<<"$read") changed=$(sed -n 2p <<<"$read")
[[ -n $changed ]] || fail "fewer than two files were read by both"
rm "$D/$gone"
mkdir "$D/class0b"
for i in 0 1 2; do cp "$D/class1/000$i.jpg" "$D/class0b/000$i.jpg"; done
cp "$D/class2/0000.jpg" "$D/class2/0100.jpg"
cp "$D/class0b/0001.jpg" "$D/$changed"
order a >"$T/order.a"
order b >"$T/order.b"
ctl dataset rescan images >"$T/said" 2>&1 || fail "$(cat "$T/said")"
grep -q "dataset images: these jobs use the new scan from their next epochs on: a, b" "$T/said" || fail "$(cat "$T/said")"
is_there >"$T/second"
equal "samples of the dataset" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 27

# --- epochs that have begun stay unchanged
for job in a b; do
	equal "order of $job" "$(order $job)" "$(cat "$T/order.$job")"
	equal "samples of $job" "$(status_of $job samples)" 24
	equal "files of $job" "$(names "$(epoch $job)" | grep -c ppm)" 24
done
equal "files of a's next epoch" "$(names "$(epoch a 0001)" | grep -c ppm)" 27
some a 10 14
asked 10 14

# --- they also stay unchanged after all processes have died
order a >"$T/order.a"
order b >"$T/order.b"
"$BUILD/joaderctl" --socket "$T/socket" dataset rescan images | grep -q "the scan found no change" ||
	fail "the second scan has found something"
children=$(engine)
kill -KILL "$PID" "$children"
wait "$PID" 2>/dev/null || true
unmount "$M"
start
for job in a b; do
	equal "order of $job" "$(order $job)" "$(cat "$T/order.$job")"
	equal "samples of $job" "$(status_of $job samples)" 24
done
some a 15 23
asked 15 23
kill_engine
for job in a b; do
	once $job 24
	equal "files of $job" "$(those $job 0000)" "$(cat "$T/first")"
	equal "begin of the order of $job" "$(order $job | head -n 15)" "$(cat "$T/order.$job")"
	equal "labels of $job" "$(order $job | awk -F'\t' '{ print $5, $3 }' | sort)" \
		"$(awk -F/ '{ print $0, substr($1, 6, 1) }' "$T/first" | sort)"
	equal "labels that its reader got" "$(cat "$T/labels.$job")" \
		"$(order $job | sort -n | cut -f3)"
done

# --- the next epoch has the new scan
for job in a b; do
	: >"$T/labels.$job"
	if [[ $job == a ]]; then some a 0 26 epoch-0001; else asked 0 26; fi
	once $job 27 0001
	equal "files of $job" "$(those $job 0001)" "$(cat "$T/second")"
	equal "samples of $job" "$(status_of $job samples)" 27
	equal "labels that its reader got" "$(cat "$T/labels.$job")" \
		"$(order $job 0001 | sort -n | cut -f3)"
	order $job 0001 | grep -qP "\t1\t\w+\tclass0b/0000.jpg" || fail "$(order $job 0001)"
	order $job 0000 | grep -qP "\t1\t\w+\tclass1/0000.jpg" || fail "$(order $job 0000)"
done
EPOCH=epoch-0001 pixels "a 0 32" "b 0 32" >/dev/null || fail "pixels of the new files"

# --- the first scan is removed when no epoch of it is left
[[ -e $T/state/datasets/images.sqlite.0 ]] || fail "the first scan is not kept: $(ls "$T/state/datasets")"
ctl rm b >/dev/null
for e in 0002 0003 0004; do read_epoch a $e; done
for _ in $(seq 100); do
	[[ -e $T/state/datasets/images.sqlite.0 ]] || break
	sleep 0.1
done
[[ ! -e $T/state/datasets/images.sqlite.0 ]] || fail "the first scan is still kept"
nothing_held
stop
