// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

#include <limits.h>
#include <stdio.h>

/*
 * The table of options, the types of their values, and the content of an ini.
 *
 *   Flow: ini_read (text -> sections of key/text) -> ini_fill (text -> fields of a struct, by the
 *         table) -> checks of combinations of values -> ini_result.
 */

enum ini_kind { INI_DAEMON, INI_JOB };

enum section_id {
	SECTION_JOADERFS,
	SECTION_CLUSTER,
	SECTION_DATASET,
	SECTION_TEMPLATE,
	SECTION_PREPARATION,
	SECTION_JOB,
	SECTION_TENSOR,
	SECTION_AUGMENT,
	SECTION_VIEW,
	SECTION_COUNT
};

struct section_spec {
	const char *name;
	enum ini_kind kind;
	bool named; /* has a name, as in [dataset NAME], and may occur several times */
	const char *help;
};

struct value_type;

#define LETTERS_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

struct option {
	enum section_id section;
	const char *key;
	const struct value_type *type;
	uint64_t min; /* least number, or least length of a text in bytes */
	uint64_t max;
	/* names of the choices, then NULL; indexed by the enum's values */
	const char *const *choices;
	const char *preset;	 /* default as in an ini; NULL: there is none */
	const char *preset_help; /* text for the manual page about a computed default */
	bool required;
	size_t offset;	  /* offset of the field in its struct */
	const char *help; /* sentences, one per line */
};

struct value_input {
	const struct option *option;
	const char *text;
	const char *dir; /* where relative paths start */
};

struct value_type {
	const char *metavar;
	bool owned; /* the field is a char * that the struct owns */
	/* Parses the text into the field. -EINVAL: not allowed. */
	int (*parse)(const struct value_input *in, void *field);
	/* Prints the value as in an ini, or nothing if the key has no value. NULL for
	 * types that no key of a job or dataset has. */
	void (*print)(const struct option *option, const void *field, FILE *out);
	/* tells users which values are allowed; value_print_allowed fills in {min}, {max}, {1/max}
	 * and {choices} of the option */
	const char *allowed;
};

#define RANGE_RULE "{min}..{max}"
#define SIZE_RULE                                                                        \
	"bytes, or a number with K, M, G or T (powers of 1024), like 512M or 4G; at "    \
	"least {min}"
#define PATH_RULE                                                                        \
	"an absolute path, or one relative to the directory of this ini, without "       \
	"quotes and without ~"

extern const struct value_type value_u32, value_u64, value_size, value_cache,
	value_duration, value_workers, value_reads, value_choice, value_order, value_flag,
	value_name, value_text, value_weight, value_path, value_source, value_credentials,
	value_extension, value_extensions, value_label, value_tier, value_resize,
	value_crop, value_pad, value_fill, value_shape, value_probability,
	value_normalize, value_mixture, value_command, value_array_shape,
	value_array_dtype, value_user, value_group, value_mode, value_endings,
	value_column, value_labels;

/* Parses a number that consists of digits only, and moves *text past the digits. strtoull would
 * also accept signs and spaces. */
bool value_digits(const char **text, uint64_t *ret);
bool value_in_range(const struct option *option, uint64_t number);
void value_print_allowed(const struct option *option, FILE *out);
/* Sets the field, a char *, to a copy of the text. */
must_check int value_keep(const char *text, void *field);
/* Prints the field, a char *, unless it is NULL. */
void value_print_text(const struct option *option, const void *field, FILE *out);

extern const struct section_spec config_sections[SECTION_COUNT];

/* Options are numbered: the daemon's first, then a job's. */
extern const struct option config_daemon_options[], config_job_options[];
extern const size_t config_n_daemon_options, config_n_job_options;
size_t config_n_options(void);
const struct option *config_option(size_t i);

#define ORDER_REPLAY_PREFIX "replay:"
/* Returns the order for `text`, a value of the key `order` that value_order has accepted. */
enum job_order config_order_of(const char *text);

#define NAME_RULE "1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot"
bool config_name_valid(const char *name);

/* Parses a number without an exponent, such as 1, -0.5 or .5, and moves *text past it. Returns
 * false if there is no number, or if the number has too many digits (more than 15). */
bool config_decimal(const char **text, double *ret);

/* Sets *ret to the file's directory, absolute. Returns 0 or -errno. */
must_check int config_path_dir(const char *file, char **ret);

#define LINE_OF_SETTING UINT_MAX

struct ini_value {
	char *text;
	unsigned line; /* line of the ini; 0: no value; LINE_OF_SETTING: see ini_set */
};

struct ini_section {
	enum section_id id;
	char *label; /* text between the brackets */
	const char *name;
	unsigned line;
	struct ini_value *values; /* indexed by the option's number */
};

