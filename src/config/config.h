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
 * Every option stands once in a table (config_table.c): section, key, type, range,
 * default, help. Parsing, the effective job.ini, the man page and the messages use it.
 *
 *   Flow: main loads the daemon's ini and the jobs'; the other modules get the structs.
 *   Owns: a struct owns all its strings; config_*_free frees them.
 *   Errors: -EINVAL after each mistake was reported as
 *           "file:[section]:key: found ..., allowed ..., did you mean ...?". Mistakes are
 *           unknown sections and keys, keys given twice, values out of range, and values
 *           that contradict each other. Nothing is half loaded. -errno, reported too,
 *           when the file can't be read.
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
/* Tells whether a file of layout = classes holds the same sample in every epoch. */
enum view_mapping { MAPPING_FRESH, MAPPING_AUTO, MAPPING_FIXED };
enum view_io { IO_AUTO, IO_DIRECT, IO_CACHED };

/* A directory on a fast disk, and the bytes that it may take. */
struct tier_config {
	char *directory; /* absolute path; NULL: there is no tier */
	uint64_t bytes;
};

/* The time at which a start looks for changes of a dataset that was scanned before. */
enum dataset_look { LOOK_BEFORE, LOOK_BEHIND, LOOK_NEVER };

struct dataset_config {
	char *name;
	char *path;		   /* absolute path, or a URL */
	enum sampler_kind sampler; /* default: the daemon's sampler */
	bool follow_outside; /* follow symlinks that leave the tree; false: refuse them */
	bool shows_others;   /* layout = mirror shows files that are no samples, too */
	/* images with equal bytes are one image, even in different files */
	bool same_content;
	char *extensions; /* lower case, without dots, separated by spaces; "*": any */
	struct tier_config tier; /* fast disk that keeps bytes read from the dataset */
	char *label; /* auto, directory, cls, none, json:FIELD or csv:COLUMN; NULL: auto */
	enum dataset_look look;
	/* The time without data after which a request to the server is repeated. */
	uint32_t timeout_s;
	/* Settings of s3; NULL: as the environment says. */
	char *endpoint, *region;
	char *credentials; /* absolute path of a file; "none": requests are not signed */
	char *profile;
	enum bucket_names { NAMES_AUTO, NAMES_PATH, NAMES_HOST } bucket_names;
	bool requester_pays;
};

/* A group of daemons that give the ranks of their jobs one common order. */
struct cluster_config {
	/* engine that keeps the group's state; NULL: this daemon is alone */
	char *engine;
	char *engine_password_file;		    /* an absolute path; NULL: none */
	char *engine_ca, *engine_cert, *engine_key; /* absolute paths; NULL: none */
	char *group;
	char *node; /* name of this daemon in the group; NULL: the host's name */
	/* Address for the other daemons; NULL: no exchange of samples. */
	char *listen;
	/* Address under which other daemons reach `listen`; NULL: `listen` itself, or the local
	 * address towards the engine. */
	char *advertise;
	char *secret;			   /* an absolute path; NULL: none */
	char *tls_ca, *tls_cert, *tls_key; /* absolute paths; NULL: none */
	bool encrypt;			   /* encrypt the data between nodes */
	double capacity;
	uint32_t ttl_s;	     /* a daemon that is silent for this time is dead */
	uint32_t patience_s; /* time to wait for an engine that is away; 0: for ever */
};

/* A template of jobs, a section of the daemon's ini. */
struct template_config {
	char *name;
	struct template_setting {
		char *text; /* SECTION.KEY=VALUE */
		unsigned line;
	} * settings;
	size_t n;
};

/* A program that makes arrays of samples; prepare/prepare.h describes its use. */
struct preparation_config {
	char *name;
	/* absolute path of the program and its arguments, separated by blanks */
	char *command;
	struct array_type array;
	unsigned processes;
	uint32_t timeout_s;
	uint64_t memory; /* bytes that a process may use */
	char *version;	 /* NULL: none */
	/* user of the program; NULL: "nobody" if the daemon runs as root, else the daemon's user */
	char *user;
};

