# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""parked.py N FILE...: opens each file by N threads at once, reads it, and closes it. Prints the
number of threads that got bytes."""

import sys
import threading

n, files = int(sys.argv[1]), sys.argv[2:]
got = []


def read(path):
    with open(path, "rb", buffering=0) as file:
        if file.read(65536):
            got.append(path)


threads = [threading.Thread(target=read, args=(path,)) for path in files for _ in range(n)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(got))
