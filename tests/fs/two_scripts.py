# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""two_scripts.py DIRECTORY EPOCHS: two scripts that read current/ of a job, each in an order of
its own and at its own speed, by two threads. Each must be given each image once in each pass,
but for files that both have open at the same moment: these have one content."""

import hashlib
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


def script(number):
    order = random.Random(number)
    for epoch in range(EPOCHS):
        order.shuffle(names)
        with ThreadPoolExecutor(2) as readers:
            given = []
            for digest in readers.map(read, names):
                given.append(digest)
                time.sleep(0.001 * number)
        assert len(set(given)) >= len(names) - 3, f"script {number}, epoch {epoch}: {len(set(given))}"


children = []
for child in range(2):
    pid = os.fork()
    if pid == 0:
        os.setsid()  # of its own, as from another terminal
        script(child)
        sys.exit(0)
    children.append(pid)
sys.exit(any(os.waitpid(pid, 0)[1] for pid in children))
