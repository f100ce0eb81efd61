// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "config/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

void config_report_to_log(void *context, const char *message)
{
	size_t n = strlen(CONFIG_WARNING);
	(void)context;
	if (strncmp(message, CONFIG_WARNING, n) == 0)
		log_warn("%s", message + n);
	else
		log_error("%s", message);
}

void config_report_text(config_report *report, void *context, const char *format, ...)
{
	char *message = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&message, format, args);
	va_end(args);
	report(context, n < 0 ? "out of memory" : message);
	if (n >= 0)
		free(message);
}

static void print_place(
	FILE *out, unsigned line, const char *file, const char *label, const char *key)
{
	fputs(file, out);
	if (line == LINE_OF_SETTING)
		fputs(":--set", out);
	else if (line)
		fprintf(out, ":%u", line);
	if (label)
		fprintf(out, ":[%s]", label);
	if (key)
		fprintf(out, ":%s", key);
	fputs(": ", out);
}

printf_like(6, 0) static void report(struct ini *ini, const char *prefix, unsigned line,
	const char *label, const char *key, const char *format, va_list args)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out) {
		ini->err = -ENOMEM;
		return;
	}
	fputs(prefix, out);
	print_place(out, line, ini->file, label, key);
	vfprintf(out, format, args);
	bool failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		ini->err = -ENOMEM;
		return;
	}
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	if (ini->report)
		ini->report(ini->context, text);
}

void ini_mistake(struct ini *ini, unsigned line, const char *label, const char *key,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	report(ini, "", line, label, key, format, args);
	va_end(args);
	ini->mistakes++;
}

void ini_warning(struct ini *ini, unsigned line, const char *label, const char *key,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	report(ini, CONFIG_WARNING, line, label, key, format, args);
	va_end(args);
}

int ini_result(const struct ini *ini)
{
	if (ini->err)
		return ini->err;
	return ini->mistakes ? -EINVAL : 0;
}
