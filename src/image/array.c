// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/array.h"
#include "base/byte_order.h"
#include "base/ensure.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

const char *const array_dtypes[] = {"uint8", "int8", "bool", "uint16", "int16", "uint32",
	"int32", "uint64", "int64", "float16", "float32", "float64", "complex64",
	"complex128", NULL};

/* NumPy's name of each type, and the bytes of a number of this type. The rows are in the order of
 * array_dtypes. */
static const struct {
	const char *npy;
	uint32_t item;
} numbers[] = {{"|u1", 1}, {"|i1", 1}, {"|b1", 1}, {OUR_ORDER "u2", 2},
	{OUR_ORDER "i2", 2}, {OUR_ORDER "u4", 4}, {OUR_ORDER "i4", 4},
	{OUR_ORDER "u8", 8}, {OUR_ORDER "i8", 8}, {OUR_ORDER "f2", 2},
	{OUR_ORDER "f4", 4}, {OUR_ORDER "f8", 8}, {OUR_ORDER "c8", 8},
	{OUR_ORDER "c16", 16}};

_Static_assert(sizeof(numbers) / sizeof(numbers[0]) + 1 ==
		       sizeof(array_dtypes) / sizeof(array_dtypes[0]),
	"a number for each name");

void array_set_dtype(struct array_type *type, unsigned n)
{
	ensure(n < sizeof(numbers) / sizeof(numbers[0]));
	type->npy = numbers[n].npy;
	type->item = numbers[n].item;
}

size_t shape_print(const uint32_t *shape, size_t axes, char ret[static SHAPE_TEXT])
{
	size_t n = 0;
	ret[0] = '\0';
	for (size_t i = 0; i < axes; i++)
		n += (size_t)snprintf(ret + n, SHAPE_TEXT - n, "%s%u%s", i ? ", " : "",
			shape[i], axes == 1 ? "," : "");
	return n;
}

static bool take_number(const char **text, uint64_t most, uint64_t *ret)
{
	uint64_t number = 0;
	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		number = number * 10 + (uint64_t)(**text - '0');
		if (number > most)
			return false;
	}
	*ret = number;
	return true;
}

bool array_parse_shape(struct array_type *type, const char *text)
{
	char printed[SHAPE_TEXT];
	uint64_t number, all = 1;
	type->axes = 0;
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		if (type->axes == ARRAY_MOST_AXES ||
			!take_number(&text, ARRAY_MOST_BYTES, &number) || number == 0 ||
			(*text && !strchr(" \t", *text)))
			return false;
		all *= number;
		if (all > ARRAY_MOST_BYTES)
			return false;
		type->shape[type->axes++] = (uint32_t)number;
	}
	ensure(shape_print(type->shape, type->axes, printed) <= ARRAY_MOST_SHAPE);
	return type->axes > 0;
}

uint64_t array_bytes(const struct array_type *type)
{
	uint64_t bytes = type->item;
	for (uint32_t i = 0; i < type->axes; i++)
		bytes *= type->shape[i];
	return bytes;
}

void array_print(const struct array_type *type, char ret[static ARRAY_TEXT])
{
	char shape[SHAPE_TEXT];
	shape_print(type->shape, type->axes, shape);
	snprintf(ret, ARRAY_TEXT, "%s (%.*s)", type->npy, ARRAY_MOST_SHAPE, shape);
}

struct tensor_shape array_pixels(const struct array_type *type)
{
	if (type->axes != 3 || type->shape[2] != 3 || strcmp(type->npy, "|u1") != 0)
		return (struct tensor_shape){0};
	return (struct tensor_shape){.height = type->shape[0], .width = type->shape[1]};
}

/* The Python dictionary in the header of a NumPy file. *at is the next byte to parse. */
struct dictionary {
	const char *at, *end;
	const struct array_type *type;
	char *message;
	size_t message_size;
};

static int printf_like(2, 3)
	refuse(const struct dictionary *dictionary, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(dictionary->message, dictionary->message_size, format, args);
	va_end(args);
	return -EBADMSG;
}

static void skip_blanks(struct dictionary *dictionary)
{
	while (dictionary->at < dictionary->end &&
		isspace((unsigned char)*dictionary->at))
		dictionary->at++;
}

static bool take(struct dictionary *dictionary, char c)
{
	skip_blanks(dictionary);
	if (dictionary->at == dictionary->end || *dictionary->at != c)
		return false;
	dictionary->at++;
	return true;
}

/* Parses a Python string without escapes, and copies it to `ret`. */
static bool take_text(struct dictionary *dictionary, char *ret, size_t size)
{
	char quote = '\'';
	size_t n = 0;
	if (!take(dictionary, quote)) {
		quote = '"';
		if (!take(dictionary, quote))
			return false;
	}
	while (dictionary->at < dictionary->end && *dictionary->at != quote) {
		if (n + 1 == size || !isprint((unsigned char)*dictionary->at))
			return false;
		ret[n++] = *dictionary->at++;
	}
	ret[n] = '\0';
	return take(dictionary, quote);
}

