#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""metadata_server.py KEYS: gives credentials as these services do: a machine's (IMDSv2, or
Google's), a container's, and STS; and writes them to the file KEYS in the form that s3_server.py
reads. They last for the number of seconds in KEYS.lifetime. Prints its port. Logs each request to
KEYS.log."""

import http.server
import itertools
import json
import os
import sys
import threading
import time
import urllib.parse

KEYS = sys.argv[1]
ROLES = "/latest/meta-data/iam/security-credentials/"
NUMBERS = itertools.count(1)
LOCK = threading.Lock()


def make(kind):
    """Returns ID, SECRET, TOKEN and the time of the end, as a text."""
    with LOCK:
        n = next(NUMBERS)
        with open(KEYS + ".lifetime", encoding="utf-8") as file:
            ends = int(time.time()) + int(file.read())
        keys = f"{kind}{n}", f"secret/{kind}+{n}", f"token=={kind}/{n}"
        with open(KEYS, "a", encoding="utf-8") as file:
            file.write(" ".join(keys) + f" {ends}\n")
    return *keys, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ends))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, code, text=""):
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        with LOCK, open(KEYS + ".log", "a", encoding="utf-8") as log:
            log.write(f"{code} {self.command} {self.path}\n")

    def give(self, kind):
        key, secret, token, ends = make(kind)
        self.send(200, json.dumps({"Code": "Success", "AccessKeyId": key, "Token": token,
                                   "SecretAccessKey": secret, "Expiration": ends}, indent=2))

    def do_PUT(self):
        ttl = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        good = self.path == "/latest/api/token" and ttl.isdigit()
        self.send(200 if good else 400, "session==\n" if good else "")

    def do_GET(self):
        if os.path.exists(KEYS + ".away"):
            return self.send(503)
        if self.path == "/container":
            good = self.headers.get("Authorization") == "of the container"
            return self.give("ECS") if good else self.send(401)
        if self.path == "/computeMetadata/v1/instance/service-accounts/default/token":
            if self.headers.get("Metadata-Flavor") != "Google":
                return self.send(403)
            return self.send(200, '{"access_token": "ya29.token", "expires_in": 3599}')
        if self.headers.get("X-aws-ec2-metadata-token") != "session==":
            return self.send(401)
        if self.path == ROLES:
            return self.send(200, "a-role\n")
        return self.give("EC2") if self.path == ROLES + "a-role" else self.send(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = dict(urllib.parse.parse_qsl(body))
        if form.get("Action") != "AssumeRoleWithWebIdentity" or form.get("RoleArn") != "arn:a/b":
            return self.send(400, "<E><Error><Code>ValidationError</Code></Error></E>")
        if form.get("WebIdentityToken") != "web+identity/=":
            return self.send(400, "<E><Error><Code>InvalidIdentityToken</Code></Error></E>")
        key, secret, token, ends = make("STS")
        return self.send(200, f"<R><Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>"
                         f"{secret}</SecretAccessKey><SessionToken>{token}</SessionToken>"
                         f"<Expiration>{ends}</Expiration></Credentials></R>")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
