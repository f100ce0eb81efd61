# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Clients of the control socket that do not do their part.

control_clients.py SOCKET silent N              connect; every other one sends one byte
control_clients.py SOCKET unread N ARGUMENT...  send a request, and do not read the answer

Prints "ready", waits until standard input ends, and then prints what the last client got,
without the frames: the text of the answer. With "silent" it goes on with the first client.
"""
import socket
import sys


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.setblocking(False)  # a full queue of the daemon's is an error, not a wait
    client.connect(path)
    client.setblocking(True)
    return client


def answer(client):
    """The text, and the last frame's word: ok, error, or cut."""
    with client.makefile("rb") as file:
        text, word = b"", "more"
        while word == "more":
            head = file.readline().split()
            if len(head) != 2:
                return text, "cut"
            word = head[0].decode()
            text += file.read(int(head[1]))
    return text, word


path, what, n, *arguments = sys.argv[1:]
clients = []
for i in range(int(n)):
    try:
        clients.append(connect(path))
    except BlockingIOError:
        print(f"the daemon has not accepted client {i + 1}", flush=True)
        sys.exit(1)
    if what == "unread":
        clients[-1].sendall("".join(a + "\0" for a in arguments).encode())
        clients[-1].shutdown(socket.SHUT_WR)
    elif i % 2:
        clients[-1].sendall(b"l")
print("ready", flush=True)
sys.stdin.read()
for client in [clients[-1]] if what == "unread" else [clients[-1], clients[0]]:
    client.shutdown(socket.SHUT_WR)
    text, word = answer(client)
    sys.stdout.write(text.decode())
    print(f"({word})", flush=True)
