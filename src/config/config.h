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
 * Configuration: ini files become validated structs. The tables of all options
 * (config_table_daemon.c and config_table_job.c) define what the parser accepts, what messages
 * allow, and what the man page and the printed job.ini contain.
 *
 *   Flow: main loads the daemon's ini, src/sched the inis of the jobs directory, src/control the
 *         inis that joaderctl sends, and src/dataset the inis of added datasets. The other modules
 *         get the structs.
 *   Owns: a struct owns all its strings; config_*_free frees them.
 *   Errors: -EINVAL: the ini has mistakes, and is not loaded at all. Each mistake is reported as
 *           "file:[section]:key: found ..., allowed ..., did you mean ...?". Other -errno: the file
 *           can't be read, which is reported, too.
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
/* Tells which sample a file of layout = classes has in a later epoch. FRESH: another sample than
 * before. FIXED: the same sample as before. AUTO: the same sample if the cache has room for all
 * samples, otherwise another sample. */
enum view_mapping { MAPPING_FRESH, MAPPING_AUTO, MAPPING_FIXED };
enum view_io { IO_AUTO, IO_DIRECT, IO_CACHED };

struct tier_config {
	/* absolute; keeps copies of distant samples; NULL: no copies are kept */
	char *directory;
	uint64_t bytes; /* the copies take at most so many bytes */
};

/* Tells when a start of the daemon looks for changes in a dataset that was scanned before. BEFORE:
 * before the daemon serves files. BEHIND: in the background, while the daemon serves files. NEVER:
 * only a command of the user looks for changes. */
enum dataset_look { LOOK_BEFORE, LOOK_BEHIND, LOOK_NEVER };

struct dataset_config {
	char *name;
	char *path; /* absolute path, or a URL */
	enum sampler_kind sampler;
	bool follow_outside; /* follows symlinks to files outside the dataset's directory */
	bool shows_others;   /* layout = mirror also shows files that are no samples */
	/* images with equal bytes in two datasets are prepared once if both datasets have this
	 * setting */
	bool same_content;
	char *extensions; /* lower case, no dots, separated by spaces; "*": any */
	struct tier_config tier;
	/* auto, directory, cls (files *.cls), none, json:FIELD or csv:COLUMN; NULL: auto */
	char *label;
	enum dataset_look look;
	/* a request is repeated if the server sends nothing for this time */
	uint32_t timeout_s;
	/* The members from here on are settings of s3. NULL: the value that Amazon's tools would
	 * find in the environment or in their files. */
	char *endpoint, *region;
	char *credentials; /* absolute path of a file; "none": requests are not signed */
	char *profile;
	enum bucket_names { NAMES_AUTO, NAMES_PATH, NAMES_HOST } bucket_names;
	bool requester_pays;
};

/* A group of daemons, in which the ranks of a training share one order. */
struct cluster_config {
	char *engine; /* server with the group's state; NULL: this daemon is alone */
	char *engine_password_file;		    /* absolute path; NULL: none */
	char *engine_ca, *engine_cert, *engine_key; /* absolute paths; NULL: none */
	char *group;
	char *node; /* name of this daemon in the group; NULL: the host's name */
	/* address on which this daemon listens for others; NULL: samples are not exchanged */
	char *listen;
	/* the address that other daemons use; "auto": the local address of the connection to
	 * `engine`; NULL: the address in `listen`, or auto if `listen` has no single address */
	char *advertise;
	char *secret;			   /* absolute path of a file; NULL: none */
	char *tls_ca, *tls_cert, *tls_key; /* absolute paths; NULL: none */
	bool encrypt;			   /* encrypts the data between nodes */
	double capacity;
	uint32_t ttl_s;	     /* a daemon that is silent for so long counts as dead */
	uint32_t patience_s; /* longest wait for the server `engine`; 0: for ever */
};

/* A section [template NAME] of the daemon's ini: settings from which jobs are made. */
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
	char *command; /* absolute path, and arguments, separated by blanks */
	struct array_type array;
	unsigned processes;
	uint32_t timeout_s;
	uint64_t memory; /* largest address space of each process, in bytes */
	/* text that users change when the program makes other arrays than before; NULL: none */
	char *version;
	/* NULL: the user "nobody" if the daemon runs as root, else the daemon's user */
	char *user;
};

