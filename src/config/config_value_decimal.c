// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Numbers have at most DIGITS digits, so that two different numbers are two different doubles. */

#define DIGITS 15

/* Passes only digits and a point to strtod, which would also accept "nan" and "0x1". */
bool config_decimal(const char **text, double *ret)
{
	char number[DIGITS + 3] = "";
	size_t sign = **text == '-';
	const char *first = *text + sign;
	size_t whole = strspn(first, "0123456789");
	size_t point = first[whole] == '.';
	size_t fraction = point ? strspn(first + whole + 1, "0123456789") : 0;
	if (whole + fraction == 0)
		return false;
	*text = first + whole + point + fraction;
	first += strspn(first, "0");
	size_t n = (size_t)(*text - first);
	if (n - point > DIGITS)
		return false;
	memcpy(number, first, n);
	*ret = n > point ? strtod(number, NULL) : 0.0;
	if (sign && *ret != 0.0)
		*ret = -*ret;
	return true;
}

/* Prints the shortest text that is parsed as the same number. */
static void print_decimal(double number, FILE *out)
{
	char text[64];
	int digits = 0;
	do
		snprintf(text, sizeof(text), "%.*f", digits, number);
	while (strtod(text, NULL) != number && digits++ < DIGITS);
	fputs(text, out);
}

static int parse_probability(const struct value_input *in, void *field)
{
	const char *text = in->text;
	double *probability = field;
	if (!config_decimal(&text, probability) || *text)
		return -EINVAL;
	return *probability >= 0.0 && *probability <= 1.0 ? 0 : -EINVAL;
}

static void print_number(const struct option *option, const void *field, FILE *out)
{
	fprintf(out, "%s = ", option->key);
	print_decimal(*(const double *)field, out);
	fputs("\n", out);
}

const struct value_type value_probability = {"probability", false, parse_probability,
	print_number, "a number from 0 to 1, like 0.5"};

static int parse_weight(const struct value_input *in, void *field)
{
	const char *text = in->text;
	double *weight = field;
	if (!config_decimal(&text, weight) || *text)
		return -EINVAL;
	return *weight >= 1 / (double)in->option->max &&
			       *weight <= (double)in->option->max
		       ? 0
		       : -EINVAL;
}

const struct value_type value_weight = {"number", false, parse_weight, print_number,
	"a number from {1/max} to {max}, like 2 or 0.5"};

static void skip_blanks(const char **text)
{
	*text += strspn(*text, " \t");
}

/* Returns how many numbers were parsed; 0: the text is malformed. */
static unsigned parse_numbers(const char **text, double ret[MOST_CHANNELS])
{
	unsigned n = 0;
	skip_blanks(text);
	for (;;) {
		if (n == MOST_CHANNELS || !config_decimal(text, &ret[n++]))
			return 0;
		const char *behind = *text;
		skip_blanks(text);
		if (**text == '\0' || **text == '/')
			return n;
		if (*text == behind)
			return 0;
	}
}

/* Tells whether all numbers are above zero, also after rounding to float. Pixels are divided by
 * these floats. */
static bool all_positive(const double numbers[MOST_CHANNELS], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!((float)numbers[i] > 0.0f))
			return false;
	return true;
}

static int parse_normalize(const struct value_input *in, void *field)
{
	const char *text = in->text;
	struct normalize_config *normalize = field;
	unsigned n = parse_numbers(&text, normalize->mean);
	if (n == 0 || *text++ != '/')
		return -EINVAL;
	if (parse_numbers(&text, normalize->deviation) != n || *text)
		return -EINVAL;
	normalize->given = true;
	normalize->channels = n;
	return all_positive(normalize->deviation, n) ? 0 : -EINVAL;
}

static void print_numbers(const double numbers[MOST_CHANNELS], unsigned n, FILE *out)
{
	for (unsigned i = 0; i < n; i++) {
		fputs(" ", out);
		print_decimal(numbers[i], out);
	}
}

static void print_normalize(const struct option *option, const void *field, FILE *out)
{
	const struct normalize_config *normalize = field;
	if (!normalize->given)
		return;
	fprintf(out, "%s =", option->key);
	print_numbers(normalize->mean, normalize->channels, out);
	fputs(" /", out);
	print_numbers(normalize->deviation, normalize->channels, out);
	fputs("\n", out);
}

const struct value_type value_normalize = {"mean / std", false, parse_normalize,
	print_normalize,
	"three means / three standard deviations above 0, like 0.485 0.456 0.406 / "
	"0.229 0.224 0.225, or one / one for gray; with channels = keep, one of each "
	"for each channel, up to 4"};
