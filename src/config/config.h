// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/machine.h"
#include "image/array.h"
#include "image/augment.h"
#include "image/pixel_type.h"
#include "image/preparation.h"
#include "share/share.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Configuration: ini files become validated structs.
 *
 * One table (config_table.c) has all options: section, key, type, range, default, help. Parsing,
 * the effective job.ini, the man page and the messages use this table.
 *
 *   Flow: main loads the daemon's ini and the jobs'; the other modules get the structs.
 *   Owns: a struct owns all its strings; config_*_free frees them.
 *   Errors: -EINVAL; each mistake is reported as "file:[section]:key: found ..., allowed ..., did
 *           you mean ...?". Mistakes are unknown sections and keys, keys given twice, values out of
 *           range, and values that contradict each other. An ini with a mistake is not loaded at
 *           all. -errno, reported too: the file can't be read.
 *   Threads: any; structs do not change once they are loaded.
 */

enum eviction_policy { EVICTION_REFCNT, EVICTION_LRU, EVICTION_FIFO, EVICTION_RANDOM };
enum sampler_kind { SAMPLER_DSA, SAMPLER_ISA, SAMPLER_EXCHANGE, SAMPLER_SEQUENTIAL };
enum job_order { ORDER_SHUFFLED, ORDER_SEQUENTIAL, ORDER_REPLAY };
enum sample_format {
	FORMAT_PPM,
	FORMAT_BMP,
	FORMAT_PNG,
	FORMAT_NPY,
	FORMAT_RAW,
	FORMAT_SOURCE,
	FORMAT_RECORD
};
enum view_size { SIZE_PADDED, SIZE_EXACT };
enum view_layout { LAYOUT_FLAT, LAYOUT_CLASSES, LAYOUT_MIRROR, LAYOUT_TAR, LAYOUT_BATCH };
/* Tells which sample a file of layout = classes has in later epochs. FRESH: another one; FIXED: the
 * same; AUTO: the same if the cache has room for all samples. */
enum view_mapping { MAPPING_FRESH, MAPPING_AUTO, MAPPING_FIXED };
enum view_io { IO_AUTO, IO_DIRECT, IO_CACHED };

/* A directory on a fast disk, and the number of bytes that it may take. */
struct tier_config {
	char *directory; /* absolute path; NULL: there is no tier */
	uint64_t bytes;
};

/* The time when the daemon looks for changes in a dataset that an earlier start has scanned: before
 * it serves, in the background, or never. */
enum dataset_look { LOOK_BEFORE, LOOK_BEHIND, LOOK_NEVER };

struct dataset_config {
	char *name;
	char *path;		   /* absolute path, or a URL */
	enum sampler_kind sampler; /* default: the daemon's sampler */
	bool follow_outside; /* follow symlinks that leave the tree; false: refuse them */
	bool shows_others;   /* layout = mirror also shows files that are no samples */
	/* Images with equal bytes count as one image, even in different files. */
	bool same_content;
	char *extensions; /* in lower case, without dots, separated by spaces; "*": any */
	struct tier_config tier; /* fast disk that keeps bytes of the dataset */
	/* Source of the labels: auto, directory, cls (files *.cls), none, json:FIELD or csv:COLUMN.
	 * NULL: auto. */
	char *label;
	enum dataset_look look;
	/* A request to the server is repeated if no data arrive for this time. */
	uint32_t timeout_s;
	/* Settings of s3. NULL: the environment decides. */
	char *endpoint, *region;
	char *credentials; /* absolute path of a file; "none": requests are not signed */
	char *profile;
	enum bucket_names { NAMES_AUTO, NAMES_PATH, NAMES_HOST } bucket_names;
	bool requester_pays;
};

/* A group of daemons. The ranks of one training share a common order within the group. */
struct cluster_config {
	/* URL of the server that keeps the group's state. NULL: this daemon is alone. */
	char *engine;
	char *engine_password_file;		    /* absolute path; NULL: none */
	char *engine_ca, *engine_cert, *engine_key; /* absolute paths; NULL: none */
	char *group;
	char *node; /* name of this daemon in the group; NULL: the host's name */
	/* Address on which other daemons reach this one. NULL: no exchange of samples. */
	char *listen;
	/* Address at which other daemons reach this one. "auto": the local address of the
	 * connection to `engine`. NULL: the address in `listen`; if `listen` has only a port, or
	 * stands for all addresses of the machine, the same as auto. */
	char *advertise;
	char *secret;			   /* absolute path of a file; NULL: none */
	char *tls_ca, *tls_cert, *tls_key; /* absolute paths; NULL: none */
	bool encrypt;			   /* encrypt the data between nodes */
	double capacity;
	uint32_t ttl_s; /* a daemon that is silent for this time counts as dead */
	/* longest wait in seconds for the server `engine` if it can't be reached; 0: for ever */
	uint32_t patience_s;
};