struct ini {
	const char *file;
	enum ini_kind kind;
	config_report *report;
	void *context;
	struct ini_section *sections;
	size_t n_sections;
	unsigned mistakes;
	char *dir; /* directory of a daemon's ini, where relative paths start */
	/* the ini is no use at all, for instance because it is a job's ini instead of the daemon's;
	 * missing keys are then not reported */
	bool unusable;
	int err; /* -ENOMEM once memory has run out */
};

/* Fills in ini->sections from the text, or from ini->file if `text` is NULL. Environment variables
 * (config_environment) are replaced only in the file of a job. Reports mistakes in the syntax, the
 * sections and the keys. -errno, reported: the file can't be read, or a variable is missing. */
must_check int ini_read(struct ini *ini, const char *text);
/* Reports an unknown value. nearest: the most similar valid value, which the report suggests; NULL:
 * none. */
void ini_mistake_nearest(struct ini *ini, unsigned line, const char *label,
	const char *key, const char *found, const char *allowed, const char *nearest);
/* Overrides the value of a key. setting: "SECTION.KEY=VALUE". line: the line of the ini in which
 * the setting is; LINE_OF_SETTING: the setting comes from elsewhere. */
void ini_set(struct ini *ini, const char *setting, unsigned line);
void ini_free(struct ini *ini);

/* Returns the first section with the id, or NULL. [tensor NAME] does not count as [tensor]. */
const struct ini_section *ini_section(const struct ini *ini, enum section_id id);

/* Returns the text that the section gives for the key; NULL: none. The section must not be a
 * [template NAME], because its keys have the form SECTION.KEY. */
const char *ini_text(const struct ini_section *section, const char *key);

/* Sets the object's fields to the section's values. A field without a value gets its default, as do
 * all fields if section is NULL. */
void ini_fill(struct ini *ini, const struct ini_section *section, enum section_id id,
	void *object);
/* Replaces the texts in `object`, a copy of `from`, by texts that `object` owns. After -ENOMEM the
 * texts that could not be copied are NULL. */
must_check int config_copy_fields(enum section_id id, const void *from, void *object);
void config_free_fields(enum section_id id, void *object);

/* Returns the number of the ini's line that sets the key. LINE_OF_SETTING: a setting sets the key
 * (ini_set). 0: the key has no value. */
unsigned ini_line(const struct ini *ini, enum section_id id, const char *key);

/* Reports FILE[:LINE][:[LABEL]][:KEY]: text, without the parts that are 0 or NULL. */
void ini_mistake(struct ini *ini, unsigned line, const char *label, const char *key,
	const char *format, ...) printf_like(5, 6);
/* Reports a setting that is allowed, but probably not intended; see ini_mistake. */
void ini_warning(struct ini *ini, unsigned line, const char *label, const char *key,
	const char *format, ...) printf_like(5, 6);

/* Fills in daemon->datasets from all [dataset NAME] sections. It is a mistake if there is no such
 * section. */
void config_fill_datasets(struct ini *ini, struct daemon_config *daemon);

/* Returns the index of the option "SECTION.KEY" of a job's ini, or -1. */
int template_option(const char *key);
/* Reports an unknown key, and suggests the most similar one. */
void template_report_key(
	struct ini *ini, unsigned line, const char *label, const char *key);
void config_fill_templates(struct ini *ini, struct daemon_config *daemon);
void config_free_templates(struct daemon_config *daemon);

void config_fill_preparations(struct ini *ini, struct daemon_config *daemon);
void config_free_preparations(struct daemon_config *daemon);

/* Makes job->sections and preparation.sections from all sections [tensor NAME]. The caller has
 * filled in the job's other fields, because the sections are checked against them. */
void config_fill_sections(struct ini *ini, struct job_config *job);
void config_free_sections(struct job_config *job);
must_check int config_copy_sections(
	const struct job_config *from, struct job_config *ret);
void config_print_sections(FILE *out, const struct job_config *config);
/* Sets preparation.encoded for format = source (files are shown as they are), and
 * reports the keys that this format does not allow. */
void config_check_source(struct ini *ini, struct job_config *job);
/* Checks combinations of keys of [tensor], apart from format = source. */
void config_check_tensor(struct ini *ini, const struct job_config *job);
/* Reports that the key must not have the value `found`. */
void config_refuse(struct ini *ini, enum section_id section, const char *key,
	const char *found, const char *allowed);
/* Checks `ranks` and related keys, and sets the fields that follow from them: ranks, rank,
 * one_script, global_batch and training. */
void config_check_ranks(struct ini *ini, struct job_config *job);
const char *config_extension_of(enum sample_format format);

must_check int config_finish_job(struct ini *ini, struct job_config *ret);

/* Returns 0, -EINVAL if there were mistakes, or -ENOMEM. */
int ini_result(const struct ini *ini);
