# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""swift_server.py DIR ID SECRET REGION BUCKETS: runs OpenStack Swift with its S3 interface on the
loopback, with one copy of all data on one device in DIR, and the memcached that it needs. botocore
uploads the directories of BUCKETS as buckets. Prints the port of the proxy. Ends all processes
when it is ended."""

import os
import signal
import socket
import sys
import time

import botocore.session
from swift.cli.ringbuilder import main as ring_builder
from swift.common import utils
from swift.common.wsgi import run_wsgi

top, key_id, secret, region, buckets = sys.argv[1:]
utils.HASH_PATH_PREFIX, utils.HASH_PATH_SUFFIX = b"", b"test"
KINDS = "account", "container", "object"

HEAD = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
devices = {top}/devices
swift_dir = {top}
mount_check = false
fallocate_reserve = 0
log_address = {top}/nobody
"""
NODE = """[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""
PROXY = """[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{cache}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:slo]
use = egg:swift#slo
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret} .admin
[filter:s3api]
use = egg:swift#s3api
auth_pipeline_check = false
location = {region}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def write(kind, port):
    account, user = key_id.split(":")
    with open(f"{top}/{kind}.conf", "w", encoding="utf-8") as file:
        file.write((HEAD + (PROXY if kind == "proxy" else NODE)).format(
            port=port, top=top, kind=kind, account=account, user=user, secret=secret,
            region=region, cache=ports["cache"]))


def ring(kind, port):
    builder = f"{top}/{kind}.builder"
    for words in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/one", "1"],
                  ["rebalance"]):
        try:
            ring_builder(["swift-ring-builder", builder] + words)
        except SystemExit as end:
            if end.code == 2:
                raise


def serve(kind):
    child = os.fork()
    if child == 0:
        sys.exit(run_wsgi(f"{top}/{kind}.conf", f"{kind}-server", verbose=True))
    return child


def wait_for(port):
    for _ in range(400):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"nobody answers at port {port}")


def upload():
    client = botocore.session.Session().create_client(
        "s3", endpoint_url=f"http://127.0.0.1:{ports['proxy']}", aws_access_key_id=key_id,
        aws_secret_access_key=secret, region_name=region)
    for bucket in os.listdir(buckets):
        client.create_bucket(Bucket=bucket,
                             CreateBucketConfiguration={"LocationConstraint": region})
        under = f"{buckets}/{bucket}"
        for where, _, names in os.walk(under):
            for name in names:
                path = f"{where}/{name}"
                with open(path, "rb") as file:
                    client.put_object(Bucket=bucket, Key=os.path.relpath(path, under),
                                      Body=file.read())


os.makedirs(f"{top}/devices/one")
out = os.dup(1)
os.dup2(2, 1)  # what the library prints
ports = {kind: free_port() for kind in KINDS + ("proxy", "cache")}
for each in KINDS + ("proxy",):
    write(each, ports[each])
for each in KINDS:
    ring(each, ports[each])
children = [serve(each) for each in KINDS + ("proxy",)]
user = ["-u", "root"] if os.geteuid() == 0 else []
children.append(os.posix_spawnp("memcached", [
    "memcached", "-l", "127.0.0.1", "-p", str(ports["cache"])] + user, os.environ))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
try:
    for each in ports.values():
        wait_for(each)
    upload()
    os.write(out, b"%d\n" % ports["proxy"])
    signal.pause()
finally:
    for each in children:
        os.kill(each, signal.SIGTERM)
    for each in children:
        os.waitpid(each, 0)
