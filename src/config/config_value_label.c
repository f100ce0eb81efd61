// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define MOST_NAME 100

/* Tells whether `name` is a valid name of a field or column. dots: the names of nested fields may
 * be joined by dots, as for json:FIELD. */
static bool is_field(const char *name, bool dots)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < n; i++) {
		bool dot = dots && name[i] == '.' && i > 0 && i + 1 < n &&
			   name[i - 1] != '.';
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && !dot)
			return false;
	}
	return n > 0 && n <= MOST_NAME;
}

static int parse_label(const struct value_input *in, void *field)
{
	bool valid =
		strcmp(in->text, "auto") == 0 || strcmp(in->text, "directory") == 0 ||
		strcmp(in->text, "cls") == 0 || strcmp(in->text, "none") == 0 ||
		(strncmp(in->text, "json:", 5) == 0 && is_field(in->text + 5, true)) ||
		(strncmp(in->text, "csv:", 4) == 0 && is_field(in->text + 4, false));
	if (!valid)
		return -EINVAL;
	return value_keep(in->text, field);
}

const struct value_type value_label = {"label", true, parse_label, value_print_text,
	"auto, directory, cls, none, json:FIELD, csv:COLUMN, where names consist of "
	"letters, digits and _"};
