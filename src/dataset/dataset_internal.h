// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/lock.h"
#include "base/own_mounts.h"
#include "base/work.h"
#include "dataset/dataset.h"
#include "dataset/number_text.h"

#include <limits.h>
#include <sqlite3.h>

/*
 * Inside the dataset module.
 *
 *   list (names) -> match with the old catalogue (ids) -> examine (stat, headers)
 *                -> apply (new rows) -> catalogue_write, only if something changed
 *
 * A catalogue file is never changed in place. A scan that found changes writes a whole
 * new file and renames it over the old one. So a killed scan or a full disk leaves the
 * old catalogue as it was.
 */

/* Memory for names and directories, which is given back all at once. */
struct arena {
	struct arena_block *blocks;
	size_t left; /* in the first block */
};

void *arena_alloc(struct arena *arena, size_t bytes); /* NULL: no memory */
char *arena_text(struct arena *arena, const char *text);
void arena_join(struct arena *into, struct arena *from);
void arena_free(struct arena *arena);

/* Makes room for one more item in a growing array, and returns the new array, or NULL. */
void *array_grow(void *items, size_t n, size_t *capacity, size_t item_bytes);

/* A file name for a message: control characters escaped, cut to a line's length. */
struct quoted {
	char text[400];
};
const char *quote_name(struct quoted *quoted, const char *name);

/* 1234567 as "1,234,567". */
struct grouped {
	char text[32];
};
const char *group_digits(struct grouped *grouped, uint64_t number);

/* Calls work(context, i) for each i below threads, each on a thread of its own; 0 runs on
 * the caller's. Where a thread can't be made, its call is left out, so the work has to be
 * taken from a queue. */
void parallel_run(
	unsigned threads, void (*work)(void *context, unsigned worker), void *context);

/* One line on the terminal, rewritten at most five times a second. */
struct progress {
	struct work work;
	const char *name;
	bool shown;
	atomic_uint_fast64_t files;
	atomic_uint_fast64_t headers;
	atomic_uint_fast64_t next_ns;
};

void progress_begin(struct progress *progress, const char *name);
void progress_tick(struct progress *progress);
void progress_end(struct progress *progress);

/* Problems that a scan finds. Each kind is counted and gives one message, with an
 * example. */
enum issue_kind {
	ISSUE_OUTSIDE,
	ISSUE_DANGLING,
	ISSUE_LOOP,
	ISSUE_UNREADABLE,
	ISSUE_HEADER,
	ISSUE_LINK,
	ISSUE_LABEL,
	ISSUE_UNLABELLED,
	ISSUE_TWICE,
	ISSUE_REPLACED,
	ISSUE_METADATA,
	ISSUE_SIZE,
	ISSUE_MOUNT,
	N_ISSUES
};

struct issue {
	uint64_t count;
	int error;
	struct quoted example; /* the first one in byte order */
};

struct issues {
	struct issue of[N_ISSUES];
};

void issue_add(struct issues *issues, enum issue_kind kind, const char *path, int error);
void issues_join(struct issues *into, const struct issues *from);
void issues_log(const struct issues *issues, const char *dataset);

/* The facts of a file, from its stat and its header. */
struct facts {
	uint64_t bytes;
	int64_t mtime_ns;
	struct tensor_shape image;
	uint8_t orientation; /* EXIF's, 1 to 8 */
	bool probed; /* false: the header could not be read now (permission, I/O error) */
};

/* A file that has samples in it. */
struct container {
	const char *name; /* relative to scan->beside */
	uint64_t bytes;
	int64_t mtime_ns;
};

struct part {
	uint32_t container; /* its number */
	struct source_part at;
};

/* A file beside a sample, which has its name but for the ending. */
struct beside {
	const struct beside *next; /* of the same sample */
	const char *ending;	   /* in small letters */
	const char *name;	   /* as it is: a file's lies in the sample's directory */
	uint64_t bytes;
	int64_t mtime_ns;
	struct source_part at; /* of the sample's container */
};

/* Inserts it into a list in the order of endings. false: the list has this ending. */
bool beside_insert(const struct beside **list, struct beside *beside);
/* Whether they are of the same files, which have not changed. */
bool beside_equal(const struct beside *a, const struct beside *b);

struct found {
	const char *path; /* relative to the root */
	sample_id id;	  /* SAMPLE_NONE until it has one */
	bool present;	  /* the file was examined */
	bool unseen;	  /* it could not be: it may be there */
	struct facts facts;
	const struct part *part; /* NULL: a file of its own */
	const struct beside *beside;
};

/* Files that may be beside samples, as they are found: source_beside.c. */
struct beside_file {
	const char *path;
	size_t stem, order;
	struct beside is;
};

struct beside_files {
	struct beside_file *of;
	size_t n, capacity;
};

/* The texts are another's. */
struct name_list {
	const char **name;
	size_t n;
	size_t capacity;
};

