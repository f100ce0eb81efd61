// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/lock.h"
#include "dataset/dataset.h"
#include "dataset/dataset_catalogue.h"

#include <limits.h>

/*
 * A dataset in use, inside the dataset module. dataset_scan.h has what scans find,
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
	char *beside;  /* directory of its containers, or URL of files far away */
	bool labelled; /* paths of samples begin with labels */
	bool follow_outside;
	uint32_t n_containers;
	_Atomic(char *) file; /* the catalogue: see dataset_install */
	char *files[3];	      /* names of the catalogue so far: next, current, kept */
	bool provisional;     /* the catalogue is removed with the dataset */
	bool unseen;	      /* nobody has looked for changes */
	uint32_t edition;
	char **classes;
	uint32_t n_classes;
	uint32_t n_ids;
	uint32_t n_samples;
	uint64_t total_bytes;
	struct catalogue_map *map;    /* NULL: a mixture */
	struct dataset_pixels pixels; /* counts of samples that are not gone */
	bool without_channels;	      /* all images count as RGB */
	roaring_bitmap_t *present;    /* ids that are not gone */
	struct lock lock;
	struct connection *idle;		 /* (lock) */
	unsigned n_idle;			 /* (lock) */
	struct dataset_paths *paths;		 /* (lock) NULL until it is asked for */
	_Atomic(struct dataset_pairs *) pairs;	 /* written with lock; a list */
	_Atomic(struct dataset_groups *) groups; /* NULL until they are asked for */
	uint32_t longest_json;			 /* (lock) 0 until it is asked for */
	struct dataset **mixed;			 /* datasets of a mixture */
	sample_id *firsts;			 /* first id of each of these datasets */
	uint32_t *labels;			 /* labels of a mixture, by id */
	size_t n_mixed;				 /* 0: the dataset is no mixture */
};

struct connection {
	struct connection *next;
	sqlite3 *db;
	sqlite3_stmt *row; /* NULL until it is needed */
};

/* Takes an idle connection, or opens one, read-only, for one caller at a time. The caller gives
 * it back with connection_give. */
must_check int connection_take(struct dataset *dataset, struct connection **ret);
void connection_give(struct dataset *dataset, struct connection *connection);
void connections_close(struct dataset *dataset);

/* --- mixtures --- */

/* Returns the dataset of a mixture that has the sample; *ret_id: its id there. */
struct dataset *mixed_of(const struct dataset *dataset, sample_id id, sample_id *ret_id);
/* Does as mixed_of for any dataset: returns `dataset` itself if it is no mixture. */
const struct dataset *dataset_of(
	const struct dataset *dataset, sample_id id, sample_id *ret_id);
void dataset_paths_free(struct dataset_paths *paths);
void dataset_pairs_free(struct dataset_pairs *pairs);
void dataset_groups_free(struct dataset_groups *groups);

/* Returns <state>/datasets/<name>.sqlite<ending>. The caller frees it; NULL: no memory. */
char *catalogue_file(const char *state_dir, const char *name, const char *ending);
/* Returns the catalogue_file of a kept edition. The caller frees it; NULL: no memory. */
char *catalogue_kept_file(const char *state_dir, const char *name, uint32_t number);
#define NEXT ".next" /* ending of a catalogue that waits for dataset_install */
/* Removes the catalogue and its map; a failure is logged. */
void catalogue_remove(const char *file);
/* Syncs the directory of `file`, so that its names are on the disk. */
must_check int catalogue_sync_directory(const char *file);

/* Does as dataset_open, with so many scanning threads. */
must_check int dataset_open_threads(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, unsigned threads,
	struct dataset **ret);
