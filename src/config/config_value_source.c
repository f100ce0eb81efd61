// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

static bool is_url(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
	return n > 1 && strncmp(text + n, "://", 3) == 0;
}

/* Tells whether the text is a URL of a known scheme. Returns false if the URL has an @ before the
 * server's name, because a password may precede it, and URLs are printed. */
static bool is_known_url(const char *text)
{
	size_t n = strcspn(text, ":") + 3;
	size_t server = strcspn(text + n, "/?#");
	static const char *const schemes[] = {
		"http://", "https://", "s3://", "gs://", "az://", "hf://"};
	bool known = false;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		known = known || strncmp(text, schemes[i], strlen(schemes[i])) == 0;
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at == 0x7f)
			return false;
	return known && server > 0 && !memchr(text + n, '@', server);
}

static int parse_source(const struct value_input *in, void *field)
{
	if (!is_url(in->text))
		return value_path.parse(in, field);
	if (!is_known_url(in->text))
		return -EINVAL;
	return value_keep(in->text, field);
}

static int parse_credentials(const struct value_input *in, void *field)
{
	if (strcmp(in->text, "none") != 0)
		return value_path.parse(in, field);
	return value_keep(in->text, field);
}

const struct value_type value_credentials = {
	"path", true, parse_credentials, value_print_text, "none, or " PATH_RULE};
const struct value_type value_source = {"path", true, parse_source, value_print_text,
	PATH_RULE
	"; or a URL of http, https, s3, gs, az or hf, without spaces and without a user"};