struct daemon_config {
	char *file; /* the ini, for messages */
	struct cluster_config cluster;
	uint64_t cache_bytes;
	bool cache_auto; /* the ini says auto: the size is half of the free memory */
	struct machine_memory memory; /* memory of the machine when the ini was read */
	enum eviction_policy eviction;
	enum sampler_kind sampler; /* dsa, isa or exchange */
	unsigned workers;
	enum share_policy share;
	/* reads of one storage at once; 0: the number with which the storage is fastest */
	unsigned reads;
	uint64_t max_pixels;   /* larger images are refused */
	uint64_t seed;	       /* 0: another seed at each start */
	char *state;	       /* absolute directory */
	char *jobs;	       /* absolute directory of job inis; NULL: there is none */
	char *socket;	       /* absolute path */
	uint32_t socket_group; /* group that may also use the socket; 0: none */
	char *metrics;	       /* address of the HTTP server for metrics; NULL: none */
	struct dataset_config *datasets;
	size_t n_datasets;
	struct preparation_config *preparations;
	size_t n_preparations;
	struct template_config *templates;
	size_t n_templates;
};

/* The most epochs and samples of a job. An inode number has room for both (files/inode.h). */
#define CONFIG_MOST_EPOCHS 16383
#define CONFIG_MOST_SAMPLES (1u << 28)

#define CONFIG_MOST_DATASETS 2048 /* most datasets at one time */

/* A section [tensor NAME] of a job: it tells how some files are prepared, and in which format they
 * are shown. A section with the key `from` is about the second files of pairs; NAME is a word, such
 * as mask. A section without this key is about the samples whose paths match NAME, a pattern. */
struct job_section {
	char *name; /* a pattern for paths, or the name of second files */
	char *text; /* the section's keys and values, one per line, as in an ini */
	/* end of the names that the mount shows, without the first dot: "png". For second files it
	 * begins with NAME: "mask.png". */
	char *extension;
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	/* the section is about second files, and is the job's only [tensor NAME] */
	bool is_pair;
};

#define CONFIG_LONGEST_ENDING 16
#define CONFIG_MOST_ENDINGS 8
#define CONFIG_LONGEST_COLUMN 64
#define CONFIG_MOST_TARGETS 64

struct config_endings {
	uint32_t n;
	char of[CONFIG_MOST_ENDINGS][CONFIG_LONGEST_ENDING + 1]; /* in lower case */
};

struct job_config {
	char *file;    /* the ini, for messages */
	char *name;    /* [A-Za-z0-9._-]{1,64}, not starting with a dot */
	char *dataset; /* one name, or several with weights: see config_next_mixed */
	/* file with the labels of the classes of several datasets (a mixture); NULL: classes with
	 * the same name get the same label */
	char *label_table;
	/* owner and group of the job's files; CONFIG_NO_OWNER: not given */
	uint32_t owner, group;
	uint32_t mode; /* mode of the job's directory; 0: not given */
	double weight; /* share of the decoders' time, relative to other jobs' weights */
	uint32_t epochs;  /* 0: CONFIG_MOST_EPOCHS; see config_job_epochs */
	char *order_text; /* `order` as in the ini */
	enum job_order order;
	char *where; /* predicate that selects samples; NULL: none */
	/* if the job reads nothing for so many seconds, the cache keeps nothing for it */
	uint32_t idle_s;
	/* refuses a script that reads current/ more than an epoch away from another script */
	bool refuses_second;
	/* refuses a script with ranks on other machines if the files have other samples there,
	 * because opens draw them (layout = classes, or fixed_labels) */
	bool refuses_machines;
	bool one_script;      /* all readers of current/ are ranks of one training */
	bool skips_bad;	      /* leaves bad samples out of later epochs */
	uint32_t keep_epochs; /* number of ended epochs whose orders are kept */
	/* training: name of a training on several nodes, by default the job's name; NULL if `ranks`
	 * is 0. ranks: number of jobs that divide the samples of this training; 0: the training is
	 * on one node only. rank: number of this job among these jobs, from 0 on. */
	char *training;
	uint32_t ranks, rank;
	/* Numbers in the ini, from which the fields `ranks` and `rank` above are computed. ranks:
	 * number of processes of the training. rank: number of the process that reads this job.
	 * local_ranks: number of processes that read this job together; 0: one process. node_rank:
	 * number of this job among the training's jobs if local_ranks is given. */
	struct {
		uint32_t ranks, rank, local_ranks, node_rank;
	} processes;
	/* samples that all ranks read in one step; at least processes.ranks */
	uint32_t global_batch;
	char *prepare; /* name of a section [preparation NAME]; NULL: none */
	/* path of a sample's second file, such as its mask, while [tensor NAME] is parsed; NULL in
	 * a loaded job, whose preparation.sections has the path */
	char *from;
	/* a sample is a directory, from which preparation.frames files are taken */
	bool groups_directories;
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	struct augment_config augment;
	enum view_layout layout;
	enum view_size size;
	char *extension;    /* extension of the files, without the dot */
	uint32_t lookahead; /* samples to prefetch; 0: auto */
	/* positions per directory (0: no directories), or per tar file (0: CONFIG_TAR_SAMPLES) */
	uint32_t shard;
	uint32_t batch;	   /* samples per file of layout batch */
	bool drop_last;	   /* layouts batch and tar: omits a last file that is not full */
	char *labels;	   /* "drawn", "fixed", or "columns: X Y ..." */
	bool fixed_labels; /* layout flat: a position has the same label in all epochs */
	/* number of metadata columns that form the label; 0: the label is the class */
	uint32_t n_targets;
	enum view_mapping mapping; /* used only for layout = classes */
	bool json;
	/* layouts flat and tar: endings of a sample's other files, such as txt */
	struct config_endings beside;
	/* layouts flat and tar: metadata column shown as a .txt for each sample; NULL: none */
	char *text;
	char *path; /* path below data/ of a link to the running epoch; NULL: none */
	enum view_io io;
	struct job_section *sections; /* same order as preparation.sections */
	size_t n_sections;
};

