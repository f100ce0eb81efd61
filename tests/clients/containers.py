# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""containers.py SCAN COUNT: compares containers as joaderfs and Python's zipfile and tarfile read
them: containers as other programs write them, and COUNT containers with a false count, size or
offset. A sample that joaderfs lists has the bytes that Python reads, or EIO where a number is
false. joaderfs lists each name that Python lists, or refuses the container."""

import io
import os
import random
import struct
import sys
import tarfile
import tempfile
import warnings
import zipfile
import zlib

from scanner import Scanner

MANY = 65540


def describe(data):
    return f"{len(data)} {zlib.crc32(data):08x}"


# --- reference readers ----------------------------------------------------------------------


def read_zip(path):
    """The members; a member that can't be read is None. None: the file can't be read."""
    found = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                try:
                    found[info.filename] = describe(archive.read(info.filename))
                except Exception:  # pylint: disable=broad-except; a false number may raise anything
                    found[info.filename] = None
    except Exception:  # pylint: disable=broad-except
        return None
    return found


def target(archive, info):
    """Whether the link leads to a file; with a false number it may not."""
    try:
        return archive.extractfile(info) is not None
    except KeyError:
        return False


def read_tar(path):
    found = {}
    try:
        with tarfile.open(path, "r:") as archive:
            for info in archive:
                if info.islnk() and not target(archive, info):
                    continue
                if info.isreg() or info.islnk():
                    found[info.name] = describe(archive.extractfile(info).read())
    except Exception:  # pylint: disable=broad-except
        return None
    return found


# --- writing containers ---------------------------------------------------------------------


def members(rng):
    for number in range(rng.randrange(2, 7)):
        name = f"{rng.choice('ab')}/{number % 5}.jpg"
        yield name, rng.randbytes(rng.randrange(900))


def make_zip(rng):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = b"x" * rng.choice((0, 0, 30))
        for name, data in members(rng):
            info = zipfile.ZipInfo(name)
            info.compress_type = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
            with archive.open(info, "w", force_zip64=rng.random() < 0.3) as member:
                member.write(data)
    return bytearray(out.getvalue())


def make_tar(rng):
    out = io.BytesIO()
    kind = rng.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT))
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        for name, data in members(rng):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
            if rng.random() < 0.3:
                link = tarfile.TarInfo(f"b/link{rng.randrange(3)}.jpg")
                link.type, link.linkname = tarfile.LNKTYPE, info.name
                archive.addfile(link)
    return bytearray(out.getvalue())


# The offsets and lengths of counts, sizes and offsets in the file.
ZIP_FIELDS = {
    b"PK\3\4": ((18, 4), (22, 4), (26, 2), (28, 2)),
    b"PK\1\2": ((16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)),
    b"PK\5\6": ((8, 2), (10, 2), (12, 4), (16, 4), (20, 2)),
}


def other(rng, value, size):
    near = value + rng.choice((-512, -46, -2, -1, 1, 2, 46, 512))
    return rng.choice((near, near, 0, rng.getrandbits(8 * size))) % (1 << 8 * size)


def lie_in_zip(rng, data):
    magic = rng.choice(list(ZIP_FIELDS))
    places = [at for at in range(len(data)) if data[at:at + 4] == magic]
    at, size = rng.choice(ZIP_FIELDS[magic])
    at += rng.choice(places)
    form = "<H" if size == 2 else "<I"
    if at + size <= len(data):
        struct.pack_into(form, data, at, other(rng, struct.unpack_from(form, data, at)[0], size))


def lie_in_tar(rng, data):
    at = rng.choice([at for at in range(0, len(data), 512) if data[at + 257:at + 262] == b"ustar"])
    size = max(0, int(data[at + 124:at + 135], 8) + rng.choice((-600, -512, -1, 1, 512, 1024)))
    data[at + 124:at + 136] = b"%011o\0" % size
    data[at + 148:at + 156] = b" " * 8
    data[at + 148:at + 156] = b"%06o\0 " % sum(data[at:at + 512])


# --- comparing --------------------------------------------------------------------------------


def listed(scanner):
    found = {}
    for line in scanner.ask("samples"):
        path, _, content = line.split("\t")
        assert path not in found, path
        found[path] = None if content == "EIO" else content
    return found


def compare(scanner, path, expected, honest):
    """Whether joaderfs accepts the container."""
    if not scanner.open(path):
        assert not honest, f"refused: {scanner.log()}"
        assert "joaderfs" in scanner.log() or "dataset x" in scanner.log(), "no message"
        return False
    found = listed(scanner)
    expected = {name: content for name, content in (expected or {}).items()
                if name.endswith(".jpg") and "/" in name.strip("/")}
    if not honest:  # a container that contradicts itself may fail where Python accepts it
        expected.update((name, None) for name in found if found[name] is None and name in expected)
    assert found == expected, f"{found}\nexpected {expected}"
    return True


def corrected(scanner, top):
    """Members that were appended by `tar rf`: images with labels, and one of each alone."""
    path = os.path.join(top, "corrected.tar")
    names = {"1.jpg": b"old 1", "1.cls": b"1", "2.jpg": b"old 2", "2.cls": b"1",
             "3.jpg": b"3", "3.cls": b"1", "4.jpg": b"4", "4.cls": b"0"}
    again = {"1.jpg": b"new 1", "1.cls": b"2", "2.jpg": b"new 2", "3.cls": b"2"}
    with tarfile.open(path, "w") as archive:
        for name, data in (*names.items(), *again.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    names.update(again)
    expected = {f"{names[f'{i}.cls'].decode()}/{i}.jpg": describe(names[f"{i}.jpg"])
                for i in range(1, 5)}
    assert scanner.open(path), scanner.log()
    assert listed(scanner) == expected, f"{listed(scanner)}\nexpected {expected}"
    assert "2 members occur again later" in scanner.log(), scanner.log()


def linked(scanner, top):
    """Hard links to names that need an extended header, to a link, and to nothing."""
    for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
        path, name = os.path.join(top, "linked.tar"), "a/" + "é" * 60 + ".jpg"
        links = {"b/1.jpg": name, "b/2.jpg": "b/1.jpg", "c/3.jpg": "nothing", "c/4.jpg": "../etc"}
        if kind == tarfile.USTAR_FORMAT:
            name, links["b/1.jpg"] = "a/x.jpg", "./a/x.jpg"
        with tarfile.open(path, "w", format=kind) as archive:
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"bytes"))
            for link, info.linkname in links.items():
                info.name, info.type, info.size = link, tarfile.LNKTYPE, 0
                archive.addfile(info)
        assert scanner.open(path), scanner.log()
        expected = dict.fromkeys((name, "b/1.jpg", "b/2.jpg"), describe(b"bytes"))
        assert listed(scanner) == expected, f"{listed(scanner)}\nexpected {expected}"
        assert "2 symbolic links, and hard links to no file" in scanner.log(), scanner.log()


def many(scanner, top):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(MANY):
            archive.writestr(f"a/{number}.jpg", b"x")
    data = out.getvalue()
    end, end64 = data.rindex(b"PK\5\6"), data.rindex(b"PK\6\6")
    at, = struct.unpack_from("<Q", data, end64 + 48)
    path = os.path.join(top, "many.zip")
    with open(path, "wb") as file:
        file.write(data[:end64] + data[end:end + 8])
        file.write(struct.pack("<HHIIH", MANY % 65536, MANY % 65536, end64 - at, at, 0))
    assert scanner.open(path), scanner.log()
    count = len(scanner.ask("where", "1"))
    assert count == MANY, f"{count} samples in a zip of {MANY}, which counts them modulo 65536"


def main():
    warnings.simplefilter("ignore")  # zipfile warns of equal names
    program, count = sys.argv[1], int(sys.argv[2])
    kinds = (("x.zip", make_zip, lie_in_zip, read_zip), ("x.tar", make_tar, lie_in_tar, read_tar))
    taken = [0, 0]
    with tempfile.TemporaryDirectory() as top:
        scanner = Scanner(program, top)
        many(scanner, top)
        corrected(scanner, top)
        linked(scanner, top)
        for seed in range(count):
            rng = random.Random(seed)
            name, make, lie, read = kinds[seed % 2]
            data, honest = make(rng), seed % 8 < 2
            if not honest:
                lie(rng, data)
            path = os.path.join(top, name)
            with open(path, "wb") as file:
                file.write(data)
            try:
                taken[seed % 2] += compare(scanner, path, read(path), honest)
            except AssertionError as error:
                sys.exit(f"seed {seed}, {name}: {error}")
        scanner.end()
    assert all(count / 8 < n < count / 2 for n in taken), taken
    print(f"containers: {count}, of which {taken[0]} zips and {taken[1]} tars are taken")


main()
