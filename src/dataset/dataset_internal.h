// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/lock.h"
#include "dataset/dataset.h"
#include "dataset/dataset_catalogue.h"

#include <limits.h>

/* Open datasets: their struct, connections to SQLite, mixtures, and files of catalogues.
 * dataset_scan.h has the results of a scan; dataset_catalogue.h has a catalogue as a scan reads and
 * writes it. */

struct connection;
struct catalogue_map;

struct dataset {
	atomic_uint references;
	const char *kind; /* name of the source */
	char *name;
	char *source; /* absolute path or URL, from the configuration */
	char *root;   /* `source` without slashes at its end */
	/* directory or URL to which names of containers and remote files are relative */
	char *beside;
	bool follow_outside;
	_Atomic(char *) file; /* path of the catalogue; dataset_install changes it */
	/* paths that the catalogue has had in turn, such as <name>.sqlite.next, <name>.sqlite,
	 * <name>.sqlite.0; the last path that is not NULL is `file`. Old paths are not freed yet,
	 * because threads may be reading them. */
	char *files[3];
	bool provisional; /* not installed: dataset_close removes the catalogue */
	bool unseen;	  /* result of dataset_is_unseen */
	uint32_t edition;
	char **classes;
	uint32_t n_classes;
	bool sorts_classes; /* the classes are in byte order, without duplicates */
	uint32_t n_ids;
	uint32_t n_samples;
	uint64_t total_bytes;
	struct catalogue_map *map;    /* NULL: the dataset is a mixture */
	struct dataset_pixels pixels; /* counts of samples whose files exist */
	roaring_bitmap_t *present;    /* ids of samples whose files exist */
	struct lock lock;
	struct connection *idle;     /* (lock) unused connections */
	unsigned n_idle;	     /* (lock) */
	struct dataset_paths *paths; /* (lock) NULL before dataset_paths */
	bool making_paths;	     /* (lock) a thread is making `paths` */
	pthread_cond_t paths_made;
	_Atomic(sample_id *) by_label; /* NULL before dataset_by_label */
	/* Second files of samples (dataset_pairs.h): a list with an element for each rule by which
	 * jobs find them (the key `from` in a job's configuration). Changed only with the lock. */
	_Atomic(struct dataset_pairs *) pairs;
	_Atomic(struct dataset_groups *) groups; /* NULL before dataset_group */
	_Atomic(uint32_t) longest_json;		 /* dataset_json_longest; 0: not known */
	struct dataset **mixed;			 /* a mixture's datasets */
	sample_id *firsts;			 /* a mixture: first id of each dataset */
	uint32_t *labels;			 /* a mixture: label of each id */
	size_t n_mixed;				 /* 0: no mixture */
};

struct connection {
	struct connection *next;
	sqlite3 *db;
	sqlite3_stmt *row; /* reads a row; NULL until it is needed */
};

/* Takes an unused read-only connection, or opens one; connection_give gives it back. */
must_check int connection_take(struct dataset *dataset, struct connection **ret);
void connection_give(struct dataset *dataset, struct connection *connection);
void connections_close(struct dataset *dataset);

/* Makes the virtual table `samples` of the connection: one row per sample, with the columns of the
 * map, and the columns of metadata from the SQLite file (dataset_samples.c). Callers call this
 * before any statement, and before they set an authorizer. A connection may have one statement
 * at a time that reads metadata. *inside is true while the table itself runs a statement that reads
 * metadata; the connection's authorizer must allow everything during this time. `inside` may be
 * NULL. */
must_check int samples_attach(sqlite3 *db, const struct dataset *dataset, bool *inside);

/* Returns the mixture's dataset that has the sample. *ret_id: the sample's id in this dataset. */
struct dataset *mixed_of(const struct dataset *dataset, sample_id id, sample_id *ret_id);
/* Works like mixed_of, but returns `dataset` and `id` if `dataset` is no mixture. */
const struct dataset *dataset_of(
	const struct dataset *dataset, sample_id id, sample_id *ret_id);
/* Sets dataset->sorts_classes. The dataset must have all its classes. */
void classes_check(struct dataset *dataset);
void dataset_paths_free(struct dataset_paths *paths);
void dataset_pairs_free(struct dataset_pairs *pairs);
void dataset_groups_free(struct dataset_groups *groups);

/* Returns <state>/datasets/<name>.sqlite<ending>, which the caller frees; NULL: no memory. */
char *catalogue_file(const char *state_dir, const char *name, const char *ending);
/* Works like catalogue_file, for a replaced edition: <name>.sqlite.<number>. */
char *catalogue_kept_file(const char *state_dir, const char *name, uint32_t number);
#define NEXT ".next" /* ending of a catalogue before dataset_install */
/* Removes the file of the catalogue, and the file of its map (dataset_map.h). Logs a failure. */
void catalogue_remove(const char *file);
/* Syncs the directory of `file`, so that renames and links are on disk. */
must_check int catalogue_sync_directory(const char *file);

must_check int dataset_open_threads(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, unsigned threads,
	struct dataset **ret);
