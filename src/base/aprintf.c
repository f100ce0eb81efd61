// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"

#include <stdarg.h>

char *aprintf(const char *format, ...)
{
	char *text;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&text, format, args);
	va_end(args);
	return n < 0 ? NULL : text;
}

char *close_text(FILE *out, char **text)
{
	if (fclose(out) == 0)
		return *text;
	free(*text);
	*text = NULL;
	return NULL;
}
