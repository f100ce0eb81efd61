#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""A training that can be killed at any time, and continues with any number of workers and ranks.

    resume.py JOB CHECKPOINT [--epochs N] [--workers N] [--batch N] [--every N]
    torchrun --nproc_per_node 2 resume.py ...

JOB is the directory <mount>/jobs/<job> of joaderfs; its layout may be flat, classes or batch.
The file CHECKPOINT is written every few batches, and at the end of each epoch. If it exists, the
training continues from it, with exactly the samples of the epoch that were not trained yet, at the
same positions. The module joaderfs must find the daemon ($JOADERFS_SOCKET).
"""

import argparse
import glob
import os
import sys

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torchvision.transforms.functional import to_tensor

try:
    import joaderfs
except ImportError:  # not installed: uses the module in the source tree
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))
    import joaderfs


class Epoch(Dataset):
    """The files of an epoch, without the first `done` files, which were trained before. joaderfs
    has shuffled the samples of the layouts flat and batch; the script shuffles those of classes."""

    def __init__(self, job, epoch, done):
        directory = os.path.join(job, f"epoch-{epoch:04}")
        self.classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        files = sorted(glob.glob(os.path.join(directory, "**/*.ppm"), recursive=True) or
                       glob.glob(os.path.join(directory, "batch-??????.npy")))
        self.batches = files[0].endswith(".npy")
        if self.classes:
            shuffled = torch.Generator().manual_seed(epoch)
            files = [files[i] for i in torch.randperm(len(files), generator=shuffled)]
        self.files = files[done:]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        file = self.files[i]
        if self.batches:
            images = torch.from_numpy(numpy.load(file)).permute(0, 3, 1, 2) / 255
            return images, torch.from_numpy(numpy.load(file.replace(".npy", ".labels.npy")))
        if self.classes:
            return to_tensor(Image.open(file)), self.classes.index(file.split("/")[-2])
        with open(file.replace(".ppm", ".cls")) as label:
            return to_tensor(Image.open(file)), int(label.read())


def rest_of(job, epoch, done, batch, workers, rank, ranks):
    """Yields the batches of this rank, each with the number of files read so far by all ranks."""
    files = Epoch(job, epoch, done)
    if not files:
        return
    sampler = DistributedSampler(files, ranks, rank, shuffle=False)
    loader = DataLoader(files, None if files.batches else batch, sampler=sampler,
                        num_workers=workers)
    for step, data in enumerate(loader, 1):
        had = step * ranks * (1 if files.batches else batch)
        yield data, done + min(had, len(files))


def position_of(job, epoch, done):
    """Returns EPOCH:POSITION of the first file that was not trained. None: the script shuffles."""
    with open(os.path.join(job, "job.ini")) as file:
        ini = dict(line.strip().split(" = ", 1) for line in file if " = " in line)
    if ini["layout"] == "classes":
        return None
    size = int(ini["batch"]) if ini["layout"] == "batch" else 1
    with open(os.path.join(job, "status")) as file:
        samples = next(int(line.split()[1]) for line in file if line.startswith("samples "))
    return f"{epoch}:{min(done * size, samples)}"


def save(path, job, epoch, done, **parts):
    at = position_of(job, epoch, done)
    torch.save({"epoch": epoch, "done": done, "random": torch.get_rng_state(),
                "joaderfs": joaderfs.Job(job).state_dict(at), **parts}, path + ".new")
    os.replace(path + ".new", path)


def load(path, job, rank):
    """Loads the checkpoint, and restores the job to its position. None: there is no checkpoint."""
    if not os.path.exists(path):
        return None
    saved = torch.load(path)
    if rank == 0:
        joaderfs.Job(job).load_state_dict(saved["joaderfs"])
    torch.set_rng_state(saved["random"])
    return saved


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("job")
    parser.add_argument("checkpoint")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--every", type=int, default=10, help="batches")
    args = parser.parse_args()

    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    torch.manual_seed(0)
    with open(os.path.join(args.job, "classes.txt")) as file:
        n_classes = len(file.read().splitlines())
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, stride=4), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), torch.nn.Linear(8 * 16, n_classes))
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    epoch, done = 0, 0
    saved = load(args.checkpoint, args.job, rank)
    if saved:
        epoch, done = saved["epoch"], saved["done"]
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    if ranks > 1:
        torch.distributed.barrier()  # the job is restored before any rank reads

    def keep(epoch, done):
        if rank == 0:
            save(args.checkpoint, args.job, epoch, done, model=model.state_dict(),
                 optimizer=optimizer.state_dict())

    for epoch in range(epoch, args.epochs):
        seen, loss_sum = 0, 0.0
        rest = rest_of(args.job, epoch, done, args.batch, args.workers, rank, ranks)
        for step, ((images, labels), done) in enumerate(rest, 1):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(labels)
            loss_sum += loss.item() * len(labels)
            if step % args.every == 0:
                keep(epoch, done)
        print(f"epoch {epoch}: {seen} samples, loss {loss_sum / max(seen, 1):.3f}", flush=True)
        done = 0
        if epoch + 1 < args.epochs:
            keep(epoch + 1, 0)


if __name__ == "__main__":
    main()
