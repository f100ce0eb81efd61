// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/byte_order.h"
#include "image/baseline/baseline_internal.h"

#include <string.h>

/* Reads the segments up to the scan (T.81, annex B). Refuses unusual segments. */

enum {
	SOF0 = 0xc0, /* baseline */
	SOF1,	     /* extended; equal to baseline for 8 bits and Huffman codes */
	DHT = 0xc4,
	SOI = 0xd8,
	SOS = 0xda,
	DQT = 0xdb,
	DRI = 0xdd,
	APP0 = 0xe0,
	APP14 = 0xee,
	APP15 = 0xef,
	COM = 0xfe,
};

#define JFIF_BYTES 14
#define JFIF_MAJOR 5
#define ADOBE_BYTES 12
#define ADOBE_TRANSFORM 11
#define ADOBE_YCC 1

struct segment {
	const uint8_t *data;
	size_t size;
};

static bool read_quants(struct frame *frame, struct segment segment)
{
	while (segment.size > 0) {
		/* If factors have 16 bits, the high half of this byte is not 0, so the byte is at
		 * least TABLES and the segment is refused. */
		unsigned table = segment.data[0];
		if (table >= TABLES || segment.size < 1 + COEFFICIENTS)
			return false;
		memcpy(frame->quants[table], segment.data + 1, COEFFICIENTS);
		frame->quant_given[table] = true;
		segment.data += 1 + COEFFICIENTS;
		segment.size -= 1 + COEFFICIENTS;
	}
	return true;
}

static bool read_huffman(struct frame *frame, struct segment segment)
{
	while (segment.size > 0) {
		if (segment.size < 17)
			return false;
		unsigned kind = segment.data[0] >> 4, table = segment.data[0] & 15;
		if (kind > 1 || table >= TABLES)
			return false;
		struct huffman_spec *spec = kind ? &frame->ac[table] : &frame->dc[table];
		size_t symbols = 0;
		for (int i = 0; i < 16; i++)
			symbols += segment.data[1 + i];
		if (symbols == 0 || symbols > 256 || symbols > segment.size - 17)
			return false;
		*spec = (struct huffman_spec){0};
		memcpy(spec->counts, segment.data + 1, 16);
		memcpy(spec->symbols, segment.data + 17, symbols);
		segment.data += 17 + symbols;
		segment.size -= 17 + symbols;
	}
	return true;
}

/* Tells whether the sampling factors are those of gray, 4:4:4, 4:2:2 or 4:2:0. A gray scan has one
 * block per MCU, whatever its factors are, so the factors are set to 1. */
static bool factors_are_known(struct frame *frame)
{
	struct component *c = frame->components;
	if (frame->n_components == 1) {
		bool good = c->h >= 1 && c->h <= 4 && c->v >= 1 && c->v <= 4;
		c->h = c->v = 1;
		return good;
	}
	return c[1].h == 1 && c[1].v == 1 && c[2].h == 1 && c[2].v == 1 &&
	       ((c[0].h == 1 && c[0].v == 1) || (c[0].h == 2 && c[0].v <= 2 && c[0].v));
}

/* Tells whether libjpeg would treat the components as RGB because of their names. */
static bool is_named_rgb(const struct component *c)
{
	return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
}

static bool read_frame(struct frame *frame, struct segment segment)
{
	if (frame->n_components != 0 || segment.size < 6)
		return false;
	unsigned n = segment.data[5];
	frame->height = get_be16(segment.data + 1);
	frame->width = get_be16(segment.data + 3);
	if (segment.data[0] != 8 || frame->height == 0 || frame->width == 0 ||
		frame->height > MAX_SIDE || frame->width > MAX_SIDE ||
		(n != 1 && n != COMPONENTS) || segment.size != 6 + 3 * n)
		return false;
	frame->n_components = n;
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *data = segment.data + 6 + 3 * i;
		frame->components[i] = (struct component){
			.id = data[0],
			.h = data[1] >> 4,
			.v = data[1] & 15,
			.quant = data[2],
		};
		if (data[2] >= TABLES)
			return false;
	}
	const struct component *c = frame->components;
	return factors_are_known(frame) &&
	       (n == 1 || (c[0].id != c[1].id && c[0].id != c[2].id &&
				  c[1].id != c[2].id && !is_named_rgb(c)));
}

static bool read_scan(struct frame *frame, struct segment segment)
{
	unsigned n = frame->n_components;
	if (n == 0 || segment.size != 4 + 2 * n || segment.data[0] != n)
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct component *c = &frame->components[i];
		const uint8_t *data = segment.data + 1 + 2 * i;
		c->dc = data[1] >> 4;
		c->ac = data[1] & 15;
		if (data[0] != c->id || c->dc >= TABLES || c->ac >= TABLES ||
			!frame->quant_given[c->quant])
			return false;
	}
	/* The only scan of a file must contain all bits of all coefficients. */
	const uint8_t *end = segment.data + 1 + 2 * n;
	frame->scan = end + 3;
	return end[0] == 0 && end[1] == COEFFICIENTS - 1 && end[2] == 0;
}

static bool read_restart_interval(struct frame *frame, struct segment segment)
{
	if (segment.size != 2)
		return false;
	frame->restart_interval = get_be16(segment.data);
	return true;
}

/* Accepts only version 1 of JFIF, because libjpeg warns of other versions. */
static bool read_jfif(struct segment segment)
{
	return segment.size < JFIF_BYTES || memcmp(segment.data, "JFIF", 5) != 0 ||
	       segment.data[JFIF_MAJOR] == 1;
}

/* Returns false if the segment is Adobe's and does not declare the pixels to be YCbCr. */
static bool read_adobe(struct segment segment)
{
	if (segment.size < 5 || memcmp(segment.data, "Adobe", 5) != 0)
		return true;
	return segment.size >= ADOBE_BYTES && segment.data[ADOBE_TRANSFORM] == ADOBE_YCC;
}

static bool read_segment(struct frame *frame, unsigned marker, struct segment segment)
{
	switch (marker) {
	case SOF0:
	case SOF1:
		return read_frame(frame, segment);
	case DHT:
		return read_huffman(frame, segment);
	case DQT:
		return read_quants(frame, segment);
	case DRI:
		return read_restart_interval(frame, segment);
	case SOS:
		return read_scan(frame, segment);
	case APP0:
		return read_jfif(segment);
	case APP14:
		return read_adobe(segment);
	default:
		return (marker >= APP0 && marker <= APP15) || marker == COM;
	}
}

bool frame_parse(struct frame *frame, const uint8_t *data, size_t size)
{
	*frame = (struct frame){0};
	if (size < 2 || data[0] != 0xff || data[1] != SOI)
		return false;
	data += 2;
	size -= 2;
	while (!frame->scan) {
		if (size < 4 || data[0] != 0xff)
			return false;
		size_t length = get_be16(data + 2);
		if (length < 2 || length > size - 2)
			return false;
		struct segment segment = {data + 4, length - 2};
		if (!read_segment(frame, data[1], segment))
			return false;
		data += 2 + length;
		size -= 2 + length;
	}
	return true;
}
