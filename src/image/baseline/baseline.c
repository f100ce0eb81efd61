// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/baseline_internal.h"

#include <stdlib.h>
#include <string.h>

/* Bytes before each row of samples. Upsampling reads only the last of these bytes, as the left
 * neighbour of the row's first sample. */
#define ROW_LEAD 32
#define ALIGNMENT 64
/* Largest accepted size of a segment, in bytes per block (8 x 8 samples) of the image. Photographs
 * have smaller segments. */
#define MAX_BLOCK_BYTES 128

struct baseline {
	const struct kernels *kernels;
	const uint8_t *end; /* end of the file */
	struct frame frame;
	struct huffman huffman[COMPONENTS];
	struct scan scan;
	/* memory of scan.entropy.segment and of the samples of scan.planes */
	uint8_t *memory;
	size_t memory_bytes;
};

struct baseline *baseline_new(bool plain)
{
	struct baseline *decoder = aligned_alloc(
		ALIGNMENT, (sizeof(*decoder) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	const struct kernels *avx2 = kernels_avx2();
	if (!decoder)
		return NULL;
	memset(decoder, 0, sizeof(*decoder));
	decoder->kernels = plain || !avx2 ? &kernels_plain : avx2;
	return decoder;
}

bool baseline_is_fast(void)
{
	return kernels_avx2();
}

void baseline_free(struct baseline *decoder)
{
	if (decoder)
		free(decoder->memory);
	free(decoder);
}

size_t baseline_bytes(const struct baseline *decoder)
{
	return sizeof(*decoder) + decoder->memory_bytes;
}

void baseline_trim(struct baseline *decoder, size_t keep)
{
	if (decoder->memory_bytes <= keep)
		return;
	free(decoder->memory);
	decoder->memory = NULL;
	decoder->memory_bytes = 0;
}

/* Returns the width of the luma divided by the width of the chroma. */
static unsigned h_factor(const struct baseline *decoder)
{
	return decoder->frame.components[0].h;
}

static unsigned v_factor(const struct baseline *decoder)
{
	return decoder->frame.components[0].v;
}

static uint32_t divide_up(uint32_t number, uint32_t by)
{
	return (number + by - 1) / by;
}

bool baseline_open(struct baseline *decoder, const uint8_t *data, size_t size,
	uint32_t *ret_width, uint32_t *ret_height)
{
	struct frame *frame = &decoder->frame;
	decoder->end = data + size;
	if (!frame_parse(frame, data, size))
		return false;
	/* libjpeg upsamples images of up to 4 columns in another way. */
	if (h_factor(decoder) == 2 && frame->width <= 4)
		return false;
	*ret_width = frame->width;
	*ret_height = frame->height;
	return true;
}

/* The largest change of a sample, in units of 1/128, by a dequantised coefficient of 1. */
#define WEIGHT_DC 16   /* first coefficient of a block */
#define WEIGHT_EDGE 23 /* other coefficients of the first row and the first column */
#define WEIGHT_ELSE 31 /* all other coefficients */

static void set_quant(struct quant *quant, const uint8_t table[COEFFICIENTS])
{
	for (int k = 0; k < COEFFICIENTS; k++) {
		int at = zigzag_block[k] / BLOCK * PAIR_STRIDE + zigzag_block[k] % BLOCK;
		int edges = (zigzag_block[k] < BLOCK) + (zigzag_block[k] % BLOCK == 0);
		int weight = edges == 2 ? WEIGHT_DC : edges ? WEIGHT_EDGE : WEIGHT_ELSE;
		quant->factors[at] = quant->factors[at + BLOCK] = table[k];
		quant->weights[at] = quant->weights[at + BLOCK] =
			(int16_t)(weight * table[k]);
	}
}

/* Returns the look-ups for component i, or NULL if one of its tables is invalid. Components that
 * use the same tables share their look-ups. */
static const struct huffman *find_huffman(struct baseline *decoder, unsigned i)
{
	const struct frame *frame = &decoder->frame;
	const struct component *c = frame->components;
	struct huffman *huffman = &decoder->huffman[i];
	for (unsigned k = 0; k < i; k++)
		if (c[k].dc == c[i].dc && c[k].ac == c[i].ac)
			return decoder->scan.planes[k].huffman;
	return huffman_make(huffman, &frame->dc[c[i].dc], &frame->ac[c[i].ac]) ? huffman
									       : NULL;
}

static bool set_planes(struct baseline *decoder)
{
	struct frame *frame = &decoder->frame;
	struct scan *scan = &decoder->scan;
	scan->n_planes = frame->n_components;
	for (unsigned i = 0; i < scan->n_planes; i++) {
		struct plane *plane = &scan->planes[i];
		plane->component = &frame->components[i];
		plane->huffman = find_huffman(decoder, i);
		if (!plane->huffman)
			return false;
		set_quant(&plane->quant, frame->quants[plane->component->quant]);
		memset(plane->pair.coefficients, 0, sizeof(plane->pair.coefficients));
		plane->pair.n = 0;
		plane->dc = 0;
	}
	return true;
}

/* Returns, along one axis, the MCUs that are needed for a span of pixels. If chroma is upsampled
 * (factor 2), upsampling also reads the samples just beside the span, so the MCUs with these
 * samples are included. */
static struct baseline_span mcus_of(
	struct baseline_span span, uint32_t length, unsigned factor)
{
	uint32_t lead = factor == 2 ? 2 : 0, mcu = factor * BLOCK;
	uint32_t first = span.first > lead ? span.first - lead : 0;
	uint32_t end = span.first + span.length + lead;
	if (end > length)
		end = length;
	return (struct baseline_span){first / mcu, divide_up(end, mcu) - first / mcu};
}

static size_t align(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool reserve(struct baseline *decoder, size_t bytes)
{
	if (decoder->memory_bytes >= bytes)
		return true;
	baseline_trim(decoder, 0);
	decoder->memory = aligned_alloc(ALIGNMENT, align(bytes));
	decoder->memory_bytes = decoder->memory ? bytes : 0;
	return decoder->memory;
}

/* Returns the largest accepted size of a segment of the scan, in bytes. */
static size_t segment_capacity(const struct baseline *decoder)
{
	const struct frame *frame = &decoder->frame;
	const struct component *c = frame->components;
	size_t blocks = c[0].h * c[0].v + frame->n_components - 1;
	size_t mcus = (size_t)divide_up(frame->width, c[0].h * BLOCK) *
		      divide_up(frame->height, c[0].v * BLOCK);
	size_t most = mcus * blocks * MAX_BLOCK_BYTES;
	size_t left = (size_t)(decoder->end - frame->scan);
	return left < most ? left : most;
}

/* Allocates memory for a segment of the scan, and for the samples of an MCU row with `columns`
 * columns of pixels. */
static bool set_memory(struct baseline *decoder, size_t columns)
{
	struct scan *scan = &decoder->scan;
	struct entropy *entropy = &scan->entropy;
	size_t at = align(entropy->capacity + SEGMENT_PADDING);
	size_t bytes = at;
	for (unsigned i = 0; i < scan->n_planes; i++) {
		struct plane *plane = &scan->planes[i];
		unsigned h = plane->component->h, v = plane->component->v;
		plane->rows = v * BLOCK;
		/* an odd number of cache lines, so that rows use different sets of the cache */
		plane->stride =
			align(ROW_LEAD + columns / h_factor(decoder) * h + ROW_SLACK) |
			ALIGNMENT;
		bytes += (1 + plane->rows) * plane->stride;
	}
	if (!reserve(decoder, bytes))
		return false;
	entropy->segment = decoder->memory;
	for (unsigned i = 0; i < scan->n_planes; i++) {
		struct plane *plane = &scan->planes[i];
		plane->samples = decoder->memory + at + plane->stride + ROW_LEAD;
		at += (1 + plane->rows) * plane->stride;
	}
	return true;
}

/* Begins the scan. columns: in each row of MCUs, the MCUs for which samples are made. */
static bool begin_scan(struct baseline *decoder, struct baseline_span columns)
{
	const struct frame *frame = &decoder->frame;
	struct scan *scan = &decoder->scan;
	unsigned width = h_factor(decoder) * BLOCK;
	scan->restart_interval = scan->until_restart = frame->restart_interval;
	scan->mcus = divide_up(frame->width, width);
	scan->first = columns.first;
	scan->end = columns.first + columns.length;
	scan->entropy = (struct entropy){.in = frame->scan,
		.in_end = decoder->end,
		.capacity = segment_capacity(decoder)};
	return set_planes(decoder) &&
	       set_memory(decoder, (size_t)columns.length * width) &&
	       entropy_begin(&scan->entropy);
}

/* Prepares the planes for MCU row `row`. If was_kept is set, the samples of the previous MCU row
 * exist. Their last row is then copied above the new MCU row, because upsampling reads it. */
static void begin_mcu_row(struct scan *scan, uint32_t row, bool was_kept)
{
	for (unsigned i = 0; i < scan->n_planes; i++) {
		struct plane *plane = &scan->planes[i];
		uint8_t *above = plane->samples - plane->stride - ROW_LEAD;
		plane->top = row * plane->rows;
		if (was_kept)
			memcpy(above, above + plane->rows * plane->stride, plane->stride);
	}
}

/* Returns row y of the plane's samples. Row y must be in the MCU row that was decoded last, or just
 * above it. */
static uint8_t *sample_row(const struct plane *plane, uint32_t y)
{
	return plane->samples + plane->stride * (y + 1 - plane->top) - plane->stride;
}

/* Returns row y of the samples. At the edges of the image, the samples before and after the row,
 * which upsampling also reads, become copies of the row's first and last sample. */
static const uint8_t *edged_row(const struct baseline *decoder, const struct plane *plane,
	uint32_t y, uint32_t columns)
{
	const struct scan *scan = &decoder->scan;
	uint8_t *row = sample_row(plane, y);
	uint32_t origin = scan->first * BLOCK;
	if (origin == 0)
		row[-1] = row[0];
	if (scan->end == scan->mcus)
		row[columns - origin] = row[columns - origin - 1];
	return row;
}

/* Returns the two rows of chroma around pixel row y, from column `first` on, and the numbers to add
 * before the division by 16. If chroma has as many rows as the image, both rows are row y. The sum
 * is then four times the sum of libjpeg, which adds 1 or 2 and divides by 4. So 4 or 8 is added
 * here. */
static struct chroma chroma_of(const struct baseline *decoder, uint32_t y, uint32_t first)
{
	const struct frame *frame = &decoder->frame;
	bool tall = v_factor(decoder) == 2;
	uint32_t width = divide_up(frame->width, 2), near = y, far = y;
	size_t skip = first / 2 - decoder->scan.first * BLOCK;
	if (tall) {
		uint32_t last = divide_up(frame->height, 2) - 1;
		near = y / 2;
		far = y % 2 ? near + 1 : near - (near > 0);
		far = far > last ? last : far;
	}
	struct chroma chroma = {
		.added_even = tall ? 8 : 4,
		.added_odd = tall ? 7 : 8,
	};
	for (int i = 0; i < 2; i++) {
		const struct plane *plane = &decoder->scan.planes[1 + i];
		chroma.near[i] = edged_row(decoder, plane, near, width) + skip;
		chroma.far[i] = edged_row(decoder, plane, far, width) + skip;
	}
	return chroma;
}

static void make_wide_row(const struct baseline *decoder, uint32_t y,
	struct baseline_span columns, const uint8_t *luma, uint8_t *out)
{
	uint32_t odd = columns.first % 2;
	/* the part begins with the right pixel of two that share a sample of chroma */
	if (odd) {
		struct chroma chroma = chroma_of(decoder, y, columns.first - 1);
		uint8_t two[6];
		decoder->kernels->rgb_wide(luma - 1, &chroma, 2, two);
		memcpy(out, two + 3, 3);
	}
	struct chroma chroma = chroma_of(decoder, y, columns.first + odd);
	decoder->kernels->rgb_wide(
		luma + odd, &chroma, columns.length - odd, out + (size_t)odd * 3);
}

static void make_row(const struct baseline *decoder, uint32_t y,
	struct baseline_span columns, uint8_t *out)
{
	const struct scan *scan = &decoder->scan;
	uint32_t origin = scan->first * BLOCK * h_factor(decoder);
	size_t skip = columns.first - origin;
	const uint8_t *luma = sample_row(&scan->planes[0], y) + skip;
	if (scan->n_planes == 1)
		decoder->kernels->gray(luma, columns.length, out);
	else if (h_factor(decoder) == 1)
		decoder->kernels->rgb(luma, sample_row(&scan->planes[1], y) + skip,
			sample_row(&scan->planes[2], y) + skip, columns.length, out);
	else
		make_wide_row(decoder, y, columns, luma, out);
}

/* Returns how many pixel rows can be computed once `mcu_rows` MCU rows are decoded. */
static uint32_t rows_ready(const struct baseline *decoder, uint32_t mcu_rows)
{
	uint32_t height = decoder->frame.height;
	uint32_t rows = mcu_rows * v_factor(decoder) * BLOCK;
	if (rows >= height)
		return height;
	return v_factor(decoder) == 2 && rows > 0 ? rows - 1 : rows;
}

bool baseline_read(struct baseline *decoder, struct baseline_part part, uint8_t *rgb)
{
	const struct frame *frame = &decoder->frame;
	struct scan *scan = &decoder->scan;
	struct baseline_span columns =
		mcus_of(part.columns, frame->width, h_factor(decoder));
	struct baseline_span rows = mcus_of(part.rows, frame->height, v_factor(decoder));
	uint32_t n = divide_up(frame->height, v_factor(decoder) * BLOCK);
	uint32_t y = part.rows.first, end = y + part.rows.length;
	if (!begin_scan(decoder, columns))
		return false;
	for (uint32_t row = 0; row < n; row++) {
		bool keep = row >= rows.first && row - rows.first < rows.length;
		begin_mcu_row(scan, row, keep && row > rows.first);
		if (!decoder->kernels->scan_row(scan, decoder->kernels, keep))
			return false;
		uint32_t ready = rows_ready(decoder, row + 1);
		for (; y < end && y < ready; y++, rgb += (size_t)part.columns.length * 3)
			make_row(decoder, y, part.columns, rgb);
	}
	return entropy_end(&scan->entropy);
}
