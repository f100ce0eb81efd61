// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "tier/record.h"

#include <stdatomic.h>

/*
 * The files of a tier: one for each sample (record.h), in a directory that belongs to the
 * daemon's user, and to one daemon at a time.
 *
 *   Owns: the directory's descriptor and its lock.
 *   Threads: any may read and remove; one writes.
 *   Errors: -errno, not logged unless it is said.
 *   Faults: tier.make, tier.write, tier.rename, tier.read.
 */

struct store;

/* Logged, also that another daemon has it (-EWOULDBLOCK). */
must_check int store_open(const char *directory, struct store **ret);
void store_close(struct store **store);

/* What is taken of the device: by a directory, by a name in it, and by a file of so many
 * bytes with its name. */
#define STORE_DIRECTORY 4096
#define STORE_NAME 256
uint64_t store_room(const struct store *store, uint64_t bytes);
int store_directory(const struct store *store); /* a descriptor, the store's */

/* Whose bytes they are. */
struct stored {
	const char *dataset;
	sample_id id;
	uint64_t identity;
};

/* Reads exactly so many bytes. -ENOENT; -EBADMSG: they are not what was written. */
must_check int store_read(
	struct store *store, const struct stored *sample, void *ret, uint64_t bytes);
/* Whole or not at all. *ret_directories: so many were made, also when it fails. */
must_check int store_write(struct store *store, const struct stored *sample,
	const void *bytes, uint64_t n, unsigned *ret_directories);
void store_remove(struct store *store, const struct stored *sample);

struct store_scan {
	/* Of each sample that may be there, with the room that it takes. */
	void (*found)(void *context, const struct stored *sample, uint64_t room);
	void *context;
	const atomic_bool *stop;
	/* out */
	uint64_t directories; /* the room of all */
	uint64_t strange;     /* files that are none of a tier: left as they are */
};

/* store_scan.c. Removes what was not written to its end. */
must_check int store_scan(struct store *store, struct store_scan *scan);
