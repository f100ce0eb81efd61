// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/proc.h"
#include "base/cleanup.h"
#include "base/rng.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool process_read_file(long id, const char *name, char *ret, size_t room, size_t *ret_n)
{
	char path[64];
	ssize_t n;
	*ret_n = 0;
	snprintf(path, sizeof(path), "/proc/%ld/%s", id, name);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && *ret_n < room - 1 &&
		(n = read(fd, ret + *ret_n, room - 1 - *ret_n)) > 0)
		*ret_n += (size_t)n;
	ret[*ret_n] = '\0';
	return *ret_n > 0;
}

/* Reads the fields 4, 6 and 22 of the file stat (proc(5)). Field 2, a name in parentheses, can
 * contain any characters, so reading begins after the last parenthesis. */
bool process_read_stat(long id, struct process *ret)
{
	char text[1024];
	size_t n;
	if (!process_read_file(id, "stat", text, sizeof(text), &n))
		return false;
	const char *rest = strrchr(text, ')');
	long long unsigned start = 0;
	ret->id = id;
	if (!rest || sscanf(rest,
			     ") %*c %ld %*d %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u "
			     "%*d %*d %*d %*d %*d %*d %llu",
			     &ret->parent, &ret->session, &start) != 3)
		return false;
	ret->start = start;
	return true;
}

bool process_read(long id, struct process *ret)
{
	(void)process_read_file(
		id, "cmdline", ret->command, sizeof(ret->command), &ret->n_command);
	return process_read_stat(id, ret);
}

long process_of_thread(long thread)
{
	char text[PROCESS_TEXT];
	size_t n;
	long process = thread;
	if (process_read_file(thread, "status", text, sizeof(text), &n)) {
		const char *line = strstr(text, "\nTgid:");
		if (line)
			process = strtol(line + strlen("\nTgid:"), NULL, 10);
	}
	return process;
}

uint64_t process_number(const struct process *process)
{
	return rng_mix((uint64_t)process->id, process->start) | 1;
}

bool process_runs_same(const struct process *a, const struct process *b)
{
	char path[64];
	struct stat of_a, of_b;
	snprintf(path, sizeof(path), "/proc/%ld/exe", a->id);
	if (stat(path, &of_a) != 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%ld/exe", b->id);
	return stat(path, &of_b) != 0 ||
	       (of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

#define CHILDREN_TEXT 65536

static void visit_started(
	long id, const char *thread, char *text, process_visit *visit, void *context)
{
	char name[64];
	size_t n;
	char *at = text, *end;
	snprintf(name, sizeof(name), "task/%.20s/children", thread);
	if (!process_read_file(id, name, text, CHILDREN_TEXT, &n))
		return;
	for (long child; (child = strtol(at, &end, 10)) > 0; at = end)
		visit(context, child);
}

void process_children(long id, process_visit *visit, void *context)
{
	char path[64];
	const struct dirent *entry;
	snprintf(path, sizeof(path), "/proc/%ld/task", id);
	auto_free char *text = malloc(CHILDREN_TEXT);
	DIR *threads = opendir(path);
	while (text && threads && (entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			visit_started(id, entry->d_name, text, visit, context);
	if (threads)
		(void)closedir(threads);
}
