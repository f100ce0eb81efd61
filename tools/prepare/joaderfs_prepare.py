#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Runs a Python function as a program of [preparation NAME]: joaderfs-prepare(7).

    import joaderfs_prepare

    def prepare(data, name):          # the bytes of a sample, and its name
        return numpy.load(io.BytesIO(data))

    joaderfs_prepare.serve(prepare)

The function returns a NumPy array with the dtype and shape of the daemon's ini. An exception is an
error of this sample alone. The function's output goes to standard error. When the process ends, the
daemon's log shows the last line of it.

    command = /usr/bin/python3 .../joaderfs_prepare.py /etc/joaderfs/spectrogram.py

serves the function `prepare` of that file, which need not import this module.
"""

import os
import runpy
import sys

import numpy

READY = b"joaderfs-prepare 1\n"
MOST_ERROR = 1024


def _write(fd, *parts):
    """Writes all parts without copying them."""
    parts = [memoryview(part) for part in parts]
    while parts:
        written = os.writev(fd, parts)
        while parts and written >= len(parts[0]):
            written -= len(parts.pop(0))
        if parts:
            parts[0] = parts[0][written:]


def _head(array):
    """Returns the head of an .npy file for the array."""
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (array.dtype.str, array.shape)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def _read(stdin, size):
    data = stdin.read(size)
    if len(data) != size:
        sys.exit(0)  # the daemon has ended
    return data


def serve(function):
    """Answers each sample with function(data, name), until the daemon ends."""
    out = os.dup(1)
    os.dup2(2, 1)
    stdin = os.fdopen(os.dup(0), "rb", buffering=4096)
    expected = os.environ.get("JOADERFS_ARRAY")
    heads = {}
    _write(out, READY)
    while True:
        line = stdin.readline()
        if not line:
            return
        _, number, name_bytes, size = line.split()
        name = os.fsdecode(_read(stdin, int(name_bytes)))
        data = _read(stdin, int(size))
        try:
            array = numpy.asarray(function(data, name), order="C")
            kind = array.dtype, array.shape
            if kind not in heads:
                found = "%s %r" % (array.dtype.str, array.shape)
                if expected and found != expected:
                    raise ValueError("an array of %s, expected: %s" % (found, expected))
                heads[kind] = _head(array)
        except Exception as error:
            text = "%s: %s" % (type(error).__name__, error)
            text = text.encode("utf-8", "replace")[:MOST_ERROR]
            _write(out, b"error %s %d\n" % (number, len(text)) + text)
            continue
        head = heads[kind]
        line = b"array %s %d\n" % (number, len(head) + array.nbytes)
        _write(out, line, head, array.reshape(-1).view(numpy.uint8).data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: joaderfs_prepare.py FILE, which has a function prepare(data, name)")
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))
    serve(runpy.run_path(sys.argv[1])["prepare"])
