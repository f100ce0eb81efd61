// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* `at` need not be aligned. */

static inline uint32_t get_le16(const uint8_t *at)
{
	uint16_t value;
	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t get_le32(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t get_le64(const uint8_t *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static inline uint32_t get_be16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t get_be32(const uint8_t *at)
{
	return get_be16(at) << 16 | get_be16(at + 2);
}
