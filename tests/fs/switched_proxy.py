#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""switched_proxy.py PORT FILE: passes each connection on to the port of this machine that FILE
names at that time. A connection ends with its server."""

import socket
import sys
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client = listener.accept()[0]
    try:
        with open(sys.argv[2]) as file:
            server = socket.create_connection(("127.0.0.1", int(file.read())))
    except OSError:
        client.close()
        continue
    for ends in ((client, server), (server, client)):
        threading.Thread(target=pump, args=ends, daemon=True).start()
