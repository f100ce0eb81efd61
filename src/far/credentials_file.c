// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/credentials.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads files in the format of Amazon's tools: [SECTION], KEY = VALUE. */

#define KEY_TEXTS 3 /* the first texts of a profile: the key, its secret and its token */
#define TEXTS (sizeof(((struct profile *)0)->texts) / sizeof(char *))

static_assert(offsetof(struct profile, found) == TEXTS * sizeof(char *),
	"all fields are texts");

void profile_free(struct profile *profile)
{
	for (size_t i = 0; i < TEXTS; i++)
		free(profile->texts[i]);
	*profile = (struct profile){0};
}

static char **field_of(struct profile *profile, const char *key)
{
	const struct {
		const char *key;
		char **field;
	} fields[] = {{"aws_access_key_id", &profile->key_id},
		{"aws_secret_access_key", &profile->secret},
		{"aws_session_token", &profile->token},
		{"credential_process", &profile->process}, {"role_arn", &profile->role},
		{"role_session_name", &profile->session},
		{"web_identity_token_file", &profile->identity},
		{"source_profile", &profile->other_role},
		{"credential_source", &profile->other_role},
		{"sso_session", &profile->sso}, {"sso_start_url", &profile->sso},
		{"region", &profile->region}, {"endpoint_url", &profile->endpoint},
		{"addressing_style", &profile->addressing}};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].key, key) == 0)
			return fields[i].field;
	return NULL;
}

static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t n = strlen(text);
	while (n > 0 && strchr(" \t\r", text[n - 1]))
		n--;
	text[n] = '\0';
	return text;
}

static int take_line(struct profile *profile, char *line)
{
	char *equals = strchr(line, '=');
	if (!equals || line[0] == '#' || line[0] == ';')
		return 0;
	*equals = '\0';
	char **field = field_of(profile, trim(line)), *value = trim(equals + 1);
	if (!field || *field || !value[0])
		return 0;
	*field = strdup(value);
	return *field ? 0 : -ENOMEM;
}

/* Tells whether the line, which begins with [, begins this section. Ignores blanks around the
 * section's name. Changes the line. */
static bool is_section(char *line, const char *section)
{
	char *end = strchr(line, ']');
	if (!end)
		return false;
	*end = '\0';
	return strcmp(trim(line + 1), section) == 0;
}

/* Moves to `profile` the fields that it lacks. The key, its secret and its token always come from
 * the same file. */
static void merge(struct profile *from, struct profile *profile)
{
	size_t i = profile->key_id || profile->secret ? KEY_TEXTS : 0;
	for (; i < TEXTS; i++)
		if (!profile->texts[i]) {
			profile->texts[i] = from->texts[i];
			from->texts[i] = NULL;
		}
	profile->found = profile->found || from->found;
}

int profile_read(struct profile *profile, char *text, const char *section)
{
	struct profile read = {0};
	bool ours = false;
	int err = 0;
	for (char *line; !err && (line = strsep(&text, "\n"));) {
		line = trim(line);
		if (line[0] == '[')
			ours = is_section(line, section);
		else if (ours)
			err = take_line(&read, line);
		read.found = read.found || ours;
	}
	merge(&read, profile);
	profile_free(&read);
	return err;
}
