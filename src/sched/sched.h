// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/histogram.h"
#include "base/types.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "epoch/epoch.h"
#include "epoch/order.h"
#include "load/file_head.h"
#include "image/preparation.h"
#include "image/tensor.h"
#include "load/load.h"

/*
 * The scheduler: the only place that joins sampler, cache and load.
 *
 * A job runs one epoch at a time; the epoch is a stream of the sampler. Streams draw
 * ahead in rounds; what is drawn is pinned and prepared; a position is bound to the head
 * of its stream's queue when it is opened; the first release of a position consumes it.
 *
 *   Flow: view -> sched_open -> (draw, bind) -> ready at once, or parked until a worker
 *         published the tensor -> opened callback -> sched_release (consume).
 *   Owns: sampler, cache, load pool, jobs, order files below <state>/jobs.
 *   Threads: any. One lock; callbacks are called without it, from any thread.
 *   Errors: 0 or -errno, logged where the detail is known.
 */

struct sched;
struct sched_job;    /* counted reference, see sched_job_find */
struct sched_handle; /* an open position: holds its tensor */
struct sched_edition;
struct sched_reader;

must_check int sched_new(const struct daemon_config *config, struct dataset **datasets,
	size_t n_datasets, struct sched **ret);
/* Answers what is parked with -ENODEV, stops the workers. No handle may be in use after.
 */
void sched_stop(struct sched *sched);
void sched_free(struct sched **sched);

/* Whether the files of a job are a tensor behind a head, byte for byte, and behind which. */
typedef bool sched_head_of(const struct job_config *config, struct file_head *ret);

/*
 * Tensors that jobs read so will lie in files of their own, where the kernel can take them
 * (backing.h). Before there are jobs; backings outlive it.
 */
void sched_use_backings(
	struct sched *sched, struct backings *backings, sched_head_of *head_of);

/* --- other daemons --- */

/* A sample that another daemon is asked for, until sched_fetch_done. */
struct sched_fetch {
	const struct dataset *dataset;
	const struct preparation *preparation;
	sample_id sample;
	struct tensor *tensor; /* the scheduler's */
	/* the fetcher's */
	void *context;
	uint32_t node, space;
};

struct sched_fetcher {
	/* Whether another daemon is to be asked. Called with the scheduler's lock, or without
	 * it: it looks at a table, and neither waits nor calls. */
	bool (*is_elsewhere)(void *context, const struct dataset *dataset,
		const struct preparation *preparation, sample_id sample);
	/* Asks, and returns at once. 0: sched_fetch_done is called once, perhaps before it
	 * returns; -errno: it is not. */
	int (*fetch)(void *context, struct sched_fetch *fetch);
	void *context;
};

/* What is elsewhere is fetched instead of being prepared, and prepared here if that fails.
 * Before there are jobs. */
void sched_fetch_by(struct sched *sched, const struct sched_fetcher *fetcher);
/* Where the bytes go. NULL: no memory, or it is not what was asked for. */
void *sched_fetch_place(
	struct sched_fetch *fetch, struct tensor_shape shape, uint64_t bytes);
/* All bytes are there; or -errno. By any thread, which holds no lock. */
void sched_fetch_done(struct sched_fetch *fetch, int err);

/* --- datasets: those of sched_new, and those that come later --- */

#define SCHED_MOST_DATASETS 256 /* at a time */
#define SCHED_JOB_NAMES 1024

/* -EEXIST: there is one of the name; -ENFILE, -ENOMEM. The reference stays the caller's; a
 * copy of config is kept. By a thread that may wait, as the next ones. */
must_check int sched_dataset_add(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);
/*
 * No job uses the dataset, and none begins until it is given back, removed or replaced.
 * *ret_config: its own, which the caller frees. -ENOENT; -EBUSY: the jobs that do, or "":
 * somebody else has taken it; -EINVAL: its configuration is not known.
 */
must_check int sched_dataset_take(struct sched *sched, const char *name,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES]);
/* The same while jobs use it, which ret_jobs tells: for sched_dataset_move, or to be given
 * back. */
