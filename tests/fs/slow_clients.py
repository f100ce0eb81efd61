# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""slow_clients.py PORT N: clients of an HTTP server whose requests never end.

Each sends a line of its head every half second, and connects again when the server hangs up.
Prints "ready" when all have connected, and "hung up" each time. Ends with standard input.
"""
import select
import socket
import sys


def connect():
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"GET /metrics HTTP/1.1\r\n")
    return client


def is_over(client):
    try:
        client.sendall(b"X-Slow: yes\r\n")
        return bool(select.select([client], [], [], 0)[0]) and client.recv(1) == b""
    except ConnectionError:
        return True


port, n = int(sys.argv[1]), int(sys.argv[2])
clients = [connect() for _ in range(n)]
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.5)[0]:
    for i, client in enumerate(clients):
        if is_over(client):
            client.close()
            clients[i] = connect()
            print("hung up", flush=True)
