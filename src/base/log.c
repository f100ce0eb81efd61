// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "base/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int log_fd = -1; /* -1: standard error */

#define LINE 4096

/* One write and one line per message, so that messages of several threads do not mix, and
 * no name of a file looks like another message. */
static printf_like(2, 0) void emit(const char *level, const char *format, va_list args)
{
	char message[LINE], text[LINE];
	int fd = atomic_load(&log_fd);
	int n;
	if (fd < 0) {
		n = snprintf(text, sizeof(text), "joaderfs: %s", level);
	} else {
		time_t now = time(NULL);
		struct tm utc;
		gmtime_r(&now, &utc);
		n = (int)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ ", &utc);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s", level);
	}
	if (vsnprintf(message, sizeof(message), format, args) < 0)
		return;
	size_t length = (size_t)n;
	length += escape_controls(message, text + length, sizeof(text) - 1 - length);
	text[length++] = '\n';
	ssize_t ignored = write(fd < 0 ? STDERR_FILENO : fd, text, length);
	(void)ignored; /* there is no place left to report it */
}

#define EMIT(level)                                                                      \
	do {                                                                             \
		va_list args;                                                            \
		va_start(args, format);                                                  \
		emit(level, format, args);                                               \
		va_end(args);                                                            \
	} while (0)

void log_error(const char *format, ...)
{
	EMIT("error: ");
}

void log_warn(const char *format, ...)
{
	EMIT("warning: ");
}

void log_info(const char *format, ...)
{
	EMIT("");
}

int log_descriptor(void)
{
	int fd = atomic_load(&log_fd);
	return fd < 0 ? STDERR_FILENO : fd;
}

int log_to_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	int old = atomic_exchange(&log_fd, fd);
	if (old >= 0)
		close(old);
	return 0;
}
