# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Users look at random at each other's jobs while these train.

owners.py MOUNT SEED LOOKS JOB...

JOB is NAME:UID:GID:MODE (octal). The owner of a job reads two passes of current/; meanwhile each
user of USERS looks LOOKS times at a random file of any job. A look that the mode allows must
succeed, all other looks must get EACCES, and each pass must have each sample once.
"""

import errno
import hashlib
import os
import random
import sys

# uid: (group, other groups)
USERS = {2001: (3001, []), 2002: (3002, [3001, 3007]), 2003: (3001, [3003]), 2004: (3004, [3002]),
         2005: (3005, list(range(4000, 4050)) + [3001])}


def files_of(view):
    return sorted(os.path.join(top, name) for top, _, names in os.walk(view) for name in names
                  if name.endswith((".ppm", ".npy", ".tar")) and ".labels." not in name)


class Job:
    def __init__(self, mount, text):
        self.name, uid, gid, mode = text.split(":")
        self.uid, self.gid, self.mode = int(uid), int(gid), int(mode, 8)
        self.path = f"{mount}/jobs/{self.name}"

    def bits(self, user):
        group, others = USERS[user]
        if user == self.uid:
            return self.mode >> 6 & 7
        return (self.mode >> 3 if self.gid in [group, *others] else self.mode) & 7


def become(user):
    group, others = USERS[user]
    os.setgroups(others)
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def train(job, _):
    files = files_of(f"{job.path}/current")
    assert len(files) > 2, files
    for epoch in range(2):
        given = set()
        for path in files:
            with open(path, "rb") as file:
                given.add(hashlib.sha1(file.read()).digest())
        assert len(given) == len(files), \
            f"{job.name}, pass {epoch}: {len(given)} different samples of {len(files)}"


def outcome(look, *arguments):
    try:
        look(*arguments)
        return 0
    except OSError as error:
        return error.errno


def read(path):
    with open(path, "rb") as file:
        file.read()


def expect(job, user, what, found, allowed):
    wanted = 0 if allowed else errno.EACCES
    assert found == wanted, \
        f"{what} of {job.name} ({job.mode:04o}) by {user}: {os.strerror(found)}, " \
        f"expected: {os.strerror(wanted)}"


def look(user, jobs, names, chance):
    job = chance.choice(jobs)
    bits = job.bits(user)
    st = os.stat(job.path)
    assert (st.st_uid, st.st_gid, st.st_mode & 0o7777) == (job.uid, job.gid, job.mode)
    what = chance.choice(["ls", "ls deep", "cd", "text", "sample", "sample", "sample", "explicit"])
    if what == "ls":
        expect(job, user, what, outcome(os.listdir, job.path), bits & 4)
    elif what == "ls deep":
        expect(job, user, what, outcome(os.listdir, f"{job.path}/current"), bits & 5 == 5)
    elif what == "cd":
        expect(job, user, what, outcome(os.chdir, job.path), bits & 1)
        os.chdir("/")
    elif what == "text":
        name = chance.choice(["status", "state", "job.ini", "classes.txt"])
        expect(job, user, what, outcome(read, f"{job.path}/{name}"), bits & 5 == 5)
    elif bits & 5 != 5:
        view = "epoch-0000" if what == "explicit" else "current"
        expect(job, user, what, outcome(read, f"{job.path}/{view}/{chance.choice(names[job])}"),
               False)


def run(what, *arguments):
    child = os.fork()
    if child == 0:
        try:
            what(*arguments)
        except AssertionError as error:
            print(error, flush=True)
            os._exit(1)
        os._exit(0)
    return child


def user_looks(user, jobs, names, seed, looks):
    become(user)
    chance = random.Random(f"{seed} {user}")
    for _ in range(looks):
        look(user, jobs, names, chance)


def user_trains(job):
    become(job.uid)
    train(job, None)


def main():
    mount, seed, looks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    jobs = [Job(mount, text) for text in sys.argv[4:]]
    names = {job: [os.path.relpath(path, f"{job.path}/current")
                   for path in files_of(f"{job.path}/current")] for job in jobs}
    children = [run(user_trains, job) for job in jobs]
    children += [run(user_looks, user, jobs, names, seed, looks) for user in USERS]
    sys.exit(any([os.waitpid(child, 0)[1] != 0 for child in children]))


if __name__ == "__main__":
    main()
