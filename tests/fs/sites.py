# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""
sites.py CONTROL MOUNT TOLD errors|jobs|crashes COUNT SEED

Reads a job position by position, while the n-th call of the daemon fails (errors), or the
engine is killed there (crashes); or has jobs come and go (jobs). TOLD: a file that keeps
what positions held.
"""

import errno
import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import sys

MEMORY, FILES, REPLY = 1, 2, 3
CRASH = -1
SAMPLES, EPOCHS = 24, 400
control, mount, told_path, mode = sys.argv[1:5]
view = f"{mount}/jobs/{os.environ.get('JOB', 'a')}"


def arm(kind, error, n):
    with open(control, "r+b") as file:
        file.write(struct.pack("4q", 0, error, n, 0))
        file.seek(0)
        file.write(struct.pack("q", kind))


def left():
    with open(control, "rb") as file:
        return struct.unpack("4q", file.read(32))[2]


def failed():
    with open(control, "rb") as file:
        return struct.unpack("4q", file.read(32))[3] != 0


def content(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def tree(directory):
    return [os.path.join(at, name) for at, _, names in os.walk(directory) for name in names]


def control_jobs():
    """Adds a job and removes it. Returns False if a call failed."""
    ctl = [os.environ["JOADERCTL"], "-s", os.environ["SOCKET"]]
    ini = f"{told_path}.ini"
    with open(ini, "w") as file:
        file.write("[job]\nname = c\ndataset = images\nepochs = 1\n"
                   "[tensor]\ncrop = 32\nformat = npy\n[view]\nlayout = classes\n")
    done = [subprocess.run([*ctl, "add", ini], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=60)]
    if done[0].returncode == 0:
        for path in tree(f"{mount}/jobs/c/epoch-0000")[:3]:
            content(path)
    if os.path.exists(f"{mount}/jobs/c"):
        done.append(subprocess.run([*ctl, "rm", "c"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, timeout=60))
    return all(one.returncode == 0 for one in done)


def jobs(count, seed):
    """Adds and removes jobs while calls fail. The job can then be added again."""
    chance = random.Random(seed)
    hit = 0
    for kind, error in ((MEMORY, errno.ENOMEM), (FILES, errno.EIO), (FILES, errno.ENOSPC)):
        arm(kind, 0, 10**9)
        assert control_jobs()
        sites = 10**9 - left()
        for i in range(count):
            arm(kind, error, 1 + (i if count >= sites else chance.randrange(sites)) % sites)
            try:
                fine = control_jobs()
            except OSError as reason:
                assert reason.errno in (errno.EIO, errno.ENOMEM), reason
                fine = False
            assert fine or failed()
            hit += failed()
            arm(0, 0, 0)
            if os.path.exists(f"{mount}/jobs/c"):
                subprocess.run([os.environ["JOADERCTL"], "-s", os.environ["SOCKET"], "rm", "c"],
                               check=True, stdout=subprocess.DEVNULL, timeout=60)
            assert control_jobs()
    assert hit > count, f"{hit} calls failed"
    print(f"{hit} calls failed while jobs came and went")


def everything():
    """The content of each sample, read without failures."""
    found = {content(path) for path in tree(f"{mount}/jobs/m/epoch-0000")}
    assert len(found) == SAMPLES, len(found)
    return found


def hurry(*_):
    raise AssertionError("nobody answers")


signal.signal(signal.SIGALRM, hurry)


def read(position):
    """Opens, reads, and looks at one position in all ways of a script."""
    epoch, k = divmod(position, SAMPLES)
    directory = f"{view}/epoch-{epoch:04}"
    signal.alarm(60)
    os.stat(f"{directory}/{k:08}.ppm")
    found = content(f"{directory}/{k:08}.ppm")
    content(f"{directory}/{k:08}.cls")
    os.listdir(directory)
    content(f"{view}/status")
    content(f"{view}/epoch-{epoch:04}.order")
    content(f"{mount}/stats")
    signal.alarm(0)
    return found


class Told:
    def __init__(self, samples):
        self.samples = samples
        self.held = {}
        if os.path.exists(told_path):
            with open(told_path) as file:
                self.held = {int(key): value for key, value in json.load(file).items()}

    def next(self):
        return max(self.held, default=-1) + 1

    def tell(self, position, found):
        assert found in self.samples, f"position {position}: no such content"
        assert self.held.get(position, found) == found, f"position {position} has changed"
        first = position // SAMPLES * SAMPLES
        for other in range(first, first + SAMPLES):
            assert other == position or self.held.get(other) != found, \
                f"position {position} holds what {other} holds"
        self.held[position] = found

    def save(self):
        with open(told_path, "w") as file:
            json.dump(self.held, file)


def sites_of(kind, told):
    """The most sites of several reads of one position."""
    most = 1
    for _ in range(6):
        arm(kind, 0, 10**9)
        told.tell(told.next(), read(told.next()))
        most = max(most, 10**9 - left())
    return most


def errors(count, seed):
    chance = random.Random(seed)
    told = Told(everything())
    hit = seen = 0
    for kind, error in ((MEMORY, errno.ENOMEM), (FILES, errno.EIO), (FILES, errno.ENOSPC),
                        (REPLY, 0)):
        sites = sites_of(kind, told)
        for i in range(count):
            position = told.next()
            arm(kind, error, 1 + (i if count >= sites else chance.randrange(sites)) % sites)
            try:
                told.tell(position, read(position))
            except OSError as reason:
                seen += 1
                assert reason.errno in (errno.EIO, errno.ENOMEM, errno.EINTR), reason
                assert failed(), reason
            hit += failed()
            arm(0, 0, 0)
            told.tell(position, read(position))
    while told.next() % SAMPLES:
        told.tell(told.next(), read(told.next()))
    assert hit > count / 2, f"{hit} calls failed"
    print(f"{hit} calls failed, {seen} of them were seen by the reader")
    told.save()


def crashes(count, seed):
    """Kills the engine at a call. Readers must not notice it."""
    chance = random.Random(seed)
    told = Told(everything())
    hit = 0
    for kind in (MEMORY, FILES, REPLY):
        sites = sites_of(kind, told)
        for i in range(count):
            position = told.next()
            arm(kind, CRASH, 1 + (i if count >= sites else chance.randrange(sites)) % sites)
            told.tell(position, read(position))
            hit += failed()
            arm(0, 0, 0)
            told.tell(position, read(position))
    while told.next() % SAMPLES:
        told.tell(told.next(), read(told.next()))
    for position, found in told.held.items():
        assert found == content(
            f"{view}/epoch-{position // SAMPLES:04}/{position % SAMPLES:08}.ppm"), position
    assert hit > count, f"the engine was killed {hit} times"
    print(f"the engine was killed at {hit} calls")


if mode == "errors":
    errors(int(sys.argv[5]), int(sys.argv[6]))
elif mode == "jobs":
    jobs(int(sys.argv[5]), int(sys.argv[6]))
elif mode == "crashes":
    crashes(int(sys.argv[5]), int(sys.argv[6]))
