# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Counts, for each reader in tests/clients/readers.py, the system calls on files of the mount (by
strace) and the requests to the daemon (by its counters), per sample of an epoch that is read for
the first time. This shows needless requests."""

import collections
import os
import re
import shutil
import subprocess
import sys

from cases import CROP, RESIZE, photographs
from mounted import TOOLS, Daemon, Failed, dataset_paths, job_ini

sys.path.append(os.path.join(TOOLS, "../tests/clients"))
import readers  # noqa: E402

# Kinds of calls. All calls that are not listed here are counted as "other".
CALLS = {"open": ("open", "openat"), "stat": ("stat", "lstat", "fstat", "newfstatat", "statx"),
         "read": ("read", "pread64", "readv"), "seek": ("lseek",), "mmap": ("mmap",),
         "close": ("close",)}
KIND = {name: kind for kind, names in CALLS.items() for name in names}
REQUESTS = ("lookup", "getattr", "readdir", "open", "read", "release")


def calls_of(trace, mount):
    """Counts the system calls on files of the mount, by kind."""
    found = collections.Counter()
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            call = re.match(r"\d+ +(\w+)\(", line)
            if call and mount in line:
                found[KIND.get(call.group(1), "other")] += 1
    return found


def requests_of(stats):
    found = collections.Counter({kind: stats[f"requests_{kind}"] for kind in REQUESTS})
    found["other"] = stats["requests"] - found.total()
    return found


class Counters:
    """The daemon's counters of requests, without the requests that read the counters."""

    def __init__(self, daemon):
        self.daemon, self.looks = daemon, 0
        self._look()
        first = self._look()
        self.each = self._look() - first
        self.begin, self.looks = self._look(), 0

    def _look(self):
        self.looks += 1
        return requests_of(self.daemon.stats())

    def since(self):
        """Waits until all files are closed, because the kernel sends the releases later."""
        while self.daemon.stats()["open_files"]:
            self.looks += 1
        self.looks += 1
        found = self._look()
        return {kind: found[kind] - self.begin[kind] - self.looks * self.each[kind]
                for kind in found}


def traced(daemon, name):
    trace = os.path.join(daemon.top, "trace")
    argv = ["strace", "-f", "-qq", "-y", "-s", "0", "-o", trace, sys.executable,
            readers.__file__, name, daemon.epoch("a")]
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{name} ended with {done.returncode}: {done.stderr[-1000:]}")
    return calls_of(trace, daemon.mount)


def measure(args, dataset, name):
    """Reads an epoch. Returns the numbers of calls and of requests, by kind."""
    client = readers.CLIENTS[name]
    ini = job_ini("a", RESIZE, CROP, {"format": client.form},
                  {"layout": client.layout, **client.view})
    with Daemon(args.program, dataset, {"a": ini}, 1 << 30) as daemon:
        counters = Counters(daemon)
        return traced(daemon, name), counters.since()


def per_sample(count, samples):
    return f"{count / samples:.2f}".rstrip("0").rstrip(".") if count else ""


def requests(args):
    if not shutil.which("strace"):
        return {"what": "strace is not installed", "table": [["reader"]], "plots": []}
    dataset = photographs(min(args.count, 200))
    samples = len(dataset_paths(dataset))
    kinds, asked = [*CALLS, "other"], [*REQUESTS, "other"]
    rows = [["", "layout", *kinds, "|", *asked]]
    for name, client in readers.CLIENTS.items():
        if client.missing() or not client.in_table:
            continue
        args.progress(f"requests of {name}")
        calls, got = measure(args, dataset, name)
        rows.append([name, f"{client.layout} {client.form}",
                     *(per_sample(calls[kind], samples) for kind in kinds), "|",
                     *(per_sample(got[kind], samples) for kind in asked)])
    return {"what": f"System calls on files of the mount | requests that the daemon answered, per "
                    f"sample with its label, {samples} samples read for the first time",
            "table": rows, "plots": []}
