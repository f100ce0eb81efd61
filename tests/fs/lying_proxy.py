# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""lying_proxy.py LISTEN SERVER TRUTH: stands before a Redis server, and changes some answers.

LISTEN and SERVER are paths of sockets. A line of an answer in six becomes another number or
another type, is nil, is gone, is there twice, or has another byte; none while the file TRUTH
exists. Prints "ready".
"""
import os
import random
import selectors
import socket
import sys

LISTEN, SERVER, TRUTH = sys.argv[1:]
NUMBERS = [b"-2", b"-1", b"0", b"1", b"2", b"65536", b"2147483648", b"4294967296",
           b"9223372036854775807", b"18446744073709551616", b"x"]
chance = random.Random(17)


def another(line):
    if not line or chance.randrange(6):
        return [line]
    at = chance.randrange(len(line))
    return chance.choice([
        [line[:1] + chance.choice(NUMBERS)],
        [chance.choice([b"+", b"-", b":", b"$", b"*"]) + line[1:]],
        [b"$-1"], [], [line, line],
        [line[:at] + bytes([chance.randrange(256)]) + line[at + 1:]]])


def lie(data):
    if os.path.exists(TRUTH):
        return data
    return b"\r\n".join(part for line in data.split(b"\r\n") for part in another(line))


def connect(client):
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(SERVER)
    except OSError:
        client.close()
        return
    ready.register(client, selectors.EVENT_READ, (server, False))
    ready.register(server, selectors.EVENT_READ, (client, True))


def pass_on(source, target, lies):
    try:
        data = source.recv(1 << 20)
        if data:
            target.sendall(lie(data) if lies else data)
            return
    except OSError:
        pass
    for end in (source, target):
        ready.unregister(end)
        end.close()


listener = socket.socket(socket.AF_UNIX)
listener.bind(LISTEN)
listener.listen()
ready = selectors.DefaultSelector()
ready.register(listener, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in ready.select():
        if key.data is None:
            connect(listener.accept()[0])
        elif key.fileobj.fileno() >= 0:
            pass_on(key.fileobj, *key.data)
