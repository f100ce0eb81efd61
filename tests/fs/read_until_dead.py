# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""read_until_dead.py DIR SEED LOG: opens the .ppm files of a directory in a random order, and
appends a line "name md5" to LOG as soon as a file was read. Ends when the daemon does, or after
the last file."""

import hashlib
import os
import random
import sys


def main():
    directory, seed, log = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    names = [name for name in os.listdir(directory) if name.endswith(".ppm")]
    random.Random(seed).shuffle(names)
    with open(log, "a", encoding="ascii", buffering=1) as out:
        for name in names:
            try:
                with open(os.path.join(directory, name), "rb") as file:
                    digest = hashlib.md5(file.read()).hexdigest()
            except OSError:
                return
            out.write(f"{name} {digest}\n")


main()
