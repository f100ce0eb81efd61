#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""bad_server.py DIRECTORY MODES: serves the files of a directory by ranges, and misbehaves as the
file MODES says, in lines "PATH MODE [TIMES]". Prints its port. Writes a line "PATH MODE" for each
such request to MODES.log."""

import http.server
import os
import socket
import struct
import sys
import threading
import time
import urllib.parse

TOP, MODES = sys.argv[1:]
COUNTS = {}
LOCK = threading.Lock()


def mode_of(path):
    with open(MODES, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and words[0] == path:
                with LOCK:
                    n = COUNTS[path] = COUNTS.get(path, 0) + 1
                return words[1] if len(words) < 3 or n <= int(words[2]) else "good"
    return "good"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def status(self, code, **heads):
        self.send_response(code)
        for name, value in heads.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def head(self, code, mode, n, content_range, path):
        self.send_response(code)
        self.send_header("Content-Length", str(n))
        if content_range:
            self.send_header("Content-Range", content_range)
        stamp = os.stat(path)
        self.send_header("ETag", f'"{stamp.st_mtime_ns}-{mode == "changed"}"')
        self.send_header("Last-Modified", self.date_time_string(int(stamp.st_mtime)))
        self.end_headers()

    def do_GET(self):
        path = urllib.parse.unquote(self.path).lstrip("/")
        mode = mode_of(path)
        with LOCK, open(MODES + ".log", "a", encoding="utf-8") as log:
            log.write(f"{path} {mode}\n")
        if mode.isdigit():
            return self.status(int(mode))
        if mode == "busy":
            return self.status(503, Retry_After="1")
        file = os.path.join(TOP, path)
        if not os.path.isfile(file):
            return self.status(404)
        with open(file, "rb") as data:
            data = data.read()
        first, last = (int(x) for x in self.headers["Range"].split("=")[1].split("-"))
        last = min(last, len(data) - 1)
        return self.answer(mode, file, data, first, last)

    def answer(self, mode, file, data, first, last):
        total = len(data) + (mode == "longer")
        told = f"bytes {first}-{last}/{total}"
        body = data[first:last + 1]
        if mode == "whole":
            self.head(200, mode, len(data), None, file)
            self.wfile.write(data)
        elif mode == "unsaid":
            self.head(206, mode, len(body), None, file)
            self.wfile.write(body)
        elif mode == "wrong":
            self.head(206, mode, len(body), f"bytes {first + 1}-{last + 1}/{total}", file)
            self.wfile.write(body)
        elif mode == "more":
            self.head(206, mode, len(body) + 9, told, file)
            self.wfile.write(body + b"123456789")
        elif mode == "less":
            self.head(206, mode, len(body) - 9, told, file)
            self.wfile.write(body[:-9])
        elif mode in ("cut", "stall", "reset"):
            self.head(206, mode, len(body), told, file)
            self.wfile.write(body[:len(body) // 2])
            self.wfile.flush()
            self.close_connection = True
            if mode == "stall":
                self.hang()
            elif mode == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           struct.pack("ii", 1, 0))
                self.connection.close()
        elif mode == "silent":
            self.close_connection = True
            self.hang()
        else:
            self.head(206, mode, len(body), told, file)
            self.wfile.write(body)

    def hang(self):
        """Waits until the client hangs up."""
        self.connection.settimeout(300)
        try:
            while self.connection.recv(1000):
                time.sleep(0.01)
        except OSError:
            pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
