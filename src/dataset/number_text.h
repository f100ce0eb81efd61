// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Numbers and the texts that they come from. A column of metadata.csv is one of numbers only if
 * each number gives the same text again, or texts that differ (007 and 7, 1.10 and 1.1, two
 * identifiers of twenty digits) would become one number.
 */

#define NUMBER_TEXT 40

/* Whether the number that the text is has this text alone. */
bool number_is_integer(const char *text);
/* Whether it is a number at all. */
bool number_is(const char *text);

/* Ways to write a number of floating point, which all numbers of a column have to share. */
enum {
	NUMBER_PYTHON = 1,   /* 1.0 0.25 1e-05 */
	NUMBER_SHORT = 2,    /* 1 0.25 1e-05 */
	NUMBER_PLAIN = 4,    /* 1 0.25 0.00001 */
	NUMBER_FIXED = 8,    /* 1.00 0.25 0.00: as many decimals */
	NUMBER_EXPONENT = 16 /* 1.00e+00 2.50e-01: likewise */
};

struct number_style {
	unsigned ways; /* that are left; 0: the texts do not come back */
	int decimals;  /* of the last two; -1: not known yet */
};
#define NUMBER_ANY_STYLE                                                                 \
	(struct number_style)                                                            \
	{                                                                                \
		.ways = 31, .decimals = -1                                               \
	}

/* Leaves the ways that give this text again. */
void number_note(struct number_style *style, const char *text);

/* As Python writes it: the shortest text that is this number. */
void number_print(double value, char ret[static NUMBER_TEXT]);