must_check int sched_dataset_take_used(struct sched *sched, const char *name,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES]);
void sched_dataset_give_back(struct sched *sched, const char *name);
void sched_dataset_remove(struct sched *sched, const char *name);
/* By another catalogue of the same name. If that fails it is still taken. */
must_check int sched_dataset_replace(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);

/* What would be another one for the files of a job that are not of one epoch; NULL: nothing. */
typedef const char *sched_edition_change(const struct job_config *config,
	const struct sched_edition *now, const struct sched_edition *next);
/*
 * By the next edition (dataset_scan_next), which is installed: all of its jobs get it with the
 * next epoch that begins. -EINVAL: a job can't, which is reported; it is still taken then, as
 * upon any failure.
 */
must_check int sched_dataset_move(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, sched_edition_change *change,
	config_report *report, void *context);

/* Names, each between ends of lines: of datasets whose jobs can't take what a scan finds
 * later. The caller frees it; NULL: no memory. */
char *sched_datasets_that_stay(const struct daemon_config *daemon);

/* Each has a number below that of sched_datasets as long as it is there. *ret_mark (may be
 * NULL): another one when datasets came or went. */
uint32_t sched_datasets(struct sched *sched, uint64_t *ret_mark);
/* One more reference; NULL: no dataset has the number. */
struct dataset *sched_dataset_hold(struct sched *sched, uint32_t number);
must_check int sched_dataset_find(struct sched *sched, const char *name, uint32_t *ret);

/* How long reading and preparing its samples took. */
struct sched_dataset_times {
	struct histogram_copy read, decode;
	uint64_t cpu_ns; /* processor time of all that was decoded */
};
bool sched_dataset_times(
	struct sched *sched, uint32_t number, struct sched_dataset_times *ret);

/* What the jobs of a dataset with one preparation read, all together. */
struct sched_prepared {
	char preparation[PREPARATION_TEXT];
	uint32_t jobs, samples;
	uint64_t sample_bytes; /* of a tensor, in the mean */
};
/* Those of a dataset; the caller frees *ret. Takes milliseconds with a million samples.
 * -ENOMEM */
must_check int sched_dataset_prepared(struct sched *sched, const struct dataset *dataset,
	struct sched_prepared **ret, size_t *ret_n);

/* --- jobs --- */

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

/* Where the files of a dataset lie. */
struct sched_storage {
	const char *root;      /* of the first dataset on it */
	unsigned reads;	       /* in flight */
	unsigned most_reads;   /* that it rewards, as far as is known */
	uint64_t silent_ns;    /* since it has not answered; 0: it answers */
	uint64_t ended, bytes; /* reads that have, and their bytes; from a tier, too */
	uint64_t latency_ns;   /* of a read, in the mean of late */
};
/* The i-th one; false: there are not so many. */
bool sched_storage(struct sched *sched, size_t i, struct sched_storage *ret);
void sched_job_storage(struct sched_job *job, struct sched_storage *ret);

/* The label that a position has, whatever it is bound to: sequential, classes, labels =
 * fixed. false: none, or that of a file of current/ depends on its epoch. */
bool sched_label(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t *ret);

struct sched_job_share {
	double demand; /* samples per second that it could use, as far as is known */
	bool at_least; /* its readers never idle: it may be more */
	double wanted_part, granted_part; /* of all workers */
	double waiting; /* part of the last second in which a reader waited */
};

/* What readers wait for: waits.c. */
enum wait_cause {
	WAIT_STORAGE,
	WAIT_DECODING,
	WAIT_QUEUE,
	WAIT_FILE_SYSTEM,
	WAIT_CAUSES
};
const char *sched_wait_cause(enum wait_cause cause); /* "storage", ... */

