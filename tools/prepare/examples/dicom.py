# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Loads a slice of a DICOM file in physical units (Hounsfield): shape = 64 64, dtype = float32."""

import io

import numpy
import pydicom


def prepare(data, name):
    file = pydicom.dcmread(io.BytesIO(data))
    slope, intercept = file.get("RescaleSlope", 1), file.get("RescaleIntercept", 0)
    return (file.pixel_array * float(slope) + float(intercept)).astype(numpy.float32)
