// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Check a file's preamble, the bytes before its pixels. PIL refuses a file with a damaged preamble,
 * but libjpeg and libpng skip the damage. Return 0 or -EIO, with a message of at most IMAGE_MESSAGE
 * bytes. */

int preamble_check_jpeg(char *message, const uint8_t *data, size_t size);
int preamble_check_png(char *message, const uint8_t *data, size_t size);