/* A process that has read a job. */
#define SCHED_PROGRAMS 8
struct sched_program {
	long id;	 /* in /proc; 0: not known, and none follows */
	uint64_t number; /* reader.rank */
	uint64_t script; /* reader.script */
};
/* true: the process lives. Called by a thread that holds no lock. */
typedef bool sched_lives(const struct sched_program *program);
/* Has the scheduler ask `lives` once a second, for current/. Called before there are jobs. */
void sched_on_look(struct sched *sched, sched_lives *lives);
/* Looks at once: which scripts of current/ have ended is known afterwards. */
void sched_look(struct sched_job *job);
struct sched_job_status {
	bool started, running,
		parked_idle;		   /* running: an epoch has begun and not ended */
	uint32_t epoch;			   /* the running one, or the last */
	uint32_t samples, bound, consumed; /* of that epoch */
	uint32_t drawn;			   /* drawn ahead, not bound */
	uint32_t bad;			   /* samples that later epochs leave out */
	uint32_t skipped;		   /* those that this one does */
	uint64_t served, decoded, shared, hit, errors, waits,
		wait_ns; /* since it was added */
	/* Since then, the time in which a reader waited; of the file system the time that
	 * it took, of all readers together. */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t now_ns;    /* when all of this was so */
	uint64_t epoch_ns;  /* since the last epoch's first open, until now or its end */
	double waited_part; /* of that */
	uint64_t sample_bytes, all_bytes; /* of a tensor in the mean; of all together */
	double rate; /* samples consumed per second, over the last seconds */
	struct sched_job_share share;
	bool fixed;	  /* layout = classes: a file holds one sample in all epochs */
	unsigned notices; /* a bit for each enum notice that there was */
	uint64_t
		unfed_ns; /* for so long whoever feeds it can't; 0: it can, or is not fed */
	bool gives_up;	  /* so opens that find nothing fail */
	/* The processes that have read it, those of late first; without them nobody has since
	 * this daemon began. */
	struct sched_program programs[SCHED_PROGRAMS];
	uint64_t read_ns; /* since the last sample was read */
};
/* What a notice means for a training, and what to do. */
const char *sched_notice_text(enum notice notice);
void sched_job_status(struct sched_job *job, struct sched_job_status *ret);

/* Until the end of the running epoch at the rate of late; -1: not known. */
double sched_seconds_left(const struct sched_job_status *status);

/* One word: new, running, parked (it has read nothing for long), waiting (for its next
 * epoch) or finished. */
const char *sched_job_state(
	const struct job_config *config, const struct sched_job_status *status);

/* The dataset's tier, and its directory. false: it has none. */
bool sched_tier(struct sched *sched, const struct dataset *dataset,
	struct tier_status *ret, const char **ret_directory);

bool sched_job_tier(
	struct sched_job *job, struct tier_status *ret, const char **ret_directory);

/*
 * bad_sample = skip. Of n positions of an epoch from one on (SCHED_CURRENT: of the epoch that
 * a script which begins now would read), those that the epoch does not have, since it leaves
 * a bad sample out. They are bound to these samples. _mark: another one when these positions
 * are others. _skips: whether the job may have such epochs.
 */
uint32_t sched_skipped(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n);
uint64_t sched_skipped_mark(struct sched_job *job, uint32_t epoch);
bool sched_skips(const struct sched_job *job);
/* What later epochs leave out. The caller frees it; NULL: bad_sample = fail, or no memory. */
roaring_bitmap_t *sched_job_bad(struct sched_job *job);

/* Number of jobs that have the dataset. */
uint32_t sched_dataset_jobs(struct sched *sched, const struct dataset *dataset);

/* The samples that are not prepared any more: quarantine.h. The caller frees them; NULL: no
 * memory. */
roaring_bitmap_t *sched_quarantined(struct sched *sched, const struct dataset *dataset);

/* --- positions --- */

/*
 * The epoch of current/: for each position the one that a script which knows no epochs
 * means. The last epoch is read again and again. current.c of epoch/ has the rules.
 *
 * layout = mirror: every epoch, and this one, holds the same samples in dataset order;
 * any position may be opened at any time, nothing is bound or consumed.
 */