/* A template of jobs: a section of the daemon's ini. */
struct template_config {
	char *name;
	struct template_setting {
		char *text; /* SECTION.KEY=VALUE */
		unsigned line;
	} * settings;
	size_t n;
};

/* A program that makes arrays from samples; see prepare/prepare.h. */
struct preparation_config {
	char *name;
	/* Absolute path of the program, and its arguments, separated by blanks. */
	char *command;
	struct array_type array;
	unsigned processes;
	uint32_t timeout_s;
	uint64_t memory; /* bytes that a process may use */
	/* text that users change when the program makes other arrays; NULL: none */
	char *version;
	/* User of the program. NULL: "nobody" if the daemon runs as root, otherwise the daemon's
	 * user. */
	char *user;
};

struct daemon_config {
	char *file; /* the ini, for messages */
	struct cluster_config cluster;
	/* The size of the cache. If the ini says "auto", cache_auto is set, and the size is half of
	 * the memory that was free. */
	uint64_t cache_bytes;
	bool cache_auto;
	struct machine_memory memory; /* memory of the machine when the ini was read */
	enum eviction_policy eviction;
	enum sampler_kind sampler; /* dsa, isa or exchange */
	unsigned workers;	   /* number of decoders; for "auto" the number of CPUs */
	enum share_policy share;
	/* Reads in flight per storage; 0: the daemon finds the best number. */
	unsigned reads;
	uint64_t max_pixels; /* larger images are refused */
	uint64_t seed;	     /* 0: another seed at each start */
	char *state;	     /* absolute directory */
	char *jobs;	     /* absolute directory of job inis; NULL: there is none */
	char *socket;	     /* absolute path */
	/* number of a group that may also use the socket; 0: none */
	uint32_t socket_group;
	char *metrics; /* address of the HTTP server for metrics; NULL: none */
	struct dataset_config *datasets;
	size_t n_datasets;
	struct preparation_config *preparations;
	size_t n_preparations;
	struct template_config *templates;
	size_t n_templates;
};

/* Most epochs and samples of a job. Both numbers must fit into an inode number of 64 bits
 * (files/inode.h). */
#define CONFIG_MOST_EPOCHS 16383
#define CONFIG_MOST_SAMPLES (1u << 28)

#define CONFIG_MOST_DATASETS 2048 /* most datasets at one time */

/* A section [tensor NAME] of a job. NAME selects samples by their paths, or names the second files
 * of pairs. The section says how these files are prepared, and in which format they are shown. */
struct job_section {
	/* NAME: a glob for paths, or a word that names the second files of pairs */
	char *name;
	/* the keys and values that the section gives: one per line, as in an ini */
	char *text;
	/* Extension of the files, without the dot. For second files it begins with NAME:
	 * mask.png. */
	char *extension;
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	/* NAME names the second files of pairs; then the job has no further section */
	bool is_pair;
};

/* Limits of the additional files and columns that samples may have. */
#define CONFIG_LONGEST_ENDING 16
#define CONFIG_MOST_ENDINGS 8
#define CONFIG_LONGEST_COLUMN 64
#define CONFIG_MOST_TARGETS 64

struct config_endings {
	uint32_t n;
	/* the endings, in lower case */
	char of[CONFIG_MOST_ENDINGS][CONFIG_LONGEST_ENDING + 1];
};

