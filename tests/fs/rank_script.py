# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""rank_script.py DIRECTORY SEED PASSES [FILES]: a rank of a training script, which reads PASSES
passes over the shuffled files of DIRECTORY; then it reads FILES more files, and is killed. Prints
a line for each file: pass, digest."""

import hashlib
import os
import random
import signal
import sys

directory, seed, passes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
more = int(sys.argv[4]) if len(sys.argv) > 4 else 0
names = sorted(name for name in os.listdir(directory) if name.endswith(".ppm"))
shuffled = random.Random(seed)

for number in range(passes + (more > 0)):
    shuffled.shuffle(names)
    for name in names[:more] if number == passes else names:
        with open(f"{directory}/{name}", "rb") as file:
            print(number, hashlib.sha1(file.read()).hexdigest())
if more:
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