struct daemon_config {
	char *file; /* the ini, for messages */
	struct cluster_config cluster;
	/* "auto" becomes half of the memory that is left, see `memory` */
	uint64_t cache_bytes;
	bool cache_auto;
	struct machine_memory memory; /* memory of the machine when the ini was read */
	enum eviction_policy eviction;
	enum sampler_kind sampler; /* dsa, isa or exchange */
	unsigned workers;	   /* decoders; "auto" becomes the number of CPUs */
	enum share_policy share;
	/* Reads in flight for each storage; 0: the daemon finds the best number. */
	unsigned reads;
	uint64_t max_pixels; /* larger images are refused */
	uint64_t seed;	     /* 0: another seed at each start */
	char *state;	     /* absolute directory */
	char *jobs;	     /* absolute directory of job inis, NULL when there is none */
	char *socket;	     /* absolute path */
	uint32_t socket_group; /* group that may use the socket, too; 0: none */
	char *metrics;	       /* address where HTTP serves the metrics; NULL: none */
	struct dataset_config *datasets;
	size_t n_datasets;
	struct preparation_config *preparations;
	size_t n_preparations;
	struct template_config *templates;
	size_t n_templates;
};

/* The most epochs and samples of a job, because an inode number has 64 bits (files/inode.h). */
#define CONFIG_MOST_EPOCHS 16383
#define CONFIG_MOST_SAMPLES (1u << 28)

#define CONFIG_MOST_DATASETS 2048 /* most datasets at once */

/* A section [tensor NAME] of a job: the preparation of some samples, and the form of their
 * files. */
struct job_section {
	char *name; /* a glob, or the name of a pair */
	char *text; /* the given keys, one per line, in the form of an ini */
	/* Extension of the files, without the dot; for a pair with its name, as mask.png. */
	char *extension;
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	bool is_pair; /* the section is that of a pair, and the only one */
};

/* Limits of the files and columns that come with samples. */
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
	char *file;    /* the ini, for messages */
	char *name;    /* [A-Za-z0-9._-]{1,64}, not starting with a dot */
	char *dataset; /* name of a dataset; or a mixture: see config_next_mixed */
	/* File that maps the labels of a mixture; NULL: equal class names are one label. */
	char *label_table;
	uint32_t owner, group; /* CONFIG_NO_OWNER: not given; see config_job_owner */
	uint32_t mode;	       /* mode of the job's directory; 0: not given */
	double weight;	       /* weight of the job in share_grant */
	uint32_t epochs;       /* 0: no end; see config_job_epochs */
	char *order_text;      /* `order` as written in the ini */
	enum job_order order;
	char *where; /* predicate that selects samples; NULL: none */
	/* Time without reads after which the job is parked. */
	uint32_t idle_s;
	/* refuses a second script that is too far from the first one */
	bool refuses_second;
	/* Refuses a script with ranks on other machines. */
	bool refuses_machines;
	bool one_script;      /* all readers of current/ are ranks of one training */
	bool skips_bad;	      /* leaves bad samples out of later epochs */
	uint32_t keep_epochs; /* number of ended epochs whose orders are kept */
	/* A training on several nodes, of which the job is rank `rank` of `ranks`; ranks 0: the job
	 * is no rank. `training` is its name on all nodes, by default the job's. */
	char *training;
	uint32_t ranks, rank;
	/* The keys of the ini, from which the two above follow: so many processes of the training,
	 * of which local_ranks read the job together, and count as one rank, node_rank. Without
	 * local_ranks (0) one process reads the job, number `rank`. */
	struct {
		uint32_t ranks, rank, local_ranks, node_rank;
	} processes;
	/* Samples of a global mini-batch, at least processes.ranks. */
	uint32_t global_batch;
	char *prepare; /* name of a preparation_config; NULL: none */
	/* path of a pair's second file; only in the section of a pair */
	char *from;
	/* A sample is the group of files in a directory; see preparation.frames. */
	bool groups_directories;
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	struct augment_config augment;
	enum view_layout layout;
	enum view_size size;
	char *extension;    /* extension of the files, without the dot */
	uint32_t lookahead; /* samples to prefetch; 0: auto */
	uint32_t shard; /* positions per directory (flat) or file (tar); 0: not sharded */
	uint32_t batch; /* samples per file (batch) */
	bool drop_last; /* batch, tar: leave out a shorter last file */
	char *labels;	/* drawn, fixed, or columns: X Y ... */
	bool fixed_labels; /* flat: each position keeps its label */
	/* Number of columns that are the label; 0: the class is the label. */
	uint32_t n_targets;
	enum view_mapping mapping;    /* layout = classes */
	bool json;		      /* a .json beside each sample */
	struct config_endings beside; /* endings of files beside samples (flat, tar) */
	/* column of the metadata whose text is the .txt (flat, tar); NULL: none */
	char *text;
	/* path below data/, with the job's name in place of %name; NULL: none */
	char *path;
	enum view_io io;
	struct job_section *sections; /* in the order of preparation.sections */
	size_t n_sections;
};

