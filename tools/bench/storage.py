# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures a storage that takes long to open a file: its reads must not delay the decoders."""

import concurrent.futures
import contextlib
import os
import statistics
import subprocess
import tempfile
import time

from cases import CROP, RESIZE, SAMPLE_BYTES, photographs
from mounted import Daemon, Failed, call, dataset_paths, job_ini

MILLISECONDS = (0, 5, 20, 100)  # times of an open; 0 shows the cost of the file system itself
COUNT = 10_000  # photographs; with fewer, the slow begin and end of an epoch would dominate


def read_all(directory):
    """Reads all files, so that their bytes are in the page cache, and only opens take long."""
    def read(path):
        with open(path, "rb") as file:
            file.read()
    with concurrent.futures.ThreadPoolExecutor(64) as threads:
        list(threads.map(read, dataset_paths(directory)))


@contextlib.contextmanager
def slow_storage(args, directory, milliseconds):
    """Mounts a file system that shows the directory and waits in each open (slow_storage.c)."""
    program = os.path.join(os.path.dirname(args.program), "tests", "clients", "slow_storage")
    with tempfile.TemporaryDirectory(prefix="joaderfs-slow-") as mount:
        with subprocess.Popen([program, directory, mount, str(milliseconds)],
                              stderr=subprocess.DEVNULL) as process:
            try:
                while not os.path.ismount(mount):
                    if process.poll() is not None:
                        raise Failed(f"{program} ended with {process.returncode}")
                    time.sleep(0.02)
                read_all(mount)
                yield mount
            finally:
                subprocess.run(["fusermount3", "-u", "-z", mount], check=False)


def rate(args, count, directory, **options):
    """Reads an epoch. Returns the samples/s, and the number of parallel reads at the end."""
    ini = job_ini("a", RESIZE, CROP)
    with Daemon(args.program, directory, {"a": ini}, 2 * count * SAMPLE_BYTES,
                **options) as daemon:
        begin = time.monotonic()
        call([args.reader, daemon.epoch("a")])
        seconds = time.monotonic() - begin
        reads = daemon.status("a")["storage"]
    return count / seconds, reads.split(" of at most ")[1].split(":")[0]


def storage(args):
    """Alternates between the latencies, because the speed of the machine varies. "of page cache" is
    the median of the ratios of all rounds."""
    count = args.count if args.quick else max(args.count, COUNT)
    dataset = photographs(count)
    ways = {"page cache": None} | {f"{ms} ms to open a file": ms for ms in MILLISECONDS}
    rates, reads = {way: [] for way in ways}, {}
    rate(args, count, dataset)
    for number in range(max(args.rounds, 5)):
        for way, milliseconds in ways.items():
            args.progress(f"storage: {way}, round {number + 1}")
            with contextlib.ExitStack() as stack:
                directory = dataset
                if milliseconds is not None:
                    directory = stack.enter_context(slow_storage(args, dataset, milliseconds))
                found, reads[way] = rate(args, count, directory)
            rates[way].append(found)
    medians = {way: statistics.median(found) for way, found in rates.items()}
    parts = {way: statistics.median(one / cached for one, cached in
                                    zip(found, rates["page cache"]))
             for way, found in rates.items()}
    return {"what": "One job, default settings, on a storage that takes long to open a file",
            "table": [["", "", "samples/s", "of page cache", "reads at once"],
                      *([way, "", f"{median:.0f}", f"{parts[way]:.0%}",
                         reads[way]] for way, median in medians.items())],
            "rates": rates, "parts": parts, "plots": []}
