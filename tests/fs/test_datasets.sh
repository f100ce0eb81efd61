#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl dataset: datasets come and go while jobs read others. An added dataset is there after a
# restart. A dataset in use can't be removed. A rescan keeps the ids of files that still exist, and
# changes nothing if it fails or is killed.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
dataset 2 8
for name in more other; do
	"$PYTHON" "$FS/make_dataset.py" "$T/$name" 3 4 96x72
done
job a tensor.crop=32 job.epochs=99
touch "$T/go"
start --fault "dataset.scan:NONE:until=$T/go"

# said STATUS TEXT COMMAND...: checks the status of the command, and that it prints TEXT
said() {
	local status=0 expected=$1 text=$2
	shift 2
	"$@" >"$T/said" 2>&1 || status=$?
	equal "status of $*" $status "$expected"
	grep -qF -- "$text" "$T/said" || fail "$* does not say '$text': $(cat "$T/said")"
}

add_job() { # NAME DATASET
	job_text "$1" job.dataset="$2" tensor.crop=32 job.epochs=9 >"$T/$1.ini"
	ctl add "$T/$1.ini" >/dev/null
}

# --- add, ls, rm
(cd "$T" && said 0 "more: 12 samples in 3 classes" ctl dataset add more --set path=more)
said 0 "more    directory          12" ctl dataset ls
equal "datasets" "$(names "$M/datasets")" $'images\nmore'
grep -qx "source $T/more" "$M/datasets/more/info" || fail "$(cat "$M/datasets/more/info")"
add_job b more
read_epoch b
once b 12
said 1 "more: not removed: used by b" ctl dataset rm more
said 0 "more: the scan found no change" ctl dataset rescan more
said 1 "a dataset of this name exists" ctl dataset add more --set "path=$T/more"
said 1 "no dataset mroe, did you mean more?" ctl dataset rm mroe
said 1 "does not exist" ctl dataset add none --set "path=$T/none"
said 1 "on the mount point" ctl dataset add own --set "path=$M/jobs"
said 1 "did you mean \"path\"?" ctl dataset add own --set "paht=$T/more"
said 1 "usage: dataset ls | dataset add" ctl dataset show
printf '[joaderfs]\ncache = 1G\n[dataset x]\npath = other\n' >"$T/other.ini"
said 1 "found [joaderfs], allowed: [dataset NAME]" ctl dataset add "$T/other.ini"
printf '[dataset other]\npath = other\nextensions = *\n[dataset again]\npath = other\nsampler = isa\n' \
	>"$T/other.ini"
said 0 "added again" ctl dataset add "$T/other.ini"
equal "datasets" "$(names "$M/datasets")" $'again\nimages\nmore\nother'
said 0 "removed again" ctl dataset rm again
equal "datasets" "$(names "$M/datasets")" $'images\nmore\nother'
[[ ! -e $M/datasets/again/info ]] || fail "a dataset that was removed is there"
[[ ! -e $T/state/datasets/again.sqlite ]] || fail "its catalogue is there"

# --- a scan takes long, and no other client waits for it
numbers() { # the number of each file, by the order of an epoch
	order "$1" | cut -f2,5 | LC_ALL=C sort
}
add_job c other
read_epoch c
numbers c >"$T/before"
ctl rm c >/dev/null
rm "$T/other/class0/0001.jpg" "$T/go"
cp "$T/other/class0/0000.jpg" "$T/other/class1/0009.jpg"
ctl dataset rescan other >"$T/first" 2>&1 &
first=$!
ctl dataset rescan other >"$T/second" 2>&1 &
second=$!
read_epoch a
for _ in $(seq 500); do # the scan has begun
	! ctl rm d >/dev/null 2>&1 || true
	add_job d other >/dev/null 2>"$T/refused" || break
	sleep 0.02
done
grep -q "dataset other is being scanned or removed at the moment" "$T/refused" || fail "$(cat "$T/refused")"
add_job d more
touch "$T/go"
wait $first || fail "$(cat "$T/first")"
wait $second || fail "$(cat "$T/second")"
grep -q "1 files are new, 0 changed, 0 came back, 1 are gone" "$T/first" "$T/second" ||
	fail "$(cat "$T/first" "$T/second")"
add_job c other
read_epoch c
equal "samples after the scan" "$(order c | cut -f2 | sort -u | wc -l)" 12
numbers c >"$T/after"
equal "files that stayed" "$(LC_ALL=C comm -12 "$T/before" "$T/after" | wc -l)" 11
grep -q $'^12\tclass1/0009.jpg' "$T/after" || fail "the new file: $(cat "$T/after")"

# --- a scan fails, or is killed
ctl rm c >/dev/null
mv "$T/other" "$T/away"
said 1 "can't be read" ctl dataset rescan other
said 1 "other is as it was" ctl dataset rescan other
equal "samples" "$(sed -n 's/^samples //p' "$M/datasets/other/info")" 12
mv "$T/away" "$T/other"
rm "$T/other/class2/0003.jpg" "$T/go"
ctl dataset rescan other >/dev/null 2>&1 &
first=$!
for _ in $(seq 500); do
	add_job c other >/dev/null 2>&1 || break
	ctl rm c >/dev/null
	sleep 0.02
done
kill_engine
wait $first || true
touch "$T/go"
equal "datasets of another engine" "$(names "$M/datasets")" $'images\nmore\nother'
equal "samples" "$(sed -n 's/^samples //p' "$M/datasets/other/info")" 12
said 0 "scanned other" ctl dataset rescan other # the new engine has not looked
equal "samples" "$(sed -n 's/^samples //p' "$M/datasets/other/info")" 11

# --- a restart; the removal of a dataset of the ini lasts until then
ctl rm a >/dev/null
said 0 "so the daemon adds it again at its next start" ctl dataset rm images
equal "datasets without that of the ini" "$(names "$M/datasets")" $'more\nother'
read_epoch b 0001
once b 12 0001
stop
start
equal "datasets of the next life" "$(names "$M/datasets")" $'images\nmore\nother'
read_epoch b 0002
once b 12 0002
stop
mv "$T/more" "$T/away"
start
logged "dataset more: .*the catalogue of the last scan stays in use"
