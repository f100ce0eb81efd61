# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""ask_the_dying.py ENGINE FILE: sends requests to an engine that was killed, and does not know it
yet.

The readers and this process run before all others of one processor, and the engine has no other
processor. So the kill is followed by the readers' requests, and only then by the engine's threads,
which find both. Each reader opens the file and closes it."""

import os
import signal
import sys

READERS = 6

engine, path = int(sys.argv[1]), sys.argv[2]
cpu = min(os.sched_getaffinity(0))
for thread in os.listdir(f"/proc/{engine}/task"):
    os.sched_setaffinity(int(thread), {cpu})
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    print("no process can run before all others here")
    sys.exit(77)
os.sched_setaffinity(0, {cpu})

begin, end = os.pipe()
readers = []
for _ in range(READERS):
    reader = os.fork()
    if reader == 0:
        os.read(begin, 1)
        try:
            os.close(os.open(path, os.O_RDONLY))
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    readers.append(reader)
os.sched_yield()  # now all readers wait
os.kill(engine, signal.SIGKILL)
os.write(end, bytes(READERS))
sys.exit(any(os.waitpid(reader, 0)[1] for reader in readers))
