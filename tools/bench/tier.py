# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures a tier (a directory on a fast disk) for a slow storage: how many samples later epochs
find in it."""

import statistics
import tempfile

from cases import CROP, RESIZE, SAMPLE_BYTES, photographs
from mounted import Daemon, dataset_paths, job_ini, run_readers
from storage import slow_storage

MILLISECONDS, READS = 20, 4  # 200 samples/s
PARTS = (0, 25, 50, 100)  # percent of the dataset that fit into the tier
EPOCHS = 2
VIEW = {"lookahead": 16}


def tier_bytes(directory, percent):
    """Returns the size of the samples in a tier: their disk blocks, and 256 bytes for each name
    (src/tier/README.md)."""
    samples = 0
    for path in dataset_paths(directory):
        with open(path, "rb") as file:
            samples += (40 + file.seek(0, 2) + 4095) // 4096 * 4096 + 256
    return samples * percent // 100 + (32 << 10)


def run(args, directory, remote, percent, jobs):
    """Returns for each epoch the samples/s of all jobs, and the number of fetched samples."""
    with tempfile.TemporaryDirectory(prefix="joaderfs-tier-") as tier:
        source = remote
        if percent:
            source += f"\ntier = {tier}/tier, {tier_bytes(directory, percent)}"
        inis = {name: job_ini(name, RESIZE, CROP, view=VIEW, epochs=EPOCHS) for name in jobs}
        epochs = []
        with Daemon(args.program, directory, inis, 64 * SAMPLE_BYTES, source=source,
                    reads=READS) as daemon:
            before = 0
            for epoch in range(EPOCHS):
                _, seconds = run_readers({
                    name: [args.reader, daemon.view(name, f"epoch-{epoch:04d}")]
                    for name in jobs})
                stats = daemon.stats()
                fetched = stats["decodes"] - stats["tier_hits"]
                epochs.append((len(jobs) * args.count / seconds, fetched - before))
                before = fetched
        return epochs


def tier(args):
    """Alternates between the sizes of the tier, because the speed of the machine varies. Ratios are
    medians of the rounds."""
    directory = photographs(args.count)
    cases = {"one job": ["a"], "two jobs": ["a", "b"]}
    rows = [["", "room for", "first epoch", "later epochs", "fetched of them"]]
    found = {}
    with slow_storage(args, directory, MILLISECONDS) as remote:
        for number in range(args.rounds):
            for case, jobs in cases.items():
                for percent in PARTS:
                    args.progress(f"tier: {case}, {percent} %, round {number + 1}")
                    found.setdefault((case, percent), []).append(
                        run(args, directory, remote, percent, jobs))
    for (case, percent), rounds in found.items():
        base = found[case, 0]
        first = statistics.median(one[0][0] / none[0][0] for one, none in zip(rounds, base))
        later = statistics.median(one[-1][0] / none[-1][0] for one, none in zip(rounds, base))
        fetched = statistics.median(one[-1][1] for one in rounds) / args.count
        rows.append([case, f"{percent} %", f"{first:.2f}", f"{later:.2f}", f"{fetched:.0%}"])
    return {"what": "A tier before a storage that gives "
                    f"{READS * 1000 // MILLISECONDS} samples/s: rates as parts of those "
                    "without a tier, and how much of the dataset is fetched in a later epoch",
            "table": rows,
            "rates": {f"{case}, {percent} %": rounds
                      for (case, percent), rounds in found.items()}, "plots": []}