#define SCHED_CURRENT EPOCH_CURRENT

struct sched_opened {
	/* 0, or -EIO, -ENOMEM, -EINTR (the reader gave up), -ENODEV (job removed,
	 * shutdown) ... */
	int status;
	/* The sample itself is bad, and its position consumed. After another failure the
	 * position can be opened again, as if nothing was. */
	bool bad;
	struct sched_handle *handle; /* NULL unless status is 0 */
};
/* Who opens, and what. */
struct sched_reader {
	struct reader who;
	bool done;	/* its thread has read to the end what it opened last */
	bool looks;	/* its process has workers that read */
	bool resent;	/* the daemon before this one may have begun to answer it */
	bool unknown;	/* the kernel tells no process */
	bool elsewhere; /* who.rank is one of several ranks; some are on other machines */
	bool images;	/* of a file of images, although only the sample is asked for */
	long thread;	/* its number in /proc; 0: not known */
	long program;	/* the number of the process that is who.rank; 0: not known */
};

/*
 * How an open reports back. `opened` is called exactly once after sched_open returned 0,
 * by any thread, perhaps before sched_open returns. `parking` (may be NULL) is called
 * before that, in the caller's thread, when the open has to wait: its ticket may be given
 * to sched_cancel from then on, at any time, also from within `parking`.
 */
struct sched_open_callbacks {
	void (*opened)(void *context, const struct sched_opened *opened);
	void (*parking)(void *context, uint64_t ticket);
	void *context;
	struct sched_reader reader; /* for SCHED_CURRENT */
	uint32_t names; /* by which the position was found: struct sched_edition */
};

/*
 * Opens a position's sample: binds it (drawing if needed), then opened at once or when it
 * is prepared. Refused by the return value, with no callback: -ENOENT (no such epoch or
 * position), -ESTALE (epoch over, position never bound; the epoch has other names), -EAGAIN (the next epoch while at
 * most half of the running one is bound, or another script reads current/), -EOPNOTSUPP (reader.elsewhere), -ENODEV
 * (job removed, shutdown), -EIO, -ENOMEM.
 */
must_check int sched_open(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks);

/*
 * The same for a label: binds only, nothing is prepared or counted. The handle has no
 * tensor, and is given back by sched_undo. Parked until the epoch has begun, if it must.
 */
must_check int sched_open_label(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks);

/*
 * The same for a sample, as the jobs of the dataset get it that have this preparation
 * (preparation_print): for another daemon. Nothing is bound, counted or consumed, and it
 * is prepared here. The handle is given back by sched_undo. -ENOENT: no job has that;
 * -EAGAIN: it is being fetched itself; -EINVAL: no such sample.
 */
must_check int sched_open_sample(struct sched *sched, const struct dataset *dataset,
	const char *preparation, sample_id sample,
	const struct sched_open_callbacks *callbacks);

/* The reader gave up: opened is called with -EINTR. An unknown or finished ticket:
 * nothing. */
void sched_cancel(struct sched *sched, uint64_t ticket);

/*
 * The sample of a position if it is bound, or can be no other (layout = mirror; classes
 * with order = sequential); SAMPLE_NONE otherwise. Changes nothing.
 */
sample_id sched_bound(struct sched_job *job, uint32_t epoch, uint32_t position);
/* Whether sched_bound would read a file for that: the epoch's order is saved. */
bool sched_bound_is_saved(struct sched_job *job, uint32_t epoch, uint32_t position);

/* For so long it waited for its tensor. */
uint64_t sched_handle_waited(const struct sched_handle *handle);
/* Answering one of its opens took so long, without such waits. Takes no lock. */
void sched_job_took(struct sched_job *job, uint64_t ns);

const struct tensor *sched_handle_tensor(const struct sched_handle *handle);
sample_id sched_handle_sample(const struct sched_handle *handle);
uint32_t sched_handle_epoch(const struct sched_handle *handle); /* never SCHED_CURRENT */
/* The first release of a position consumes it. */
void sched_release(struct sched_handle *handle);
/* As sched_release, but nobody has read it: the position is not consumed. */
void sched_undo(struct sched_handle *handle);

