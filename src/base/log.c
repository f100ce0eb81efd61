// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "base/escape.h"
#include "base/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#define MAX_MESSAGE 4096

static atomic_int log_fd = -1;	/* -1: standard error */
static atomic_int kept_fd = -1; /* a file in memory with saved messages; -1: none */

static _Thread_local FILE *also;

void log_also_to(FILE *out)
{
	also = out;
}

static void print_time(char *text, size_t size)
{
	time_t now = time(NULL);
	struct tm utc;
	gmtime_r(&now, &utc);
	if (strftime(text, size, "%Y-%m-%dT%H:%M:%SZ ", &utc) == 0)
		*text = '\0';
}

/* Uses one system call, so that messages of several threads do not mix. */
static void write_line(int fd, const char *prefix, const char *level, const char *message)
{
	char line[MAX_MESSAGE + 64];
	int n = snprintf(line, sizeof(line), "%s%s%s\n", prefix, level, message);
	ssize_t ignored = n > 0 ? write(fd, line, (size_t)n) : 0;
	(void)ignored; /* a failed write can't be reported anywhere */
}

/* Logs a message as one line, with control characters escaped, so that no file name can imitate
 * another message. */
static printf_like(2, 0) void emit(const char *level, const char *format, va_list args)
{
	char raw[MAX_MESSAGE], message[MAX_MESSAGE], stamp[32];
	const char *rest;
	int fd = atomic_load(&log_fd), kept = atomic_load(&kept_fd);
	if (vsnprintf(raw, sizeof(raw), format, args) < 0)
		return;
	message[escape_controls(raw, message, sizeof(message) - 1, &rest)] = '\0';
	print_time(stamp, sizeof(stamp));
	if (level[0] == 'e')
		kept_note_error(message);
	if (also)
		fprintf(also, "%s%s\n", level, message);
	if (fd < 0)
		write_line(STDERR_FILENO, "joaderfs: ", level, message);
	if (fd >= 0 || kept >= 0)
		write_line(fd >= 0 ? fd : kept, stamp, level, message);
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

void log_keep(void)
{
	atomic_store(&kept_fd, memfd_create("joaderfs log", MFD_CLOEXEC));
}

/* Copies saved messages to `fd`. Leaves their file open: another thread may be writing to it. */
static void write_kept(int fd)
{
	char part[4096];
	int kept = atomic_exchange(&kept_fd, -1);
	ssize_t n;
	for (off_t at = 0; kept >= 0 && (n = pread(kept, part, sizeof(part), at)) > 0;
		at += n)
		if (write(fd, part, (size_t)n) != n)
			return;
}

int log_to_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	write_kept(fd);
	int old = atomic_exchange(&log_fd, fd);
	if (old >= 0)
		close(old);
	return 0;
}
