# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Loads a volume of a NIfTI-1 file, .nii or .nii.gz: shape = 4 5 6, dtype = float32.

The axes of the array are array[z, y, x], because x, the first axis of the file, changes fastest.
"""

import gzip
import struct

import numpy

TYPES = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4"}


def prepare(data, name):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    order = "<" if struct.unpack_from("<i", data)[0] == 348 else ">"
    if struct.unpack_from(order + "i", data)[0] != 348 or data[344:347] != b"n+1":
        raise ValueError("no NIfTI-1 file")
    axes = struct.unpack_from(order + "8h", data, 40)
    kind = struct.unpack_from(order + "h", data, 70)[0]
    begin, slope, intercept = struct.unpack_from(order + "3f", data, 108)
    shape = axes[axes[0]:0:-1]
    volume = numpy.frombuffer(data, order + TYPES[kind], int(numpy.prod(shape)), int(begin))
    volume = volume.reshape(shape).astype(numpy.float32)
    return volume * numpy.float32(slope) + numpy.float32(intercept) if slope else volume
