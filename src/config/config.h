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
 *   Threads: any; structs do not change once they were loaded.
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
/* Whether a file of layout = classes holds the same sample in every epoch. */
enum view_mapping { MAPPING_FRESH, MAPPING_AUTO, MAPPING_FIXED };
enum view_io { IO_AUTO, IO_DIRECT, IO_CACHED };

/* A directory on a fast disk, and how much it may take there. */
struct tier_config {
	char *directory; /* absolute; NULL: there is none */
	uint64_t bytes;
};

/* The time at which a start looks for changes of a dataset that was scanned before. */
enum dataset_look { LOOK_BEFORE, LOOK_BEHIND, LOOK_NEVER };

struct dataset_config {
	char *name;
	char *path;		   /* absolute, or a URL */
	enum sampler_kind sampler; /* the daemon's unless it is given */
	bool follow_outside; /* follow symlinks that leave the tree; else refuse them */
	bool shows_others;   /* files that are no samples are in layout = mirror */
	bool same_content;   /* images are the same if their bytes are, not their files */
	char *extensions;    /* lower case, without dots, separated by spaces; "*": any */
	struct tier_config tier; /* keeps what was read of the dataset */
	char *label; /* auto, directory, cls, none, json:FIELD or csv:COLUMN; NULL: auto */
	enum dataset_look look;
	uint32_t timeout_s; /* of servers that are silent */
	/* Of s3; NULL: as the environment says. */
	char *endpoint, *region;
	char *credentials; /* a file, absolute; "none": requests are not signed */
	char *profile;
	enum bucket_names { NAMES_AUTO, NAMES_PATH, NAMES_HOST } bucket_names;
	bool requester_pays;
};

/* The daemons that give the ranks of their jobs one common order. */
struct cluster_config {
	char *engine; /* where what they agree on is kept; NULL: in this daemon, alone */
	char *engine_password_file;		    /* an absolute path; NULL: none */
	char *engine_ca, *engine_cert, *engine_key; /* absolute paths; NULL: none */
	char *group;
	char *node;	 /* this daemon's name in the group; NULL: the host's */
	char *listen;	 /* for the other daemons; NULL: samples are not exchanged */
	char *advertise; /* where they reach it; NULL: as listen, or the way to the engine */
	char *secret;	 /* an absolute path; NULL: none */
	char *tls_ca, *tls_cert, *tls_key; /* absolute paths; NULL: none */
	bool encrypt;			   /* what goes from node to node */
	double capacity;
	uint32_t ttl_s;	     /* a daemon that is silent for so long is dead */
	uint32_t patience_s; /* with an engine that is away; 0: for ever */
};

/* A job as the daemon's ini has it in advance. */
struct template_config {
	char *name;
	struct template_setting {
		char *text; /* SECTION.KEY=VALUE */
		unsigned line;
	} * settings;
	size_t n;
};

/* A program that makes arrays of samples; what becomes of it, says prepare/prepare.h. */
struct preparation_config {
	char *name;
	char *command; /* an absolute path, and arguments, with blanks between */
	struct array_type array;
	unsigned processes;
	uint32_t timeout_s;
	uint64_t memory; /* bytes of a process */
	char *version;	 /* or NULL */
	char *user;	 /* or NULL */
};

struct daemon_config {
	char *file; /* the ini, for messages */
	struct cluster_config cluster;
	uint64_t cache_bytes; /* "auto" is resolved to half of what `memory` has left */
	bool cache_auto;
	struct machine_memory memory; /* when the ini was read */
	enum eviction_policy eviction;
	enum sampler_kind sampler; /* dsa, isa or exchange */
	unsigned workers; /* decoders; "auto" is resolved to the CPUs there are */
	enum share_policy share;
	unsigned reads;	     /* in flight, of each storage; 0: found while running */
	uint64_t max_pixels; /* larger images are refused */
	uint64_t seed;	     /* 0: fresh each start */
	char *state;	     /* absolute directory */
	char *jobs;	     /* absolute directory of job inis, NULL when there is none */
	char *socket;	     /* absolute path of the control socket */
	uint32_t socket_group; /* that reaches it, too; 0: none */
	char *metrics;	       /* where they are told by HTTP; NULL: nowhere */
	struct dataset_config *datasets;
	size_t n_datasets;
	struct preparation_config *preparations;
	size_t n_preparations;
	struct template_config *templates;
	size_t n_templates;
};

/* A job has at most so many: files/inode.h puts all that tells a file into 64 bits. */
#define CONFIG_MOST_EPOCHS 16383
#define CONFIG_MOST_SAMPLES (1u << 28)

/* A section [tensor NAME] of a job: how some samples are prepared, and look as files. */
struct job_section {
	char *name;	 /* a glob, or of a pair */
	char *text;	 /* the keys that it gives, a line for each, as in an ini */
	char *extension; /* of the files, without the dot; of a pair mask.png, say */
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	bool is_pair; /* it is the only one then */
};

