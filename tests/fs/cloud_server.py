#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""cloud_server.py DIRECTORY: serves a directory as Azure's blobs, with CONTAINER/KEY and listings
of five blobs, if the query has the signature sig=s/g; and as data sets of Hugging Face, which
redirect to another host, if the token is hf_token. Prints its port. Logs each request to
DIRECTORY.log."""

import http.server
import os
import sys
import urllib.parse
from xml.sax.saxutils import escape

TOP = sys.argv[1]
PAGE = 5


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send(self, code, body=b"", **heads):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        for name, value in heads.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        with open(TOP + ".log", "a", encoding="utf-8") as log:
            log.write(f"{code} {self.path.partition('?')[0]}\n")

    def do_GET(self):
        path, _, query = self.path.partition("?")
        path = urllib.parse.unquote(path)
        query = dict(urllib.parse.parse_qsl(query))
        if path.startswith("/cdn/"):
            return self.send(400) if "Authorization" in self.headers else self.file(path[4:])
        if path.startswith("/datasets/"):
            if self.headers.get("Authorization") != "Bearer hf_token":
                return self.send(401)
            name, _, rest = path[len("/datasets/"):].partition("/resolve/")
            port = self.server.server_address[1]
            return self.send(302, Location=f"http://localhost:{port}/cdn/{name}/{rest}")
        if query.get("sig") != "s/g":
            return self.send(403, b"<Error><Code>AuthenticationFailed</Code></Error>")
        return self.listing(path, query) if query.get("comp") == "list" else self.file(path)

    def file(self, path):
        if not os.path.isfile(TOP + path):
            return self.send(404, b"<Error><Code>BlobNotFound</Code></Error>")
        with open(TOP + path, "rb") as file:
            data = file.read()
        first, last = (int(x) for x in self.headers["Range"].split("=")[1].split("-"))
        part = data[first:last + 1]
        return self.send(206, part, ETag=f'"0x{os.stat(TOP + path).st_mtime_ns:X}"',
                         Content_Range=f"bytes {first}-{first + len(part) - 1}/{len(data)}")

    def listing(self, path, query):
        top = TOP + path
        keys = sorted(os.path.relpath(os.path.join(root, name), top)
                      for root, _, names in os.walk(top) for name in names)
        keys = [key for key in keys if key.startswith(query.get("prefix", ""))]
        begin = int(query.get("marker", "0!").rstrip("!"))
        page = "".join(
            f"<Blob><Name>{escape(key)}</Name><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT"
            f"</Last-Modified><Etag>0x{os.stat(os.path.join(top, key)).st_mtime_ns:X}</Etag>"
            f"<Content-Length>{os.path.getsize(os.path.join(top, key))}</Content-Length></Properties>"
            "</Blob>" for key in keys[begin:begin + PAGE])
        more = f">{begin + PAGE}!</NextMarker>" if begin + PAGE < len(keys) else " />"
        self.send(200, f"<?xml version='1.0'?><EnumerationResults><Blobs>{page}</Blobs><NextMarker{more}"
                       "</EnumerationResults>".encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
