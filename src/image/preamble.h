// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The preamble: what a file has before its image data. PIL reads it and refuses a file
 * whose preamble it can't make sense of; libjpeg and libpng pass over it. So that the
 * same files are refused here, the preamble is checked first.
 *
 *   Errors: 0 or -EIO, with the message written, of at most IMAGE_MESSAGE bytes.
 */

int preamble_check_jpeg(char *message, const uint8_t *data, size_t size);
int preamble_check_png(char *message, const uint8_t *data, size_t size);
