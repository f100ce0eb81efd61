// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

/* Appends the components of `path` to the absolute path in `text`, which has room for them. */
static void append(char *text, const char *path)
{
	size_t length = strlen(text);
	while (*path) {
		size_t n = strcspn(path, "/");
		if (n == 2 && memcmp(path, "..", 2) == 0) {
			while (length > 0 && text[--length] != '/')
				;
		} else if (n > 0 && !(n == 1 && *path == '.')) {
			text[length++] = '/';
			memcpy(text + length, path, n);
			length += n;
		}
		path += n;
		path += strspn(path, "/");
	}
	text[length] = '\0';
}

char *config_path_absolute(const char *dir, const char *path)
{
	char *text = malloc(strlen(dir) + strlen(path) + 3);
	if (!text)
		return NULL;
	text[0] = '\0';
	if (path[0] != '/')
		append(text, dir);
	append(text, path);
	if (text[0] == '\0')
		strcpy(text, "/");
	return text;
}

int config_path_dir(const char *file, char **ret)
{
	auto_free char *here = getcwd(NULL, 0);
	if (!here)
		return -errno;
	const char *slash = strrchr(file, '/');
	auto_free char *dir = strndup(file, slash ? (size_t)(slash - file) + 1 : 0);
	*ret = dir ? config_path_absolute(here, dir) : NULL;
	return *ret ? 0 : -ENOMEM;
}