/* Files and columns come along beside samples. */
#define CONFIG_LONGEST_ENDING 16
#define CONFIG_MOST_ENDINGS 8
#define CONFIG_LONGEST_COLUMN 64
#define CONFIG_MOST_TARGETS 64

struct config_endings {
	uint32_t n;
	char of[CONFIG_MOST_ENDINGS][CONFIG_LONGEST_ENDING + 1]; /* in small letters */
};

struct job_config {
	char *file;    /* the ini, for messages */
	char *name;    /* [A-Za-z0-9._-]{1,64}, not starting with a dot */
	char *dataset; /* its name; or of a mixture: config_next_mixed */
	char *label_table; /* of a mixture: a file; NULL: classes have labels by their names */
	uint32_t owner, group; /* or CONFIG_NO_OWNER; config_job_owner */
	uint32_t mode;	       /* of the job's directory; 0: not given */
	double weight;	       /* in share_grant */
	uint32_t epochs;       /* 0: without end; config_job_epochs */
	char *order_text;      /* as in the ini */
	enum job_order order;
	char *where;	     /* predicate or NULL */
	uint32_t idle_s;     /* the job is parked when it has read nothing for so long */
	bool refuses_second; /* script, too far from the first */
	bool refuses_machines; /* ranks that are on other ones, too */
	bool one_script;       /* all that read current/ are ranks of one training */
	bool skips_bad;	       /* samples, in later epochs */
	uint32_t keep_epochs;  /* ended ones whose orders are kept */
	/* Of a training on several nodes: it reads what rank `rank` of `ranks` does; 0 ranks:
	 * it is none. `training` is its name on all nodes, the job's by default. */
	char *training;
	uint32_t ranks, rank;
	uint32_t
		global_batch; /* samples that all ranks read in one step; ranks or more */
	char *prepare;	      /* the name of a preparation_config, or NULL */
	char *from; /* only in the section of a pair, whose files are elsewhere; else NULL */
	bool groups_directories; /* the files of one are a sample; preparation.frames */
	struct preparation preparation;
	enum sample_format format;
	struct pixel_type pixels;
	struct augment_config augment;
	enum view_layout layout;
	enum view_size size;
	char *extension;    /* of the files, without the dot */
	uint32_t lookahead; /* samples; 0: auto */
	uint32_t shard; /* positions per directory (flat) or file (tar); 0: not sharded */
	uint32_t batch; /* samples per file (batch) */
	bool drop_last; /* batch, tar: no short last file */
	char *labels;	/* drawn, fixed, or columns: X Y ... */
	bool fixed_labels;	      /* flat: of each position */
	uint32_t n_targets;	      /* columns that are the labels; 0: classes are */
	enum view_mapping mapping;    /* classes */
	bool json;		      /* a .json beside each sample */
	struct config_endings beside; /* of files that come along (flat, tar) */
	char *text; /* the column of metadata that is the .txt (flat, tar), or NULL */
	char *path; /* below data/, with the name for %name, or NULL */
	enum view_io io;
	struct job_section *sections; /* as in preparation.sections */
	size_t n_sections;
};

/* Of numbers of any type, with the axes in any order. */
static inline bool config_holds_arrays(enum sample_format format)
{
	return format == FORMAT_NPY || format == FORMAT_RAW || format == FORMAT_RECORD;
}

/* The names of the columns that are the labels, for config_next_column; NULL: classes are. */
const char *config_label_columns(const struct job_config *job);
/* Takes the first name of a list; false: there is no more. */
bool config_next_column(const char **list, char ret[CONFIG_LONGEST_COLUMN + 1]);

/* Samples ahead of the reader, before the look-ahead grows with the storage's reads. */
uint32_t config_lookahead(const struct job_config *job);

static inline uint32_t config_job_epochs(const struct job_config *config)
{
	return config->epochs ? config->epochs : CONFIG_MOST_EPOCHS;
}

/* The section that the path of a sample matches, or NULL. */
const struct job_section *config_section(
	const struct job_config *config, const char *path);

/* true: samples are pairs. */
static inline bool config_is_pair(const struct job_config *config)
{
	return config->n_sections > 0 && config->sections[0].is_pair;
}
/* The configuration as if the second files of pairs were the samples. It owns nothing, and is
 * there as long as config. */
struct job_config config_second(const struct job_config *config);

#define CONFIG_NO_OWNER UINT32_MAX

/* The owner of a job. If its ini names none, it is the daemon's user, and everybody reads. */
struct job_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode; /* of directories; files have the same, but nobody searches them */
};
struct job_owner config_job_owner(const struct job_config *config);
/* Root, and the user of the daemon, who may do everything. */
bool config_is_master(uid_t uid);
/* true: this user may change and remove the job. */
bool config_job_is_of(const struct job_config *config, uid_t uid);

struct config_user {
	uid_t uid;
	gid_t gid;
	/* true: it is one of the user's other groups. */
	bool (*has_group)(void *context, gid_t group);
	void *context;
};
/* wanted: bits of the mode for others. */
bool config_job_allows(
	const struct job_config *config, const struct config_user *user, unsigned wanted);
