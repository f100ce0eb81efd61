# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""two_scripts.py DIRECTORY EPOCHS: two scripts read current/ of a job, each in its own order and
at its own speed, with two threads; the second one begins after the first. The first script must
get each image once in each pass, except for files that both have open at the same moment, which
have one content. The same holds for the second script, unless it is too slow: then this program
prints the number of its images."""

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
        os.setsid()  # its own session, as from another terminal
        script(child, begun)
        sys.exit(0)
    begun.wait()
    children.append(pid)
sys.exit(any(os.waitpid(pid, 0)[1] for pid in children))