/* In byte order. */
void name_list_sort(struct name_list *names);
/* The text of a sorted list that is equal, or NULL. */
const char *name_list_find(const struct name_list *names, const char *name);

struct tree {
	struct found *files; /* by class, then directory, then name */
	size_t n_files;
	size_t files_capacity;
	struct beside_files beside; /* until it is joined with the files */
	struct found *others;	    /* that are no samples, if they are shown */
	size_t n_others;
	size_t others_capacity;
	/* Byte order; directories until tree_find_classes. */
	struct name_list classes;
	/* Directories that could not be listed, or were empty as one is that waits for its
	 * mount, and links and entries that could not be followed. */
	struct name_list unseen;
	struct name_list metadata; /* files of it, below the root */
	uint64_t root_files;	   /* files directly in the root, which have no class */
	struct issues issues;
	struct arena names;
};

enum label_kind {
	LABEL_AUTO,
	LABEL_DIRECTORY,
	LABEL_CLS,
	LABEL_JSON,
	LABEL_CSV,
	LABEL_WITHOUT /* all samples are of one class, and paths do not begin with it */
};

/* The class of all samples, where there is no other. */
#define ONLY_CLASS "all"

/* Labels that are numbers are below this. */
#define MOST_NUMBERED_CLASSES 1000000

struct source;
struct listing;

struct scan {
	const char *name;
	const struct source *source;
	char *root;   /* as configured, without slashes at the end: "" for "/" */
	char *real;   /* its real path, likewise; of a directory */
	char *beside; /* the directory that metadata may lie in, or a URL */
	bool far;     /* it is a URL */
	struct container *containers; /* by name */
	size_t n_containers, containers_capacity;
	const char *missing;	/* what of them can't be read */
	const char *reason;	/* why; NULL: as the error number says */
	_Atomic(char *) denied; /* why the source refuses its credentials, or NULL */
	enum label_kind label;
	const char *label_field; /* of JSON, or the column */
	char *settings;		 /* on which depends what is found in a container */
	bool sharded;		 /* there may be several containers */
	bool labelled;		 /* set by listing: classes are labels, not directories */
	struct listing *listed;	 /* of files far away, by find; NULL: none */
	struct arena names;
	const char *extensions;
	bool follow_outside;
	bool shows_others;
	bool trusting; /* what the last scan by the same rule has found is served */
	struct own_mounts own_mounts; /* directories that are not entered */
	unsigned threads;
	bool anew;		 /* dataset_scan_anew */
	bool next;		 /* dataset_scan_next */
	const char *kept;	 /* dataset_open_kept: the file */
	const atomic_bool *stop; /* may be NULL */
	struct progress progress;
};

/* The place of a file far away, or of a container: a name may be a URL itself. The same
 * errors. */
must_check int scan_beside(const char *beside, const char *name, char *ret, size_t size);
/* The absolute path of a file in the tree. 0 or -ENAMETOOLONG. */
must_check int scan_path(
	const struct scan *scan, const char *relative, char *ret, size_t size);
bool scan_stopped(const struct scan *scan);
/* Whether the file that the path leads to may be used: it lies in the tree, or may lie
 * outside. */
bool scan_inside(const struct scan *scan, const char *relative);

/* ImageFolder's order: class, then directory, then name, each in byte order. */
int path_compare(const char *a, const char *b);
int found_compare(const void *a, const void *b);

/* Whether a part of a path hides what is there: it begins with a point, or is what systems and
 * programs put beside people's files. */
bool hidden_name(const char *name, size_t n);

/* Whether people expect columns in a file of this name. */
bool metadata_name(const char *name);

/* Whether a file of this name is a sample, by the last part of it. */
bool wanted_name(const char *extensions, const char *name);
bool wanted_ending(const char *extensions, const char *ending);

void tree_free(struct tree *tree);
/* The classes are those of the samples, whatever directories there are, which are warned of. */
must_check int tree_find_classes(const struct scan *scan, struct tree *tree);
/* About a tree that is hardly meant as it is. */
void tree_warn(const struct scan *scan, const struct tree *tree);

struct catalogue;

/*
 * A path of the tree that could not be seen and that the catalogue has samples at or below
 * of, one of which becomes *ret_sample; NULL: the scan has seen whatever the catalogue
 * knows. Sorts tree->unseen.
 */
const char *scan_unseen(
	struct tree *tree, const struct catalogue *catalogue, const char **ret_sample);

/* Gives their ids to the files that the old catalogue knows. */
must_check int scan_match(const struct catalogue *catalogue, struct tree *tree);
/* Looks at each file, and reads the headers of new and changed ones. */
must_check int scan_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue);

/* 0: the file could be read; *ret is {0, 0} if it has no header of an image. -errno. */
must_check int probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation);
/* Reads as pread does, up to so many bytes; -1: it can't. */
typedef ssize_t read_at(void *context, void *ret, size_t bytes, uint64_t offset);
/* The same for a part of what is read so; bytes: of the sample. */
must_check int probe_part(read_at *read, void *context, const struct source_part *part,
	uint64_t bytes, struct tensor_shape *ret, uint8_t *ret_orientation);

