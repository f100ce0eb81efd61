// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/baseline_internal.h"

#include <string.h>

/* Removes stuffing from the scan (T.81, B.1.1.5): the byte 0 that follows each byte 0xff. */

enum { RST0 = 0xd0, EOI = 0xd9 };

/* Copies the bytes up to the next marker. Returns false if there is no marker, or no room. */
static bool copy_segment(struct entropy *entropy, size_t *ret)
{
	size_t used = 0;
	for (;;) {
		size_t left = (size_t)(entropy->in_end - entropy->in);
		const uint8_t *stop = left ? memchr(entropy->in, 0xff, left) : NULL;
		if (!stop || stop + 1 == entropy->in_end)
			return false;
		bool stuffed = stop[1] == 0;
		size_t bytes = (size_t)(stop - entropy->in) + stuffed;
		if (bytes > entropy->capacity - used)
			return false;
		memcpy(entropy->segment + used, entropy->in, bytes);
		used += bytes;
		entropy->in = stop;
		if (!stuffed)
			break;
		entropy->in += 2;
	}
	*ret = used;
	return true;
}

bool entropy_begin(struct entropy *entropy)
{
	size_t size;
	if (!copy_segment(entropy, &size))
		return false;
	memset(entropy->segment + size, 0, SEGMENT_PADDING);
	entropy->bits = (struct bits){
		.next = entropy->segment,
		.end = entropy->segment + size,
	};
	return true;
}

/* Tells whether all bits of the segment are decoded. Up to 7 bits may be left, because an encoder
 * fills up the last byte. */
static bool is_used(const struct entropy *entropy)
{
	const struct bits *bits = &entropy->bits;
	ptrdiff_t left = (bits->end - bits->next) * 8 + (ptrdiff_t)bits->count;
	return left >= 0 && left < 8;
}

bool entropy_restart(struct entropy *entropy)
{
	if (!is_used(entropy) || entropy->in[1] != RST0 + entropy->restarts % 8)
		return false;
	entropy->restarts++;
	entropy->in += 2;
	return entropy_begin(entropy);
}

bool entropy_end(const struct entropy *entropy)
{
	return is_used(entropy) && entropy->in[1] == EOI;
}
