# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Makes logarithmic spectrograms of WAV files of 16 bits: shape = 1 128 80, dtype = float32.

A spectrogram has 80 windows of 256 values that overlap by half, about 0.65 s at 16 kHz. Shorter
sounds are followed by silence, longer ones are cut.
"""

import io
import wave

import numpy

FRAMES, BINS, STEP = 80, 128, 128
WINDOW = numpy.hanning(2 * BINS)


def prepare(data, name):
    with wave.open(io.BytesIO(data)) as file:
        if file.getsampwidth() != 2:
            raise ValueError("%d bytes in a sample, expected: 2" % file.getsampwidth())
        sound = numpy.frombuffer(file.readframes(file.getnframes()), "<i2")
        sound = sound.reshape(-1, file.getnchannels()).mean(axis=1) / 32768
    padded = numpy.zeros(STEP * (FRAMES + 1))
    padded[:len(sound)] = sound[:len(padded)]
    frames = numpy.lib.stride_tricks.sliding_window_view(padded, 2 * BINS)[::STEP]
    power = numpy.abs(numpy.fft.rfft(frames * WINDOW, axis=1)[:, :BINS]) ** 2
    return numpy.log(power + 1e-10).T[numpy.newaxis].astype(numpy.float32)