/* Tells whether the format holds numbers of any type, with the axes in any order. */
static inline bool config_holds_arrays(enum sample_format format)
{
	return format == FORMAT_NPY || format == FORMAT_RAW || format == FORMAT_RECORD;
}

/* Returns the list of columns that form the label; NULL: the label is the class. */
const char *config_label_columns(const struct job_config *job);
/* Copies the first name of *list to `ret`, and moves *list past it. false: no name is left. */
bool config_next_column(const char **list, char ret[CONFIG_LONGEST_COLUMN + 1]);

/* Tells whether each file has one tensor of at most 64 * 64 * 3 bytes. Opening such a file takes
 * longer than preparing its tensor. Returns false for layouts tar and batch. */
bool config_has_small_files(const struct job_config *job, uint64_t tensor_bytes);

/* Returns how many samples the job prefetches at first. The number may grow later if
 * job->lookahead is 0. */
uint32_t config_lookahead(const struct job_config *job);

#define CONFIG_TAR_SAMPLES 1000 /* samples of a tar file if the ini has no `shard` */

/* Returns how many positions a file of an epoch has: one, or several in a tar file or a batch. The
 * epoch's last tar file or batch may have fewer. */
uint32_t config_file_samples(const struct job_config *job);

static inline uint32_t config_job_epochs(const struct job_config *config)
{
	return config->epochs ? config->epochs : CONFIG_MOST_EPOCHS;
}

/* Returns the section whose NAME, a pattern, matches the sample's path; NULL: none. */
const struct job_section *config_section(
	const struct job_config *config, const char *path);

static inline bool config_is_pair(const struct job_config *config)
{
	return config->n_sections > 0 && config->sections[0].is_pair;
}
/* Returns the configuration of a job whose samples are the second files of `config`. The result
 * owns nothing, and points to texts of `config`, so `config` must outlive it. */
struct job_config config_second(const struct job_config *config);

/* A config_report is a function that receives a message about an ini: one line without a newline.
 * CONFIG_WARNING at the start of the message tells that a setting is allowed, but probably not
 * intended. */
#define CONFIG_WARNING "warning: "
typedef void config_report(void *context, const char *message);
void config_report_to_log(void *context, const char *message); /* ignores context */
void config_report_text(config_report *report, void *context, const char *format, ...)
	printf_like(3, 4);

/* Parses `text`, the daemon's ini; NULL: reads the file. file: name of the ini for messages;
 * relative paths in the ini start at the directory of this file. */
must_check int config_parse_daemon(const char *file, const char *text,
	config_report *report, void *context, struct daemon_config *ret);
void config_daemon_free(struct daemon_config *config);

/* Parses an ini that has only [dataset NAME] sections. file: absolute, for messages and relative
 * paths. text NULL: reads the file. sampler: the sampler of datasets that name none. */
must_check int config_parse_datasets(const char *file, const char *text,
	enum sampler_kind sampler, config_report *report, void *context,
	struct dataset_config **ret, size_t *ret_n);
must_check int config_dataset_copy(
	const struct dataset_config *from, struct dataset_config *ret);
