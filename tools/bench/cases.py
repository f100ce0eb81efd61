# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""The cases: several jobs at once, by several ways of reading."""

import json
import os
import statistics
import subprocess
import sys

from mounted import TOOLS, Daemon, Failed, dataset_paths, job_ini

READER = os.path.join(TOOLS, "bench", "reader.py")
RESIZE, CROP = 256, 224
SAMPLE_BYTES = CROP * CROP * 3
CPUS = 2  # worker processes of all jobs together

# What a job reads: the reader's kind, the layout of its view, the format, and what its own
# code still does to an image.
WAYS = {
    "DataLoader": {"kind": "imagefolder", "mount": False, "script": (RESIZE, CROP)},
    "ImageFolder": {"kind": "imagefolder", "layout": "classes", "format": "ppm",
                    "script": (0, 0)},
    "ImageFolder, resizing itself": {"kind": "imagefolder", "layout": "classes", "format": "ppm",
                                     "tensor": {"crop": None}, "script": (RESIZE, CROP)},
    "npy": {"kind": "flat", "layout": "flat", "format": "npy", "script": (0, 0)},
    "batch": {"kind": "batch", "layout": "batch", "format": "npy", "script": (0, 0)},
}


class Job:
    """One reader of a case: ms of a model's work per sample, seconds until it starts, and
    the range of samples that it reads."""

    def __init__(self, name, step=0.0, start=0.0, part=None):
        self.name, self.step, self.start, self.part = name, step, start, part


