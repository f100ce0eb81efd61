# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""random_scripts.py JOBS FIRST TRIALS SEED [KIND]: runs random training programs of torch's
DataLoader, one to four of them one after the other on their own job, JOBS/tFIRST and so on. They
look at files, break off passes, use drop_last, and no to three workers, which may stay. Odd jobs
are flat, and the others have classes. Several jobs are read at the same time. KIND look or drop:
only looks and whole passes, only drop_last. KIND folds: each pass has two loaders, which train on
some files and validate on the others, in K folds.

A pass opens different files. The pass is wrong if two of them hold the same sample, and silent if
the job's status has no notice then. Prints a line for each wrong pass, and the numbers of both
kinds in the last line."""

import glob
import hashlib
import itertools
import os
import random
import sys
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset, Subset

JOBS, (FIRST, TRIALS, SEED) = sys.argv[1], map(int, sys.argv[2:5])
KIND = sys.argv[5] if len(sys.argv) > 5 else "all"
AT_ONCE = 3


class Files(Dataset):
    def __init__(self, job):
        self.files = sorted(glob.glob(f"{job}/current/**/*.ppm", recursive=True))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with open(self.files[i], "rb") as file:
            return hashlib.sha1(file.read()).hexdigest()


def half_of(data, files, choose, shuffle):
    workers = choose.choice((0, 0, 1, 2, 3))
    return DataLoader(Subset(data, files), choose.randint(3, 9), shuffle=shuffle,
                      num_workers=workers, prefetch_factor=choose.choice((1, 2, 4)) if workers else 2,
                      persistent_workers=workers > 0 and choose.random() < 0.3, collate_fn=list)


def folds_of(data, choose):
    """A program that trains and validates. Returns its passes."""
    folds, files = choose.randint(2, 5), list(range(len(data)))
    if choose.random() < 0.5:
        choose.shuffle(files)
    for fold in range(folds):
        train = half_of(data, [file for i, file in enumerate(files) if i % folds != fold],
                        choose, True)
        validate = half_of(data, files[fold::folds], choose, False)
        for _ in range(choose.randint(1, 2)):
            yield [*itertools.chain(*train), *itertools.chain(*validate)]


def passes_of(data, choose):
    """A program. Returns its passes, as lists of digests."""
    workers = choose.choice((0, 0, 1, 2, 3))
    drops = KIND == "drop" or (KIND == "all" and choose.random() < 0.3)
    loader = DataLoader(data, choose.randint(3, 9), shuffle=choose.random() < 0.8,
                        num_workers=3 if KIND == "drop" else workers, drop_last=drops,
                        persistent_workers=workers > 0 and choose.random() < 0.4,
                        prefetch_factor=choose.choice((1, 2, 4)) if workers else 2,
                        collate_fn=list)
    looks = KIND != "drop" and choose.random() < (1 if KIND == "look" else 0.4)
    for _ in range(choose.randint(1, 4)):
        if looks:
            for _ in range(choose.randint(1, 2)):
                _ = data[choose.choice((0, choose.randrange(len(data))))]
        if KIND == "all" and choose.random() < 0.25:
            yield [*itertools.chain(*itertools.islice(loader, choose.randint(1, len(loader))))]
        else:
            yield [*itertools.chain(*loader)]


def program(job, number, choose):
    data = Files(job)
    passes = (folds_of if KIND == "folds" else passes_of)(data, choose)
    for k, given in enumerate(passes):
        line = f"{os.path.basename(job)} {number} {k} {len(set(given))} {len(given)}\n"
        os.write(1, line.encode())  # in one call, because other processes write to the same file


def status_of(job):
    with open(f"{job}/status", encoding="ascii") as status:
        return status.read()


def trial(number):
    """Runs each program in a process with its own session."""
    choose = random.Random(SEED * 1000 + number)
    job = f"{JOBS}/t{number}"
    for k in range(choose.randint(1, 4)):
        seed = choose.random()
        child = os.fork()
        if child == 0:
            os.setsid()
            torch.manual_seed(number * 10 + k)
            torch.set_num_threads(1)
            program(job, k, random.Random(seed))
            sys.stdout.flush()
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"{job}: a program failed")


def main():
    """Runs a child for each job, several at a time."""
    wrong, silent, running = set(), set(), 0
    with tempfile.TemporaryFile("w+", encoding="ascii") as said:
        for number in range(FIRST, FIRST + TRIALS):
            if running == AT_ONCE:
                assert os.wait()[1] == 0
                running -= 1
            if os.fork() == 0:
                os.dup2(said.fileno(), 1)
                trial(number)
                os._exit(0)
            running += 1
        for _ in range(running):
            assert os.wait()[1] == 0
        said.seek(0)
        passes = [line.split() for line in said if line.strip()]
    assert passes
    for job, program_number, number, different, given in passes:
        if different == given:
            continue
        told = "notice" in status_of(f"{JOBS}/{job}")
        (wrong if told else silent).add(job)
        print(f"{'told' if told else 'SILENT'} {job}, program {program_number}, pass {number}: "
              f"{different} different of {given}")
    print(f"{TRIALS} trials, {len(passes)} passes: {len(wrong)} with one that is wrong and told, "
          f"{len(silent)} silent")


main()
