# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""seeds.py KIND DIRECTORY: makes good inputs for a fuzz program to begin with. KIND: jpeg,
baseline, png, codecs, tar, far, zip, lmdb, ini, where, journal, tier, peer, resp or program."""

import glob
import io
import os
import struct
import sys
import tarfile
import tempfile
import zipfile
import zlib

import numpy
from PIL import Image

TOP = os.path.join(os.path.dirname(__file__), "..", "..")
COLUMNS = ("id", "path", "class", "label", "bytes", "mtime", "width", "score", "note")


def image(mode, width=19, height=13):
    rng = numpy.random.default_rng(width)
    small = Image.fromarray(rng.integers(0, 256, (5, 6, 3), dtype=numpy.uint8))
    return small.resize((width, height), Image.Resampling.BILINEAR).convert(mode)


def encode(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def jpeg():
    for mode in ("L", "RGB", "CMYK"):
        for progressive in (False, True):
            yield encode(image(mode), "JPEG", progressive=progressive)
    for subsampling in (0, 1, 2):
        yield encode(image("RGB", 33, 35), "JPEG", subsampling=subsampling, quality=30)
    profile = {"icc_profile": bytes(300), "exif": b"Exif\0\0II*\0\x08\0\0\0\0\0"}
    yield encode(image("RGB"), "JPEG", **profile)


def baseline():
    """JPEGs, and inputs from which fuzz_baseline.c makes some."""
    for subsampling in (0, 1, 2):
        for quality in (30, 75, 100):
            picture = image("RGB", 33 + quality % 7, 35)
            yield encode(picture, "JPEG", subsampling=subsampling, quality=quality)
            yield encode(picture.convert("L"), "JPEG", quality=quality, optimize=True)
    rng = numpy.random.default_rng(1)
    for number in range(20):
        coefficients = rng.integers(0, 256, 20 * number, dtype=numpy.uint8).tobytes()
        yield bytes((number, 40 + number, 70 - number, 5 * number, number % 5, number)) + coefficients


def png():
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I"):
        picture = image("L" if mode == "I" else mode if mode != "LA" else "RGBA")
        # not compressed, so that a changed byte is a changed pixel or filter
        yield encode(picture.convert(mode), "PNG", compress_level=0)
        yield encode(picture.convert(mode), "PNG")
    # Adam7, which PIL does not write: one pixel is one row of the first pass.
    data = bytearray(encode(image("RGB", 1, 1), "PNG", compress_level=0))
    data[28] = 1
    yield bytes(data)


def codecs():
    sys.path.insert(0, os.path.join(TOP, "tests", "clients"))
    from hazards_other import others
    for _, data in others():
        if len(data) < 8192:
            yield data
    # Run lengths of two grays. The input's size selects the preparation: here channels are kept.
    runs = (b"BM" + struct.pack("<IHHI", 0, 0, 0, 62) +
            struct.pack("<IiiHHIIiiII", 40, 5, 1, 1, 1, 1, 0, 0, 0, 2, 0) +
            bytes((0, 0, 0, 0, 255, 255, 255, 0, 5, 1, 0, 1)))
    for preparation in range(7, 11):
        yield runs + bytes((preparation - len(runs)) % 11)


MEMBERS = {
    "a/1.png": encode(image("RGB", 5, 4), "PNG"),
    "a/1.cls": b"3",
    "b/" + "long/" * 30 + "2.png": encode(image("L", 3, 3), "PNG"),
    "b/3.jpg": b"no image",
    "b/3.json": b'{"a": {"b": 7}}',
}


def tar():
    for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
            for name, data in MEMBERS.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        yield out.getvalue()[:8192]


def far():
    yield b"\0path,label,bytes\na/1.jpg,a,10\n\"b/2,\"\"x.png\",7,\n"
    yield b"\0path\r\na/1.jpg\r\n./b/c/2.png"
    yield b"\1# shards\na-000.tar\nhttp://host/b.tar?x=1\n"
    yield (b"\2<ListBucketResult><EncodingType>url</EncodingType><NextContinuationToken>1&quot;</NextContinuationToken><Contents>"
           b"<Key>a/b+%41.jpg</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
           b"<ETag>&quot;0a&quot;</ETag><Size>12</Size></Contents></ListBucketResult>")
    yield (b"\3HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-2/30\r\nETag: W/\"a\"\r\n"
           b"Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\nRetry-After: 3\r\n")


def make_zip():
    for kind in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", kind) as archive:
            for name, data in MEMBERS.items():
                archive.writestr(name, data)
        yield out.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        with archive.open("a/1.png", "w", force_zip64=True) as member:
            member.write(MEMBERS["a/1.png"])
    yield out.getvalue()


def lmdb_page(number, flags, nodes):
    """A page of 512 bytes."""
    page = bytearray(512)
    upper = 512
    for i, node in enumerate(nodes):
        upper -= len(node) + len(node) % 2
        page[upper:upper + len(node)] = node
        struct.pack_into("<H", page, 16 + 2 * i, upper)
    struct.pack_into("<QHHHH", page, 0, number, 0, flags, 16 + 2 * len(nodes), upper)
    return bytes(page)


def lmdb_node(key, value, flags=0, size=None):
    size = len(value) if size is None else size
    return struct.pack("<HHHH", size & 0xFFFF, size >> 16, flags, len(key)) + key + value


def lmdb():
    def meta(number, transaction, depth, root):
        body = struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 1 << 20)
        body += struct.pack("<IHH5Q", 512, 8, 0, 0, 0, 0, 0, (1 << 64) - 1)
        body += struct.pack("<IHH5Q", 0, 0, depth, 0, 1, 1, 2, root)
        body += struct.pack("<QQ", 9, transaction)
        return struct.pack("<QHHI", number, 0, 8, 0) + body + bytes(512 - 16 - len(body))

    value = MEMBERS["a/1.png"]
    far = struct.pack("<QHHI", 3, 0, 4, 1) + value
    leaf = lmdb_page(2, 2, [lmdb_node(b"a/1", b"small"),
                            lmdb_node(b"b/2", struct.pack("<Q", 3), 1, len(value))])
    branch = lmdb_page(4, 1, [struct.pack("<HHHH", 2, 0, 0, 0)])
    for depth, root in ((1, 2), (2, 4)):
        yield (meta(0, 1, depth, root) + meta(1, 0, 0, 2) + leaf + far.ljust(512, b"\0") + branch)


def ini():
    for path in sorted(glob.glob(os.path.join(TOP, "config", "*.ini"))):
        with open(path, "rb") as file:
            yield file.read()
    yield b"[job]\nname=a\ndataset=b\nwhere=label<3\n[tensor]\nresize=8x9\ncrop=7\n"
    yield b"[joaderfs]\ncache=1M\n[dataset a]\npath=/a\nsymlinks=follow\nextensions=*\n"


def program():
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }"
    for head in (b"\x93NUMPY\1\0v\0" + text.ljust(117) + b"\n",
                 b"\x93NUMPY\2\0t\0\0\0" + text.ljust(115) + b"\n"):
        yield b"array 1 224\n" + head + bytes(range(96))
    yield b"error 1 8\nno sound"


def where():
    for column in COLUMNS:
        yield f"{column} < 50 and not {column} is null".encode()
        yield f"{column} in (1, 'a/1', 0x10) or {column} between 1 and 2e3".encode()
    yield b"path like 'a/%' escape '\\' or path glob '*[1-3]'"
    yield b"case label when 1 then id % 2 else length(path) > 3 end"
    yield b"substr(class, 1, 1) || 'x' = upper(note) collate nocase"
    yield b"abs(cast(score as integer)) & ~1 << 2 -- comment\n"


def segment(epoch, before, records, positions=100):
    head = struct.pack("<8s4I2Q2I12x", b"JOADERJ\n", 1, 1, positions, 200, 0, 7, epoch, before)
    checksum = zlib.crc32(head)
    out = head + struct.pack("<I", checksum)
    for record in records:
        body = struct.pack("<BBHII", *record)
        checksum = zlib.crc32(body, checksum)
        out += struct.pack("<I", checksum) + body
    return out


def tier():
    """A name, and the file of sample 7; the last one is damaged."""
    def record(content, crc=0):
        head = b"joadtier" + struct.pack("<IIQQI", 1, 7, 0x0123456789abcdef, len(content),
                                         zlib.crc32(content) ^ crc)
        return head + struct.pack("<I", zlib.crc32(head)) + content
    for name in (b"notes", b"00000007-0123456789abcdef", b"00000007-0123456789abcdef.new",
                 b"00000fff-ffffffffffffffff", b"00001000-0000000000000000"):
        for content in (b"", b"x", bytes(range(256)) * 3):
            yield name.ljust(29, b"\0") + record(content)
    yield b"a".ljust(29, b"\0") + record(b"abc", 1)


def journal():
    """The first two bytes: the length of the first of two segments."""
    first = [(1, 0, 0, 0, 0), (2, 1, 0, 5, 6), (64, 0, 0, 77, 1), (3, 0, 0, 5, 1), (4, 0, 0, 5, 0)]
    second = [(1, 1, 0, 0, 0), (4, 0, 1, 5, 0), (5, 0, 1, 0, 0), (6, 0, 1, 0, 0), (2, 2, 0, 7, 9)]
    whole = segment(4, 0xFFFFFFFF, first)
    for positions in (100, 99):
        other = segment(5, 4, second, positions)
        yield struct.pack("<H", len(whole)) + whole + other
        yield struct.pack("<H", len(whole)) + whole + other[:-5]
        yield struct.pack("<H", 0) + segment(5, 0xFFFFFFFF, second, positions)


def hello(name):
    return struct.pack("<8sII32sQ64sQ", b"joaderfs", 2, 0, bytes(32), 5, name, 0)


def peer():
    """The first two bytes: a server (0) or a client (1), greeted before (2); the pieces."""
    texts = struct.pack("<IIQII", 0, 6, 77, 8, 0) + b"photoscrop 224"
    space = struct.pack("<II", 1, len(texts)) + texts
    wants = b"".join(struct.pack("<II", 1024 + i, i) for i in range(40))
    fetch = struct.pack("<IIII", 2, 8 + len(wants), 0, 40) + wants
    answers = b""
    for request, status, head, length in ((2, 0, 4, 200), (0, 2, 0, 0), (3, 0, 0, 0), (1, 0, 1, 9)):
        answer = struct.pack("<IIIIQ", 0x7265706A, 1024 + request, status, head, length)
        answers += answer + b"\7" * head + bytes(length)
    for piece in (0, 1, 13, 100):
        yield bytes((0, piece)) + hello(b"theirs") + space + fetch
        yield bytes((2, piece)) + space + fetch + fetch
        yield bytes((1, piece)) + hello(b"theirs") + answers
        yield bytes((3, piece)) + answers


def reply(value):
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(map(reply, value))
    if isinstance(value, int):
        return b":%d\r\n" % value
    return b"$%d\r\n%s\r\n" % (len(value), value)


def resp():
    """The first byte: whether the node has a job. Then the replies."""
    ids = struct.pack("<IIHHI", 12346, 1, 0, 39, 16) + struct.pack("<40H", *range(40))
    none, one = [1, 1, b"", b"3", []], [1, 1, b"", b"3", [b"OK", b"0:2"]]
    nodes = [b"node0", b"5 1 [::]:7", b"node1", b""]
    facts = [b"photos", b"11", b"2", b"4", b"2", ids]
    chunks, part = [[b"0-1", [b"", b"4"]]], struct.pack("<2I", 3, 9)

    def jobs(drawn):
        state = [b"0", drawn, b"40", b"2", b"4", b"11"]
        return [[b"job0", state, [b"0", b"0:0", b"1", b"0:2"], b"5 0"]]
    empty, some = jobs(b"0"), jobs(b"4")
    draws = [[ids], 0, none, 0]
    for says in ([none, nodes, empty, empty, 5, empty, facts] + draws * 3,
                 [none, nodes, some, some, 5, some, facts, chunks, part, part] + draws * 3,
                 [[0] + none[1:], nodes, empty, empty, 0, 5, [1, 1]] + [none] * 4,
                 [[0, 0] + none[2:], nodes, some, some, 0, 0, 0, 5, [1, 1], [b"job0 0 1 2", part]]):
        yield b"\0" + b"".join(map(reply, says))
    for says in ([none, [], one, nodes, some, some, 0, 5, some, chunks, part, part] + draws * 3,
                 [none, facts[:1] + [b"40", b"12"] + facts[2:5] + [b"0", b"0"]]):
        yield b"\1" + b"".join(map(reply, says))


def main():
    kinds = {"jpeg": jpeg, "baseline": baseline, "png": png, "codecs": codecs, "tar": tar, "far": far, "zip": make_zip, "lmdb": lmdb,
             "ini": ini, "where": where, "journal": journal, "tier": tier, "peer": peer,
             "resp": resp, "program": program, "map": lambda: [b"\n"]}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    for number, seed in enumerate(kinds[sys.argv[1]]()):
        with open(os.path.join(sys.argv[2], f"seed-{number:03d}"), "wb") as out:
            out.write(seed)


main()
