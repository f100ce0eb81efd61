# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""undisturbed.py JOBS SECONDS READER...: readers that must not notice any disturbance.

Each reader is a process that reads one epoch after the other, at least one, until the time is
over, and then completes its epoch. Every file must have the pixels that the mirror had at the
begin, and every epoch each sample once. A reader is LAYOUT:JOB[:DIRECTORY]; DIRECTORY is the job's
directory, if that is not JOBS/JOB.
"""

import collections
import ctypes
import glob
import multiprocessing
import os
import random
import signal
import sys
import tarfile
import time
import traceback

import numpy

jobs, seconds = sys.argv[1], float(sys.argv[2])
end = time.monotonic() + seconds


def ppm(data):
    fields = data.split(maxsplit=4)[:4]
    assert fields[0] == b"P6", data[:20]
    size = int(fields[1]) * int(fields[2]) * 3
    assert len(data) > size, len(data)
    return data[-size:]


def slurp(path):
    with open(path, "rb", buffering=0) as file:
        data = file.read(1000)
        rest = file.readall()
        again = os.pread(file.fileno(), 500, 700)
    assert again == (data + rest)[700:1200], path
    return data + rest


def mirror(job):
    top = f"{jobs}/{job}/epoch-0000/"
    return {
        os.path.splitext(path[len(top):])[0]: ppm(slurp(path))
        for path in glob.glob(top + "*/*")
    }


def bindings(directory, epoch):
    """Samples by position: (path, label)."""
    ret = {}
    with open(f"{directory}/epoch-{epoch:04d}.order", encoding="utf-8") as file:
        for line in file:
            position, _, label, _, path = line.rstrip("\n").split("\t")
            assert int(position) not in ret, f"position {position} is bound twice"
            ret[int(position)] = path, int(label)
    return ret


def check(directory, epoch, pixels, labels=None):
    bound = bindings(directory, epoch)
    assert sorted(bound) == list(range(len(truth))), f"{len(bound)} positions are bound"
    assert len({name for name, _ in bound.values()}) == len(truth), "not each sample once"
    for position, (name, label) in bound.items():
        assert pixels[position] == truth[name], f"position {position}: not {name}"
        if labels is not None:
            assert labels[position] == label, f"position {position}: label"


def positions():
    return range(len(truth))


def flat(directory, epoch):
    """Keeps some files open for a while, and reads them again."""
    pixels, labels, open_files = {}, {}, collections.deque()
    for i in positions():
        name = f"{directory}/epoch-{epoch:04d}/{i:08d}"
        pixels[i] = ppm(slurp(name + ".ppm"))
        labels[i] = int(slurp(name + ".cls"))
        open_files.append((i, open(name + ".ppm", "rb", buffering=0)))
        if len(open_files) > 12:
            k, file = open_files.popleft()
            assert ppm(file.read()) == pixels[k], f"position {k}: not the same again"
            file.close()
        time.sleep(0.002)
    for _, file in open_files:
        file.close()
    check(directory, epoch, pixels, labels)


def classes(directory, epoch):
    """Reads in a random order, as a script that shuffles. Positions count through classes."""
    pixels = {}
    paths = list(enumerate(sorted(glob.glob(f"{directory}/epoch-{epoch:04d}/*/*.ppm"))))
    random.Random(epoch).shuffle(paths)
    for position, path in paths:
        pixels[position] = ppm(slurp(path))
        time.sleep(0.002)
    check(directory, epoch, pixels)


def mapped(directory, epoch):
    pixels, maps = {}, collections.deque()
    for i in positions():
        array = numpy.load(f"{directory}/epoch-{epoch:04d}/{i:08d}.npy", mmap_mode="r")
        pixels[i] = array.tobytes()
        maps.append((i, array))
        if len(maps) > 12:
            k, array = maps.popleft()
            assert array.tobytes() == pixels[k], f"position {k}: not the same again"
        time.sleep(0.002)
    check(directory, epoch, pixels)


def batch(directory, epoch):
    pixels, labels = [], []
    for path in sorted(glob.glob(f"{directory}/epoch-{epoch:04d}/batch-*.npy")):
        if path.endswith(".labels.npy"):
            labels.extend(numpy.load(path).tolist())
            continue
        array = numpy.load(path, mmap_mode="r" if epoch % 2 else None)
        for row in array:
            pixels.append(row.tobytes())
            time.sleep(0.002)
    check(directory, epoch, pixels, labels)


def tar(directory, epoch):
    """Each shard once, in order."""
    pixels, labels = {}, {}
    for path in sorted(glob.glob(f"{directory}/epoch-{epoch:04d}/shard-*.tar")):
        with tarfile.open(path, "r|", bufsize=4096) as file:
            for member in file:
                data = file.extractfile(member).read()
                key, ending = member.name.split(".", 1)
                if ending == "ppm":
                    pixels[int(key)] = ppm(data)
                elif ending == "cls":
                    labels[int(key)] = int(data)
                time.sleep(0.001)
    check(directory, epoch, pixels, labels)


def again(directory, epoch):
    """layout = mirror"""
    for name, expected in truth.items():
        path = f"{directory}/epoch-{epoch:04d}/{name}.ppm"
        assert ppm(slurp(path)) == expected, name
        time.sleep(0.002)


def work(paths, results):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # the process ends with its parent
    while path := paths.get():
        try:
            results.put((path, slurp(path)))
        except BaseException as error:  # pylint: disable=broad-except
            results.put((path, error))


workers = []


def current(directory, _epoch):
    """Reads by two workers that stay, in the order of the files, as a DataLoader does."""
    if not workers:
        for _ in range(2):
            queues = multiprocessing.SimpleQueue(), multiprocessing.SimpleQueue()
            process = multiprocessing.Process(target=work, args=queues, daemon=True)
            process.start()
            workers.append(queues)
    names = sorted(glob.glob(f"{directory}/current/*.ppm"))
    assert len(names) == len(truth), len(names)
    ahead = 8
    found = collections.Counter()
    for i in range(len(names) + ahead):
        if i < len(names):
            workers[i % 2][0].put(names[i])
        if i >= ahead:
            path, data = workers[(i - ahead) % 2][1].get()
            if isinstance(data, BaseException):
                raise AssertionError(f"{path}: {data}")
            found[ppm(data)] += 1
            time.sleep(0.002)
    twice = sum(n > 1 for n in found.values())
    assert found == collections.Counter(truth.values()), (
        f"{len(found)} different samples of {len(truth)}, {twice} of them twice")


def shards(directory, epoch):
    """Reads current/ of a job with shards: two shards are one epoch."""
    found = collections.Counter()
    for path in sorted(glob.glob(f"{directory}/current/shard-*.tar")):
        with tarfile.open(path, "r|", bufsize=4096) as file:
            for member in file:
                data = file.extractfile(member).read()
                if member.name.endswith(".ppm"):
                    found[ppm(data)] += 1
                time.sleep(0.001)
    assert found == collections.Counter(truth.values()), (
        f"epoch {epoch}: {len(found)} different samples of {len(truth)}")


def read(layout, job, directory, failed):
    epoch = 0
    try:
        while (epoch == 0 or time.monotonic() < end) and not failed.value:
            globals()[layout](directory, epoch)
            epoch += 1
    except BaseException:  # pylint: disable=broad-except
        print(f"{layout} of {job}, epoch {epoch}:", file=sys.stderr)
        traceback.print_exc()
        sys.stderr.flush()
        failed.value = 1
        os._exit(1)
    print(f"{job}: {epoch} epochs")
    sys.stdout.flush()
    os._exit(0)


truth = mirror("mirror")
assert len(set(truth.values())) == len(truth), "two images are the same"
failed = multiprocessing.Value("i", 0)
children = []
for reader in sys.argv[3:]:
    layout, job, directory = (reader.split(":", 2) + [""])[:3]
    children.append(multiprocessing.Process(
        target=read, args=(layout, job, directory or f"{jobs}/{job}", failed)))
    children[-1].start()
for child in children:
    child.join()
sys.exit(any(child.exitcode for child in children))
