// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/lock.h"
#include "dataset/dataset.h"
#include "dataset/dataset_catalogue.h"

#include <limits.h>

/*
 * Inside the dataset module: a dataset in use. dataset_scan.h has what scans find,
 * dataset_catalogue.h what they leave.
 */

struct connection;
struct catalogue_map;

struct dataset {
	atomic_uint references;
	const char *kind; /* the source's name */
	char *name;
	char *source;  /* absolute, as configured */
	char *root;    /* source without slashes at the end */
	char *beside;  /* the directory of its containers, or of files far away */
	bool labelled; /* its paths begin with labels */
	bool follow_outside;
	uint32_t n_containers;
	_Atomic(char *) file; /* the catalogue: see dataset_install */
	char *files[3];	      /* its names so far: next, current, kept */
	bool provisional;     /* it is removed with the dataset */
	bool unseen;	      /* nobody has looked for changes */
	uint32_t edition;
	char **classes;
	uint32_t n_classes;
	uint32_t n_ids;
	uint32_t n_samples;
	uint64_t total_bytes;
	struct catalogue_map *map;    /* NULL: a mixture */
	struct dataset_pixels pixels; /* of all that are not gone */
	bool without_channels;	      /* all images count as RGB */
	roaring_bitmap_t *present;    /* ids that are not gone */
	struct lock lock;
	struct connection *idle;		 /* (lock) */
	unsigned n_idle;			 /* (lock) */
	struct dataset_paths *paths;		 /* (lock) NULL until it is asked for */
	_Atomic(struct dataset_pairs *) pairs;	 /* written with lock; a list */
	_Atomic(struct dataset_groups *) groups; /* NULL until they are asked for */
	uint32_t longest_json;			 /* (lock) 0 until it is asked for */
	struct dataset **mixed; /* a mixture: of these, whose rows it has */
	sample_id *firsts;	/* where their ids begin */
	uint32_t *labels;	/* of a mixture, by id */
	size_t n_mixed;		/* 0: it is none */
};

struct connection {
	struct connection *next;
	sqlite3 *db;
	sqlite3_stmt *row; /* NULL until it is needed */
};

/* A read-only connection with its statement, for one caller at a time. */
must_check int connection_take(struct dataset *dataset, struct connection **ret);
void connection_give(struct dataset *dataset, struct connection *connection);
void connections_close(struct dataset *dataset);

/* --- of a mixture: dataset_mix.c --- */

/* The dataset that has the sample, and its id there. */
struct dataset *mixed_of(const struct dataset *dataset, sample_id id, sample_id *ret_id);
/* So for any dataset: one that is no mixture has all its samples. */
const struct dataset *dataset_of(
	const struct dataset *dataset, sample_id id, sample_id *ret_id);
/* As dataset_get and dataset_json_longest. */
must_check int mixed_get(
	const struct dataset *dataset, sample_id id, struct dataset_sample *ret);
must_check int mixed_json_longest(const struct dataset *dataset, uint32_t *ret);

/* Frees the arrays that only a mixture has. */
void mixed_free(struct dataset *made);

void dataset_paths_free(struct dataset_paths *paths);
void dataset_pairs_free(struct dataset_pairs *pairs);
void dataset_groups_free(struct dataset_groups *groups);

/* <state>/datasets/<name>.sqlite<ending>, and the same of what dataset_install keeps; the
 * caller frees it. NULL: no memory. */
/* The caller frees it. */
char *root_of_path(const char *path);
char *catalogue_file(const char *state_dir, const char *name, const char *ending);
char *catalogue_kept_file(const char *state_dir, const char *name, uint32_t number);
#define NEXT ".next" /* the ending of one that waits for dataset_install */
/* Removes the catalogue and its map; a failure is logged. */
void catalogue_remove(const char *file);
/* Brings names in the directory of `file` to the disk. */
must_check int catalogue_sync_directory(const char *file);

/* dataset_open with a number of scanning threads. */
must_check int dataset_open_threads(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, unsigned threads,
	struct dataset **ret);
