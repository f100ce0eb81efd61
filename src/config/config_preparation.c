// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int parse_command(const struct value_input *in, void *field)
{
	if (*in->text != '/' || !value_in_range(in->option, strlen(in->text)) ||
		strpbrk(in->text, "\"'\\"))
		return -EINVAL;
	return value_keep(in->text, field);
}

const struct value_type value_command = {"command", true, parse_command, NULL,
	"the absolute path of a program and its arguments, separated by blanks and "
	"without quotes, at most {max} bytes"};

static int parse_array_shape(const struct value_input *in, void *field)
{
	return array_parse_shape(field, in->text) ? 0 : -EINVAL;
}

const struct value_type value_array_shape = {"numbers", false, parse_array_shape, NULL,
	"1 to " TEXT_OF(ARRAY_MOST_AXES) " numbers from 1 on, separated by blanks, as 1 "
					 "128 80, for arrays of at most {max} bytes"};

static int parse_array_dtype(const struct value_input *in, void *field)
{
	unsigned choice;
	int err = value_choice.parse(in, &choice);
	if (!err)
		array_set_dtype(field, choice);
	return err;
}

const struct value_type value_array_dtype = {
	"type", false, parse_array_dtype, NULL, "{choices}"};

static void check(struct ini *ini, const struct ini_section *section,
	const struct preparation_config *preparation)
{
	uint64_t bytes = array_bytes(&preparation->array);
	if (preparation->array.axes > 0 && bytes > ARRAY_MOST_BYTES)
		ini_mistake(ini, section->line, section->label, "shape",
			"found arrays of %" PRIu64 " bytes, allowed: at most %" PRIu64,
			bytes, ARRAY_MOST_BYTES);
}

void config_fill_preparations(struct ini *ini, struct daemon_config *daemon)
{
	daemon->preparations = calloc(ini->n_sections + 1, sizeof(*daemon->preparations));
	if (!daemon->preparations) {
		ini->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < ini->n_sections; i++) {
		const struct ini_section *section = &ini->sections[i];
		if (section->id != SECTION_PREPARATION)
			continue;
		struct preparation_config *preparation =
			&daemon->preparations[daemon->n_preparations++];
		ini_fill(ini, section, SECTION_PREPARATION, preparation);
		check(ini, section, preparation);
		preparation->name = strdup(section->name);
		if (!preparation->name)
			ini->err = -ENOMEM;
	}
}

void config_free_preparations(struct daemon_config *daemon)
{
	for (size_t i = 0; i < daemon->n_preparations; i++) {
		config_free_fields(SECTION_PREPARATION, &daemon->preparations[i]);
		free(daemon->preparations[i].name);
	}
	free(daemon->preparations);
}
