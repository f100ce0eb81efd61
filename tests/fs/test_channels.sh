#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# channels = keep: one channel, a palette's indices, 16 bits, floats and alpha are kept in each
# format that can hold them. Samples that do not fit a job are refused by name.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
needs_torch
"$PYTHON" "$FS/kept.py" make "$D"

keep=(tensor.channels=keep)
npy=("${keep[@]}" tensor.format=npy)
job all "${npy[@]}"
job record "${keep[@]}" tensor.format=record
job tar "${npy[@]}" view.layout=tar view.shard=5
job masks "${keep[@]}" "job.where=palette" tensor.filter=nearest tensor.resize=30x30 \
	tensor.format=png
job png "${keep[@]}" "job.where=class != 'float'" tensor.format=png
job batch "${npy[@]}" "job.where=bits = 16" tensor.filter=bicubic tensor.resize=24x24 \
	view.layout=batch view.batch=3
job raw "${keep[@]}" "job.where=channels = 1 and bits = 32" tensor.filter=lanczos \
	tensor.resize=24x24 tensor.format=raw
augment=(tensor.resize=36 augment.seed=5 augment.random_resized_crop=20 augment.hflip=0.5)
job alpha "${npy[@]}" "${augment[@]}" "job.where=class = 'rgba'" tensor.filter=bicubic
job deep "${npy[@]}" "${augment[@]}" "job.where=class = 'deep'" tensor.axes=CHW
job indices "${npy[@]}" "${augment[@]}" "job.where=class = 'palette'" tensor.filter=nearest

check() {
	"$PYTHON" "$FS/kept.py" check "$M/jobs" "$D"
	"$PYTHON" "$FS/augmented.py" "$M/jobs" "$D" \
		"alpha epochs=1 resize=36 seed=5 mode=keep filter=bicubic random_resized_crop=20 hflip=0.5" \
		"deep epochs=1 resize=36 seed=5 mode=keep axes=CHW random_resized_crop=20 hflip=0.5" \
		"indices epochs=1 resize=36 seed=5 mode=keep filter=nearest random_resized_crop=20 hflip=0.5"
}

refuses() { # TEXT key=value...
	job_text refused "${keep[@]}" "${@:2}" | ctl add - >"$T/answer" 2>&1 &&
		fail "$1: it was added"
	grep -qF -- "$1" "$T/answer" || fail "'$1' is not in: $(cat "$T/answer")"
}

start
unusual="4 of 16 bits (gray is white from 255 on), 4 of float32 (EIO), 4 with a palette (its colours are taken), 8 with alpha (it is dropped); channels = keep in [tensor] of a job keeps that"
equal "lines of the log" "$(grep -cF "dataset images: has images $unusual" "$LOG")" 1
equal "info" "$(sed -n 's/^pixels //p' "$M/datasets/images/info")" "$unusual"
grep -qxF "pixels $unusual" <(ctl datasets) || fail "joaderctl datasets: $(ctl datasets)"
grep -qF "dataset images: has images $unusual" <("$BUILD/joaderctl" doctor "$T/joaderfs.ini") ||
	fail "joaderctl doctor does not tell"
check
refuses "sample 0, deep/0.png, is gray of 16 bits (the first sample is gray of 16 bits); allowed: RGB or gray of 8 bits, with format = ppm" \
	tensor.format=ppm
refuses "is gray (the first sample is gray); allowed: RGB of 8 bits, with format = bmp" \
	tensor.format=bmp "job.where=class in ('rgb', 'gray')"
refuses "allowed: 8 or 16 bits, with format = png" tensor.format=png
refuses "palette/0.png, is indices of a palette" tensor.format=npy tensor.resize=9
refuses "only with filter = nearest" tensor.format=npy augment.random_resized_crop=9 "job.where=palette"
refuses "one kind for all samples with layout = batch" tensor.format=npy view.layout=batch tensor.crop=9
refuses "rgb/0.png, is RGB (the first sample is gray of 16 bits)" tensor.format=raw tensor.crop=9 \
	"job.where=class in ('deep', 'rgb')"
refuses "as many channels as normalize" tensor.format=npy tensor.dtype=float32 "augment.normalize=1 2 3 / 1 2 3"

older() { # the catalogue of before these columns
	local file=$T/state/datasets/images.sqlite
	cp "$file" "$T/older" # which no engine holds
	"$PYTHON" "$FS/catalogue.py" older "$T/older" 3
	mv "$T/older" "$file"
}

# A start updates the catalogue.
stop
older
start
logged "of an older version"
! grep "files are new" "$LOG" || fail "no file has changed"
stop
start
check

# An engine that takes over reads no headers while readers wait. A rescan does.
stop
rm "$T"/jobs.d/*.ini
job plain "job.where=class != 'float'"
start
read_epoch plain
older
kill_engine
equal "times that headers were read" "$(grep -c "of an older version" "$LOG")" 1
equal "bytes of a job" "$(cat "$(epoch plain)"/*.ppm | wc -c)" $(((40 * 52 * 3 + 13) * 24))
refuses "allowed: keep after joaderctl dataset rescan" tensor.format=npy
ctl dataset rescan images >"$T/said" 2>&1 || fail "$(cat "$T/said")"
job_text fits "${keep[@]}" tensor.format=npy | ctl add - >/dev/null