/*
 * Readers have released n positions that they had opened of a daemon before this one: those
 * that are bound and not consumed are consumed.
 */
void sched_consume(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n);

/* --- ranks: [job] ranks --- */

/*
 * The samples of a rank are drawn for all ranks together, elsewhere, and come as its feed:
 * the k-th one of an epoch is the epoch's k-th binding.
 */
struct sched_feed_state {
	bool started;	 /* an epoch has begun */
	uint32_t newest; /* the last one that has */
	/* That, or the one before, which drains, until all of it is consumed. */
	uint32_t epoch;
	uint32_t next;	   /* samples of it that came: this one is the next */
	uint32_t consumed; /* its first bindings that were all consumed */
};
void sched_feed_state(struct sched_job *job, struct sched_feed_state *ret);

/*
 * The next n samples of the epoch's feed, from its base-th on; those that came before, and
 * those of an epoch that is over, are passed over. -EAGAIN: the epoch has not begun;
 * -EINVAL: samples between are missing, or one is not the job's; -ENOMEM.
 */
must_check int sched_feed(struct sched_job *job, uint32_t epoch, uint32_t base,
	const sample_id *ids, uint32_t n);

/*
 * Another daemon has served the rank up to there: what is before was consumed, and comes all
 * the same, since readers may look at it again. -ENOMEM; -EINVAL: so much is not in an epoch.
 */
must_check int sched_feed_go_on(struct sched_job *job, uint32_t epoch, uint32_t consumed);

/*
 * Whoever feeds the job can't, since then; 0: it can. gives_up: opens that find nothing that
 * came, or wait for it, fail with -ETIMEDOUT.
 */
void sched_feed_away(struct sched_job *job, uint64_t since_ns, bool gives_up);

/* Another daemon serves the rank, or may: readers get what they had, and wait for more. Not so
 * any more: sched_feed_go_on has told what the other one gave. */
void sched_feed_lend(struct sched_job *job, bool lent);

/* What came of the epoch's feed, from its base-th sample on: at most n; how many. Those that
 * are not bound yet, too. */
uint32_t sched_fed(
	struct sched_job *job, uint32_t epoch, uint32_t base, sample_id *ids, uint32_t n);

/* Adds what the cache holds of the dataset, or loads; of preparations that only jobs read
 * whose samples are drawn. */
void sched_resident(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);

/* Whoever feeds is told when a state has changed: by any thread, which holds no lock and
 * must not wait. Before there are jobs. */
typedef void sched_news(void *context);
void sched_on_news(struct sched *sched, sched_news *news, void *context);

/* What takes long is done by a worker, soon; or at once, if the caller is one. */
void sched_run(struct sched *sched, struct load_work *work);
/* After some time; at once, if the scheduler stops. */
void sched_run_later(struct sched *sched, struct load_work *work, uint64_t delay_ns);
/* true: no worker has begun with it, and none will. Work that was given to neither is
 * zero. */
must_check bool sched_take_back(struct sched *sched, struct load_work *work);

/*
 * What is made of a tensor for one open counts as held by the daemon: so many bytes may be
 * made, and are given back. -ENOMEM: readers hold too much open.
 */
must_check int sched_hold_content(struct sched *sched, uint64_t bytes);
/* May be called with a lock held: calls nobody back. */
void sched_drop_content(struct sched *sched, uint64_t bytes);

/* --- order --- */

/* The k-th binding of an epoch, k from 0; false when there are not so many yet. */
bool sched_binding(
	struct sched_job *job, uint32_t epoch, uint32_t k, struct binding *ret);

/* What an epoch is made of stays from then on. false: SCHED_CURRENT, too. */
bool sched_has_begun(struct sched_job *job, uint32_t epoch);

/* Whether an epoch has any. */
bool sched_has_order(struct sched_job *job, uint32_t epoch);