/* The orientation in EXIF data, which begin with the head of a TIFF file: 1 to 8; 1 also
 * for nonsense. */
uint8_t exif_orientation(const uint8_t *data, size_t size);
/* 0: there is none; 1 for nonsense. */
uint32_t exif_find_orientation(const uint8_t *data, size_t size);
/* Reads on behind the first chunk. */
uint8_t png_orientation(FILE *file);

/* The same for the same file with the same content, as far as a stat shows it. path:
 * relative to the root. */
uint32_t sample_identity(const char *path, uint64_t bytes, int64_t mtime_ns);
/* Of a part of a container, from what sample_identity says of it. */
uint32_t part_identity(uint32_t identity, const struct source_part *part);

/* hash() of predicates: the same on every machine and in every version. */
uint64_t text_hash(const char *text, size_t length);

struct row {
	const char *path; /* relative to the root */
	struct facts facts;
	const struct part *part;     /* NULL: a file of its own, or gone */
	const struct beside *beside; /* of the tree, once the catalogue is updated */
	uint32_t label;		     /* LABEL_NONE: its class is gone */
	bool gone;
};

#define LABEL_NONE UINT32_MAX

struct catalogue {
	struct row *rows; /* the index is the id */
	size_t n_rows;
	size_t rows_capacity;
	const char **classes;
	size_t n_classes;
	size_t classes_capacity;
	struct container *containers; /* by name */
	size_t n_containers, containers_capacity;
	const char *settings;  /* of the scan; "" for files */
	bool labelled;	       /* as in the scan */
	char stamp[64];	       /* of the files of metadata; "" without one */
	bool unusable;	       /* the file is not ours, or damaged */
	bool outdated;	       /* of a version that lacks what samples need */
	bool without_channels; /* of a version before: all images count as RGB */
	bool with_table;       /* of a version before, which takes more of the disk */
	uint32_t edition;
	struct arena names;
};

/* When there is no usable catalogue, it is empty; the reason is logged. */
void pixels_count(struct dataset_pixels *pixels, struct tensor_shape image);

must_check int catalogue_load(
	const char *file, const char *source, struct catalogue *ret);
void catalogue_free(struct catalogue *catalogue);

/* Brings the catalogue up to date with the examined tree. *ret_changed: it
 * has changed. */
must_check int catalogue_update(const struct scan *scan, struct catalogue *catalogue,
	struct tree *tree, bool *ret_changed);

struct metadata;

/* tree: the files that metadata may name, with their ids. Fault: dataset.write. */
must_check int catalogue_write(const char *file, const struct scan *scan,
	const struct catalogue *catalogue, struct metadata *metadata,
	const struct tree *tree);

/* SQLite's last error as -errno. */
int catalogue_errno(sqlite3 *db);
/* SQLite's last error of a read as -errno; -EILSEQ: the file is damaged. */
int catalogue_read_errno(sqlite3 *db);
must_check int catalogue_open_read(const char *file, sqlite3 **ret);

/* Columns of the table that a predicate does not see. */
bool catalogue_hidden_column(const char *name);
/* Names that a column of metadata can't have. */
bool catalogue_reserved_column(const char *name);

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT };

struct column {
	char *name;
	size_t field;  /* of a record of its file */
	size_t number; /* among the columns of all files */
	enum column_type type;
	struct number_style style;
	bool seen; /* it has a value in some record */
};

/* Finds the files of metadata: metadata.csv and metadata.jsonl in the directory of the dataset,
 * and those that the tree has (NULL: none), and takes their stamp. *ret = NULL when there
 * is none. */
must_check int metadata_open(
	const struct scan *scan, const struct tree *tree, struct metadata **ret);
void metadata_close(struct metadata **metadata);
const char *metadata_stamp(const struct metadata *metadata);

/* Finds the columns and their types. Mistakes in a file are logged; a column with one
 * is left out, or all columns of the file. */
must_check int metadata_read_columns(struct metadata *metadata);
const struct column *metadata_columns(const struct metadata *metadata, size_t *ret_n);

/* Whether some file has the column that scan->label_field names. */
bool metadata_has_label(const struct metadata *metadata);

/* A line of a file. */
struct metadata_line {
	size_t file; /* its number, from 0 */
	const char
		*file_name; /* relative to the root; "" if it is too long for a sample */
	const char *const *values; /* by column; NULL: none */
	const bool *has;	   /* by column: whether the file has it */
	bool labelled;		   /* the file has the column of labels */
	const char *label;	   /* NULL: none */
};

/* Calls row for each line, those of files nearer to their samples later. Stops at the first
 * error that row returns. */
typedef int metadata_row(void *context, const struct metadata_line *line);
must_check int metadata_rows(struct metadata *metadata, metadata_row *row, void *context);

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
