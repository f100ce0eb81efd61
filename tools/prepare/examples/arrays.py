# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Loads arrays of .npy files, or the array "data" of .npz files: shape = 4 6, dtype = float32."""

import io

import numpy


def prepare(data, name):
    array = numpy.load(io.BytesIO(data), allow_pickle=False)
    if isinstance(array, numpy.lib.npyio.NpzFile):
        array = array["data"]
    return array.astype(numpy.float32)