/* Up to n of them from the k-th on; how many there are so far. */
uint32_t sched_bindings(struct sched_job *job, uint32_t epoch, uint32_t k, uint32_t n,
	struct binding *ret);

/* --- laps: epochs that a job's readers have read to the end ----------------------------- */

#define SCHED_LAPS 12

/* What joaderctl explain needs to know of a job. Times are in ns. */
struct sched_laps {
	/* Its first open, and when a sample was consumed last, by clock_now_ns; 0: never. */
	uint64_t first_ns, last_ns;
	uint64_t n;	   /* laps so far */
	uint64_t ended_ns; /* the latest */
	/* The latest, and for how long their opens waited, of all readers together: the last one
	 * at (n - 1) % SCHED_LAPS. */
	uint64_t ns[SCHED_LAPS], waited_ns[SCHED_LAPS];
	/* The latest: */
	uint32_t epoch, samples;
	unsigned readers;  /* threads that opened files, at once in the mean */
	uint64_t pause_ns; /* between the lap before and this one */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t decoded, shared, hit;
	/* Processor time of readers, and samples that they were given for it, of all laps. */
	uint64_t cpu_ns, cpu_samples;
	/* The set of samples, and the tensors that are made of them. */
	bool drawn; /* by a sampler, not by the positions */
	uint32_t
		labels; /* that a script asks for one by one; 0: any sample at any time */
	uint64_t sample_bytes;
	enum sampler_kind sampler;
	double weight;
};
void sched_job_laps(struct sched_job *job, struct sched_laps *ret);

/* Samples that the same jobs have in the cache, prepared in the same way. */
struct sched_common {
	uint64_t jobs; /* a bit for each of the ids that were asked for */
	uint32_t samples;
};
#define SCHED_COMMON_JOBS 64
/* Of at most SCHED_COMMON_JOBS jobs; the caller frees *ret. Takes milliseconds with a million
 * samples. -ENOMEM */
must_check int sched_common(struct sched *sched, const job_id *ids, size_t n,
	struct sched_common **ret, size_t *ret_n);

/* --- trace: what a job's readers open and close --- */

enum sched_trace_kind {
	SCHED_TRACE_OPEN,  /* asked for */
	SCHED_TRACE_READY, /* answered */
	SCHED_TRACE_FAILED,
	SCHED_TRACE_RELEASE
};

struct sched_trace_event {
	uint64_t ns; /* clock_now_ns */
	enum sched_trace_kind kind;
	int status;	/* 0 or -errno */
	uint64_t open;	/* the number of the open; 0: it was before the trace */
	uint32_t epoch; /* SCHED_CURRENT: not known yet */
	uint32_t position;
	sample_id sample;   /* SAMPLE_NONE: likewise */
	uint64_t waited_ns; /* for its tensor */
};

/* From now on events are kept, until nobody has asked for a minute. *ret_next: the number of
 * the next one. -ENOMEM */
must_check int sched_trace_begin(struct sched_job *job, uint64_t *ret_next);
/* Up to `most` events from the number *from on, which then is that of the next one; how many.
 * *ret_lost: so many are gone that were between. */
uint32_t sched_trace_read(struct sched_job *job, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most);

/* Aborts when an invariant does not hold: need and pins are counted anew. For tests. */
void sched_validate(struct sched *sched);

/* The jobs, a line each, for the log after a bug; and sched_stats. Whatever lock the thread
 * holds, and it keeps all others out. */
void sched_dump(struct sched *sched, FILE *out);

#define SCHED_NEEDS 5

struct sched_cache {
	uint64_t capacity;
	uint64_t held;	 /* ready tensors, and those on their way */
	uint64_t pinned; /* of these, drawn and not consumed, or open */
	/* eviction = refcnt: the others, by how many running epochs need them, the last one
	 * by that many and more. */
	bool by_need;
	uint64_t needed[SCHED_NEEDS];
};
void sched_cache(struct sched *sched, struct sched_cache *ret);

/* Publishes the gauges to stats. */
void sched_stats(struct sched *sched);