struct job_config {
	char *file; /* the ini, for messages */
	char *name; /* [A-Za-z0-9._-]{1,64}, not starting with a dot */
	/* name of a dataset; or a mixture: see config_next_mixed */
	char *dataset;
	/* File that gives the classes of a mixture their labels. NULL: classes with the same name
	 * get the same label. */
	char *label_table;
	/* user and group that own the job's files; CONFIG_NO_OWNER: the ini does not give it */
	uint32_t owner, group;
	uint32_t mode; /* mode of the job's directory; 0: not given */
	/* how much of the decoders' time the job gets, relative to the weights of other jobs */
	double weight;
	uint32_t epochs;  /* number of epochs; 0: the job never ends */
	char *order_text; /* `order` as written in the ini */
	enum job_order order;
	char *where; /* predicate that selects samples; NULL: none */
	/* Seconds without reads after which the job is parked. */
	uint32_t idle_s;
	/* Refuses a script whose position in current/ is more than an epoch away from that of
	 * another script. */
	bool refuses_second;
	/* Refuses a script with ranks on other machines. */
	bool refuses_machines;
	bool one_script;      /* all readers of current/ are ranks of a single training */
	bool skips_bad;	      /* leaves bad samples out of later epochs */
	uint32_t keep_epochs; /* number of ended epochs whose orders are kept */
	/* A training on several nodes: the job is rank number `rank` of `ranks`. ranks 0: the job
	 * is no rank. `training` is the training's name on all nodes, by default the job's name. */
	char *training;
	uint32_t ranks, rank;
	/* The numbers as the ini gives them; `ranks` and `rank` above are computed from them.
	 * `ranks` here counts the processes of the training. local_ranks: number of processes that
	 * read this job together, as one rank with the number node_rank. local_ranks 0: one process
	 * reads the job, as rank number `rank`. */
	struct {
		uint32_t ranks, rank, local_ranks, node_rank;
	} processes;
	/* Samples of a global mini-batch, at least processes.ranks. */
	uint32_t global_batch;
	char *prepare; /* name of a section [preparation NAME]; NULL: none */
	/* Path of the second file of a pair. Set only in the section of a pair. */
	char *from;
	/* A sample is a directory: the group of all files in it. preparation.frames is the number
	 * of frames. */
	bool groups_directories;
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	struct augment_config augment;
	enum view_layout layout;
	enum view_size size;
	char *extension;    /* extension of the files, without the dot */
	uint32_t lookahead; /* number of samples to prefetch; 0: auto */
	/* Layout flat: positions per directory. Layout tar: positions per file. 0: no shards. */
	uint32_t shard;
	uint32_t batch; /* layout batch: samples per file */
	/* Layouts batch and tar: omits the last file if it would have fewer samples than the
	 * others. */
	bool drop_last;
	char *labels;	   /* "drawn", "fixed", or "columns: X Y ..." */
	bool fixed_labels; /* flat: each position has the same label in all epochs */
	/* Number of metadata columns that form the label; 0: the label is the class. */
	uint32_t n_targets;
	enum view_mapping mapping; /* for layout = classes */
	bool json;		   /* shows a .json for each sample */
	/* layouts flat and tar: endings of the files beside samples */
	struct config_endings beside;
	/* Layouts flat and tar: name of the metadata column whose text is shown as a .txt for each
	 * sample. NULL: none. */
	char *text;
	/* Path of a link below data/. The text %name was replaced by the job's name. NULL: no
	 * link. */
	char *path;
	enum view_io io;
	struct job_section *sections; /* in the same order as preparation.sections */
	size_t n_sections;
};

/* Tells whether files of the format can hold numbers of any type, with the axes in any order. */
static inline bool config_holds_arrays(enum sample_format format)
{
	return format == FORMAT_NPY || format == FORMAT_RAW || format == FORMAT_RECORD;
}

/* Returns the list of the label columns' names, for config_next_column; NULL: labels are
 * classes. */
const char *config_label_columns(const struct job_config *job);
/* Moves the first name of *list to `ret`. false: the list is empty. */
bool config_next_column(const char **list, char ret[CONFIG_LONGEST_COLUMN + 1]);

/* Tells whether each file holds so small a tensor (64 x 64 pixels or less) that opening the file
 * takes longer than preparing the tensor. */
bool config_has_small_files(const struct job_config *job, uint64_t tensor_bytes);

/* Returns the number of samples that the job prefetches at first. The scheduler may raise it. */
uint32_t config_lookahead(const struct job_config *job);

static inline uint32_t config_job_epochs(const struct job_config *config)
{
	return config->epochs ? config->epochs : CONFIG_MOST_EPOCHS;
}

/* Returns the section whose glob matches the path of a sample, or NULL. */
const struct job_section *config_section(
	const struct job_config *config, const char *path);

/* Tells whether each sample is a pair of images. */
static inline bool config_is_pair(const struct job_config *config)
{
	return config->n_sections > 0 && config->sections[0].is_pair;
}
/* Returns the configuration that would apply if the second files of pairs were the samples. The
 * result owns nothing, and is valid as long as `config`. */
struct job_config config_second(const struct job_config *config);

/* Receives each message: one line, without a newline. A message that begins with CONFIG_WARNING is
 * about a setting that is allowed, but probably not intended. */
#define CONFIG_WARNING "warning: "
typedef void config_report(void *context, const char *message);
void config_report_to_log(void *context, const char *message); /* ignores context */
/* Formats a message, and passes it to `report`. */
void config_report_text(config_report *report, void *context, const char *format, ...)
	printf_like(3, 4);

must_check int config_load_daemon(const char *path, config_report *report, void *context,
	struct daemon_config *ret);
/* Parses a daemon's ini. file: the name for messages; relative paths start at its directory. */
must_check int config_parse_daemon(const char *file, const char *text,
	config_report *report, void *context, struct daemon_config *ret);
void config_daemon_free(struct daemon_config *config);

/* Parses an ini that has only [dataset NAME] sections. file: the ini's absolute name, for messages
 * and for relative paths. sampler: the default for sections that name no sampler. */
must_check int config_parse_datasets(const char *file, const char *text,
	enum sampler_kind sampler, config_report *report, void *context,
	struct dataset_config **ret, size_t *ret_n);