/* Tells whether files of the format hold numbers of any type, with the axes in any order. */
static inline bool config_holds_arrays(enum sample_format format)
{
	return format == FORMAT_NPY || format == FORMAT_RAW || format == FORMAT_RECORD;
}

/* Returns the names of the label columns, for config_next_column; NULL: labels are classes. */
const char *config_label_columns(const struct job_config *job);
/* Takes the first name off a list. false: the list is empty. */
bool config_next_column(const char **list, char ret[CONFIG_LONGEST_COLUMN + 1]);

/* Tells whether each file holds one tensor of so few bytes that to open a file takes longer than to
 * prepare the tensor: images of up to 64 pixels. */
bool config_has_small_files(const struct job_config *job, uint64_t tensor_bytes);

/* Returns the samples to prefetch ahead of the reader, before the look-ahead grows with the
 * storage's reads. */
uint32_t config_lookahead(const struct job_config *job);

static inline uint32_t config_job_epochs(const struct job_config *config)
{
	return config->epochs ? config->epochs : CONFIG_MOST_EPOCHS;
}

/* Returns the section that the path of a sample matches, or NULL. */
const struct job_section *config_section(
	const struct job_config *config, const char *path);

/* Tells whether samples are pairs. */
static inline bool config_is_pair(const struct job_config *config)
{
	return config->n_sections > 0 && config->sections[0].is_pair;
}
/* Returns the configuration as if the second files of pairs were the samples. It owns nothing,
 * and is valid as long as config. */
struct job_config config_second(const struct job_config *config);

#define CONFIG_NO_OWNER UINT32_MAX

/* The owner of a job. If the ini names none, the owner is the daemon's user, and everybody
 * reads. */
struct job_owner {
	uid_t uid;
	gid_t gid;
	/* Mode of directories; files have it without the bits for searching. */
	mode_t mode;
};
struct job_owner config_job_owner(const struct job_config *config);
/* Tells whether the user may do everything: root, and the daemon's user. */
bool config_is_master(uid_t uid);
/* Tells whether the user may change and remove the job. */
bool config_job_is_of(const struct job_config *config, uid_t uid);

struct config_user {
	uid_t uid;
	gid_t gid;
	/* Tells whether the group is one of the user's other groups. */
	bool (*has_group)(void *context, gid_t group);
	void *context;
};
/* Tells whether the user has all rights in `wanted`, given as bits of the mode for others. */
bool config_job_allows(
	const struct job_config *config, const struct config_user *user, unsigned wanted);
/* Prints the user's name, or else the number. */
void config_print_user(FILE *out, uid_t uid);

/* Receives each message: one line, without a newline. A warning begins with CONFIG_WARNING, and
 * is about a setting that is allowed but hardly meant. */
#define CONFIG_WARNING "warning: "
typedef void config_report(void *context, const char *message);
void config_report_to_log(void *context, const char *message); /* context: NULL */
/* Formats a message, and passes it to `report`. */
void config_report_text(config_report *report, void *context, const char *format, ...)
	printf_like(3, 4);

must_check int config_load_daemon(const char *path, config_report *report, void *context,
	struct daemon_config *ret);
/* Parses a daemon's ini. file: the name of the text in messages; relative paths begin at its
 * directory. */
