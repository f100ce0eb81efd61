// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/reader.h"
#include "base/cleanup.h"

#include <signal.h>
#include <string.h>

static bool has_pending(const char *line, const char *key, int signal_number)
{
	size_t n = strlen(key);
	if (strncmp(line, key, n) != 0)
		return false;
	return strtoull(line + n, NULL, 16) >> (signal_number - 1) & 1;
}

bool reader_dies(const struct fuse_ctx *reader)
{
	char path[64], line[256];
	bool dies = false;
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)reader->pid);
	auto_fclose FILE *file = fopen(path, "re");
	if (!file)
		return true;
	while (!dies && fgets(line, sizeof(line), file))
		dies = has_pending(line, "SigPnd:", SIGKILL) ||
		       has_pending(line, "ShdPnd:", SIGKILL);
	return dies;
}

uint64_t reader_of(fuse_req_t req)
{
	return (uint64_t)fuse_req_ctx(req)->pid;
}
