// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* A column of metadata becomes numbers only if each text stays the same when parsed and printed
 * again. Otherwise different texts would become one number, such as 007 and 7, or 1.10 and 1.1. */

#define NUMBER_TEXT 40

/* Tells whether the text is a 64-bit integer as printf would print it. */
bool number_is_integer(const char *text);
/* Tells whether the text is a finite number. */
bool number_is(const char *text);

/* Ways of writing floating point numbers. A column of numbers needs one that fits all its texts. */
enum {
	NUMBER_PYTHON = 1,   /* for example 1.0 0.25 1e-05 */
	NUMBER_SHORT = 2,    /* for example 1 0.25 1e-05 */
	NUMBER_PLAIN = 4,    /* for example 1 0.25 0.00001 */
	NUMBER_FIXED = 8,    /* for example 1.00 0.25 0.00: equally many decimals */
	NUMBER_EXPONENT = 16 /* for example 1.00e+00 2.50e-01: equally many decimals */
};

struct number_style {
	unsigned ways; /* sum of the ways that fit all texts of the column; 0: none */
	int decimals;  /* of NUMBER_FIXED and NUMBER_EXPONENT; -1: not known yet */
};
#define NUMBER_ANY_STYLE                                                                 \
	(struct number_style)                                                            \
	{                                                                                \
		.ways = 31, .decimals = -1                                               \
	}

/* Removes the ways that would print the number in `text` differently from `text`. */
void number_note(struct number_style *style, const char *text);

/* Prints as Python does: the shortest text that is parsed as the same number. */
void number_print(double value, char ret[static NUMBER_TEXT]);
