# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Clients of the control socket that misbehave.

control_clients.py SOCKET silent N connects; every other client sends one byte
control_clients.py SOCKET unread N ARGUMENT... sends a request, and does not read the answer

Prints "ready", waits until standard input ends, and then prints the answer to the last client
without its frames. With "silent" the first client then sends its request.
"""
import socket
import sys


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.setblocking(False)  # so that a full queue is an error, and no wait
    client.connect(path)
    client.setblocking(True)
    return client


def answer(client):
    """Returns the text, and the word of the last frame: ok, error, or cut."""
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
