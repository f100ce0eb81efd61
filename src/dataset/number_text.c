// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/number_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DECIMALS 20
#define SURE_DIGITS 15 /* so many decimal digits survive conversion to double and back */
#define MOST_DIGITS 17 /* different doubles have different texts of this many digits */
/* A number is printed without an exponent, as in Python, if its power of ten is at least
 * LEAST_POWER and less than MOST_POWER. */
#define LEAST_POWER (-4)
#define MOST_POWER 16

static bool parse(const char *text, double *ret)
{
	char *end;
	/* strtod would also accept hexadecimal numbers, inf and nan. */
	if (text[strspn(text, "+-0123456789.eE")] != '\0')
		return false;
	*ret = strtod(text, &end);
	return *end == '\0' && end != text && isfinite(*ret);
}

bool number_is(const char *text)
{
	double value;
	return parse(text, &value);
}

bool number_is_integer(const char *text)
{
	char again[32], *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (*end || errno)
		return false;
	snprintf(again, sizeof(again), "%lld", value);
	return strcmp(text, again) == 0;
}

/* Finds the shortest text that is parsed as this double. Returns the number of its digits, without
 * zeros at the end. *ret_power: the power of ten of the first digit. */
static int shortest(double value, int *ret_power)
{
	char text[NUMBER_TEXT];
	int digits = SURE_DIGITS;
	for (; digits <= MOST_DIGITS; digits++) {
		snprintf(text, sizeof(text), "%.*e", digits - 1, value);
		if (digits == MOST_DIGITS || strtod(text, NULL) == value)
			break;
	}
	const char *end = strchr(text, 'e');
	*ret_power = atoi(end + 1);
	for (; digits > 1 && end[-1] == '0'; digits--)
		end--;
	return digits;
}

static void print(
	double value, unsigned way, int digits, int power, char ret[static NUMBER_TEXT])
{
	int decimals = digits - 1 > power ? digits - 1 - power : 0;
	bool exponent = power < LEAST_POWER || power >= MOST_POWER;
	if (exponent && way != NUMBER_PLAIN)
		snprintf(ret, NUMBER_TEXT, "%.*e", digits - 1, value);
	else
		snprintf(ret, NUMBER_TEXT, "%.*f%s", decimals, value,
			way == NUMBER_PYTHON && decimals == 0 ? ".0" : "");
}

void number_print(double value, char ret[static NUMBER_TEXT])
{
	int power, digits = shortest(value, &power);
	print(value, NUMBER_PYTHON, digits, power, ret);
}

static int count_decimals(const char *text)
{
	const char *point = strchr(text, '.');
	return point ? (int)strspn(point + 1, "0123456789") : 0;
}

static bool comes_back(double value, unsigned way, int decimals, const char *text)
{
	char again[NUMBER_TEXT];
	int power;
	if (way == NUMBER_FIXED) {
		snprintf(again, sizeof(again), "%.*f", decimals, value);
	} else if (way == NUMBER_EXPONENT) {
		snprintf(again, sizeof(again), "%.*e", decimals, value);
	} else {
		int digits = shortest(value, &power);
		print(value, way, digits, power, again);
	}
	return strcmp(again, text) == 0;
}

void number_note(struct number_style *style, const char *text)
{
	double value = 0;
	bool usable = strlen(text) < NUMBER_TEXT && parse(text, &value) &&
		      !(value == 0 && text[0] == '-');
	if (style->decimals < 0)
		style->decimals = usable ? count_decimals(text) : 0;
	if (!usable || style->decimals > MOST_DECIMALS)
		style->ways = 0;
	if (usable && strlen(text) <= SURE_DIGITS && number_is_integer(text)) {
		style->ways &= NUMBER_SHORT | NUMBER_PLAIN |
			       (style->decimals == 0 ? NUMBER_FIXED : 0);
		return;
	}
	for (unsigned way = 1; way <= style->ways; way *= 2)
		if (style->ways & way && !comes_back(value, way, style->decimals, text))
			style->ways &= ~way;
}
