# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Texts become numbers of words: shape = 64, dtype = int32.

A vocabulary of this file's own; a real one is read from a file beside it, or from a package. What
is shorter is followed by zeros, what is longer is cut.
"""

import re

import numpy

LENGTH = 64
UNKNOWN = 1  # 0 is none
WORDS = "a an and are at by dog in is it of on runs sea sun that the to tree was".split()
NUMBERS = {word: number for number, word in enumerate(WORDS, 2)}


def prepare(data, name):
    words = re.findall(r"\w+", data.decode("utf-8").lower())
    tokens = numpy.zeros(LENGTH, numpy.int32)
    for i, word in enumerate(words[:LENGTH]):
        tokens[i] = NUMBERS.get(word, UNKNOWN)
    return tokens
