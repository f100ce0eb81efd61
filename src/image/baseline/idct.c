// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/baseline_internal.h"

#include <string.h>

/* The inverse transform of 8 x 8 coefficients (T.81, A.3.3), with integers: first the columns, then
 * the rows, each as a product with a matrix of 13 fractional bits. Between the passes numbers have
 * 2 fractional bits. libjpeg's accurate transform computes the same sums in another order. */

#define MIN_SAMPLE (-512)
#define MAX_SAMPLE 511
/* Two numbers of at most this absolute value have a sum that fits into 16 bits. */
#define MAX_16 16383

static uint8_t limit(int sample)
{
	sample += CENTRE;
	return (uint8_t)(sample < 0 ? 0 : sample > 255 ? 255 : sample);
}

/* Multiplies a row or a column, the elements in[0], in[step], in[2 * step] ..., by the matrix. */
static void transform_line(const int *in, int step, int out[BLOCK])
{
	int x0 = in[0], x1 = in[step], x2 = in[2 * step], x3 = in[3 * step];
	int x4 = in[4 * step], x5 = in[5 * step], x6 = in[6 * step], x7 = in[7 * step];
	int sum = (x0 + x4) * (1 << FRACTION), difference = (x0 - x4) * (1 << FRACTION);
	int wide = 10703 * x2 + 4433 * x6, narrow = 4433 * x2 - 10704 * x6;
	int even[4] = {sum + wide, difference + narrow, difference - narrow, sum - wide};
	int odd[4] = {
		11363 * x1 + 9633 * x3 + 6437 * x5 + 2260 * x7,
		9633 * x1 - 2259 * x3 - 11362 * x5 - 6436 * x7,
		6437 * x1 - 11362 * x3 + 2261 * x5 + 9633 * x7,
		2260 * x1 - 6436 * x3 + 9633 * x5 - 11363 * x7,
	};
	for (int i = 0; i < 4; i++) {
		out[i] = even[i] + odd[i];
		out[BLOCK - 1 - i] = even[i] - odd[i];
	}
}

static int descale(int sum, int bits)
{
	return (sum + (1 << (bits - 1))) >> bits;
}

static bool is_beyond(int number, int min, int max)
{
	return (unsigned)number - (unsigned)min > (unsigned)(max - min);
}

static bool dequantize(
	const int16_t *coefficients, const struct quant *quant, int out[COEFFICIENTS])
{
	bool beyond = false;
	for (int i = 0; i < COEFFICIENTS; i++) {
		int at = i / BLOCK * PAIR_STRIDE + i % BLOCK;
		out[i] = coefficients[at] * quant->factors[at];
		beyond |= is_beyond(out[i], -MAX_16, MAX_16);
	}
	return !beyond;
}

static bool is_flat(const int *column)
{
	return !(column[BLOCK] | column[2 * BLOCK] | column[3 * BLOCK] |
		 column[4 * BLOCK] | column[5 * BLOCK] | column[6 * BLOCK] |
		 column[7 * BLOCK]);
}

static bool transform_columns(int block[COEFFICIENTS])
{
	bool beyond = false;
	for (int x = 0; x < BLOCK; x++) {
		int sums[BLOCK];
		if (is_flat(block + x)) {
			int number = block[x] * (1 << BETWEEN);
			beyond |= is_beyond(number, -MAX_16, MAX_16);
			for (int y = 0; y < BLOCK; y++)
				block[y * BLOCK + x] = number;
			continue;
		}
		transform_line(block + x, BLOCK, sums);
		for (int y = 0; y < BLOCK; y++) {
			int number = descale(sums[y], FRACTION - BETWEEN);
			beyond |= is_beyond(number, -MAX_16, MAX_16);
			block[y * BLOCK + x] = number;
		}
	}
	return !beyond;
}

static bool transform_rows(const int block[COEFFICIENTS], uint8_t *out, size_t stride)
{
	bool beyond = false;
	for (int y = 0; y < BLOCK; y++, out += stride) {
		int sums[BLOCK];
		transform_line(block + y * BLOCK, 1, sums);
		for (int x = 0; x < BLOCK; x++) {
			int sample = descale(sums[x], FRACTION + BETWEEN + 3);
			beyond |= is_beyond(sample, MIN_SAMPLE, MAX_SAMPLE);
			out[x] = limit(sample);
		}
	}
	return !beyond;
}

bool transform_checked(struct pair *pair, const struct quant *quant, size_t stride)
{
	bool good = true;
	for (unsigned i = 0; good && i < pair->n; i++) {
		int block[COEFFICIENTS];
		good = dequantize(pair->coefficients + (size_t)i * BLOCK, quant, block) &&
		       transform_columns(block) &&
		       transform_rows(block, pair->out[i], stride);
	}
	memset(pair->coefficients, 0, sizeof(pair->coefficients));
	pair->n = 0;
	return good;
}

bool transform_dc(int dc, const struct quant *quant, uint8_t *out, size_t stride)
{
	int sample = (dc * quant->factors[0] + 4) >> 3;
	uint64_t row = limit(sample) * UINT64_C(0x0101010101010101);
	for (int y = 0; y < BLOCK; y++)
		memcpy(out + (size_t)y * stride, &row, sizeof(row));
	return !is_beyond(sample, MIN_SAMPLE, MAX_SAMPLE);
}
