# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures millions of samples in tar shards: the time of the scan, the time of a start with the
catalogue, and the bytes per sample in memory and on the disk. All shards are hard links to one
shard of 10,000 samples on a tmpfs, so no disk is measured."""

import io
import os
import tarfile

from PIL import Image

from mounted import job_ini
from scale import bytes_in, kept, read, rss, table, timed, with_find

IN_SHARD = 10_000
CLASSES = 1000


def make_shard(path):
    image = io.BytesIO()
    Image.new("RGB", (16, 12), (90, 120, 30)).save(image, "JPEG")
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for i in range(IN_SHARD):
            for suffix, data in ("jpg", image.getvalue()), ("cls", str(i % CLASSES).encode()):
                member = tarfile.TarInfo(f"{i:08d}.{suffix}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))


def make_shards(directory, n):
    shards = os.path.join(directory, "shards")
    os.mkdir(shards)
    first = os.path.join(shards, "shard-000000.tar")
    make_shard(first)
    for k in range(1, n // IN_SHARD):
        os.link(first, os.path.join(shards, f"shard-{k:06d}.tar"))
    return shards


def measure(args, n, directory):
    figures = {"shards": f"{n // IN_SHARD:,}"}
    args.progress(f"{n:,} samples in shards")
    shards = make_shards(directory, n)
    state = os.path.join(directory, "state")
    os.mkdir(state)
    args.progress(f"{n:,} samples in shards: first scan")
    with kept(state, args, shards, {}) as (took, _):
        figures["first scan, s"] = f"{took:.1f}"
        figures["first scan, samples/s"] = f"{n / took:,.0f}"
    figures["find and tar -t, samples/s"] = f"{n / with_find(shards, '-n 1 tar -tf'):,.0f}"
    figures["catalogue on the disk, B/sample"] = \
        f"{bytes_in(os.path.join(state, 'datasets')) / n:.1f}"
    args.progress(f"{n:,} samples in shards: start from the catalogue")
    with kept(state, args, shards, {}) as (took, daemon):
        figures["start from the catalogue, s"] = f"{took:.1f}"
        figures["memory of the catalogue, B/sample"] = f"{rss(daemon) / n:.1f}"
    with kept(state, args, shards, {"job": job_ini("job", 0, 8)}) as (took, daemon):
        figures["start with a job, s"] = f"{took:.1f}"
        path = os.path.join(daemon.epoch("job"), "00000000.ppm")
        figures["first byte of an epoch, ms"] = f"{1e3 * timed(lambda: read(path))[0]:.0f}"
    return figures


def shards(args):
    return table(args, measure, f"Shards of {IN_SHARD:,} samples, names of one file")
