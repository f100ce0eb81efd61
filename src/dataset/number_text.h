// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Numbers and their texts. A column of metadata has numbers only if each number, when printed,
 * gives its text again. Otherwise the column has texts, because different texts (007 and 7, 1.10
 * and 1.1, two identifiers of twenty digits) would become one number.
 */

#define NUMBER_TEXT 40

/* Tells whether the text is a 64-bit integer that is printed as this text again. */
bool number_is_integer(const char *text);
/* Tells whether the text is a finite number. */
bool number_is(const char *text);

/* Ways of writing a floating point number. All numbers of a column must have one way in common. */
enum {
	NUMBER_PYTHON = 1,   /* 1.0 0.25 1e-05 */
	NUMBER_SHORT = 2,    /* 1 0.25 1e-05 */
	NUMBER_PLAIN = 4,    /* 1 0.25 0.00001 */
	NUMBER_FIXED = 8,    /* 1.00 0.25 0.00: the same number of decimals */
	NUMBER_EXPONENT = 16 /* 1.00e+00 2.50e-01: the same number of decimals */
};

struct number_style {
	unsigned ways; /* ways that reproduce all texts so far; 0: none */
	/* decimals for NUMBER_FIXED and NUMBER_EXPONENT; -1: not known yet */
	int decimals;
};
#define NUMBER_ANY_STYLE                                                                 \
	(struct number_style)                                                            \
	{                                                                                \
		.ways = 31, .decimals = -1                                               \
	}

/* Removes the ways in which the number would not be printed as this text. */
void number_note(struct number_style *style, const char *text);

/* Prints the number as Python does: the shortest text that gives this number. */
void number_print(double value, char ret[static NUMBER_TEXT]);