def photographs(count):
    done = subprocess.run([os.path.join(TOOLS, "demo-photos"), "--count", str(count)],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed("no photographs (see above)")
    return done.stdout.strip()


def command(way, job, directory, jobs, epochs, seed):
    resize, crop = way["script"]
    argv = [READER, way["kind"], directory, "--epochs", str(epochs), "--seed", str(seed),
            "--resize", str(resize), "--crop", str(crop), "--step", str(job.step),
            "--start", str(job.start), "--workers", str(CPUS // len(jobs))]
    if job.part and not way.get("mount", True):
        argv += ["--part", f"{job.part[0]}:{job.part[1]}"]
    return argv


def run_together(commands):
    """Starts all, waits until each is ready, lets them go; what each one printed."""
    running = []
    try:
        for argv in commands:
            running.append(subprocess.Popen([sys.executable, *argv], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True))
        for process in running:
            if process.stdout.readline() != "ready\n":
                raise Failed(f"a reader ended with {process.wait()} before it began")
        for process in running:
            process.stdin.write("\n")
            process.stdin.flush()
        results = []
        for process in running:
            output = process.communicate()[0]
            if process.returncode != 0:
                raise Failed(f"a reader ended with {process.returncode}")
            results.append(json.loads(output))
        return results
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()


def figures(readers, daemon_cpu=0.0, daemon_kb=0, decodes=None):
    samples = sum(r["samples"] for r in readers)
    seconds = max(r["end"] for r in readers) - min(r["begin"] for r in readers)
    return {"samples": samples, "seconds": seconds, "rate": samples / seconds,
            "decodes": (samples if decodes is None else decodes) / samples,
            "cpu_ms": 1000 * (sum(r["cpu_s"] for r in readers) + daemon_cpu) / samples,
            "reader_cpu_ms": 1000 * sum(r["cpu_s"] for r in readers) / samples,
            "waits": [r["waited"] for r in readers],
            "wait": statistics.mean(r["waited"] / (r["end"] - r["begin"]) for r in readers),
            "memory_mib": (daemon_kb + sum(r["rss_kb"] for r in readers)) / 1024}


def view_ini(way, job, epochs):
    tensor = {"format": way["format"], **way.get("tensor", {})}
    where = job.part and f"id >= {job.part[0]} and id < {job.part[1]}"
    return job_ini(job.name, RESIZE, tensor.pop("crop", CROP), tensor=tensor,
                   view={"layout": way["layout"], "batch": 64 if way["layout"] == "batch" else None},
                   epochs=epochs, where=where)


def check(daemon, jobs, readers, samples, epochs):
    """That each reader got as many as it should have; which ones, the tests have checked."""
    for job, reader in zip(jobs, readers):
        wanted = (job.part[1] - job.part[0] if job.part else samples) * epochs
        if reader["samples"] != wanted:
            raise Failed(f"{job.name} read {reader['samples']} samples, not {wanted}: "
                         + (daemon.log() if daemon else ""))


def run(args, name, jobs, cache=1.0, epochs=2, **options):
    """One run of one way; cache: a part of the prepared samples."""
    dataset = photographs(args.count)
    samples = len(dataset_paths(dataset))
    way = WAYS[name]
    args.progress(f"{name}, {len(jobs)} jobs, cache {cache:.0%} {options or ''}")
    if not way.get("mount", True):
        readers = run_together([command(way, job, dataset, jobs, epochs, k)
                                for k, job in enumerate(jobs)])
        check(None, jobs, readers, samples, epochs)
        return figures(readers)
    size = SAMPLE_BYTES + 4096 if "crop" not in way.get("tensor", {}) else 3 * RESIZE * RESIZE * 2
    bytes_ = max(int(cache * samples * size), 1 << 20)
    inis = {job.name: view_ini(way, job, epochs) for job in jobs}
    with Daemon(args.program, dataset, inis, bytes_, **options) as daemon:
        before = daemon.cpu_s()
        readers = run_together([command(way, job, daemon.view(job.name), jobs, epochs, k)
                                for k, job in enumerate(jobs)])
        check(daemon, jobs, readers, samples, epochs)
        return figures(readers, daemon.cpu_s() - before, daemon.peak_kb(),
                       daemon.stats()["decodes"])


def row(args, title, jobs, ways, **settings):
    """Each way as often as there are rounds, in turns; medians, and the ratio to the
    DataLoader of the same round."""
    rounds = [{name: run(args, name, jobs, **{**settings, **how})
               for name, how in ((n, h) for n, h in ways)} for _ in range(args.rounds)]
    cells = {}
    for name, _ in ways:
        runs = [r[name] for r in rounds]
        cells[name] = {key: round(statistics.median(x[key] for x in runs), 4)
                       for key in runs[0] if key != "waits"}
        if "DataLoader" in rounds[0]:
            cells[name]["ratio"] = round(statistics.median(
                r[name]["rate"] / r["DataLoader"]["rate"] for r in rounds), 2)
    return {"title": title, "cells": cells}


def plain(names):
    return [(name, {}) for name in names]


def jobs(args):
    counts = (1, 2, 4, 6) if not args.quick else (1, 4, 6)
    return {"what": "Jobs that read the same photographs at once, as fast as they can, two "
                    "epochs, from a cache for all of them; samples/s of all jobs together",
            "rows": [row(args, f"{n}", [Job(f"job{k}") for k in range(n)], plain(WAYS))
                     for n in counts]}


# ms per sample of a model's work on a GPU of its own, as the paper's models differ
SPEEDS = (0.5, 0.8, 1.3, 2.4)


def speeds(args):
    some = [Job(f"job{k}", step=step) for k, step in enumerate(SPEEDS)]
    names = ["DataLoader", "ImageFolder", "npy", "batch"]
    return {"what": "Four jobs whose models take " + ", ".join(f"{s:g}" for s in SPEEDS)
                    + " ms per sample", "rows": [
                        row(args, f"cache {cache:.0%}", some, plain(names), cache=cache)
                        for cache in (1.0, 0.05)]}


def arrivals(args):
    gap = 0.4 if args.quick else 1.5
    some = [Job(f"job{k}", step=0.5, start=k * gap) for k in range(4)]
    names = ["DataLoader", "ImageFolder", "npy", "batch"]
    return {"what": f"Four jobs of 0.5 ms per sample that start {gap:g} s after one another",
            "rows": [row(args, f"cache {cache:.0%}", some, plain(names), cache=cache)
                     for cache in (1.0, 0.05)]}


def overlap(args):
    names = ["DataLoader", "npy"]
    rows = []
    for share in (0, 25, 50, 75, 100):
        size = args.count // 2
        first = (size * (100 - share)) // 100
        some = [Job("job0", part=(0, size)), Job("job1", part=(first, first + size))]
        rows.append(row(args, f"{share}%", some, plain(names)))
    return {"what": "Two jobs, each of half as many samples as there are photographs, that "
                    "have so much of them in common", "rows": rows}


def samplers(args):
    """The grid behind the choice: who shares how much with which cache."""
    some = [Job(f"job{k}", step=step, start=0.3 * k) for k, step in enumerate(SPEEDS)]
    rows = []
    for cache in (1.0, 0.05):
        for eviction in ("refcnt", "lru"):
            ways = {f"{s}": {"sampler": s, "eviction": eviction, "cache": cache}
                    for s in ("isa", "dsa", "exchange")}
            runs = {s: [run(args, "npy", some, **how) for _ in range(args.rounds)]
                    for s, how in ways.items()}
            rows.append({"title": f"cache {cache:.0%}, {eviction}", "cells": {
                s: {key: round(statistics.median(r[key] for r in rs), 4)
                    for key in rs[0] if key != "waits"} for s, rs in runs.items()}})
    return {"what": "Four jobs of " + ", ".join(f"{s:g}" for s in SPEEDS) + " ms per sample that "
                    "start 0.3 s after one another, npy: samples prepared per sample served",
            "figure": "decodes", "rows": rows}
