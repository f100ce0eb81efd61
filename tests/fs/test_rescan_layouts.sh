#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl dataset rescan while jobs read shards, batches, directories of positions and a
# sequential order, by epoch number and in current/. Jobs that can't take the new scan refuse it. A
# refusal, a failure or a crash in the middle changes nothing.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
dataset 3 8
common=(tensor.crop=16 job.epochs=9)
job tar "${common[@]}" view.layout=tar view.shard=5
job batch "${common[@]}" view.layout=batch view.batch=5
job shards "${common[@]}" view.shard=5
job sequential "${common[@]}" job.order=sequential
job tar_now "${common[@]}" view.layout=tar view.shard=5
job batch_now "${common[@]}" view.layout=batch view.batch=5
jobs="tar batch shards sequential tar_now batch_now"
start --fault dataset.install:EIO:times=1 --fault dataset.rename:EIO:times=1 \
	--fault "dataset.scan:NONE:until=$T/go"

is_there() {
	(cd "$D" && find . -name '*.jpg' -printf '%P\n') | LC_ALL=C sort
}

those() {
	order "$1" "$2" | cut -f5 | LC_ALL=C sort
}

# Scripts read passes over current/, at first half a pass, and print "FILES SAMPLES" for each pass.
coproc NOW { exec "$PYTHON" -u -c '
import io, os, sys, tarfile
import numpy

def samples(path):
    data = open(path, "rb").read()
    if path.endswith(".tar"):
        names = tarfile.open(fileobj=io.BytesIO(data)).getnames()
        return sum(name.endswith(".ppm") for name in names)
    images = numpy.load(io.BytesIO(data))
    labels = numpy.load(path[:-len(".npy")] + ".labels.npy")
    assert len(images) == len(labels), path
    return len(images)

def files(job):
    top = f"{sys.argv[1]}/{job}/current"
    return [f"{top}/{name}" for name in sorted(os.listdir(top)) if "labels" not in name]

left = {}
for line in sys.stdin:
    job, some = line.split()
    rest = left.pop(job, None) or files(job)
    now, left[job] = rest[:int(some)], rest[int(some):]
    print(len(now), sum(map(samples, now)))
' "$M/jobs"; }
now() { # JOB FILES EXPECTED
	local line
	echo "$1 $2" >&"${NOW[1]}"
	read -r line <&"${NOW[0]}" || fail "the reader of $1 has ended"
	equal "files and samples of $1" "$line" "$3"
}

read_some() { # JOB FROM TO: of the sorted files, or directories, of epoch 0
	local file
	find "$(epoch "$1")" -type f | sort | sed -n "$2,$3p" | while read -r file; do
		cat "$file" >/dev/null || exit 1
	done
}

names "$(epoch shards 0000)" >/dev/null
names "$(epoch shards 0000)/003" >/dev/null || true
read_some tar 1 2
read_some batch 1 4
read_some shards 1 20
read_some sequential 1 20
now tar_now 3 "3 15"
now batch_now 3 "3 15"
for job in $jobs; do # so that the kernel knows the files of the next epoch
	ls -l "$M/jobs/$job/epoch-0001" "$M/jobs/$job/current" >/dev/null
	ls -l "$M/jobs/$job"/epoch-0001/* >/dev/null
done

# --- jobs that can't move, failures, and crashes
is_there >"$T/first"
mkdir "$D/class0b"
for i in 0 1 2 3 4; do cp "$D/class1/000$i.jpg" "$D/class0b/000$i.jpg"; done
is_there >"$T/second"
touch "$T/go"
refuses() { # TEXT [option...]
	local status=0
	job_text other "${common[@]}" "${@:2}" >"$T/other.ini"
	ctl add "$T/other.ini" >/dev/null
	ctl dataset rescan images >"$T/said" 2>&1 || status=$?
	((status == 1)) || fail "status $status: $(cat "$T/said")"
	grep -q "job other has $1" "$T/said" || fail "it does not say '$1': $(cat "$T/said")"
	grep -q "images is as it was" "$T/said" || fail "$(cat "$T/said")"
	ctl rm other >/dev/null
}
refuses "layout = mirror" view.layout=mirror
refuses "labels = fixed" view.labels=fixed
refuses "bad_sample = skip" job.bad_sample=skip
fails() {
	local _
	for _ in 1 2; do # dataset.install, dataset.rename
		! ctl dataset rescan images >"$T/said" 2>&1 || fail "it did not fail"
		grep -q "images is as it was" "$T/said" || fail "$(cat "$T/said")"
	done
	equal "samples of the dataset" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 24
}
fails
rm "$T/go"
ctl dataset rescan images >/dev/null 2>&1 &
job_text other "${common[@]}" >"$T/other.ini"
for _ in $(seq 500); do # the scan has begun
	ctl add "$T/other.ini" >"$T/said" 2>&1 || break
	ctl rm other >/dev/null
	sleep 0.02
done
grep -q "is being scanned or removed at the moment" "$T/said" || fail "$(cat "$T/said")"
kill_engine
! wait $! || fail "a scan whose engine was killed has succeeded"
touch "$T/go"
for job in $jobs; do
	equal "samples of $job" "$(status_of "$job" samples)" 24
done
fails
ln "$T/state/datasets/images.sqlite" "$T/state/datasets/images.sqlite.7" # as deaths leave it
cp "$T/state/datasets/images.sqlite" "$T/state/datasets/images.sqlite.next"

# --- the jobs move
ctl dataset rescan images >"$T/said" 2>&1 || fail "$(cat "$T/said")"
equal "catalogues that are kept" "$(names "$T/state/datasets" | grep -c '^images.sqlite.[0-9]*$')" 1
equal "catalogues" "$(names "$T/state/datasets" | grep -vc '[.]map$')" 2
equal "catalogues that are mapped" "$(names "$T/state/datasets" | grep -c '[.]map$')" 2
for file in tar/epoch-0000:5 tar/epoch-0001:6 shards/epoch-0000:5 shards/epoch-0001:6 \
	batch/epoch-0000:10 batch/epoch-0001:12; do
	equal "files of ${file%:*}" "$(names "$M/jobs/${file%:*}" | wc -l)" "${file#*:}"
done
read_some tar 3 4
read_some batch 5 8
read_some shards 21 50
read_some sequential 21 30
now tar_now 1 "1 5"
now batch_now 1 "1 5"
kill_engine
read_some tar 5 5
read_some batch 9 10
read_some shards 51 99
read_some sequential 31 99
now tar_now 1 "1 4"
now batch_now 1 "1 4"
for job in $jobs; do
	once "$job" 24
	equal "files of $job" "$(those "$job" 0000)" "$(cat "$T/first")"
done

# --- the next epochs have the new scan
now tar_now 6 "6 29"
now batch_now 6 "6 29"
for job in tar batch shards sequential; do
	find "$(epoch $job 0001)" -type f | sort | xargs cat >/dev/null
done
equal "a shard with a file more" "$(tar -tf "$(epoch tar 0001)/shard-000005.tar" | grep -c ppm)" 4
for job in $jobs; do
	once "$job" 29 0001
	equal "files of $job" "$(those "$job" 0001)" "$(cat "$T/second")"
done
equal "order of sequential" "$(order sequential 0001 | cut -f5)" \
	"$(order sequential 0001 | sort -n -k2 | cut -f5)"
nothing_held
stop
