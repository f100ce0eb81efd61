// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Checks the preamble: the part of a file before its image data. PIL refuses a file with
 * a damaged preamble, while libjpeg and libpng skip the preamble. Errors: 0 or -EIO,
 * with a message of at most IMAGE_MESSAGE bytes. */

int preamble_check_jpeg(char *message, const uint8_t *data, size_t size);
int preamble_check_png(char *message, const uint8_t *data, size_t size);
