# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""kill_client.py LISTEN [DAEMON]: a control socket that kills its client. Without DAEMON it does
so as soon as the client has connected. With DAEMON, the socket of a real daemon, it does so after
the daemon has accepted the descriptor, and before the client gets the answer.
"""
import os
import signal
import socket
import struct
import sys


def pass_on(client, daemon):
    request, descriptors, _, _ = socket.recv_fds(client, 4096, 1)
    while part := client.recv(4096):
        request += part
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(daemon)
        socket.send_fds(connection, [request], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        connection.shutdown(socket.SHUT_WR)
        print(connection.recv(4096).decode().split()[0], flush=True)


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1] + ".new")
os.chmod(sys.argv[1] + ".new", 0o666)
listener.listen()
os.rename(sys.argv[1] + ".new", sys.argv[1])
client, _ = listener.accept()
if len(sys.argv) > 2:
    pass_on(client, sys.argv[2])
credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
os.kill(struct.unpack("3i", credentials)[0], signal.SIGKILL)
