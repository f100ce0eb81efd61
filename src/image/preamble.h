// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Check the preamble. PIL refuses a file with a damaged one; libjpeg and libpng skip it. Return 0
 * or -EIO, with a message of at most IMAGE_MESSAGE bytes. */

int preamble_check_jpeg(char *message, const uint8_t *data, size_t size);
int preamble_check_png(char *message, const uint8_t *data, size_t size);
