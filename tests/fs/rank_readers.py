# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""rank_readers.py DIR MS REDIS READER...: reads all ranks of a training while daemons, their
server and the network between them fail.

READER is RANK:DIRECTORY, the directory of the rank's job. Each rank reads one epoch after the
other, a sample in MS milliseconds, and begins an epoch when all ranks have ended the previous one.
A file that can't be read because its daemon is dead is tried again. DIR/progress has a line for
each rank: the number of files that it has read, and whether it waits for the others. When DIR/stop
exists, each rank reads its feed in the server, and the epoch is completed. DIR/moved-RANK, if it
exists, has another directory for the rank.

Checked properties: a position has the same sample and the same content in every read; in each
epoch all ranks together get each sample once; the feeds in the server (REDIS: its socket) equal
the samples that readers got.
"""

import collections
import hashlib
import os
import random
import socket
import struct
import sys
import threading
import time
import traceback

PASSING = 60  # seconds within which a file must be readable again

top, pause, redis = sys.argv[1], float(sys.argv[2]) / 1000, sys.argv[3]
lock = threading.Lock()
content = {}  # sample -> digest
problems = []
again = collections.Counter()  # transient errors


class Rank:
    def __init__(self, text):
        self.number, self.directory = text.split(":", 1)
        self.read = 0
        self.waits = False
        self.compared = False  # with its feed
        self.got = {}  # (epoch, position) -> digest
        self.samples = {}  # epoch -> samples by position
        self.random = random.Random(int(self.number))

    def path(self, name):
        moved = f"{top}/moved-{self.number}"
        if os.path.exists(moved):
            with open(moved, encoding="utf-8") as file:
                self.directory = file.read().strip()
        return f"{self.directory}/{name}"


def wrong(text):
    with lock:
        problems.append(text)
    print(text, file=sys.stderr, flush=True)


def persist(function):
    """Calls the function until it succeeds, for as long as a daemon may be dead."""
    begin = time.monotonic()
    while True:
        try:
            return function()
        except OSError as error:
            with lock:
                again[error.strerror] += 1
            if time.monotonic() > begin + PASSING:
                raise
            time.sleep(0.02)


def slurp(path):
    with open(path, "rb", buffering=0) as file:
        return hashlib.blake2b(file.readall(), digest_size=16).digest()


def read_file(rank, epoch, position):
    name = f"epoch-{epoch:04d}/{position:08d}.ppm"
    digest = persist(lambda: slurp(rank.path(name)))
    before = rank.got.setdefault((epoch, position), digest)
    if before != digest:
        wrong(f"rank {rank.number}, epoch {epoch}, position {position}: another sample when "
              "read again")


def order(rank, epoch, length):
    """Samples by position, from the daemon of the last read. A daemon that took the rank at the
    end of an epoch has only the samples that it gave."""
    samples, path = {}, f"{rank.directory}/epoch-{epoch:04d}.order"
    with open(path, encoding="utf-8") as file:
        for line in file:
            position, sample = line.split("\t")[:2]
            samples[int(position)] = int(sample)
    if len(samples) < length:
        raise OSError(0, "the order is not whole", f"{path}: {sorted(samples)}")
    return samples


def check_epoch(rank, epoch, length):
    samples = persist(lambda: order(rank, epoch, length))
    rank.samples[epoch] = samples
    with lock:
        for position in range(length):
            digest = rank.got[epoch, position]
            if content.setdefault(samples[position], digest) != digest:
                problems.append(f"rank {rank.number}, epoch {epoch}, position {position}: not "
                                f"the content of sample {samples[position]}")


def positions(rank, epoch):
    names = os.listdir(rank.path(f"epoch-{epoch:04d}"))
    length = sum(name.endswith(".ppm") for name in names)
    if not length:
        raise OSError(0, "no files")
    return length


def compare_feed(rank, epoch, length):
    """Compares the samples that the rank has read in the epoch with the server's."""
    samples, there = persist(lambda: order(rank, epoch, length)), feed(rank, epoch)
    if any(there.get(position) != sample for position, sample in samples.items()):
        wrong(f"rank {rank.number}, epoch {epoch}: the server has another feed than what was "
              f"read: {there} {samples}")
    rank.compared = True


