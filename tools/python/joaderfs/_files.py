# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Lists and reads the files below a job's directory, and parses the images in them."""

from __future__ import annotations

import io
import mmap
import os
import re
from typing import Any, Callable

import numpy

LAYOUTS = ("flat", "classes", "mirror", "tar", "batch")
BESIDE = (b".cls", b".json", b".labels.npy")


def read_ini(path: str) -> dict[str, str]:
    """Returns the keys of all sections without a name, such as [tensor]. Their keys all differ."""
    return _read_sections(path)[""]


def _read_sections(path: str) -> dict[str, dict[str, str]]:
    """Returns the keys by the name of the section: "mask" for [tensor mask], "" for [tensor]."""
    keys: dict[str, dict[str, str]] = {"": {}}
    name = ""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            key, equals, value = line.rstrip("\n").partition(" = ")
            if line.startswith("["):
                name = line.strip("[]\n").partition(" ")[2]
                keys.setdefault(name, {})
            elif equals:
                keys[name][key] = value
    return keys


class Pair:
    """A section [tensor NAME] with the key from: describes the second image of each sample."""

    def __init__(self, name: str, ini: dict[str, str], own: dict[str, str]):
        usual = ini.get("format", "ppm")
        self.name = name
        self.ini = {**ini, "dtype": "uint8", "axes": "HWC",
                    "format": "png" if usual in ("ppm", "bmp") else usual, **own}
        kind = self.ini["format"]
        self.ending = f".{name}.{'npy' if kind == 'record' else kind}".encode()


def _unescaped(text: str) -> str:
    """Returns the name that joaderfs has escaped: joaderfs(8), Names in texts."""
    def byte(match: re.Match[bytes]) -> bytes:
        code = match.group(1)
        return {b"n": b"\n", b"t": b"\t", b"\\": b"\\"}.get(code) or bytes([int(code[1:], 16)])
    return os.fsdecode(re.sub(rb"\\(n|t|\\|x[0-9a-f]{2})", byte, os.fsencode(text)))


class Place:
    """A directory of samples, and the settings of its job.

    path may be a job's directory, which stands for the running epoch; an epoch of it, as current
    or epoch-0003; a link to one of these; or a copy of such a directory.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.directory = os.path.realpath(os.fspath(path))
        above = os.path.dirname(self.directory)
        self.job: str | None = None
        if os.path.isfile(os.path.join(self.directory, "job.ini")):
            self.job = self.directory
            self.directory = os.path.join(self.job, "current")
        elif os.path.isfile(os.path.join(above, "job.ini")):
            self.job = above
        if not os.path.isdir(self.directory):
            raise FileNotFoundError(f"{os.fspath(path)}: there is no such directory of samples")
        sections = _read_sections(os.path.join(self.job, "job.ini")) if self.job else {"": {}}
        self.ini = sections.pop("")
        self.pair = next((Pair(name, self.ini, own) for name, own in sections.items()
                          if "from" in own), None)
        self.layout = self.ini.get("layout") or _guess(self.directory)
        comes_along = self.ini.get("beside", "").split() + ["txt"] * ("text" in self.ini)
        self.beside = BESIDE + tuple(b"." + ending.encode() for ending in comes_along)
        if self.pair:
            self.beside += (self.pair.ending,)

    @property
    def classes(self) -> list[str]:
        """The names of the labels, in the order of the labels."""
        try:
            with open(os.path.join(os.path.dirname(self.directory), "classes.txt"),
                      encoding="utf-8", errors="surrogateescape") as file:
                return [_unescaped(line.rstrip("\n")) for line in file]
        except FileNotFoundError:
            return sorted(entry.name for entry in os.scandir(self.directory) if entry.is_dir())

    def epoch(self, number: int) -> str:
        """Returns the directory of an epoch. A copy has only one epoch."""
        return os.path.join(self.job, f"epoch-{number:04}") if self.job else self.directory

    def names(self) -> numpy.ndarray:
        """Returns the names of the files, in one array, so that forked workers share the memory."""
        found: list[bytes] = []
        _walk(os.fsencode(self.directory), b"", self.beside, found)
        found.sort()
        return numpy.array(found, dtype=numpy.bytes_) if found else numpy.zeros(0, "S1")


def _guess(directory: str) -> str:
    for entry in os.scandir(directory):
        if entry.is_dir():
            continue
        for layout, pattern in (("batch", r"batch-\d+\.npy"), ("tar", r"shard-\d+\.tar"),
                                ("flat", r"\d+\.cls")):
            if re.fullmatch(pattern, entry.name):
                return layout
    return "classes"


def _walk(top: bytes, below: bytes, beside: tuple[bytes, ...], found: list[bytes]) -> None:
    for entry in os.scandir(os.path.join(top, below)):
        if entry.is_dir():
            _walk(top, below + entry.name + b"/", beside, found)
        elif not entry.name.endswith(beside):
            found.append(below + entry.name)


# --- bytes -----------------------------------------------------------------------------------


def read_file(path: bytes | str, room: Callable[[int], numpy.ndarray]) -> numpy.ndarray:
    """Reads a file into the array that room(bytes) returns."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        data = room(size)
        done = 0
        while done < size:
            n = file.readinto(memoryview(data)[done:])
            if not n:
                break
            done += n
    return data[:done]


