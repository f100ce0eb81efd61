# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""The cases of the bench: several jobs read at the same time. Each case is measured with several
ways of reading, such as torch's DataLoader or joaderfs' batches."""

import os
import random
import statistics
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

from beton import beton, there_is_ffcv
from mounted import TOOLS, Daemon, Failed, answer, dataset_paths, job_ini, made, started

READER = os.path.join(TOOLS, "bench", "reader.py")
RESIZE, CROP = 256, 224
SAMPLE_BYTES = CROP * CROP * 3
CPUS = 2  # worker processes of all jobs together

# Ways of reading. kind: of reader.py; layout, format: of the job; script: (resize, crop) that the
# script does itself.
WAYS = {
    "DataLoader": {"kind": "imagefolder", "mount": False, "script": (RESIZE, CROP)},
    "ImageFolder": {"kind": "imagefolder", "layout": "classes", "format": "ppm",
                    "script": (0, 0)},
    "ImageFolder, resizing itself": {"kind": "imagefolder", "layout": "classes", "format": "ppm",
                                     "tensor": {"crop": None}, "script": (RESIZE, CROP)},
    "npy": {"kind": "flat", "layout": "flat", "format": "npy", "script": (0, 0)},
    "record": {"kind": "record", "layout": "flat", "format": "record", "script": (0, 0)},
    "batch": {"kind": "batch", "layout": "batch", "format": "npy", "script": (0, 0)},
    "PPM on disk": {"kind": "imagefolder", "mount": False, "copies": "ppm", "script": (0, 0),
                    "prepared": True},
    "NPY on disk": {"kind": "flat", "mount": False, "copies": "npy", "script": (0, 0),
                    "prepared": True},
    "FFCV, jpg": {"kind": "ffcv", "mount": False, "copies": "jpg.beton",
                  "script": (RESIZE, CROP), "warm": 1},
    "FFCV, raw": {"kind": "ffcv", "mount": False, "copies": "raw.beton", "script": (0, 0),
                  "prepared": True, "warm": 1},
}
if not there_is_ffcv():
    WAYS = {name: way for name, way in WAYS.items() if way["kind"] != "ffcv"}


class Job:
    """A job of a case. step: ms of the model's work per sample; start: seconds until the job
    starts; part: the range of samples that it reads, None: all."""

    def __init__(self, name, step=0.0, start=0.0, part=None):
        self.name, self.step, self.start, self.part = name, step, start, part


def photographs(count):
    return made("demo-photos", "--count", str(count))


def fashion(count):
    return os.path.join(made("demo-fashion", "--count", str(count)), "train")


# The datasets. directory: a function from the number of pictures to their directory; bytes: size of
# a prepared sample in the cache.
PHOTOGRAPHS = {"directory": photographs, "resize": RESIZE, "crop": CROP,
               "bytes": SAMPLE_BYTES + 4096}
FASHION = {"directory": fashion, "resize": 0, "crop": 28, "bytes": 2 * 28 * 28 * 3}


def copies(dataset, form):
    """Prepares the photographs beforehand, and returns their directory, which is beside the
    dataset: a tree of PPM files, or NPY files with labels in one directory, in random order."""
    if form.endswith(".beton"):
        return beton(dataset, form.split(".", maxsplit=1)[0])
    target = f"{dataset}-{form}-{RESIZE}-{CROP}"
    if os.path.isdir(target):
        return target
    paths = sorted(dataset_paths(dataset))
    if form == "npy":
        random.Random(1).shuffle(paths)
    classes = sorted({os.path.basename(os.path.dirname(p)) for p in paths})
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as directory:
        tree = os.path.join(directory, "tree")
        os.mkdir(tree)
        for k, path in enumerate(paths):
            copy_prepared(path, k, classes, tree, form)
        os.rename(tree, target)
    return target


def copy_prepared(path, k, classes, tree, form):
    image = prepared(path)
    name = os.path.basename(os.path.dirname(path))
    if form == "ppm":
        os.makedirs(os.path.join(tree, name), exist_ok=True)
        image.save(os.path.join(tree, name, f"{k:08d}.ppm"))
    else:
        numpy.save(os.path.join(tree, f"{k:08d}.npy"), numpy.asarray(image))
        with open(os.path.join(tree, f"{k:08d}.cls"), "w", encoding="ascii") as file:
            file.write(f"{classes.index(name)}\n")


def prepared(path):
    """Returns the image, prepared as by torchvision's Resize and CenterCrop."""
    image = Image.open(path).convert("RGB")
    width, height = image.size
    short = min(width, height)
    width, height = RESIZE * width // short, RESIZE * height // short
    image = image.resize((width, height), Image.Resampling.BILINEAR)
    left, top = round((width - CROP) / 2), round((height - CROP) / 2)
    return image.crop((left, top, left + CROP, top + CROP))


