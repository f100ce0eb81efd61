// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <ctype.h>
#include <string.h>

#define MAX_WORD 63
#define MAX_DISTANCE 3

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;
	return ab < c ? ab : c;
}

static unsigned fold(char c)
{
	return (unsigned)tolower((unsigned char)c);
}

/* Returns the Levenshtein distance. Upper and lower case count as equal. */
static unsigned distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	unsigned row[MAX_WORD + 1];
	for (unsigned j = 0; j <= n_b; j++)
		row[j] = j;
	for (unsigned i = 1; i <= n_a; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= n_b; j++) {
			unsigned above = row[j];
			unsigned changed = fold(a[i - 1]) != fold(b[j - 1]);
			row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + changed);
			diagonal = above;
		}
	}
	return row[n_b];
}

const char *config_nearest(const char *word, const char *const *names, size_t n)
{
	const char *nearest = NULL;
	unsigned best = MAX_DISTANCE + 1;
	size_t length = strlen(word);
	for (size_t i = 0; i < n; i++) {
		size_t n_name = strlen(names[i]);
		if (length > MAX_WORD || n_name > MAX_WORD)
			continue;
		unsigned d = distance(word, length, names[i], n_name);
		if (d < best && d < length && d < n_name) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}
