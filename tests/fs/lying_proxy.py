# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""lying_proxy.py LISTEN SERVER TRUTH: a proxy before a Redis server that changes some answers.

LISTEN and SERVER are paths of sockets. In one of four answers a value becomes another number, one
of another type, nil or an empty list, disappears, or comes twice. While the file TRUTH exists, no
answer is changed. Prints "ready".
"""
import os
import random
import selectors
import socket
import sys

LISTEN, SERVER, TRUTH = sys.argv[1:]
OTHERS = [b"$-1", b"*-1", b"*0", b"$0\r\n", b":0", b":-1", b":1", b":65536", b":4294967296",
          b":9223372036854775807", b"+OK", b"-ERR no", b"$1\r\n0", b"$2\r\n-1",
          b"$20\r\n18446744073709551615", b"$4\r\n\0\0\0\0"]
chance = random.Random(17)


def parse(data, at=0):
    """Parses a list, or the bytes of any other value without the end of its line. Returns its end,
    too."""
    end = data.index(b"\r\n", at)
    kind, count = data[at:at + 1], data[at + 1:end]
    if kind == b"$" and int(count) >= 0:
        end += 2 + int(count)
        if data[end:end + 2] != b"\r\n":
            raise ValueError
    if kind != b"*" or int(count) < 0:
        return data[at:end], end + 2
    values, at = [], end + 2
    for _ in range(int(count)):
        value, at = parse(data, at)
        values.append(value)
    return values, at


def lists(value):
    if isinstance(value, list):
        yield value
        for part in value:
            yield from lists(part)


def printed(value):
    if not isinstance(value, list):
        return value + b"\r\n"
    return b"*%d\r\n" % len(value) + b"".join(map(printed, value))


def lie(value):
    if os.path.exists(TRUTH) or chance.randrange(4):
        return value
    whole = [value]
    place = chance.choice(list(lists(whole)))
    at = chance.randrange(len(place) or 1)
    place[at:at + 1] = chance.choice([[chance.choice(OTHERS)]] * 4 + [[], place[at:at + 1] * 2])
    return whole[0] if whole else b"*0"


def told(heard):
    """Takes the complete answers out of `heard`, and returns the bytes to pass on."""
    out = b""
    try:
        while heard:
            value, end = parse(heard)
            out += printed(lie(value))
            del heard[:end]
    except ValueError:
        pass  # the rest of the answer comes later
    return out


def connect(client):
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(SERVER)
    except OSError:
        client.close()
        return
    ready.register(client, selectors.EVENT_READ, (server, None))
    ready.register(server, selectors.EVENT_READ, (client, bytearray()))


def pass_on(source, target, heard):
    try:
        data = source.recv(1 << 20)
        if data and heard is None:
            target.sendall(data)
            return
        if data:
            heard += data
            target.sendall(told(heard))
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
