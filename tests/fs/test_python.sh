#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The Python module, tools/python/joaderfs: its doctests, layouts, formats, jobs and ranks, without
# torch; and, if torch is installed, the samples that DataLoader and loops of other libraries get
# from it.
. "$(dirname "$0")/lib.sh"
dataset 3 8
config
printf '[template small]\njob.dataset = images\ntensor.crop = 16\n' >>"$T/joaderfs.ini"
"$PYTHON" "$FS/make_dataset.py" "$T/odd" 1 25 96x72
printf '[dataset odd]\npath = %s\n' "$T/odd" >>"$T/joaderfs.ini"
many() {
	job "$@" job.epochs=1000 tensor.crop=32
}
many flat
many classes view.layout=classes
many mirror view.layout=mirror
many batch view.layout=batch view.batch=8 tensor.format=npy
many tar view.layout=tar view.shard=6
many record tensor.format=record
many sharded view.shard=10
many linked view.layout=classes view.path=linked/train
many odd job.dataset=odd
many local job.dataset=odd job.ranks=2 job.local_ranks=2
mkdir -p "$T/paired"
"$PYTHON" - "$T/paired" <<-'END'
	import os, sys
	import numpy
	from PIL import Image
	for i in range(8):
	    for name, shape, kind in (("images", (30, 40, 3), "jpg"), ("masks", (30, 40), "png")):
	        os.makedirs(f"{sys.argv[1]}/{name}", exist_ok=True)
	        pixels = numpy.random.default_rng(i).integers(0, 20, shape, numpy.uint8)
	        Image.fromarray(pixels).save(f"{sys.argv[1]}/{name}/{i}.{kind}")
END
printf '[dataset paired]\npath = %s\n' "$T/paired" >>"$T/joaderfs.ini"
paired() {
	job "$@" job.dataset=paired job.epochs=1000 tensor.resize=32x24
	printf '[tensor mask]\nfrom = ../masks/{stem}.png\nfilter = nearest\nchannels = keep\n' >>"$T/jobs.d/$1.ini"
}
paired pairs
paired pairs-batch view.layout=batch view.batch=4
paired pairs-tar view.layout=tar view.shard=3
start

export JOADERFS_SOCKET=$T/socket PYTHONPATH=$ROOT/tools/python:$FS PYTHONDONTWRITEBYTECODE=1
export DOCS=$BUILD/joaderfs-docs COPIES=$T/copies
cd "$M" || exit
"$PYTHON" "$FS/python_module.py"
needs_torch
"$PYTHON" "$FS/python_torch.py"
cd / || exit