void config_dataset_free(struct dataset_config *config);
/* Prints a section [dataset NAME] that config_parse_datasets can parse again. */
void config_print_dataset(FILE *out, const struct dataset_config *config);
/* Appends the dataset. `config` then owns the texts of `dataset`. After -ENOMEM these texts are
 * freed. */
must_check int config_add_dataset(
	struct daemon_config *config, struct dataset_config *dataset);

/* Describes an environment variable, in an ini or a setting, that could not be replaced. */
struct config_unset {
	unsigned line; /* line of the ini; config_environment_setting does not set it */
	const char *key;
	char text[300]; /* found ..., allowed: ... */
};
/* Replaces $NAME and ${NAME} by environment variables of this process. text: a job's ini; only the
 * values of name, dataset, training, ranks, rank, local_ranks, node_rank and global_batch change.
 * The caller frees *ret. -EINVAL: *unset describes a variable that is not set, is empty, or has
 * several lines. */
must_check int config_environment(
	const char *text, char **ret, struct config_unset *unset);
/* Replaces variables in one setting "SECTION.KEY=VALUE", for the keys of config_environment. The
 * caller frees *ret. */
must_check int config_environment_setting(
	const char *setting, char **ret, struct config_unset *unset);

/* Parses `text`, a job's ini; NULL: reads the file. */
must_check int config_parse_job(const char *file, const char *text, config_report *report,
	void *context, struct job_config *ret);
/* Does the same. The n settings "SECTION.KEY=VALUE" override values in this ini. */
must_check int config_parse_job_with(const char *file, const char *text,
	const char *const *settings, size_t n, config_report *report, void *context,
	struct job_config *ret);
const struct template_config *config_template(
	const struct daemon_config *daemon, const char *name);
/* Makes a job from the template and the settings "SECTION.KEY=VALUE". The job's name is that of the
 * template, or that given by a setting. file: the daemon's ini, for messages. */
must_check int config_parse_template(const char *file,
	const struct template_config *template, const char *const *settings, size_t n,
	config_report *report, void *context, struct job_config *ret);
must_check int config_job_copy(const struct job_config *from, struct job_config *ret);
void config_job_free(struct job_config *config);

struct config_mixed {
	char name[65];
	double weight;
};
#define CONFIG_MOST_MIXED 16
bool config_is_mixed(const struct job_config *config);
/* Takes the next dataset from *text. The caller sets *text to job_config.dataset before the first
 * call. A single dataset has weight 1. Returns false if no dataset is left. */
bool config_next_mixed(const char **text, struct config_mixed *ret);

/* Returns the file with the orders to replay; NULL: the job replays none. */
const char *config_replay(const struct job_config *config);

/* Prints the effective configuration, with defaults, as config_parse_job can parse it again. */
void config_print_job(FILE *out, const struct job_config *config);
/* Returns what config_print_job prints; the caller frees the text. NULL: no memory. */
char *config_job_text(const struct job_config *config);

/* Prints the options as mdoc list items for joaderfs.ini(5), the daemon's first. */
void config_print_man(FILE *out);

/* Prints the keys of a job's ini for completions: lines "SECTION.KEY|CHOICE CHOICE...". */
void config_print_keys(FILE *out);

/* Makes a path absolute, and removes ".", ".." and "//". Does not look at the file system, so links
 * are not followed. dir: absolute. The caller frees the result; NULL: no memory. */
char *config_path_absolute(const char *dir, const char *path);

/* Returns the name that is most similar to `word`: the one with the smallest edit distance. A name
 * counts if this distance is at most 3, and less than the length of each of the two words. NULL: no
 * name counts. */
const char *config_nearest(const char *word, const char *const *names, size_t n);

/* Calls `visit` for the files *.ini of the directory, in the order of their names. Stops at the
 * first call that does not return 0, and returns the value of this call. -errno: the directory
 * can't be read. */
must_check int config_each_ini(const char *directory,
	int (*visit)(void *context, const char *path), void *context);

/* Returns the path of the control socket. For root this is /run/joaderfs.sock, for other users
 * $XDG_RUNTIME_DIR/joaderfs.sock. If this variable has no absolute path, the socket is
 * joaderfs.sock in config_default_state(). The caller frees the result; NULL: no memory. */
char *config_default_socket(void);
/* Returns the default state directory. For root this is /var/lib/joaderfs, for other users
 * $XDG_STATE_HOME/joaderfs. If this variable has no absolute path, the directory is
 * ~/.local/state/joaderfs. The caller frees the result; NULL: no memory. */
char *config_default_state(void);
