# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Catalogues, without the program that writes them.

catalogue.py rows FILE prints ID|PATH|WIDTH of each sample
catalogue.py older FILE VERSION converts the catalogue to a version that had a row for each
                                  sample; for images of three channels in single files
"""

import sqlite3
import struct
import sys
import zlib

SECTIONS = ("about classes containers container_names present labels heights widths modes "
            "orientations states file_bytes mtimes identities path_lengths part_containers "
            "part_offsets part_bytes part_checksums part_methods path_groups paths").split()
TOGETHER, BLOCK = 16, 256


def column(data):
    def number(i):
        base, step, place = struct.unpack_from("<QQQ", data, i // BLOCK * 24)
        width = place & 255
        bits = int.from_bytes(data[place >> 8:], "little") >> i % BLOCK * width
        return (base + step * (bits & ((1 << width) - 1))) % 2**64
    return number


def paths(groups, data, n):
    for i in range(n):
        if i % TOGETHER == 0:
            at, path = column(groups)(i // TOGETHER), b""
        begin, end, middle = data[at], data[at + 1] >> 4, data[at + 1] & 15
        at += 2
        if middle == 15:
            middle = int.from_bytes(data[at:at + 2], "little")
            at += 2
        path = path[:begin] + data[at:at + middle] + path[len(path) - end:]
        at += middle
        yield path.decode()


def rows(db):
    """The path and a dict of numbers for each sample."""
    for _, deflated in db.execute("SELECT first, content FROM rows ORDER BY first"):
        data = zlib.decompress(deflated)
        head, n = struct.unpack_from("<I", data, 12)[0], struct.unpack_from("<I", data, 64)[0]
        places = [struct.unpack_from("<QQQ", data, head - 24 * (len(SECTIONS) - i))
                  for i in range(len(SECTIONS))]
        part = {name: data[at:at + size] for name, (at, size, _) in zip(SECTIONS, places)}
        numbers = {name: column(part[name]) for name in SECTIONS[5:13]}
        for i, path in enumerate(paths(part["path_groups"], part["paths"], n)):
            yield path, {name: number(i) for name, number in numbers.items()}


def make_older(db, version):
    modes = "" if version < 4 else " channels, bits, palette,"
    found = list(rows(db))
    db.execute("CREATE TABLE samples (id INTEGER PRIMARY KEY, path, class, label, bytes, mtime,"
               f" width, height,{modes} exif_orientation, mtime_ns, probed, gone,"
               " part_container, part_offset, part_bytes, part_checksum, part_method)")
    for i, (path, of) in enumerate(found):
        values = [i, path, path.split("/")[0], of["labels"], of["file_bytes"],
                  of["mtimes"] // 10**9, of["widths"], of["heights"]]
        values += [3, 8, 0] if modes else []
        values += [of["orientations"], of["mtimes"], of["states"] & 1, of["states"] >> 1]
        values += [None] * 5
        db.execute(f"INSERT INTO samples VALUES ({','.join('?' * len(values))})", values)
    db.execute("DROP TABLE rows")
    db.execute(f"PRAGMA user_version = {version}")


with sqlite3.connect(sys.argv[2]) as database:
    if sys.argv[1] == "older":
        make_older(database, int(sys.argv[3]))
    else:
        for number, (name, facts) in enumerate(rows(database)):
            print(number, name, facts["widths"], sep="|")