/* The name, or else the number. */
void config_print_user(FILE *out, uid_t uid);

/* Is called with each message: one line, without a newline. A warning, which begins with
 * CONFIG_WARNING, is about what is allowed but hardly meant. */
#define CONFIG_WARNING "warning: "
typedef void config_report(void *context, const char *message);
void config_report_to_log(void *context, const char *message); /* context: NULL */

must_check int config_load_daemon(const char *path, config_report *report, void *context,
	struct daemon_config *ret);
/* file: the name of the text in messages; relative paths begin at its directory. */
must_check int config_parse_daemon(const char *file, const char *text,
	config_report *report, void *context, struct daemon_config *ret);
void config_daemon_free(struct daemon_config *config);

/*
 * The [dataset NAME] sections of an ini that has no others. file: its absolute name, for
 * messages, and for relative paths. sampler: of those that name none.
 */
must_check int config_parse_datasets(const char *file, const char *text,
	enum sampler_kind sampler, config_report *report, void *context,
	struct dataset_config **ret, size_t *ret_n);
/* The same of a file, by its absolute name. */
must_check int config_load_datasets(const char *path, enum sampler_kind sampler,
	config_report *report, void *context, struct dataset_config **ret, size_t *ret_n);
must_check int config_dataset_copy(
	const struct dataset_config *from, struct dataset_config *ret);
void config_dataset_free(struct dataset_config *config);
/* config_parse_datasets reads it back. */
void config_print_dataset(FILE *out, const struct dataset_config *config);
/* One more dataset of the daemon; taken, also upon failure. -ENOMEM */
must_check int config_add_dataset(
	struct daemon_config *config, struct dataset_config *dataset);

/*
 * The text of a job's ini with the environment variables of this process for $NAME and ${NAME}
 * in name, dataset, training, ranks, rank and global_batch of [job]; a setting likewise. The
 * caller frees it. -EINVAL: unset says which variable is missing.
 */
struct config_unset {
	unsigned line; /* of a text */
	const char *key;
	char text[300]; /* found ..., allowed: ... */
};
must_check int config_environment(
	const char *text, char **ret, struct config_unset *unset);
must_check int config_environment_setting(
	const char *setting, char **ret, struct config_unset *unset);

/* file: the name of the text in messages. */
must_check int config_parse_job(const char *file, const char *text, config_report *report,
	void *context, struct job_config *ret);
/* The same with n settings, "SECTION.KEY=VALUE", which replace what the text has. */
must_check int config_parse_job_with(const char *file, const char *text,
	const char *const *settings, size_t n, config_report *report, void *context,
	struct job_config *ret);
/* NULL: there is none of that name. */
const struct template_config *config_template(
	const struct daemon_config *daemon, const char *name);
/* A job of the template, with settings as above; it has the template's name unless they give
 * another one. file: the daemon's ini, for messages. */
must_check int config_parse_template(const char *file,
	const struct template_config *template, const char *const *settings, size_t n,
	config_report *report, void *context, struct job_config *ret);
must_check int config_load_job(
	const char *path, config_report *report, void *context, struct job_config *ret);
must_check int config_job_copy(const struct job_config *from, struct job_config *ret);
void config_job_free(struct job_config *config);

/* Of a mixture: a dataset, and how many samples come from it, beside the others. */
struct config_mixed {
	char name[65];
	double weight;
};
#define CONFIG_MOST_MIXED 16
/* Whether the job reads several datasets. */
bool config_is_mixed(const struct job_config *config);
/* The next one of job_config.dataset, at which *text begins; a dataset alone has weight 1.
 * false: that was all. */
bool config_next_mixed(const char **text, struct config_mixed *ret);

/* The file with the orders that the job replays; NULL: it does not. */
const char *config_replay(const struct job_config *config);

/* The effective configuration, defaults filled in; config_parse_job reads it back. */
void config_print_job(FILE *out, const struct job_config *config);

/* The options as mdoc list items, for joaderfs.ini(5): first the daemon's sections, then
 * a job's. */
void config_print_man(FILE *out);

/* The keys of a job's ini, "SECTION.KEY|CHOICE CHOICE..." in a line, for completions. */
void config_print_keys(FILE *out);

/* Absolute and without ".", ".." and "//", by the text alone; dir is absolute. The caller
 * frees it; NULL: no memory. */
char *config_path_absolute(const char *dir, const char *path);

/* The nearest of n names within edit distance 3 (and less than the length), or NULL. */
const char *config_nearest(const char *word, const char *const *names, size_t n);

/*
 * The default places of the control socket and the state: /run/joaderfs.sock and
 * /var/lib/joaderfs for root, else $XDG_RUNTIME_DIR/joaderfs.sock (without that variable:
 * <state>/joaderfs.sock) and $XDG_STATE_HOME/joaderfs (~/.local/state/joaderfs).
 */

/* The caller frees them; NULL: no memory. */
char *config_default_socket(void);
char *config_default_state(void);
