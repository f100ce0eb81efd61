# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""two_scripts.py DIRECTORY EPOCHS: two scripts that read current/ of a job, each in an order of
its own and at its own speed, by two threads; the second begins after the first. The first must
be given each image once in each pass, but for files that both have open at the same moment: these
have one content. So must the second, unless it is too slow: then this says how many it had."""

import hashlib
import multiprocessing
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

DIRECTORY, EPOCHS = sys.argv[1], int(sys.argv[2])
names = sorted(name for name in os.listdir(DIRECTORY) if name.endswith(".ppm"))


def read(name):
    with open(f"{DIRECTORY}/{name}", "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()


def script(number, begun):
    order = random.Random(number)
    for epoch in range(EPOCHS):
        order.shuffle(names)
        with ThreadPoolExecutor(2) as readers:
            given = set()
            for digest in readers.map(read, names):
                given.add(digest)
                begun.set()
                time.sleep(0.001 * number)
        if len(given) < len(names) - 3:
            print(f"script {number}, epoch {epoch}: {len(given)} of {len(names)}", flush=True)
            if number == 0:
                sys.exit(1)


children = []
for child in range(2):
    begun = multiprocessing.Event()
    pid = os.fork()
    if pid == 0:
        os.setsid()  # of its own, as from another terminal
        script(child, begun)
        sys.exit(0)
    begun.wait()
    children.append(pid)
sys.exit(any(os.waitpid(pid, 0)[1] for pid in children))
