# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Replaces the words of a text by numbers: shape = 64, dtype = int32.

The small vocabulary is for this example; a real one is read from a file or a package. Shorter texts
are followed by zeros, longer ones are cut.
"""

import re

import numpy

LENGTH = 64
UNKNOWN = 1  # number of all other words; 0 stands for no word
WORDS = "a an and are at by dog in is it of on runs sea sun that the to tree was".split()
NUMBERS = {word: number for number, word in enumerate(WORDS, 2)}


def prepare(data, name):
    words = re.findall(r"\w+", data.decode("utf-8").lower())
    tokens = numpy.zeros(LENGTH, numpy.int32)
    for i, word in enumerate(words[:LENGTH]):
        tokens[i] = NUMBERS.get(word, UNKNOWN)
    return tokens