def map_file(path: bytes | str, room: Callable[[int], numpy.ndarray]) -> numpy.ndarray:
    """Maps a file. Its pages are not copied, unless this process writes to them. When the array is
    freed, joaderfs counts the samples as read (consumed)."""
    with open(path, "rb", buffering=0) as file:
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except (OSError, ValueError):  # the file system has no mappings
            return read_file(path, room)
    return numpy.frombuffer(mapped, numpy.uint8)


# --- images ----------------------------------------------------------------------------------

PPM = re.compile(rb"P([56])\s+(\d+)\s+(\d+)\s+255\s")


class Parser:
    """Makes arrays from the bytes of a file. Does not copy pixels of ppm, npy, record and raw."""

    def __init__(self, ini: dict[str, str], pair: Pair | None = None):
        self.pair = pair
        self.raw = _raw_kind(ini) if ini.get("format") == "raw" else None
        self.mode = {"gray": "L", "keep": None}.get(ini.get("channels", "rgb"), "RGB")
        self.head: tuple[bytes, numpy.dtype, tuple[int, ...]] | None = None

    def parse(self, data: numpy.ndarray, path: bytes | str) -> Any:
        """Returns (image, label). label is None if the file has no label."""
        if self.raw:
            return data.view(self.raw[0]).reshape(self.raw[1]), None
        start = data[:64].tobytes()
        if start.startswith(b"\x93NUMPY"):
            return self._npy(data)
        head = PPM.match(start)
        if head:
            width, height = int(head[2]), int(head[3])
            channels = 3 if head[1] == b"6" else 1
            end = head.end() + height * width * channels
            return data[head.end():end].reshape(height, width, channels), None
        if start.startswith(b"BM"):
            return _bmp(data), None
        return _pillow(data, path, self.mode), None

    def _npy(self, data: numpy.ndarray) -> Any:
        """Parses an .npy file. A head that equals the head of the last file is not parsed again."""
        if not self.head or data[:len(self.head[0])].tobytes() != self.head[0]:
            file = io.BytesIO(data[:65536].tobytes())
            version = numpy.lib.format.read_magic(file)
            read = (numpy.lib.format.read_array_header_1_0 if version == (1, 0)
                    else numpy.lib.format.read_array_header_2_0)
            shape, _, kind = read(file)
            self.head = (file.getvalue()[:file.tell()], kind, shape)
        head, kind, shape = self.head
        size = kind.itemsize * int(numpy.prod(shape, dtype=numpy.int64))
        array = data[len(head):len(head) + size].view(kind).reshape(shape)
        if kind.names:
            image = (array["image"], array[self.pair.name]) if self.pair else array["image"]
            if "label" not in kind.names:  # a batch of pairs has a file for labels
                return image, None
            label = array["label"]  # a vector if labels are columns
            return image, label.copy() if label.ndim else int(label)
        return array, None


def _raw_kind(ini: dict[str, str]) -> tuple[numpy.dtype, tuple[int, ...]]:
    sizes = (ini.get(key, "") for key in
             ("random_resized_crop", "random_crop", "pad", "crop", "resize"))
    size = next(text for text in sizes if re.fullmatch(r"\d+x\d+|square", text))
    if size == "square":
        side = ini["resize"].rpartition(":")[2]
        size = f"{side}x{side}" if side.isdecimal() else ini.get("crop", side)
    if ini.get("channels") == "keep":
        raise ValueError("found format = raw and channels = keep, which do not tell the kind of "
                         "the pixels, allowed: format = npy or record")
    width, height = map(int, size.split("x"))
    channels = 1 if ini.get("channels") == "gray" else 3
    shape = (channels, height, width) if ini["axes"] == "CHW" else (height, width, channels)
    frames = (int(ini["frames"]),) if ini.get("group") == "directory" else ()
    return numpy.dtype(ini["dtype"]), frames + shape


def _bmp(data: numpy.ndarray) -> numpy.ndarray:
    begin = int(data[10:14].view("<u4")[0])
    width, height = (int(n) for n in data[18:26].view("<i4"))
    if int(data[28:30].view("<u2")[0]) != 24:
        raise ValueError("found a BMP of other than 24 bits")
    row = (3 * width + 3) // 4 * 4
    rows = data[begin:begin + row * abs(height)].reshape(abs(height), row)
    pixels = rows[:, :3 * width].reshape(abs(height), width, 3)
    return numpy.ascontiguousarray(pixels[::-1 if height > 0 else 1, :, ::-1])


def _pillow(data: numpy.ndarray, path: bytes | str, mode: str | None) -> numpy.ndarray:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"{os.fsdecode(path)}: found neither ppm, bmp nor npy; "
                          "to read others needs Pillow") from error
    image = Image.open(io.BytesIO(data))
    pixels = numpy.array(image.convert(mode) if mode else image)
    if image.mode == "I" and mode is None:  # Pillow's mode for gray of 16 bits
        pixels = pixels.astype(numpy.uint16)
    return pixels.reshape(image.height, image.width, -1)
