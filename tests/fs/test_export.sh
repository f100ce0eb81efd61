#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl export: a job goes on under another daemon with the same files, whose ids and mtimes
# differ there. order = replay:FILE gives exactly the orders of an earlier run.
. "$(dirname "$0")/lib.sh"
dataset 3 10
job a tensor.crop=32 job.epochs=3
job c tensor.crop=32 job.epochs=2 view.layout=classes
config joaderfs.seed=0 images.scan=before
start
sums() { (cd "$(epoch "$1" "$2")" && find . -name '*.ppm' -exec md5sum {} + | sort -k2); }
says() { # TEXT COMMAND...
	local text=$1 found
	shift
	! found=$(ctl "$@" 2>&1) || fail "$*: is not refused: $found"
	[[ $found == *"$text"* ]] || fail "$*: '$text' is not in '$found'"
}
read_classes() { find "$(epoch c "$1")" -name '*.ppm' -exec cat {} + >/dev/null; }

# The first file by name is added last, so that its id differs on the other machine.
first=$(find "$D" -type f | LC_ALL=C sort | head -n 1)
mv "$first" "$T/late"
stop
rm -rf "$T/state"
mkdir "$T/state"
start
stop
cp "$T/late" "$first"
start
read_epoch a
read_classes 0000
read_classes 0001
for position in 0 1 2 3 4 5 6; do cat "$(epoch a 0001)/0000000$position.ppm" >/dev/null; done
ctl export c >"$T/c"
ctl export a | cat >"$T/a"
sums a 0000 >"$T/0"
read_epoch a 0001
sums a 0001 >"$T/1"
sums c 0000 >"$T/c0"
sums c 0001 >"$T/c1"
stop

# The other machine has its own catalogue, and other mtimes.
rm -rf "$T/state" "$T/jobs.d"
mkdir "$T/state" "$T/jobs.d"
find "$D" -type f -exec touch -d 2020-01-01 {} +
start
job_text a tensor.crop=32 job.epochs=3 >"$T/a.ini"
job_text c tensor.crop=32 job.epochs=2 view.layout=classes >"$T/c.ini"
ctl add --import "$T/a" "$T/a.ini"
equal "epoch" "$(status_of a "epoch ")" 1
equal "read" "$(status_of a consumed)" 7
sums a 0000 | cmp - "$T/0"
read_epoch a 0001
# Bound positions have the same samples; the other samples are drawn here.
sums a 0001 | sed -n 1,7p | cmp - <(head -n 7 "$T/1")
once a 30 0001
says "allowed with --import: another name" add --import "$T/a" "$T/a.ini"
ctl rm a >/dev/null
says "belong to another layout" add --import "$T/a" "$T/c.ini"
says "not written by joaderctl export: line 1" add --import "$T/a.ini" "$T/a.ini"
says "to other samples: found 30" add --import "$T/a" --set 'job.where=label < 2' "$T/a.ini"
head -c 2000 "$T/a" | head -c -100 >"$T/short"
head -n 3 "$T/a" >"$T/shorter"
says "incomplete" add --import "$T/short" "$T/a.ini"
says "not written by joaderctl export" add --import "$T/shorter" "$T/a.ini"
! ctl ls | grep -q '^a ' || fail "it was added all the same"
[[ ! -e $T/state/jobs/a/epoch-0000.order ]] || fail "an order was left"

# A replay works epoch by epoch, also after a restart without the file.
says "can't be read" add --set "job.order=replay:$T/none" "$T/c.ini"
says "allowed: shuffled, sequential, replay:FILE" add --set "job.order=replay:c" "$T/c.ini"
sed '/^epochs/d' "$T/c.ini" >"$T/endless.ini"
says "epochs: found 16383, the default, but $T/c has no order of epoch 2" \
	add --set "job.order=replay:$T/c" "$T/endless.ini"
says "has no order of epoch 2" add --set "job.order=replay:$T/c" --set job.epochs=3 "$T/c.ini"
ctl add --set "job.order=replay:$T/c" "$T/c.ini"
equal "state" "$(status_of c state)" new
read_classes 0000
sums c 0000 | cmp - "$T/c0"
stop
rm "$T/c"
start
sums c 0000 | cmp - "$T/c0"
read_classes 0001
sums c 0001 | cmp - "$T/c1"
once c 30 0001
nothing_held
stop
