// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool facts_begin(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

const char *facts_value(const char *line, const char *key)
{
	size_t n = strlen(key);
	for (const char *word = line; (word = strchr(word, ' ')); word++)
		if (strncmp(word + 1, key, n) == 0 && word[n + 1] == '=')
			return word + n + 2;
	return NULL;
}

double facts_number(const char *line, const char *key)
{
	const char *value = facts_value(line, key);
	return value ? strtod(value, NULL) : 0;
}

void facts_text(const char *line, const char *key, bool whole, char *ret, size_t room)
{
	const char *value = facts_value(line, key);
	size_t n = value ? strcspn(value, whole ? "\n" : " \n") : 0;
	snprintf(ret, room, "%.*s", (int)n, value ? value : "");
}
