// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/log.h"
#include "epoch/disk.h"
#include "group/group_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Each start of the daemon replaces the random number in the file <state>/incarnation by a new
 * one. Only one daemon at a time uses a state directory, so the daemon that wrote the old number
 * is dead, and this daemon may take over the dead daemon's leases. */

static uint64_t read_before(const char *path)
{
	uint64_t before = 0;
	FILE *in = fopen(path, "re");
	/* without the file, the leases of the previous daemon have to expire */
	if (!in)
		return 0;
	bool good = fscanf(in, "%16" SCNx64, &before) == 1;
	(void)fclose(in);
	return good ? before : 0;
}

uint64_t incarnation_follow(const char *state, uint64_t incarnation)
{
	auto_free char *path = aprintf("%s/incarnation", state);
	char text[32];
	if (!path)
		return 0;
	uint64_t before = read_before(path);
	snprintf(text, sizeof(text), "%016" PRIx64 "\n", incarnation);
	int err = disk_replace(state, "incarnation", text, 0644);
	if (err)
		log_warn("%s: can't be written: %s; after the next start this node's "
			 "ranks wait until its leases end",
			path, strerror(-err));
	return before;
}
