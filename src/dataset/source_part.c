// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#define ZLIB_CONST // makes input pointers of zlib const

#include "dataset/source_part.h"

#include <errno.h>
#include <zlib.h>

#define AT_ONCE ((uint64_t)1 << 30) /* bytes per inflate, since zlib counts in 32 bits */

static uInt some(uint64_t bytes)
{
	return (uInt)(bytes < AT_ONCE ? bytes : AT_ONCE);
}

/* Returns Z_STREAM_END for one complete stream that inflates to exactly `bytes` bytes. */
static int inflate_all(z_stream *stream, uint64_t stored, uint64_t bytes)
{
	int code = Z_OK;
	while (code == Z_OK) {
		uInt in = some(stored), out = some(bytes);
		stream->avail_in = in;
		stream->avail_out = out;
		code = inflate(stream, Z_NO_FLUSH);
		stored -= in - stream->avail_in;
		bytes -= out - stream->avail_out;
	}
	return code == Z_STREAM_END && (bytes > 0 || stored > 0) ? Z_DATA_ERROR : code;
}

int source_unpack(const struct source_part *part, const uint8_t *stored, uint8_t *ret,
	uint64_t bytes)
{
	z_stream stream = {.next_in = stored, .next_out = ret};
	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return -ENOMEM;
	int code = inflate_all(&stream, part->stored_bytes, bytes);
	inflateEnd(&stream);
	return code == Z_STREAM_END ? 0 : code == Z_MEM_ERROR ? -ENOMEM : -EIO;
}

int source_check(const struct source_part *part, const uint8_t *sample, uint64_t bytes)
{
	uLong checksum = crc32(0, NULL, 0);
	if (part->method == PART_PLAIN)
		return 0;
	for (uint64_t done = 0; done < bytes; done += some(bytes - done))
		checksum = crc32(checksum, sample + done, some(bytes - done));
	return checksum == part->checksum ? 0 : -EIO;
}