/* Reads a file and parses it like config_parse_datasets. path: absolute. */
must_check int config_load_datasets(const char *path, enum sampler_kind sampler,
	config_report *report, void *context, struct dataset_config **ret, size_t *ret_n);
must_check int config_dataset_copy(
	const struct dataset_config *from, struct dataset_config *ret);
void config_dataset_free(struct dataset_config *config);
/* Prints a section [dataset NAME] that config_parse_datasets can parse again. */
void config_print_dataset(FILE *out, const struct dataset_config *config);
/* Adds a dataset to the daemon's configuration. The configuration takes ownership of the dataset,
 * also on failure. -ENOMEM */
must_check int config_add_dataset(
	struct daemon_config *config, struct dataset_config *dataset);

/*
 * Replaces $NAME and ${NAME} in a job's ini by environment variables of this process. In [job] the
 * keys name, dataset, training, ranks, rank, local_ranks, node_rank and global_batch may contain
 * variables. The caller frees *ret. -EINVAL: a variable is missing; `unset` describes it.
 */
struct config_unset {
	/* number of the line in the ini; only config_environment sets it */
	unsigned line;
	const char *key;
	char text[300]; /* the message: found ..., allowed: ... */
};
must_check int config_environment(
	const char *text, char **ret, struct config_unset *unset);
/* Replaces variables in one setting "SECTION.KEY=VALUE", like config_environment. */
must_check int config_environment_setting(
	const char *setting, char **ret, struct config_unset *unset);

/* Parses a job's ini. file: the name for messages. */
must_check int config_parse_job(const char *file, const char *text, config_report *report,
	void *context, struct job_config *ret);
/* Parses a job's ini together with n settings "SECTION.KEY=VALUE", which override the ini's
 * keys. */
must_check int config_parse_job_with(const char *file, const char *text,
	const char *const *settings, size_t n, config_report *report, void *context,
	struct job_config *ret);
/* Returns the template of this name; NULL: there is none. */
const struct template_config *config_template(
	const struct daemon_config *daemon, const char *name);
/* Makes a job from the template and from settings, as in config_parse_job_with. The job gets the
 * template's name unless a setting gives another one. file: the daemon's ini, for messages. */
must_check int config_parse_template(const char *file,
	const struct template_config *template, const char *const *settings, size_t n,
	config_report *report, void *context, struct job_config *ret);
must_check int config_load_job(
	const char *path, config_report *report, void *context, struct job_config *ret);
must_check int config_job_copy(const struct job_config *from, struct job_config *ret);
void config_job_free(struct job_config *config);

/* A dataset of a mixture, and its weight relative to the others. */
struct config_mixed {
	char name[65];
	double weight;
};
#define CONFIG_MOST_MIXED 16
/* Tells whether the job reads several datasets. */
bool config_is_mixed(const struct job_config *config);
/* Takes the next dataset from the list *text, which is job_config.dataset at first. A single
 * dataset has weight 1. false: the list is at its end. */
bool config_next_mixed(const char **text, struct config_mixed *ret);

/* Returns the file with the orders that the job replays; NULL: it replays none. */
const char *config_replay(const struct job_config *config);

/* Prints the effective configuration, including defaults. config_parse_job can parse it again. */
void config_print_job(FILE *out, const struct job_config *config);

/* Prints the options as mdoc list items, for joaderfs.ini(5): first the daemon's sections, then
 * a job's. */
void config_print_man(FILE *out);

/* Prints the keys of a job's ini for completions, one "SECTION.KEY|CHOICE CHOICE..." per line. */
void config_print_keys(FILE *out);

/* Makes a path absolute and removes ".", ".." and "//". Does not access the file system. dir is
 * absolute. The caller frees the result; NULL: no memory. */
char *config_path_absolute(const char *dir, const char *path);

/* Returns the name with the smallest edit distance to `word`. A name counts only if this distance
 * is at most 3, and less than the lengths of `word` and of the name. NULL: no name counts. */
const char *config_nearest(const char *word, const char *const *names, size_t n);

/* Calls `visit` for each file *.ini in the directory, in the order of the names. If a call returns
 * a value other than 0, calls no more, and returns this value. -errno: the directory can't be
 * read. */
must_check int config_each_ini(const char *directory,
	int (*visit)(void *context, const char *path), void *context);

/*
 * Default paths of the control socket and the state directory. For root: /run/joaderfs.sock and
 * /var/lib/joaderfs. Otherwise: $XDG_RUNTIME_DIR/joaderfs.sock (without that variable
 * <state>/joaderfs.sock), and $XDG_STATE_HOME/joaderfs (by default ~/.local/state/joaderfs).
 */

/* Returns the default path, which the caller frees; NULL: no memory. */
char *config_default_socket(void);
/* Returns the default path, which the caller frees; NULL: no memory. */
char *config_default_state(void);
