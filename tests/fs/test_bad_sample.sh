#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# bad_sample = skip: a bad sample answers EIO in its epoch. Later epochs have each other sample
# once, under the remaining names. The daemon remembers bad samples after a restart, until the file
# changes. Jobs without the setting are not affected.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
ulimit -c 0
dataset 3 8
truncate -s 900 "$D/class0/0002.jpg"
truncate -s 900 "$D/class2/0003.jpg"
echo "no image" >"$D/class1/0005.jpg" # without a header: the scan says so
config joaderfs.cache=1M
skip=(tensor.resize=48 tensor.crop=32 job.epochs=9 job.bad_sample=skip)
job flat "${skip[@]}"
job classes "${skip[@]}" view.layout=classes
job fixed "${skip[@]}" view.labels=fixed
job sequential "${skip[@]}" job.order=sequential
job fail tensor.resize=48 tensor.crop=32 job.epochs=9
start

# images JOB EPOCH: prints the names of its images, sorted
images() {
	(cd "$(epoch "$1" "$2")" && find . -name '*.ppm' | sort)
}

# read_all JOB EPOCH: reads each listed image, and prints the sources of those that fail
read_all() {
	local name job=$1 epoch=$2
	images "$job" "$epoch" >"$T/names"
	while read -r name; do
		cat "$(epoch "$job" "$epoch")/$name" >/dev/null 2>"$T/message" && continue
		grep -q "Input/output error" "$T/message" || fail "$(cat "$T/message")"
		echo "$name"
	done <"$T/names"
}

# has JOB EPOCH N SKIPPED: checks that N different samples were read, and the SKIPPED ones left out
has() {
	local all
	all=$(order "$1" "$2")
	equal "bindings of $1 in $2" "$(cut -f2 <<<"$all" | sort -u | wc -l)" 24
	equal "positions of $1 in $2" "$(cut -f1 <<<"$all" | sort -nu | wc -l)" 24
	equal "samples of $1 in $2" "$(grep -vc $'\tskipped\t' <<<"$all")" "$3"
	equal "left out of $1 in $2" "$(grep $'\tskipped\t' <<<"$all" | cut -f5 | sort | xargs)" "$4"
}

# knows JOB N: waits until the job plans to leave out N samples
knows() {
	local _
	for _ in $(seq 500); do
		[[ $(status_of "$1" bad_samples) != "$2" ]] || return 0
		sleep 0.02
	done
	fail "bad samples of $1: found $(status_of "$1" bad_samples), expected $2"
}

no_header=class1/0005.jpg
all_bad="class0/0002.jpg class1/0005.jpg class2/0003.jpg"
# A running epoch keeps its order. Jobs of the same preparation learn of a bad sample from each
# other.
cat "$(epoch classes)"/class0/00000000.ppm >/dev/null 2>&1 || true
for name in flat classes; do
	equal "images of $name" "$(find "$(epoch $name)/" -name '*.ppm' | wc -l)" 23
	equal "failed in the first epoch of $name" "$(read_all $name 0000 | wc -l)" 2
	has $name 0000 23 $no_header
done
for name in flat:0001 classes:0001 fixed:0000 sequential:0000; do
	epoch=${name#*:} name=${name%:*}
	knows "$name" 3
	equal "failed in epoch $epoch of $name" "$(read_all "$name" "$epoch")" ""
	equal "images of $name" "$(images "$name" "$epoch" | wc -l)" 21
	has "$name" "$epoch" 21 "$all_bad"
	equal "current/ of $name" "$(find "$M/jobs/$name/current/" -name '*.ppm' | wc -l)" 21
	equal "bad samples of $name" "$(status_of "$name" bad_samples)" 3
	equal "named of $name" "$(status_of "$name" left_out | sort | xargs)" "$all_bad"
	equal "skipped of $name" "$(status_of "$name" skipped)" 3
	grep -q "job $name: $D/class0/0002.jpg is left out of later epochs" "$LOG" ||
		fail "the log does not name what $name leaves out"
done
equal "images of the first epoch" "$(images flat 0000 | wc -l)" 23
equal "skipped by all" "$(counter samples_skipped)" 14
grep -q '^joaderfs_job_bad_samples{job="flat",dataset="images"} 3$' "$M/metrics" || fail "metrics don't tell"

equal "failed, without it" "$(read_all fail 0000 | wc -l)" 3
equal "failed again, without it" "$(read_all fail 0001 | wc -l)" 3
once fail 24 0001
equal "bad samples of a job that fails" "$(status_of fail bad_samples)" ""
nothing_held

# A script that has listed the names before gets an error for a name that is gone.
status=0
cat "$M/jobs/flat/epoch-0001/00000023.ppm" >/dev/null 2>&1 || status=$?
equal "status of a name that is left out" $status 1

# The engine dies in the middle of an epoch, then the daemon restarts.
for i in 00000000 00000001 00000002; do cat "$M/jobs/flat/epoch-0002/$i.ppm" >/dev/null; done
kill_engine
equal "failed in a new engine" "$(read_all flat 0002)" ""
has flat 0002 21 "$all_bad"
ctl restore flat "$M/jobs/flat/state" >/dev/null
ctl restore --at 2:4 flat "$M/jobs/flat/state" >/dev/null
equal "failed, gone back" "$(read_all flat 0002)" ""
equal "state, gone back" "$(status_of flat consumed)" 24
stop
start
equal "images after a restart" "$(images flat 0001 | wc -l)" 21
equal "images of the next epoch" "$(images classes 0002 | wc -l)" 21
equal "failed after a restart" "$(read_all classes 0002)" ""
has classes 0002 21 "$all_bad"
stop

# A repaired file comes back. Now the job has other samples, so its epochs begin again.
cp "$D/class0/0001.jpg" "$D/class0/0002.jpg"
start
equal "images with a mended one" "$(images classes 0000 | wc -l)" 22
equal "failed with a mended one" "$(read_all classes 0000)" ""
has classes 0000 22 "class1/0005.jpg class2/0003.jpg"
equal "bad, with a mended one" "$(status_of classes left_out | sort | xargs)" \
	"class1/0005.jpg class2/0003.jpg"
nothing_held
stop

# A sample whose preparation kills the engine is left out when it is in quarantine.
rm -r "$T/state"
mkdir "$T/state"
mv "$D/class1/0006.jpg" "$D/class1/ends.jpg"
start --fault load.image.ends.jpg:BUG
equal "failed" "$(read_all classes 0000 | wc -l)" 2
knows classes 3
equal "failed, then" "$(read_all classes 0001)" ""
has classes 0001 21 "class1/0005.jpg class1/ends.jpg class2/0003.jpg"
stop

# The setting is refused where a name stands for no single sample, or always for the same one.
for option in view.layout=mirror view.layout=batch view.layout=tar; do
	job_text bad "${skip[@]}" "$option" >"$T/bad.ini"
	job bad "${skip[@]}" "$option"
	refused "[job]:bad_sample: found \"skip\", allowed: skip only with layout = flat or classes"
done
