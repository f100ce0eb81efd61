// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* config_free_fields frees the first member of struct tier_config as a text. */

_Static_assert(offsetof(struct tier_config, directory) == 0, "config_free_fields");

static char *copy_directory(const char *text, const char *comma)
{
	while (comma > text && isspace((unsigned char)comma[-1]))
		comma--;
	return strndup(text, (size_t)(comma - text));
}

static int parse_tier(const struct value_input *in, void *field)
{
	struct tier_config *tier = field;
	const char *comma = strrchr(in->text, ',');
	if (!comma)
		return -EINVAL;
	struct value_input part = *in;
	part.text = comma + 1 + strspn(comma + 1, " \t");
	int err = value_size.parse(&part, &tier->bytes);
	if (err)
		return err;
	auto_free char *directory = copy_directory(in->text, comma);
	part.text = directory;
	return directory ? value_path.parse(&part, &tier->directory) : -ENOMEM;
}

static void print_tier(const struct option *option, const void *field, FILE *out)
{
	const struct tier_config *tier = field;
	if (tier->directory)
		fprintf(out, "%s = %s, %" PRIu64 "\n", option->key, tier->directory,
			tier->bytes);
}

const struct value_type value_tier = {"directory, size", true, parse_tier, print_tier,
	"DIRECTORY, SIZE with " SIZE_RULE};
