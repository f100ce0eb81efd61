// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "tier/tier_file.h"

#include <stdatomic.h>

/*
 * The files of a tier: one for each sample (tier_file.h), in a directory that belongs to the daemon's
 * user. Only one daemon at a time uses it.
 *
 *   Owns: the directory's descriptor and its lock.
 *   Threads: any thread may read and remove; one thread writes.
 *   Errors: -errno, logged only where a comment says so.
 *   Faults: tier.make, tier.write, tier.rename, tier.read.
 */

struct store;

/* Opens the directory. Errors are logged. -EWOULDBLOCK: another daemon uses it. */
must_check int store_open(const char *directory, struct store **ret);
void store_close(struct store **store);

/* Bytes on the device: of a directory, and of a name in it. */
#define STORE_DIRECTORY 4096
#define STORE_NAME 256
/* Returns the bytes on the device of a file with this number of bytes, including its name. */
uint64_t store_room(const struct store *store, uint64_t bytes);
/* Returns the descriptor of the directory. The store keeps it. */
int store_directory(const struct store *store);

/* Identifies the sample of some bytes. */
struct stored {
	const char *dataset;
	sample_id id;
	uint64_t identity;
};

/* Reads exactly this number of bytes. -ENOENT; -EBADMSG: they differ from the bytes that were
 * written. */
must_check int store_read(
	struct store *store, const struct stored *sample, void *ret, uint64_t bytes);
/* Writes a file, completely or not at all. *ret_directories: the number of directories made, also
 * after a failure. */
must_check int store_write(struct store *store, const struct stored *sample,
	const void *bytes, uint64_t n, unsigned *ret_directories);
void store_remove(struct store *store, const struct stored *sample);

struct store_scan {
	/* Called for each sample that seems to be there, with the room that it takes. */
	void (*found)(void *context, const struct stored *sample, uint64_t room);
	void *context;
	const atomic_bool *stop;
	/* The members from here on are set by store_scan. */
	uint64_t directories; /* room of all directories */
	/* files that do not belong to a tier; they are left as they are */
	uint64_t strange;
};

/* Finds the samples, and removes files that were not written completely. */
must_check int store_scan(struct store *store, struct store_scan *scan);