must_check int config_parse_daemon(const char *file, const char *text,
	config_report *report, void *context, struct daemon_config *ret);
void config_daemon_free(struct daemon_config *config);

/* Parses an ini of [dataset NAME] sections only. file: its absolute name, for messages and for
 * relative paths. sampler: the sampler of sections that name none. */
must_check int config_parse_datasets(const char *file, const char *text,
	enum sampler_kind sampler, config_report *report, void *context,
	struct dataset_config **ret, size_t *ret_n);
/* Loads an ini for config_parse_datasets from a file; path: absolute. */
must_check int config_load_datasets(const char *path, enum sampler_kind sampler,
	config_report *report, void *context, struct dataset_config **ret, size_t *ret_n);
must_check int config_dataset_copy(
	const struct dataset_config *from, struct dataset_config *ret);
void config_dataset_free(struct dataset_config *config);
/* Prints a section [dataset NAME], which config_parse_datasets can read back. */
void config_print_dataset(FILE *out, const struct dataset_config *config);
/* Adds a dataset to the daemon's configuration, which takes it over, also on failure. -ENOMEM */
must_check int config_add_dataset(
	struct daemon_config *config, struct dataset_config *dataset);

/*
 * Replaces $NAME and ${NAME} by the environment variables of this process in the text of a
 * job's ini: in name, dataset, training, ranks, rank, local_ranks, node_rank and global_batch
 * of [job]. The caller frees *ret. -EINVAL: unset says which variable is missing.
 */
struct config_unset {
	unsigned line; /* line of the text; set by config_environment only */
	const char *key;
	char text[300]; /* the message: found ..., allowed: ... */
};
must_check int config_environment(
	const char *text, char **ret, struct config_unset *unset);
/* Replaces variables in one setting, "SECTION.KEY=VALUE", as config_environment does in a
 * text. */
must_check int config_environment_setting(
	const char *setting, char **ret, struct config_unset *unset);

/* Parses a job's ini. file: the name of the text in messages. */
must_check int config_parse_job(const char *file, const char *text, config_report *report,
	void *context, struct job_config *ret);
/* Parses a job's ini with n settings, "SECTION.KEY=VALUE", which override the keys of the text. */
must_check int config_parse_job_with(const char *file, const char *text,
	const char *const *settings, size_t n, config_report *report, void *context,
	struct job_config *ret);
/* Returns the template of that name; NULL: there is none. */
const struct template_config *config_template(
	const struct daemon_config *daemon, const char *name);
/* Makes a job of the template, with settings as in config_parse_job_with. The job has the
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
/* Takes the next dataset off job_config.dataset, at *text; a single dataset has weight 1. false: no
 * more datasets. */
bool config_next_mixed(const char **text, struct config_mixed *ret);

/* Returns the file with the orders that the job replays; NULL: it replays none. */
const char *config_replay(const struct job_config *config);

/* Prints the effective configuration, with defaults. config_parse_job can read it back. */
void config_print_job(FILE *out, const struct job_config *config);

/* Prints the options as mdoc list items, for joaderfs.ini(5): first the daemon's sections, then
 * a job's. */
void config_print_man(FILE *out);

/* Prints the keys of a job's ini, "SECTION.KEY|CHOICE CHOICE..." in a line, for completions. */
void config_print_keys(FILE *out);

/* Makes a path absolute and without ".", ".." and "//", by the text alone; dir is absolute. The
 * caller frees the result; NULL: no memory. */
char *config_path_absolute(const char *dir, const char *path);

/* Returns the nearest of n names within edit distance 3 (and less than the length), or NULL. */
const char *config_nearest(const char *word, const char *const *names, size_t n);

/*
 * The default places of the control socket and the state: /run/joaderfs.sock and
 * /var/lib/joaderfs for root, else $XDG_RUNTIME_DIR/joaderfs.sock (without that variable:
 * <state>/joaderfs.sock) and $XDG_STATE_HOME/joaderfs (~/.local/state/joaderfs).
 */

/* Returns the default path, which the caller frees; NULL: no memory. */
char *config_default_socket(void);
/* Returns the default path, which the caller frees; NULL: no memory. */
char *config_default_state(void);
