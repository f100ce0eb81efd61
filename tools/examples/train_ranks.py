#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Trains with a rank for each GPU, on any number of machines, without a DistributedSampler.

    joaderctl run ranks.ini -- torchrun ... train_ranks.py {}
    srun joaderctl run rank.ini -- python3 train_ranks.py {}

The argument is <mount>/jobs/<job>/current of a job with layout = flat, ranks and global_batch
(joaderfs-cluster(7)). All ranks of this machine share one job (local_ranks and node_rank), or each
rank has its own job (rank). The job has only the samples of its ranks, in a new random order in
each epoch, so each rank reads its part in the order of names.
"""

import argparse
import contextlib
import glob
import os
import sys

import torch
from PIL import Image
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Samples(Dataset):
    def __init__(self, directory, local, local_ranks):
        self.files = sorted(glob.glob(os.path.join(directory, "*.ppm")))[local::local_ranks]
        self.transform = transforms.ToTensor()

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with open(self.files[i].replace(".ppm", ".cls")) as file:
            label = int(file.read())
        return self.transform(Image.open(self.files[i])), label


def join_the_others(job, local, local_ranks):
    """Checks that the job and the launcher have the same number of ranks."""
    ranks = int(job["ranks"])
    rank = (int(job.get("node_rank", 0)) * local_ranks + local if "local_ranks" in job
            else int(job.get("rank", 0)))
    if local >= local_ranks:
        raise SystemExit(f"LOCAL_RANK is {local}, and the job has {local_ranks} local ranks")
    os.environ.setdefault("MASTER_ADDR", os.environ.get("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"))
    os.environ.setdefault("MASTER_PORT", "29400")
    for name, mine in (("WORLD_SIZE", ranks), ("SLURM_NTASKS", ranks), ("RANK", rank),
                       ("SLURM_PROCID", rank)):
        if name in os.environ and int(os.environ[name]) != mine:
            raise SystemExit(f"{name} is {os.environ[name]}, and the job is rank {rank} of {ranks}")
    torch.distributed.init_process_group(
        "nccl" if torch.cuda.is_available() else "gloo", rank=rank, world_size=ranks)
    return rank, ranks


def train(args, job, n_classes, local, rank, ranks):
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", rank))
                              % torch.cuda.device_count())
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, stride=4), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
        torch.nn.Linear(8 * 16, n_classes)).to(device)
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    samples = Samples(args.directory, local, int(job.get("local_ranks", 1)))
    loader = DataLoader(samples, int(job["global_batch"]) // ranks,
                        num_workers=args.workers, persistent_workers=args.workers > 0)

    for epoch in range(args.epochs):
        seen, loss_sum = 0, 0.0
        # In the last mini-batch of an epoch some ranks may have one sample fewer, or none.
        with model.join() if ranks > 1 else contextlib.nullcontext():
            for images, labels in loader:
                loss = torch.nn.functional.cross_entropy(model(images.to(device)),
                                                         labels.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen += len(labels)
                loss_sum += loss.item() * len(labels)
        # Writes the line at once, so that ranks which share a terminal do not mix their lines.
        sys.stdout.write(f"rank {rank}, epoch {epoch}: {seen} samples, "
                         f"loss {loss_sum / max(seen, 1):.3f}\n")
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()

    with open(os.path.join(args.directory, "../job.ini")) as file:
        job = dict(line.rstrip("\n").split(" = ", 1) for line in file if " = " in line)
    with open(os.path.join(args.directory, "../classes.txt")) as file:
        n_classes = len(file.read().splitlines())
    local_ranks = int(job.get("local_ranks", 1))
    local = int(os.environ.get("LOCAL_RANK", os.environ.get("SLURM_LOCALID", 0)))
    if "local_ranks" not in job:
        local = 0
    rank, ranks = join_the_others(job, local, local_ranks)
    train(args, job, n_classes, local, rank, ranks)
    # Waits until no rank computes any more. The model is freed before, because a process group
    # that ends together with its model may hang.
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
