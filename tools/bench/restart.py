# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures how long readers wait when the engine (the daemon's process) dies, with millions of
samples: until the first answer of the next engine, and until the first byte of a new sample."""

import os
import signal
import statistics
import tempfile
import time

from mounted import Daemon, job_ini
from scale import BATCH, make_tree, read

CACHE = 256 << 20
DEATHS = 5


def die(daemon, path):
    """Kills the engine. Returns the ms until the first answer, the CPU time of the new engine until
    then, and the ms until the first byte of a new sample."""
    begin = time.monotonic()
    os.kill(daemon.engine(), signal.SIGKILL)
    os.path.exists(os.path.join(daemon.mount, f"no-such-name-{begin}"))
    answered, cpu_s = time.monotonic(), daemon.cpu_s()
    with open(path, "rb", buffering=0) as file:
        file.read(1)
    return 1e3 * (answered - begin), 1e3 * cpu_s, 1e3 * (time.monotonic() - begin)


def bind_half(daemon, n):
    for k in range(n // 2 // BATCH):
        read(os.path.join(daemon.epoch("half"), f"batch-{k:06d}.labels.npy"))


def measure(args, n, directory, jobs, bound):
    """Kills several engines, and returns medians. jobs: the number of jobs; the first one reads.
    bound: one more job has drawn half of its epoch."""
    inis = {f"job{k}": job_ini(f"job{k}", 0, 8, epochs=3) for k in range(jobs)}
    if bound:
        inis["half"] = job_ini("half", 0, 8, {"format": "npy"},
                               {"layout": "batch", "batch": BATCH}, epochs=3)
    found = []
    with Daemon(args.program, os.path.join(directory, "tree"), inis, CACHE) as daemon:
        if bound:
            args.progress(f"{n:,} samples: half of an epoch is bound")
            bind_half(daemon, n)
        args.progress(f"{n:,} samples: deaths")
        names = iter(os.path.join(daemon.epoch("job0"), f"{i:08d}.ppm") for i in range(n))
        for _ in range(DEATHS):
            read(next(names))
            found.append(die(daemon, next(names)))
    return [f"{statistics.median(column):,.0f}" for column in zip(*found)]


def restart(args):
    sizes = [100_000] if args.quick else [1_280_000] + [14_000_000] * args.large
    rows = [["samples", "jobs", "of them bound to the half", "first answer, ms",
             "CPU of that, ms", "first new sample, ms"]]
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=args.memory, prefix="joaderfs-bench-") as directory:
            args.progress(f"a tree of {n:,} names")
            make_tree(directory, n)
            for jobs, bound in ((1, False), (8, False), (1, True)):
                rows.append([f"{n:,}", str(jobs + bound), str(int(bound)),
                             *measure(args, n, directory, jobs, bound)])
    return {"what": "From the death of the engine to the first answer of the next one; medians "
                    f"of {DEATHS} deaths.", "table": rows, "plots": []}
