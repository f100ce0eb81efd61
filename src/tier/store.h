// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "tier/tier_file.h"

#include <stdatomic.h>

/*
 * The files of a tier: one for each sample (tier_file.h), in a directory that belongs to the
 * daemon's user. Only one daemon at a time may use the directory.
 *
 *   Owns: the directory's descriptor and its lock.
 *   Threads: any thread may read and remove; one thread writes.
 *   Errors: -errno, logged only where the function's comment says so.
 *   Faults that tests inject: tier.make, tier.write, tier.rename, tier.read.
 */

struct store;

/* Logs errors. Returns -EWOULDBLOCK if another daemon uses the directory. */
must_check int store_open(const char *directory, struct store **ret);
void store_close(struct store **store);

#define STORE_DIRECTORY 4096 /* bytes that are counted for a directory */
#define STORE_NAME 256	     /* bytes that are counted for a file's name */
/* Returns the bytes that a sample of `bytes` bytes takes on the disk, with its file's name. */
uint64_t store_room(const struct store *store, uint64_t bytes);
int store_directory(const struct store *store); /* the store owns the descriptor */

struct stored {
	const char *dataset;
	sample_id id;
	uint64_t identity;
};

/* Reads a sample of exactly `bytes` bytes. -ENOENT: the sample has no file. -EBADMSG: the file is
 * damaged, or its sample has another size. */
must_check int store_read(
	struct store *store, const struct stored *sample, void *ret, uint64_t bytes);
/* Writes the file of a sample, completely or not at all. Sets *ret_directories to the number of
 * directories that were made, even if the write fails. */
must_check int store_write(struct store *store, const struct stored *sample,
	const void *bytes, uint64_t n, unsigned *ret_directories);
void store_remove(struct store *store, const struct stored *sample);

struct store_scan {
	/* Called for each file of a sample, which takes `room` bytes on the disk. */
	void (*found)(void *context, const struct stored *sample, uint64_t room);
	void *context;
	const atomic_bool *stop;
	/* store_scan sets the fields from here on. */
	uint64_t directories; /* bytes that directories take on the disk */
	/* number of files that belong to no tier; they are left unchanged */
	uint64_t strange;
};

/* Calls scan->found for each sample, and removes incomplete files. */
must_check int store_scan(struct store *store, struct store_scan *scan);