static bool take_word(struct dictionary *dictionary, const char *word)
{
	size_t n = strlen(word);
	skip_blanks(dictionary);
	if ((size_t)(dictionary->end - dictionary->at) < n ||
		memcmp(dictionary->at, word, n) != 0)
		return false;
	dictionary->at += n;
	return true;
}

static bool take_shape(struct dictionary *dictionary, struct array_type *ret)
{
	uint64_t number;
	ret->axes = 0;
	if (!take(dictionary, '('))
		return false;
	while (!take(dictionary, ')')) {
		if (ret->axes == ARRAY_MOST_AXES ||
			!take_number(&dictionary->at, UINT32_MAX, &number))
			return false;
		ret->shape[ret->axes++] = (uint32_t)number;
		if (!take(dictionary, ','))
			return take(dictionary, ')');
	}
	return true;
}

struct found {
	char npy[16];
	struct array_type type;
	bool by_columns;
};

static int take_entry(struct dictionary *dictionary, struct found *found, unsigned *keys)
{
	char key[16];
	if (!take_text(dictionary, key, sizeof(key)) || !take(dictionary, ':'))
		return refuse(dictionary, "an array without a head of NumPy's");
	if (strcmp(key, "descr") == 0) {
		*keys |= 1;
		if (!take_text(dictionary, found->npy, sizeof(found->npy)))
			return refuse(dictionary, "an array of a structured dtype");
	} else if (strcmp(key, "fortran_order") == 0) {
		*keys |= 2;
		found->by_columns = take_word(dictionary, "True");
		if (!found->by_columns && !take_word(dictionary, "False"))
			return refuse(dictionary, "an array without an order of axes");
	} else if (strcmp(key, "shape") == 0) {
		*keys |= 4;
		if (!take_shape(dictionary, &found->type))
			return refuse(dictionary, "an array of more than %d axes",
				ARRAY_MOST_AXES);
	} else {
		return refuse(dictionary, "an array with %s in its header", key);
	}
	return 0;
}

static int read_dictionary(struct dictionary *dictionary, struct found *found)
{
	unsigned keys = 0;
	int err = take(dictionary, '{')
			  ? 0
			  : refuse(dictionary, "an array without a head of NumPy's");
	while (!err && !take(dictionary, '}')) {
		err = take_entry(dictionary, found, &keys);
		if (!err && !take(dictionary, ',')) {
			if (take(dictionary, '}'))
				break;
			err = refuse(dictionary, "an array without a head of NumPy's");
		}
	}
	skip_blanks(dictionary);
	if (!err && (keys != 7 || dictionary->at != dictionary->end))
		err = refuse(dictionary, "an array without a head of NumPy's");
	return err;
}

static bool is_same(const struct array_type *type, const struct found *found)
{
	return strcmp(type->npy, found->npy) == 0 && type->axes == found->type.axes &&
	       memcmp(type->shape, found->type.shape,
		       type->axes * sizeof(type->shape[0])) == 0;
}

static int compare(const struct dictionary *dictionary, const struct found *found)
{
	const struct array_type *type = dictionary->type;
	char shape[SHAPE_TEXT], expected[ARRAY_TEXT];
	shape_print(found->type.shape, found->type.axes, shape);
	array_print(type, expected);
	if (!is_same(type, found))
		return refuse(dictionary, "an array of %s (%s), allowed: %s", found->npy,
			shape, expected);
	if (found->by_columns)
		return refuse(dictionary,
			"an array of %s in Fortran order, allowed: C order", expected);
	return 0;
}

int array_check_head(const struct array_type *type, const uint8_t *data, size_t n,
	char *message, size_t message_size)
{
	static const uint8_t magic[] = "\x93NUMPY";
	struct dictionary dictionary = {
		.type = type, .message = message, .message_size = message_size};
	struct found found = {0};
	size_t known = n < 6 ? n : 6, start = n > 6 && data[6] == 1 ? 10 : 12, length;
	if (memcmp(data, magic, known) != 0 || (n > 6 && (data[6] < 1 || data[6] > 3)))
		return refuse(&dictionary, "no NumPy array");
	if (n < 7 || n < start)
		return 0;
	length = start == 12 ? get_le32(data + 8) : get_le16(data + 8);
	if (length > ARRAY_MOST_HEAD - start)
		return refuse(&dictionary,
			"an array with a header of %zu bytes, allowed: %d", length,
			ARRAY_MOST_HEAD);
	if (n < start + length)
		return 0;
	dictionary.at = (const char *)data + start;
	dictionary.end = dictionary.at + length;
	int err = read_dictionary(&dictionary, &found);
	if (!err)
		err = compare(&dictionary, &found);
	return err ? err : (int)(start + length);
}
