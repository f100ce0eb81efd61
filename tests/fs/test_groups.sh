#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# group = directory: the files of a directory are one sample with one more axis, in the order of
# their names, with one crop and one flip for all. From a directory, shards and a zip.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
needs_torch
"$PYTHON" "$FS/groups.py" make "$T"
group() { # JOB FRAMES KEY=VALUE...
	job "$1" tensor.group=directory tensor.frames="$2" "${@:3}"
}
draws=(augment.seed=5 augment.hflip=0.5)
group plain 4 tensor.resize=32 view.size=exact
group same 4 tensor.resize=32 augment.random_crop=24 "${draws[@]}"
group record 3 tensor.resize=32 tensor.crop=24 tensor.format=record
group raw 1 tensor.resize=32 tensor.crop=24 tensor.format=raw
group tar 4 tensor.resize=32 view.layout=tar view.shard=4
group batch 4 tensor.resize=32 tensor.dtype=float32 tensor.axes=CHW view.layout=batch view.batch=4 \
	augment.random_resized_crop=24 augment.normalize="0.485 0.456 0.406 / 0.229 0.224 0.225" "${draws[@]}"
group classes 4 tensor.resize=32 tensor.crop=24 view.layout=classes
check() { # [JOB...]: beside those that draw nothing
	"$PYTHON" "$FS/groups.py" check "$M/jobs" "$T" "plain npy frames=4 resize=32" \
		"record record frames=3 resize=32 crop=24" "raw raw frames=1 resize=32 crop=24" \
		"tar tar frames=4 resize=32" "$@"
}
check_drawn() {
	check "same npy frames=4 resize=32 seed=5 random_crop=24 hflip=0.5" \
		"batch batch frames=4 resize=32 seed=5 random_resized_crop=24 hflip=0.5 normalize=1 dtype=float32 axes=CHW"
}
read_drawn() {
	cat "$(epoch same)"/*.npy "$(epoch batch)"/*.npy >/dev/null
}
for kind in data shards all.zip; do
	rm -f "$T/jobs.d/numbers.ini"
	[[ $kind != data ]] || group numbers 4 tensor.resize=32 tensor.crop=24 view.layout=batch view.batch=4 \
		"view.labels=columns: x y"
	D=$T/$kind config joaderfs.state="$T/state-$kind"
	start
	if [[ $kind == data ]]; then check_drawn; else check && read_drawn; fi
	if [[ $kind == data ]]; then
		check "numbers labels frames=4"
		cat "$(epoch numbers)"/*.npy >/dev/null
	fi
	equal "videos of a class" "$(find "$(epoch classes)/class0" -name '*.npy' | wc -l)" 5
	"$PYTHON" -c 'import sys, numpy; assert numpy.load(sys.argv[1]).shape == (4, 24, 24, 3)' \
		"$(find "$(epoch classes)/class0" -name '*.npy' | head -n 1)"
	cat "$(epoch classes)"/*/*.npy >/dev/null
	# Four jobs share a preparation, and three have others: nine videos for each preparation.
	equal "decodes" "$(counter decodes)" 36
	nothing_held
	[[ $kind == all.zip ]] || stop
done

# An open file is read on after the engine has died. After a restart a small cache gives the same
# bytes.
cp "$(epoch plain)/00000003.npy" "$T/copy"
exec 5<"$(epoch plain)/00000003.npy"
head -c 200 <&5 >/dev/null
kill_engine
cat <&5 | cmp - <(tail -c +201 "$T/copy")
exec 5<&-
stop
D=$T/all.zip config joaderfs.state="$T/state-all.zip" joaderfs.cache=100K
start
check
check
(($(counter decodes) > 27)) || fail "all of it fits into the cache"
refused() { # TEXT KEY=VALUE...
	job_text refused "${@:2}" | ctl add - >"$T/answer" 2>&1 && fail "added: ${*:2}"
	grep -qF -- "$1" "$T/answer" || fail "$(cat "$T/answer")"
}
g=(tensor.group=directory tensor.frames=4)
for format in ppm png bmp source; do
	refused "[tensor]:format: found \"format\", allowed: npy, record or raw, with group = directory" \
		"${g[@]}" tensor.format=$format
done
refused "found \"directory\", allowed: both group = directory and frames = N, or neither" tensor.group=directory
refused "found \"frames\", allowed: both group = directory and frames = N" tensor.frames=3
refused "allowed: not with layout = mirror" "${g[@]}" view.layout=mirror
refused "found 14, and 9 of 9 samples can't be prepared, as class0/video0/f7.jpg: its directory has 4 files, allowed: at least frames = 14" \
	tensor.group=directory tensor.frames=14
stop

# A missing or damaged frame, or a directory with too few frames, loses its sample, which the
# message names.
rm "$T"/jobs.d/*.ini "$T/data/class0/video0/f8.jpg"
truncate -s 800 "$T/data/class1/video1/f9.jpg"
printf 'no image' >"$T/data/class0/video2/f7.jpg"
D=$T/data config joaderfs.state="$T/state-bad" joaderfs.cache=200K
group few 4 tensor.resize=32 tensor.crop=24
: >"$LOG"
start
rm "$T/data/class1/video3/f13.jpg"
bad=0
for file in "$(epoch few)"/*.npy; do
	cat "$file" >/dev/null 2>&1 || bad=$((bad + 1))
done
equal "videos that answer EIO" "$bad" 4
grep -qF "[tensor]:frames: found 4, and 2 of 9 samples can't be prepared, as class0/video0/f7.jpg: its directory has 3 files, allowed: at least frames = 4; their files answer EIO" "$LOG"
grep -F "class0/video2/f7.jpg" "$LOG" | grep -qF "frame class0/video2/f7.jpg has no readable header"
grep -qF "f7.jpg: its file class1/video1/f9.jpg: " "$LOG"
grep -qF "f7.jpg: its file class1/video3/f13.jpg: No such file or directory" "$LOG"
nothing_held
stop
