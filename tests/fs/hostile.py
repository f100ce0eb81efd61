# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""hostile.py DATASET OUT: makes tars, zips and other containers with false contents from the
images of an ImageFolder."""

import gzip
import io
import os
import struct
import sys
import tarfile
import tempfile
import zipfile


def samples(top):
    for root, _, files in sorted(os.walk(top)):
        for file in sorted(files):
            path = os.path.join(root, file)
            with open(path, "rb") as data:
                yield os.path.relpath(path, top), data.read()


def tar(members, kind=tarfile.GNU_FORMAT, **fields):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in fields.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def field(data, at, value, header=0):
    """Changes a field of a header, and corrects the checksum."""
    data = bytearray(data)
    data[header + at:header + at + len(value)] = value
    data[header + 148:header + 156] = b" " * 8
    data[header + 148:header + 155] = b"%06o\0" % sum(data[header:header + 512])
    return bytes(data)


def one(name):
    return tar([(name, b"x" * 600)])


def pax(line):
    head = tarfile.TarInfo("pax")
    head.type, head.size = b"x", len(line)
    return head.tobuf() + line.ljust(512, b"\0") + one("a/x.jpg")


def tars(files):
    good = tar(files)
    second = next(i for i in range(512, len(good), 512) if good[i + 257:i + 262] == b"ustar")
    yield "good.tar", good
    yield "gzip.tar", gzip.compress(good)
    yield "shards.tar.gz", gzip.compress(good)
    yield "zstd.tar", b"\x28\xb5\x2f\xfd" + good
    yield "text.tar", b"this is no tar\n" * 100
    broken = bytearray(good)
    broken[second + 5] ^= 1
    yield "checksum.tar", bytes(broken)
    end = good.rindex(b"ustar") - 257
    yield "cut-member.tar", good[:end + 600]
    yield "cut-header.tar", good[:end + 100]
    yield "empty.tar", b""
    yield "dots.tar", one("../x.jpg")
    yield "inner-dots.tar", one("class0/../../x.jpg")
    yield "absolute.tar", one("/etc/x.jpg")
    largest = b"\x80\0\0\0" + struct.pack(">Q", (1 << 63) - 1)
    yield "huge.tar", field(one("a/x.jpg"), 124, largest)
    yield "beyond.tar", field(one("a/x.jpg"), 124, b"\x80\0\0\0" + struct.pack(">Q", 1 << 63))
    yield "negative.tar", field(one("a/x.jpg"), 124, b"\xff" * 12)
    yield "pax-size.tar", pax(b"29 size=18446744073709551616\n")
    yield "pax-length.tar", pax(b"99999999999 size=1\n")
    yield "pax-dots.tar", pax(b"17 path=../x.jpg\n")
    yield "sparse.tar", pax(b"22 GNU.sparse.major=1\n")
    yield "long-name.tar", field(tar([("a/" + "x" * 200, b"")]), 124, b"00007777777\0")[:512] \
        + bytes(8 << 20)


def make_zip(files, kind=zipfile.ZIP_STORED, system=3):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, data in files:
            info = zipfile.ZipInfo(name)
            info.create_system, info.compress_type = system, kind
            archive.writestr(info, data)
    return out.getvalue()


def patched(data, at, form, *values):
    data = bytearray(data)
    struct.pack_into(form, data, at, *values)
    return bytes(data)


def zips(files):
    good = make_zip(files, zipfile.ZIP_DEFLATED)
    stored = make_zip(files)
    entry, end = good.index(b"PK\1\2"), good.index(b"PK\5\6")
    entry0, end0 = stored.index(b"PK\1\2"), stored.index(b"PK\5\6")
    yield "good.zip", good
    yield "text.zip", b"this is no zip\n" * 100
    yield "backslash.zip", make_zip([("data/cat\\1.jpg", b"x")])
    yield "unix.zip", make_zip([("cat\\1.jpg", b"x")])
    yield "windows.zip", make_zip([(name.replace("/", "\\"), data) for name, data in files], system=0)
    yield "cut.zip", good[:-30]
    yield "encrypted.zip", patched(good, entry + 8, "<H", 1)
    yield "method.zip", patched(good, entry + 10, "<H", 12)
    yield "dots.zip", make_zip([("../x.jpg", b"x")])
    yield "far.zip", patched(good, entry + 42, "<I", entry)
    yield "beyond.zip", patched(good, entry + 42, "<I", 0xFFFFFFF0)
    yield "directory.zip", patched(good, end + 16, "<I", 0xFFFFFF00)
    yield "many.zip", patched(good, end + 8, "<HH", 60000, 60000)
    yield "few.zip", patched(good, end + 8, "<HH", 2, 2)
    size, = struct.unpack_from("<I", good, end + 12)
    last = good.rindex(b"PK\1\2")
    yield "short.zip", patched(patched(good, end + 8, "<HH", len(files) - 1, len(files) - 1),
                               end + 12, "<I", size - (end - last))
    local, = struct.unpack_from("<I", good, last + 42)
    yield "other.zip", patched(good, entry + 42, "<I", local)
    yield "large.zip", patched(stored, entry0 + 24, "<I", 0x7FFFFFFF)
    yield "bomb.zip", patched(good, entry + 24, "<I", 0xFFFFFFF0)


def lmdbs(files):
    yield "text.lmdb", b"this is no lmdb\n" * 100
    try:
        import lmdb
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "x")
        with lmdb.open(path, subdir=False, map_size=1 << 24) as env:
            with env.begin(write=True) as transaction:
                for name, data in [*files, *((f"a/{i}", b"x" * 40) for i in range(500))]:
                    transaction.put(name.encode(), data)
        with open(path, "rb") as file:
            good = file.read()
    page = struct.unpack_from("<I", good, 40)[0]
    newer = max((0, page), key=lambda at: struct.unpack_from("<Q", good, at + 144)[0])
    at = newer + 128
    root, = struct.unpack_from("<Q", good, at)
    yield "root.lmdb", patched(good, at, "<Q", 1 << 40)
    yield "cut.lmdb", good[:root * page]
    yield "circle.lmdb", patched(good, root * page + struct.unpack_from(
        "<H", good, root * page + 16)[0], "<HHH", root, 0, 0)
    yield "key.lmdb", patched(good, root * page + 16, "<H", page - 2)
    yield "depth.lmdb", patched(good, newer + 94, "<H", 1000)
    yield "keys.lmdb", patched(good, newer + 120, "<Q", 3)
    yield "duplicates.lmdb", patched(good, newer + 92, "<H", 4)


def main():
    top, out = sys.argv[1:]
    os.makedirs(out)
    files = list(samples(top))
    for name, data in (*tars(files), *zips(files), *lmdbs(files)):
        with open(os.path.join(out, name), "wb") as file:
            file.write(data)


main()
