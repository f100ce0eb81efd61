# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""ranks.py DIRECTORY MEET OPTION...: a rank of a training. It reads its part of all files, divided
as by torch's DistributedSampler with set_epoch, padded, with workers that are forked anew for each
epoch, as by torch's DataLoader. All ranks are in step: they meet after each batch at the socket
MEET. --launch starts all ranks by multiprocessing. The ranks' numbers come from options or from
the environment. Prints a line for each file: epoch, digest, number of the file."""

import argparse
import collections
import glob
import hashlib
import multiprocessing
import os
import random
import socket
import time

BATCH = 4
names = []


def read(numbers):
    given = []
    for number in numbers:
        with open(names[number], "rb") as file:
            given.append(f"{hashlib.sha1(file.read()).hexdigest()} {number}")
    return given


class Meeting:
    """Waits for all ranks: rank 0 listens, and the others connect."""

    def __init__(self, path, rank, ranks):
        self.others = []
        if rank == 0:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(path)
                server.listen(ranks)
                self.others = [server.accept()[0] for _ in range(ranks - 1)]
            os.unlink(path)
            return
        self.first = socket.socket(socket.AF_UNIX)
        while self.first.connect_ex(path) != 0:
            time.sleep(0.01)

    def wait(self):
        if self.others:
            for other in self.others:
                assert other.recv(1)
            for other in self.others:
                other.send(b"x")
        elif hasattr(self, "first"):
            self.first.send(b"x")
            assert self.first.recv(1)


def part_of(epoch, options):
    order = list(range(len(names)))
    if not options.in_order:
        random.Random(epoch).shuffle(order)
        order += order[:-len(order) % options.ranks]
    mine = order[options.rank::options.ranks]
    return [mine[i:i + BATCH] for i in range(0, len(mine), BATCH)]


def batches(parts, workers):
    if workers == 0:
        yield from map(read, parts)
        return
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        under_way = collections.deque()
        for part in parts:
            under_way.append(pool.apply_async(read, (part,)))
            if len(under_way) > 2 * workers:
                yield under_way.popleft().get()
        while under_way:
            yield under_way.popleft().get()


def rank_of(options):
    names[:] = sorted(glob.glob(options.directory + "/**/*.ppm", recursive=True))
    meeting = Meeting(options.meet, options.first + options.rank,
                      options.together or options.ranks)
    for epoch in range(options.epochs):
        meeting.wait()
        for given in batches(part_of(epoch, options), options.workers):
            os.write(1, "".join(f"{epoch} {file}\n" for file in given).encode())
            meeting.wait()


def launched(rank, options):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(options.ranks))
    options.rank = rank
    rank_of(options)


def launch(options):
    context = multiprocessing.get_context(options.launch)
    ranks = [context.Process(target=launched, args=(rank, options))
             for rank in range(options.ranks)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
        assert rank.exitcode == 0


def main():
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("--first", type=int, default=0, help="ranks of other nodes before these")
    parser.add_argument("--together", type=int, help="the ranks of all nodes, which meet")
    parser.add_argument("directory")
    parser.add_argument("meet")
    parser.add_argument("--world-size", dest="ranks", type=int,
                        default=int(os.environ.get("WORLD_SIZE", 1)))
    parser.add_argument("--rank", type=int, default=int(os.environ.get("RANK", 0)))
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--look", type=int, default=0, help="first, so many files")
    parser.add_argument("--in-order", action="store_true", help="neither shuffled nor padded")
    parser.add_argument("--launch", choices=("fork", "spawn", "forkserver"))
    options = parser.parse_args()
    names[:] = sorted(glob.glob(options.directory + "/**/*.ppm", recursive=True))
    read(range(options.look))
    (launch if options.launch else rank_of)(options)


if __name__ == "__main__":
    main()
