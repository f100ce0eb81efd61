// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/lock.h"
#include "dataset/dataset.h"
#include "dataset/dataset_catalogue.h"

#include <limits.h>

/*
 * A dataset in use, within the module. dataset_scan.h describes the results of scans,
 * dataset_catalogue.h the stored results.
 */

struct connection;
struct catalogue_map;

struct dataset {
	atomic_uint references;
	const char *kind; /* the source's name */
	char *name;
	char *source;  /* absolute; from the configuration */
	char *root;    /* `source` without slashes at its end */
	char *beside;  /* directory of its containers, or URL of its remote files */
	bool labelled; /* paths of samples begin with their labels */
	bool follow_outside;
	uint32_t n_containers;
	_Atomic(char *) file; /* path of the catalogue; see dataset_install */
	char *files[3];	  /* all paths that the catalogue has had: next, current, kept */
	bool provisional; /* the catalogue is removed when the dataset is closed */
	bool unseen;	  /* nobody has looked for changes yet */
	uint32_t edition;
	char **classes;
	uint32_t n_classes;
	bool sorts_classes; /* the classes are in byte order, each once */
	uint32_t n_ids;
	uint32_t n_samples;
	uint64_t total_bytes;
	struct catalogue_map *map;    /* NULL: a mixture */
	struct dataset_pixels pixels; /* counts of samples that are not gone */
	/* the catalogue has no channels, so all images count as RGB */
	bool without_channels;
	roaring_bitmap_t *present; /* ids that are not gone */
	struct lock lock;
	struct connection *idle;     /* (lock) */
	unsigned n_idle;	     /* (lock) */
	struct dataset_paths *paths; /* (lock) NULL until dataset_paths is called */
	bool making_paths;	     /* (lock) a thread is making them */
	pthread_cond_t paths_made;
	_Atomic(sample_id *) by_label;	       /* NULL until dataset_by_label is called */
	_Atomic(struct dataset_pairs *) pairs; /* a list; written only with the lock */
	_Atomic(struct dataset_groups *) groups; /* NULL until dataset_group is called */
	uint32_t longest_json;			 /* (lock) 0: not known yet */
	struct dataset **mixed;			 /* the datasets of a mixture */
	sample_id *firsts; /* for each of them the first id in the mixture */
	uint32_t *labels;  /* for a mixture: the label of each id */
	size_t n_mixed;	   /* 0: the dataset is no mixture */
};

struct connection {
	struct connection *next;
	sqlite3 *db;
	sqlite3_stmt *row; /* NULL until it is used */
};

/* Takes an idle read-only connection, or opens one. Only one caller may use it, and gives it back
 * with connection_give. */
must_check int connection_take(struct dataset *dataset, struct connection **ret);
void connection_give(struct dataset *dataset, struct connection *connection);
void connections_close(struct dataset *dataset);

/* --- mixtures --- */

/* Returns the dataset of a mixture that contains the sample. *ret_id: the sample's id in that
 * dataset. */
struct dataset *mixed_of(const struct dataset *dataset, sample_id id, sample_id *ret_id);
/* Returns the same as mixed_of. If `dataset` is no mixture, returns `dataset` itself. */
const struct dataset *dataset_of(
	const struct dataset *dataset, sample_id id, sample_id *ret_id);
/* Sets sorts_classes, when the dataset has all its classes. */
void classes_check(struct dataset *dataset);
void dataset_paths_free(struct dataset_paths *paths);
void dataset_pairs_free(struct dataset_pairs *pairs);
void dataset_groups_free(struct dataset_groups *groups);

/* Returns <state>/datasets/<name>.sqlite<ending>. The caller frees it; NULL: no memory. */
char *catalogue_file(const char *state_dir, const char *name, const char *ending);
/* Returns the path of a kept edition's catalogue. The caller frees it; NULL: no memory. */
char *catalogue_kept_file(const char *state_dir, const char *name, uint32_t number);
#define NEXT ".next" /* ending of a catalogue before dataset_install */
/* Removes the catalogue and its map. Logs a failure. */
void catalogue_remove(const char *file);
/* Syncs the directory of `file`, so that changed names are on disk. */
must_check int catalogue_sync_directory(const char *file);

/* Opens a dataset like dataset_open, with this number of scanning threads. */
must_check int dataset_open_threads(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, unsigned threads,
	struct dataset **ret);
