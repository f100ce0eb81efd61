# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""resumes.py LIVES FIRST_SEED JOBS_DIRECTORY WORK: trainings with torch's DataLoader and
DistributedSampler that are killed, and resume with other numbers of workers and ranks, as
resume.py does, on the jobs flat (and its current/), classes and batch, while other jobs are read.
Their samples must be exact: in each epoch every file once, except for the padding of
DistributedSampler, and each trained file with its final content. Prints the first life that is not
exact."""

import hashlib
import importlib.util
import multiprocessing
import os
import random
import signal
import sys

import numpy
import torch

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location(
    "resume", os.path.join(HERE, "../../tools/examples/resume.py"))
resume = importlib.util.module_from_spec(spec)
spec.loader.exec_module(resume)

fork = multiprocessing.get_context("fork")
torch.set_num_threads(1)


class Noting(resume.Epoch):
    """The same dataset, with the name of each file and a digest of its content."""

    def __getitem__(self, i):
        images, labels = super().__getitem__(i)
        digest = hashlib.md5(numpy.ascontiguousarray(images.numpy()).tobytes())
        digest.update(str(numpy.asarray(labels).tolist()).encode())
        name = "/".join(self.files[i].split("/")[-2:])
        return name + " " + digest.hexdigest()


resume.Epoch = Noting


def train(job, path, log, rank, ranks, workers, batch, stop, end, barrier):
    """A rank. Records the trained samples, and dies after `stop` steps, with prefetched batches."""
    saved = resume.load(path, job, rank)
    barrier.wait()
    epoch, done = (saved["epoch"], saved["done"]) if saved else (0, 0)
    steps = 0
    with open(f"{log}.{rank}", "a", encoding="utf-8") as out:
        while epoch < end:
            for data, done in resume.rest_of(job, epoch, done, batch, workers, rank, ranks):
                names = [data] if isinstance(data, str) else data
                barrier.wait()  # as when gradients are exchanged
                for name in names:
                    print(epoch, name, file=out)
                steps += 1
                if steps == stop:
                    out.flush()
                    if rank == 0:
                        resume.save(path, job, epoch, done)
                    barrier.wait()
                    signal.pause()
            epoch, done = epoch + 1, 0


def kill(processes):
    """Starts all ranks at once, with their workers."""
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()


def rank_main(ready, *args):
    os.setpgid(0, 0)
    ready.wait()
    train(*args)


def run(chance, job, path, log, stop, end, most_ranks):
    ranks, workers = chance.randint(1, most_ranks), chance.randint(0, 2)
    batch = chance.randint(2, 7)
    barrier, ready = fork.Barrier(ranks), fork.Barrier(ranks + 1)
    processes = [fork.Process(target=rank_main, args=(
        ready, job, path, log, rank, ranks, workers, batch, stop, end, barrier))
        for rank in range(ranks)]
    for process in processes:
        process.start()
    ready.wait()
    if not stop:
        for process in processes:
            process.join()
            if process.exitcode != 0:
                sys.exit(f"a rank ended with {process.exitcode}")
        return
    while not os.path.exists(path) or os.path.getmtime(path) == run.before:
        if any(process.exitcode not in (None, 0) for process in processes):
            sys.exit("a rank failed")
        if all(process.exitcode == 0 for process in processes):
            sys.exit("it was to be killed, and came to its end")
        for process in processes:
            process.join(0.01)
    run.before = os.path.getmtime(path)
    kill(processes)


run.before = None


def read_other(directory, stop):
    while not stop.is_set():
        for name in sorted(os.listdir(directory)):
            if stop.is_set():
                return
            with open(os.path.join(directory, name), "rb") as file:
                file.read()


def check(job, log, epochs):
    found = {}
    for path in (name for name in os.listdir(os.path.dirname(log))
                 if name.startswith(os.path.basename(log) + ".")):
        with open(os.path.join(os.path.dirname(log), path), encoding="utf-8") as file:
            for line in file:
                epoch, name, digest = line.split()
                found.setdefault((int(epoch), name), []).append(digest)
    padded = 0
    for epoch in range(epochs):
        files = Noting(job, epoch, 0)
        for i in range(len(files)):
            name, digest = files[i].split()
            had = found.pop((epoch, name), [])
            if not had or set(had) != {digest}:
                sys.exit(f"epoch {epoch} {name}: trained {len(had)} times, as {set(had)}, "
                         f"and is {digest}")
            padded += len(had) - 1
    if found:
        sys.exit(f"trained, and not there: {list(found)[:3]}")
    return padded


def through_current(job, directory):
    """The job's directory with links from all epochs to current/."""
    os.makedirs(directory)
    for name in ("state", "status", "job.ini"):
        os.symlink(os.path.join(job, name), os.path.join(directory, name))
    for epoch in range(3):
        os.symlink(os.path.join(job, "current"), os.path.join(directory, f"epoch-{epoch:04}"))
    return directory


def live(seed, jobs, work):
    chance = random.Random(seed)
    layout = ("flat", "classes", "batch")[seed % 3]
    job = os.path.join(jobs, f"{layout}{seed}")
    path, log = os.path.join(work, f"checkpoint{seed}"), os.path.join(work, f"log{seed}")
    stop = fork.Event()
    other = fork.Process(target=read_other, args=(os.path.join(jobs, "other/current"), stop))
    other.start()
    run.before = None
    current = layout == "flat" and seed % 2 == 1
    read = through_current(job, os.path.join(work, f"flat{seed}")) if current else job
    for _ in range(2):
        run(chance, read, path, log, chance.randint(1, 3), 3, 1 if current else 3)
    run(chance, read, path, log, 0, 3, 1 if current else 3)
    stop.set()
    other.join()
    padded = check(job, log, 3)
    if padded > 9:
        sys.exit(f"{padded} files were trained twice")
    print(f"{'current' if current else layout} {seed}: 3 epochs are exact, {padded} files padded")


def main():
    lives, first, jobs, work = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    for seed in range(first, first + lives):
        live(seed, jobs, work)


main()
