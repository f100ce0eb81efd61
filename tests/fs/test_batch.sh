#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = batch: numpy loads and maps batches and labels. Each sample comes once, with the same
# numbers as in layout flat, with and without augmentation.
. "$(dirname "$0")/lib.sh"
dataset 3 8
size=(tensor.resize=48 tensor.crop=40)
floats=(tensor.dtype=float32 tensor.axes=CHW augment.hflip=0.5 augment.seed=7
	"augment.normalize=0.485 0.456 0.406 / 0.229 0.224 0.225")
batch=(view.layout=batch view.batch=10)
job plain "${size[@]}" "${batch[@]}"
job again "${size[@]}" "${batch[@]}" view.drop_last=yes
job mapped "${size[@]}" "${batch[@]}"
job floats "${size[@]}" "${floats[@]}" "${batch[@]}"
job direct "${size[@]}" "${batch[@]}" view.io=direct
job flat "${size[@]}" tensor.format=npy job.order=sequential
start
read_epoch flat # position = sample

equal "batches" "$(names "$(epoch plain)" | head -3 | xargs)" \
	"batch-000000.labels.npy batch-000000.npy batch-000001.labels.npy"
equal "files" "$(names "$(epoch plain)" | wc -l)" 6
equal "files without the last" "$(names "$(epoch again)" | wc -l)" 4
equal "bound by listing" "$(status_of plain bound)" 0
for how in load map pread; do
	name=plain
	[[ $how == load ]] || name=mapped
	"$PYTHON" "$FS/batches.py" $how "$M/jobs/$name" "$M/jobs/flat"
	once $name 24
done
"$PYTHON" "$FS/batches.py" load "$M/jobs/direct" "$M/jobs/flat"
"$PYTHON" "$FS/batches.py" floats "$M/jobs/floats" "$D"
once floats 24
nothing_held
equal "consumed" "$(status_of mapped consumed)" 24