def read_epoch(rank, epoch):
    length = persist(lambda: positions(rank, epoch))
    for position in range(length):
        read_file(rank, epoch, position)
        if position == length // 2 and os.path.exists(f"{top}/stop"):
            compare_feed(rank, epoch, position + 1)
        rank.read += 1
        time.sleep(pause)
        if 0 < position < length - 1 and rank.random.random() < 0.1:
            read_file(rank, epoch, rank.random.randrange(position))
    check_epoch(rank, epoch, length)


# --- all ranks together ----------------------------------------------------------------


def command(words):
    """Parses a reply of the server: integers, strings, and lists of them."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(redis)
        server.sendall(b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(w.encode()), w.encode()) for w in words))
        stream = server.makefile("rb")

        def reply():
            line = stream.readline()
            kind, rest = line[:1], line[1:].strip()
            if kind == b"$":
                return stream.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
            if kind == b"*":
                return [reply() for _ in range(int(rest))]
            return rest
        return reply()


def feed(rank, epoch):
    """The samples by position in the server."""
    samples, number = {}, int(rank.number)
    count, batch = (int(x) for x in command(["HMGET", "{joaderfs}:job:net", "ranks", "batch"]))

    def position(of, r):
        return (of // batch * (batch // count + (r < batch % count)) +
                of % batch // count + (r < of % batch % count))

    log = f"{{joaderfs}}:log:net:{epoch}"
    for key, fields in command(["XRANGE", log, "-", "+"]):
        base, n = int(key.split(b"-")[0]), int(fields[1])
        before = sum(position(base + n, r) - position(base, r) for r in range(number))
        own = range(position(base, number), position(base + n, number))
        ids = command(["GET", f"{log}:{base}:{n}:{count}:{batch}"])
        ids = struct.unpack_from(f"<{len(own)}I", ids, 4 * before)
        samples.update(zip(own, ids))
    return samples


def check_all(epoch):
    """Called when all ranks have read the epoch."""
    given = collections.Counter(s for rank in ranks for s in rank.samples[epoch].values())
    if epoch == 0:
        whole.update(given)
    if set(given) != set(whole):
        wrong(f"epoch {epoch}: {len(whole)} samples, but {len(set(whole) - set(given))} of "
              "them did not come")
    twice = sorted(s for s, n in given.items() if n > 1)
    if twice:
        wrong(f"epoch {epoch}: twice or more: {twice}")


stops = False


def turn():
    """Called by one rank when all ranks have ended an epoch."""
    global stops
    check_all(turn.epoch)
    turn.epoch += 1
    stops = all(rank.compared for rank in ranks) or bool(problems)


turn.epoch = 0


def run(rank):
    try:
        epoch = 0
        while not stops:
            read_epoch(rank, epoch)
            rank.waits = True
            barrier.wait()
            rank.waits = False
            epoch += 1
    except threading.BrokenBarrierError:
        pass
    except BaseException:  # pylint: disable=broad-except
        wrong(f"rank {rank.number}, epoch {epoch}: {traceback.format_exc()}")
        barrier.abort()


def tell():
    with open(f"{top}/progress.new", "w", encoding="ascii") as file:
        for rank in ranks:
            file.write(f"{rank.number} {rank.read} {'waits' if rank.waits else 'reads'}\n")
    os.rename(f"{top}/progress.new", f"{top}/progress")


ranks = [Rank(text) for text in sys.argv[4:]]
whole = collections.Counter()
barrier = threading.Barrier(len(ranks), turn)
threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in ranks]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    tell()
    time.sleep(0.05)
tell()
print(f"{turn.epoch} epochs of {len(whole)} samples, {sum(r.read for r in ranks)} files; errors "
      f"that passed: {dict(again)}")
for problem in problems:
    print(problem)
sys.stdout.flush()
os._exit(bool(problems) or turn.epoch == 0)
