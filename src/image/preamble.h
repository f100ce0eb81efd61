// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * PIL goes through what stands before the image data and refuses a file whose metadata it
 * can't make sense of; the libraries pass over them. The same files are refused here.
 *
 *   Errors: 0 or -EIO, with the message written, of at most IMAGE_MESSAGE bytes.
 */

int preamble_check_jpeg(char *message, const uint8_t *data, size_t size);
int preamble_check_png(char *message, const uint8_t *data, size_t size);