def command(way, job, directory, jobs, epochs, seed, pictures):
    resize, crop = way["script"] if pictures["resize"] else (0, 0)
    argv = [READER, way["kind"], directory, "--epochs", str(epochs), "--seed", str(seed),
            "--resize", str(resize), "--crop", str(crop), "--step", str(job.step),
            "--start", str(job.start), "--workers", str(CPUS // len(jobs)),
            "--warm", str(way.get("warm", 0)), *["--yields"] * way.get("yields", False)]
    if job.part and not way.get("mount", True):  # with a mount, the job's key `where` selects
        argv += ["--part", f"{job.part[0]}:{job.part[1]}"]
    return argv


def run_together(commands):
    """Starts all readers, waits until all are ready, and lets them begin. Returns their output."""
    with started(([sys.executable, *argv] for argv in commands), stdin=subprocess.PIPE) as running:
        for process in running:
            if process.stdout.readline() != "ready\n":
                raise Failed(f"a reader ended with {process.wait()} before it began")
        for process in running:
            process.stdin.write("\n")
            process.stdin.flush()
        return [answer(process, "a reader") for process in running]


def figures(readers, daemon_cpu=0.0, daemon_kb=0, decodes=None):
    samples = sum(r["samples"] for r in readers)
    seconds = max(r["end"] for r in readers) - min(r["begin"] for r in readers)
    return {"samples": samples, "seconds": seconds, "rate": samples / seconds,
            "decodes": (samples if decodes is None else decodes) / samples,
            "cpu_ms": 1000 * (sum(r["cpu_s"] for r in readers) + daemon_cpu) / samples,
            "reader_cpu_ms": 1000 * sum(r["cpu_s"] for r in readers) / samples,
            "waits": [r["waited"] / (r["end"] - r["begin"]) for r in readers],
            "memory_mib": (daemon_kb + sum(r["rss_kb"] for r in readers)) / 1024}


def view_ini(way, job, epochs, pictures):
    tensor = {"format": way["format"], **way.get("tensor", {})}
    where = job.part and f"id >= {job.part[0]} and id < {job.part[1]}"
    crop = tensor.pop("crop", pictures["crop"])
    return job_ini(job.name, pictures["resize"], crop, tensor=tensor,
                   view={"layout": way["layout"], "batch": 64 if way["layout"] == "batch" else None},
                   epochs=epochs, where=where)


def check(daemon, jobs, readers, samples, epochs):
    """Checks that each reader got the right number of samples. Tests check which samples."""
    for job, reader in zip(jobs, readers):
        wanted = (job.part[1] - job.part[0] if job.part else samples) * epochs
        if reader["samples"] != wanted:
            raise Failed(f"{job.name} read {reader['samples']} samples, not {wanted}: "
                         + (daemon.log() if daemon else ""))


def run(args, name, jobs, cache=1.0, epochs=2, pictures=None, **options):
    """Measures one way of reading. cache: the fraction of the prepared samples that fit into it."""
    pictures = pictures or PHOTOGRAPHS
    dataset = pictures["directory"](args.count)
    samples = len(dataset_paths(dataset))
    way = WAYS[name]
    args.progress(f"{name}, {len(jobs)} jobs, cache {cache:.0%} {options or ''}")
    if not way.get("mount", True):
        directory = copies(dataset, way["copies"]) if "copies" in way else dataset
        readers = run_together([command(way, job, directory, jobs, epochs, k, pictures)
                                for k, job in enumerate(jobs)])
        check(None, jobs, readers, samples, epochs)
        return figures(readers, decodes=0 if way.get("prepared") else None)
    size = pictures["bytes"] if "crop" not in way.get("tensor", {}) else 3 * RESIZE * RESIZE * 2
    bytes_ = max(int(cache * samples * size), 1 << 20)
    inis = {job.name: view_ini(way, job, epochs, pictures) for job in jobs}
    with Daemon(args.program, dataset, inis, bytes_, **options) as daemon:
        before = daemon.cpu_s()
        readers = run_together([command(way, job, daemon.view(job.name), jobs, epochs, k,
                                        pictures)
                                for k, job in enumerate(jobs)])
        check(daemon, jobs, readers, samples, epochs)
        return figures(readers, daemon.cpu_s() - before, daemon.memory("VmHWM") // 1024,
                       daemon.stats()["decodes"])


def row(args, title, jobs, ways, **settings):
    """Measures all ways alternately, args.rounds times. Returns medians, and the ratios to the
    DataLoader of the same round."""
    rounds = [{titled(name, how): run(args, name, jobs, **{**settings, **how})
               for name, how in ways} for _ in range(args.rounds)]
    cells = {}
    for name in rounds[0]:
        runs = [r[name] for r in rounds]
        cells[name] = {key: round(statistics.median(x[key] for x in runs), 4)
                       for key in runs[0] if key != "waits"}
        cells[name]["waits"] = [round(statistics.median(of_job), 4)
                                for of_job in zip(*(x["waits"] for x in runs))]
        if "DataLoader" in rounds[0]:
            cells[name]["ratio"] = round(statistics.median(
                r[name]["rate"] / r["DataLoader"]["rate"] for r in rounds), 2)
            cells[name]["cpu_ratio"] = round(statistics.median(
                r["DataLoader"]["cpu_ms"] / r[name]["cpu_ms"] for r in rounds), 2)
    return {"title": title, "cells": cells}


def titled(name, settings):
    return ", ".join([name, *settings.values()])


def plain(names):
    return [(name, {}) for name in names]


# The ways of reading of every case; jobs() has more.
READ = ("DataLoader", "ImageFolder", "npy", "batch")
# ms of the model's work per sample; the ratios are those of the paper's models
SPEEDS = (0.5, 0.8, 1.3, 2.4)


def equal_jobs(n):
    return [Job(f"job{k}") for k in range(n)]


def different_speeds():
    return [Job(f"job{k}", step=step) for k, step in enumerate(SPEEDS)]


def arriving(args):
    """Returns four jobs that start one after another, and the seconds between their starts."""
    gap = 0.4 if args.quick else 1.5
    return [Job(f"job{k}", step=0.5, start=k * gap) for k in range(4)], gap


def overlapping(args, share):
    """Returns two jobs. Each reads half of the samples; `share` percent of these are the same."""
    size = args.count // 2
    first = (size * (100 - share)) // 100
    return [Job("job0", part=(0, size)), Job("job1", part=(first, first + size))]


def jobs(args):
    # FFCV's jobs compile for half a minute before the first epoch, so only one case has them.
    others = [name for name, way in WAYS.items() if way["kind"] != "ffcv"]
    ways = {1: others, 2: others, 4: WAYS, 6: others}
    if args.quick:
        ways = {1: ("DataLoader", "ImageFolder"), 6: others}
    rows = [row(args, f"{n}", equal_jobs(n), plain(ways[n])) for n in ways]
    return {"what": "Jobs that read the same photographs at once, as fast as they can, two "
                    "epochs, from a cache for all of them; samples/s of all jobs together",
            "rows": rows}


def small(args):
    """Measures pictures that are so small that opening their files takes most of the time."""
    rows = [row(args, f"{n}", equal_jobs(n), plain(READ), pictures=FASHION)
            for n in ((6,) if args.quick else (1, 6))]
    return {"what": "Fashion-MNIST (PNG, 28x28), as many as there are photographs, otherwise "
                    "the same", "rows": rows}


def speeds(args):
    return {"what": "Four jobs whose models take " + ", ".join(f"{s:g}" for s in SPEEDS)
                    + " ms per sample",
            "rows": [row(args, "", different_speeds(), plain(READ))]}


def arrivals(args):
    some, gap = arriving(args)
    return {"what": f"Four jobs of 0.5 ms per sample that start {gap:g} s after one another",
            "rows": [row(args, "", some, plain(READ))]}


def overlap(args):
    shares, ways = ((50,), ("DataLoader", "npy")) if args.quick else ((0, 25, 50, 75, 100), READ)
    return {"what": "Two jobs, each of half as many samples as there are photographs, that "
                    "have so much of them in common",
            "rows": [row(args, f"{share}%", overlapping(args, share), plain(ways))
                     for share in shares]}


def smallcache(args):
    """Measures a small cache. Jobs share an image outside of it only if they read it at the same
    time."""
    grid = [(s, e) for e in ("refcnt", "lru") for s in ("isa", "dsa", "exchange")]
    ways = [("npy", {"sampler": s, "eviction": e}) for s, e in grid]
    ways += [("batch", {"sampler": s}) for s in ("dsa", "exchange")] + [("ImageFolder", {})]
    some = {f"{n} equal jobs": equal_jobs(n) for n in (2, 4, 6)}
    some |= {"speeds": different_speeds(), "arrivals": arriving(args)[0],
             "overlap 50%": overlapping(args, 50)}
    if args.quick:
        some = {"6 equal jobs": equal_jobs(6)}
        ways = [("npy", {"sampler": s}) for s in ("dsa", "exchange")]
    return {"what": "The same with a cache for a twentieth of the photographs: samples prepared "
                    "per sample served", "figure": "decodes",
            "rows": [row(args, title, jobs_, ways, cache=0.05) for title, jobs_ in some.items()]}
