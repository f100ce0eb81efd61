# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures, with few processors, the costs that limit many processors and many readers: how long
each place in the code holds a lock per sample, how many threads are woken, and what more readers
and decoders than processors cost."""

import collections
import os
import statistics
import subprocess

from cases import photographs
from mounted import call, dataset_paths
from serving import Place

READERS = (1, 8, 64, 256)
DECODERS = (2, 16, 64)
US_PER_DECODER = 250  # each of n decoders sleeps n times this long, so any number is equally fast
HITS, DECODES = 200000, 6000
TIMES = 20  # number of times that each file is read through the mount
# Readers of files. A request to the daemon gives the CPU to another reader, which loads its own
# buffer into the CPU's caches. Readers of a tmpfs that yield have the same cost, for comparison.
FILES = {"readers through a mount": ("mount",),
         "readers through a mount, 16 KiB at once": ("mount", "-b", "16384"),
         "readers of a tmpfs that yield": ("memory", "-y"),
         "readers of a tmpfs that yield, 16 KiB at once": ("memory", "-y", "-b", "16384")}
LEAST = 0.02  # us per sample; places in the code with less are not listed


def run(args, *arguments):
    program = os.path.join(os.path.dirname(args.reader), "many")
    found = call([program, *map(str, arguments)], stderr=subprocess.DEVNULL)
    return {**found, "program": program}


def names_of(program, addresses):
    """Returns for each address the name of its function."""
    done = subprocess.run(["addr2line", "-f", "-e", program, *addresses],
                          stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()[::2] if done.returncode == 0 else []
    return dict(zip(addresses, lines)) if lines else {a: a for a in addresses}


def held(found):
    """Returns {(lock, function that releases it): [us held per sample, longest us]}, sorted by the
    time. Times above 100 us are left out: in most of them the thread has lost its CPU."""
    names = names_of(found["program"], [place["at"] for place in found["places"]])
    sums = collections.defaultdict(lambda: [0.0, 0.0])
    for place in found["places"]:
        entry = sums[place["lock"], names[place["at"]]]
        entry[0] += (place["ns"] - place["long_ns"]) / 1000 / found["reads"]
        entry[1] = max(entry[1], place["longest"] / 1000)
    return dict(sorted(sums.items(), key=lambda item: -item[1][0]))


def lock_rows(title, found):
    places = held(found)
    total = sum(us for us, _ in places.values())
    rows = [[title, "all", f"{total:.2f}",
             f"{max(longest for _, longest in places.values()):.0f}"]]
    rows += [["", f"{lock}: {function}", f"{us:.2f}", f"{longest:.0f}"]
             for (lock, function), (us, longest) in places.items() if us >= LEAST]
    rows.append(["", f"takes {found['takes'] / found['reads']:.1f}, of them waited "
                 f"{found['waits'] / found['takes']:.1%}, wake-ups "
                 f"{found['wakes'] / found['reads']:.2f}, per sample", "", ""])
    long = sum(place["long_holds"] for place in found["places"])
    rows.append(["", f"{long} holds beyond 100 us are not in these sums", "", ""])
    return rows, {"hold_us": round(total, 3), "wakes": round(found["wakes"] / found["reads"], 3),
                  "waited": round(found["waits"] / found["takes"], 4)}


def locks(args):
    """Measures locks with only two readers. With more, threads would lose their CPU and hold locks
    longer."""
    args.progress("locks")
    hits, of_hits = lock_rows("a hit", run(args, 2, 2, 0, HITS))
    decodes, of_decodes = lock_rows("a decode", run(args, 2, 2, US_PER_DECODER, DECODES))
    return {"what": "Locks and wake-ups per sample, without a mount (which adds the wake-ups "
                    "of a thread of the daemon and of the reader for each request)",
            "table": [["", "let go in", "us held", "longest us"], *hits, *decodes],
            "figures": {"hit": of_hits, "decode": of_decodes}, "plots": []}


def read_files(args, place, readers, where, *options):
    """Returns the samples/s of `readers` threads that take turns at prepared files."""
    found = call([args.reader, *options, "-n", str(TIMES), "-t", str(readers),
                  getattr(place, where)])
    return found["files"] / found["seconds"]


def measure(args, ways):
    """Returns the medians of the rates of all ways of reading."""
    rates = collections.defaultdict(list)
    for number in range(args.rounds):
        for (what, n), way in ways.items():
            args.progress(f"scaling: {n} {what}, round {number + 1}")
            rates[what, n].append(way())
    return {way: statistics.median(found) for way, found in rates.items()}


def scaling(args):
    dataset = photographs(min(args.count, 600))
    ways = {("readers", n): lambda n=n: HITS / run(args, n, 2, 0, HITS)["seconds"]
            for n in READERS}
    ways |= {("decoders that sleep", n):
             lambda n=n: DECODES / run(args, 2 * n, n, n * US_PER_DECODER, DECODES)["seconds"]
             for n in DECODERS}
    medians = measure(args, ways)
    with Place(args, dataset, len(dataset_paths(dataset)), "flat", "npy", "auto") as place:
        medians |= measure(args, {(what, n): lambda n=n, way=way: read_files(args, place, n, *way)
                                  for what, way in FILES.items() for n in READERS})
    best = collections.defaultdict(float)
    for (what, _), rate in medians.items():
        best[what] = max(best[what], rate)
    parts = {f"{n} {what}": round(rate / best[what], 3) for (what, n), rate in medians.items()}
    return {"what": "Threads that read what is in the cache, and decoders that sleep, "
                    f"{US_PER_DECODER} us for each decoder that there is: 4,000 samples/s at best",
            "table": [["", "", "samples/s", "of the best"],
                      *([what, str(n), f"{rate:.0f}", f"{parts[f'{n} {what}']:.0%}"]
                        for (what, n), rate in medians.items())],
            "parts": parts, "plots": []}
