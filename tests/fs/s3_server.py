#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""s3_server.py DIRECTORY KEY_ID SECRET [TOKEN]: serves the directories in DIRECTORY as buckets of
s3: ListObjectsV2 with five objects a page, and GET by ranges. Each request must have the signature
that botocore computes, and TOKEN. Prints its port. Logs each request to DIRECTORY.log.

Files beside DIRECTORY, which may change: each line "STATUS CODE [ENDING]" of .says is an answer to
some of the paths, or to paths with this ending; each line "KEY_ID SECRET TOKEN EXPIRES" of .keys
is a further key; with .open, unsigned requests are answered; .region has the region, .bearer a
token that is accepted instead, and .payer requires that requesters pay. A bucket may also be in
the host's name."""

import hashlib
import http.server
import os
import sys
import time
import urllib.parse
import zlib
from xml.sax.saxutils import escape

import botocore.auth
import botocore.awsrequest
import botocore.credentials

TOP = sys.argv[1]
OWN = (sys.argv[2:] + [None])[:3] + [0]
PAGE = 5


class Signer(botocore.auth.S3SigV4Auth):
    """The signature with the request's own time and headers."""

    def signature_of(self, request, stamp):
        request.context["timestamp"] = stamp
        canonical = self.canonical_request(request)
        return self.signature(self.string_to_sign(request, canonical), request)


class Refused(Exception):
    """Sends an answer of STATUS, CODE, MESSAGE, and headers."""


def text_of(ending, otherwise=""):
    try:
        with open(TOP + ending, encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return otherwise


def keys_of(key_id):
    lines = [OWN] + [line.split() for line in text_of(".keys").splitlines()]
    for known, secret, token, expires in lines:
        if known != key_id:
            continue
        if float(expires) and float(expires) < time.time():
            raise Refused(400, "ExpiredToken", "The provided token has expired.")
        return secret, token
    raise Refused(403, "InvalidAccessKeyId", "there is no such key")


def expected(handler):
    """The expected signature of the headers that the request names as signed."""
    words = handler.headers["Authorization"].split(" ", 1)[1].replace(",", " ").split()
    fields = dict(word.split("=", 1) for word in words)
    signed = fields["SignedHeaders"].split(";")
    for must in ("host", "x-amz-content-sha256", "x-amz-date"):
        if must not in signed:
            raise ValueError(f"{must} is not signed")
    key_id, _, region = fields["Credential"].split("/")[:3]
    handler.key_id = key_id
    secret, token = keys_of(key_id)
    if token and "x-amz-security-token" not in signed:
        raise ValueError("the token is not signed")
    real = text_of(".region", "eu-test-1")
    if region != real:
        raise Refused(400, "AuthorizationHeaderMalformed", "the region is wrong",
                      {"x-amz-bucket-region": real})
    if text_of(".payer") and "x-amz-request-payer" not in signed:
        raise Refused(403, "AccessDenied", "requesters pay")
    stamp = handler.headers["x-amz-date"]
    request = botocore.awsrequest.AWSRequest(
        method=handler.command,
        url=f"http://{handler.headers['Host']}{handler.path}",
        headers={name: handler.headers[name] for name in signed})
    request.context["payload_signing_enabled"] = True
    signer = Signer(botocore.credentials.Credentials(key_id, secret, token), "s3", region)
    return signer.signature_of(request.prepare() and request, stamp), fields["Signature"]


def refusal(path):
    """The (STATUS, CODE) that DIRECTORY.says has for the path, or None."""
    lines = [line.split() for line in text_of(".says").splitlines()]
    lines = [line for line in lines if len(line) < 3 or path.endswith(line[2])]
    if not lines:
        return None
    return lines[zlib.crc32(path.encode()) % len(lines)][:2]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    key_id = "none"

    def log_message(self, *_):
        pass

    def send(self, code, body, **heads):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        for name, value in heads.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        with open(TOP + ".log", "a", encoding="utf-8") as log:
            log.write(f"{code} {self.path} {self.headers.get('Range', '')} "
                      f"{self.key_id} {self.headers['Host']}\n")

    def error(self, code, name, message, heads=None):
        self.send(code, f"<?xml version='1.0'?><Error><Code>{name}</Code>"
                        f"<Message>{message}</Message></Error>".encode(), **(heads or {}))

    def do_GET(self):
        said = refusal(self.path.partition("?")[0])
        if said:
            return self.error(int(said[0]), said[1], "as told")
        self.key_id = "none"
        try:
            good = found = None
            bearer = text_of(".bearer")
            if bearer and self.headers["Authorization"] == "Bearer " + bearer:
                self.key_id = "bearer"
            elif "Authorization" in self.headers or not text_of(".open"):
                good, found = expected(self)
        except Refused as error:
            return self.error(*error.args)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            return self.error(403, "AccessDenied", f"no signature: {error}")
        except ValueError as error:
            return self.error(403, "AccessDenied", str(error))
        if good != found:
            return self.error(403, "SignatureDoesNotMatch", "the signature is another one")
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        bucket, point, _ = self.headers["Host"].partition(".localhost")
        file = os.path.join(TOP, bucket if point else "", urllib.parse.unquote(path).strip("/"))
        if "list-type" in query:
            return self.listing(file, query)
        if not os.path.isfile(file):
            return self.error(404, "NoSuchKey", "The specified key does not exist.")
        with open(file, "rb") as data:
            data = data.read()
        heads = {"ETag": f'"{hashlib.md5(data).hexdigest()}"',
                 "Last_Modified": self.date_time_string(int(os.stat(file).st_mtime))}
        if "Range" not in self.headers:
            return self.send(200, data, **heads)
        first, last = (int(x) for x in self.headers["Range"].split("=")[1].split("-"))
        last = min(last, len(data) - 1)
        heads["Content_Range"] = f"bytes {first}-{last}/{len(data)}"
        return self.send(206, data[first:last + 1], **heads)

    def listing(self, bucket, query):
        if not os.path.isdir(bucket):
            return self.error(404, "NoSuchBucket", "The specified bucket does not exist")
        keys = sorted((os.path.relpath(os.path.join(root, name), bucket)
                       for root, _, names in os.walk(bucket) for name in names),
                      key=os.fsencode)
        keys = [key for key in keys if key.startswith(query.get("prefix", ""))]
        begin = int(query.get("continuation-token", "0=/+").split("=")[0])
        page = []
        for key in keys[begin:begin + PAGE]:
            path = os.path.join(bucket, key)
            with open(path, "rb") as data:
                etag = hashlib.md5(data.read()).hexdigest()
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S.123Z", time.gmtime(os.stat(path).st_mtime))
            page.append(f"<Contents><Key>{urllib.parse.quote_plus(key, safe='/')}</Key>"
                        f"<LastModified>{stamp}</LastModified><ETag>&quot;{etag}&quot;</ETag>"
                        f"<Size>{os.path.getsize(path)}</Size></Contents>")
        more = begin + PAGE < len(keys)
        token = f"{begin + PAGE}=/+"  # has to be escaped
        return self.send(200, (
            "<?xml version='1.0' encoding='UTF-8'?>\n<ListBucketResult "
            "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><EncodingType>url</EncodingType>"
            + (f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if more else "")
            + f"<IsTruncated>{str(more).lower()}</IsTruncated>" + "".join(page)
            + "</ListBucketResult>").encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
