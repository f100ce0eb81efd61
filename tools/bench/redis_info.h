// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number that follows `field`, in the line of the server's INFO that begins with
 * `line`; 0: there is no such line. */
static inline double redis_info(
	redisContext *link, const char *section, const char *line, const char *field)
{
	redisReply *reply = redisCommand(link, "INFO %s", section);
	ensure(reply && reply->str);
	const char *at = strstr(reply->str, line);
	at = at ? strstr(at, field) : NULL;
	double number = at ? strtod(at + strlen(field), NULL) : 0;
	freeReplyObject(reply);
	return number;
}

/* Returns the CPU seconds of the server's main thread. */
static inline double redis_cpu(redisContext *link)
{
	return redis_info(link, "cpu", "used_cpu_sys_main_thread", ":") +
	       redis_info(link, "cpu", "used_cpu_user_main_thread", ":");
}
