# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""A client that mounts a job and keeps the device that it gave to the daemon.

shared_device.py SOCKET JOB DIRECTORY blocks changes the device's flags, so that its reads block
shared_device.py SOCKET JOB DIRECTORY steals takes a request, and does not answer it
shared_device.py SOCKET JOB DIRECTORY silent sends the root of a mount that nobody serves

Prints "ready", and keeps the device until standard input ends; "silent" only prints.
"""
import concurrent.futures
import ctypes
import fcntl
import os
import socket
import subprocess
import sys

path, job, directory, what = sys.argv[1:]
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"joaderfs", directory.encode(), b"fuse", 1, options.encode()) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
sent = os.open(directory, os.O_PATH) if what == "silent" else device
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(path)
    socket.send_fds(connection, [f"mount\0{job}\0".encode()], [sent])
    connection.shutdown(socket.SHUT_WR)
    answer = connection.recv(4096).decode()
    if what == "silent":
        libc.umount2(directory.encode(), 2)  # MNT_DETACH
        print("ready" if "not of /dev/fuse" in answer else answer)
        sys.exit()
    if answer.split()[0] != "ok":
        sys.exit(answer)
os.listdir(directory)  # now the daemon serves the mount
fcntl.fcntl(device, fcntl.F_SETFL, fcntl.fcntl(device, fcntl.F_GETFL) & ~os.O_NONBLOCK)
if what == "blocks":
    # Each request wakes several threads, and only one of them gets it.
    with concurrent.futures.ThreadPoolExecutor(8) as readers:
        list(readers.map(lambda i: os.path.exists(f"{directory}/none{i}"), range(4000)))
else:
    os.set_blocking(device, False)
    request = b""
    while not request:
        reader = subprocess.Popen(["stat", f"{directory}/none{os.getpid()}"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not request and reader.poll() is None:
            try:
                request = os.read(device, 1 << 21)
            except BlockingIOError:
                pass
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
