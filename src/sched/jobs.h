// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "dataset/dataset.h"

/* Jobs come, go and move; what their epochs are made of. */

struct sched;
struct sched_job; /* counted reference, see sched_job_find */
struct sched_reader;

/*
 * Adds a job; persist: the ini is kept in the state directory, so that it is there after
 * a restart. -EEXIST, -EINVAL (unknown dataset, bad predicate, nothing selected):
 * reported.
 */
must_check int sched_job_add(struct sched *sched, const struct job_config *config,
	bool persist, config_report *report, void *context);

/*
 * Removes a job: pins and need are given back, parked opens answered with -ENODEV, its
 * state files deleted. Open handles stay readable until released. -ENOENT.
 */
must_check int sched_job_remove(struct sched *sched, const char *name);

/*
 * Where the job is, as a text of at most 4 KiB (checkpoint.h), in microseconds. What it
 * says survives a failure of power when sched_job_sync has succeeded after it, which may
 * wait for the disk.
 */
void sched_job_print_state(struct sched_job *job, FILE *out);
must_check int sched_job_sync(struct sched_job *job);

/*
 * The job is where it was when the text was printed: what was read since is unread, with
 * the same samples at the same positions. at: NULL, or "EPOCH:POSITION", before which the
 * epoch was read instead. Opens wait meanwhile. -EINVAL and others: reported; the job is
 * as it was. By a thread that may wait.
 */
must_check int sched_job_restore(struct sched_job *job, const char *text, const char *at,
	config_report *report, void *context);

/*
 * The same with all orders that are kept, for other machines with the same data: to the
 * descriptor of a regular file. Errors are reported. By a thread that may wait.
 */
must_check int sched_job_export(
	struct sched_job *job, int fd, config_report *report, void *context);

/* What sched_job_export has written, and what it is called in messages. */
struct sched_import {
	int fd;
	const char *name;
	const char *at; /* as of sched_job_restore */
};

/*
 * As sched_job_add, of a job that has no epochs here yet: it is where the other one was, and
 * its positions hold what they held there. Of a rank: the file has all ranks of a training,
 * one after the other, and the job's training goes on where that one was, with other ranks,
 * too (sched_job_log). -EINVAL: the samples are others.
 */
must_check int sched_job_add_import(struct sched *sched, const struct job_config *config,
	bool persist, const struct sched_import *import, config_report *report,
	void *context);

/*
 * Where the training of a rank goes on, as it was imported: the first samples of the log of
 * an epoch, which were read; the caller frees *ret. *ret_n = 0 and epoch 0: it begins.
 */
must_check int sched_job_log(
	struct sched_job *job, uint32_t *ret_epoch, sample_id **ret, uint32_t *ret_n);

/* Keeps the ini of a job in the state directory, as sched_job_add does with persist. */
must_check int sched_job_keep(struct sched_job *job);

/*
 * Takes an addition back: as sched_job_remove, but of the files in the state directory only
 * the ini is deleted, since the others may be of an earlier job of the name. -ENOENT.
 */
must_check int sched_job_withdraw(struct sched *sched, const char *name);

/* Adds the jobs that the state directory has kept. Problems are logged, not fatal. */
void sched_jobs_restore(struct sched *sched);

/*
 * The jobs of the start: those of the jobs directory, where one mistake in an ini is an
 * error; those of config_try.h if it `tries`; and those that were kept. -errno, logged.
 */
must_check int sched_jobs_begin(
	struct sched *sched, const struct daemon_config *daemon, bool tries);

/* A warning, if the cache is smaller than what all jobs together look ahead. */
void sched_report_cache(struct sched *sched, config_report *report, void *context);

/* By name or id; NULL: none. Each found one is put back with sched_job_put. */
struct sched_job *sched_job_find(struct sched *sched, const char *name);
struct sched_job *sched_job_find_id(struct sched *sched, job_id id);
void sched_job_put(struct sched_job *job);
struct sched_job *sched_job_hold(struct sched_job *job); /* one more reference */

/* The ids of all jobs in the order in which they were added; caller frees *ret. */
must_check int sched_job_ids(struct sched *sched, job_id **ret, size_t *ret_n);

job_id sched_job_id(const struct sched_job *job);
const struct job_config *sched_job_config(const struct sched_job *job);

/*
 * What an epoch is made of. A dataset that is scanned again while jobs use it is another
 * edition for the epochs that begin after; those before keep theirs.
 */
struct sched_edition {
	struct dataset *dataset;
	uint32_t samples;		   /* positions of an epoch */
	const roaring_bitmap_t *selection; /* D_j */
	/* D_j without the samples that are refused, because they need too much memory or have
	 * no readable header. */
	const roaring_bitmap_t *readable;
	/*
	 * layout = classes: the positions of one label are contiguous, those of label l are
	 * [label_begin[l], label_begin[l + 1]), and a position is only ever bound to a sample
	 * of its label. Else NULL.
	 */
	const uint32_t *label_begin;
	/* layout = classes: which names the positions have in directories; 0 unless the dataset
	 * was scanned again. The same comes again after some scans. */
	uint32_t names;
	/* The most bytes of what comes along with a sample, by its number: files/beside.h. */
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS + 1];
	bool beside_waits; /* files that come along are on a server */
	/* labels = columns: numbers at [sample * n_targets]; else NULL. */
	const float *targets;
};
/* Of an epoch; of SCHED_CURRENT that of the epoch which a script that begins now would read.
 * sched_widest_edition: there the one with most samples that a file of current/ may be of.
 * Constant until it is put back, which comes before the job is. */
const struct sched_edition *sched_edition(struct sched_job *job, uint32_t epoch);
const struct sched_edition *sched_widest_edition(struct sched_job *job, uint32_t epoch);
void sched_edition_put(const struct sched_edition *edition);
static inline void sched_edition_put_(const struct sched_edition **edition)
{
	sched_edition_put(*edition);
}
#define auto_edition                                                                     \
	__attribute__((cleanup(sched_edition_put_))) const struct sched_edition
uint32_t sched_job_samples(struct sched_job *job, uint32_t epoch); /* the same number */
uint32_t sched_job_names(struct sched_job *job, uint32_t epoch);   /* likewise */
/* The epoch that a file of current/ belongs to if the reader opens it now. Changes nothing. */
uint32_t sched_current(
	struct sched_job *job, const struct sched_reader *reader, uint32_t position);
/* Another number when the edition of SCHED_CURRENT is another one. 0: there has been one. */
uint32_t sched_edition_mark(struct sched_job *job, uint32_t epoch);

/* What an epoch of a mixture has of a dataset. */
struct sched_part {
	char dataset[65];
	uint32_t in_epoch, samples; /* that many, of all that the job selects */
};
/* How many; 0: it is none. */
size_t sched_job_parts(
	struct sched_job *job, struct sched_part ret[static CONFIG_MOST_MIXED]);
