// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "epoch/journal.h"
#include "draw/draw.h"
#include "edition/job.h"
#include "sched/after.h"
#include "sched/gauges.h"
#include "sched/positions.h"
#include "sched/ranks.h"
#include "sched/sched.h"
#include "supply/supply.h"
#include "watch/past.h"
#include "watch/watch.h"

#include <pthread.h>

/*
 * Types and functions that the files of the scheduler share.
 *
 *       jobs --- epochs (the engine) --- journal
 *         |
 *      streams (one for each epoch that draws)
 *
 *   opens      open.c (sched_handle.h); open_sample.c: for other daemons; bindings.c: tells which
 *              samples positions hold
 *   engines    effects.c: executes decisions of a job's engine; draw_effects.c: of the draw engine
 *   streams    streams.c; feeds.c: samples of ranks; clerk.c: the thread that begins epochs, saves
 *              orders, and restores jobs (restoring.c)
 *   sections   after.c: the end of a critical section; phases.c: the work that follows
 *   supply     supplying.c: its events and effects; tasks.c: gives its samples to workers; fetch.c:
 *              fetches samples from other daemons; storages.c; tiers.c; run_work.c: other work
 *   jobs       jobs.c; job_lists.c; start_jobs.c; admit.c: checks a new job; editions.c;
 *              programs.c: processes that read a job; job_shares.c: shares of the decoders;
 *              file_heads.c: tensors for the kernel; skip*.c: leave out bad samples (skipping.h)
 *   datasets   dataset_list.c; rescan.c: new scans; stay.c: datasets whose jobs can't move to a
 *              new scan; resident.c: samples in the cache, for daemons that draw
 *   figures    watching.c: opens and waits; readings.c: the last hour; job_status.c; dump.c;
 *              common_samples.c; cache_advice.c: memory for all prepared samples
 */

struct adding;
struct clerk_restore;

/* The state of a job with bad_sample = skip. All pointers are NULL if bad_sample = fail. */
struct skipping {
	roaring_bitmap_t *bad; /* the bad samples, which later epochs leave out */
	/* the samples of `bad` that stay bad until their files change */
	roaring_bitmap_t *damaged;
	roaring_bitmap_t *told; /* logged bad samples; only for the clerk thread */
	bool found;		/* the clerk has to handle new samples of `bad` */
	/* positions that the next epoch leaves out (skip_plan.c); NULL: none */
	struct skip_plan *plan;
};

struct sched_job {
	struct job is; /* fields for src/edition, src/state and src/watch */
	TAILQ_ENTRY(sched_job) link;
	struct sched *sched;
	atomic_uint references;
	bool removed;
	struct feeds feeds; /* samples that a rank has received */
	/* since when the coordinator can't be reached; 0: it can be, or the job is no rank */
	uint64_t unfed_since_ns;
	bool gives_up; /* An open fails if the feed has no sample for it. */
	/* why the training's next epoch does not begin (sched_feed_waits) */
	char waits_why[SCHED_WAIT_TEXT];
	uint32_t open; /* number of open images of current/ */
	TAILQ_ENTRY(sched_job) clerk_link;
	struct skipping skips;
	/* the restore or export that the clerk thread has to do, or NULL */
	struct clerk_restore *restoring;
	bool clerk_wanted; /* queued for the clerk, or the clerk works for the job */
	/* save_pause: seconds between two tries to save an epoch's order; 0: the last try did not
	 * fail. save_in: seconds until the next try; 0: none is planned */
	uint32_t save_pause, save_in;
	struct handle_queue parked; /* opens that wait, the oldest first */
	struct share_job share;
	struct watch watch;
	/* processes that have read the job, the latest first */
	struct sched_program programs[SCHED_PROGRAMS];
	double waiting_part; /* part of the last second during which a reader waited */
};

/* A dataset of the daemon. */
struct sched_source {
	struct source is; /* fields for src/supply and src/edition */
	struct sched *sched;
	struct tier *at;	      /* the tier that the dataset has to join, or NULL */
	struct dataset_config config; /* name: NULL if the configuration is not known */
	bool taken;		      /* jobs may not begin to use the dataset */
	bool removed;
	/* directory that symbolic links must not leave; NULL: links may lead anywhere */
	const char *root;
	/* samples that are never prepared (quarantine.h); constant; NULL: none */
	const roaring_bitmap_t *quarantined;
	struct histogram decodes; /* durations of decodes, in ns per sample */
	_Atomic uint64_t cpu_ns;  /* processor time of all decodes */
};

static inline struct sched_source *sched_source_of(struct source *source)
{
	_Static_assert(offsetof(struct sched_source, is) == 0, "it is the scheduler's");
	return (struct sched_source *)source;
}

static inline struct sched *sched_of_source(const struct source *source)
{
	return ((const struct sched_source *)source)->sched;
}

static inline struct sched_job *sched_job_of(struct job *job)
{
	_Static_assert(offsetof(struct sched_job, is) == 0, "it is the scheduler's job");
	return (struct sched_job *)job;
}

static inline struct sched *sched_of(const struct job *job)
{
	return ((const struct sched_job *)job)->sched;
}

struct sched {
	/* Guards the fields below and all that they point to, except constants. */
	struct lock lock;
	struct section section; /* constant; set by phases_init */
	struct supply supply;
	struct sched_source *sources; /* supply.sources points to these */
	struct daemon_config const *config;
	uint64_t sources_changed;      /* how often a dataset was added or removed */
	uint64_t seed;		       /* constant */
	struct quarantine *quarantine; /* constant */
	struct past *past;	       /* constant */
	struct cache *cache;
	struct backings *backings; /* constant once there are jobs; may be NULL */
	sched_head_of *head_of;
	sched_news *news; /* constant once there are jobs; may be NULL */
	void *news_context;
	/* constant once there are jobs; NULL: nobody can tell which processes live */
	sched_lives *lives;
	struct sched_fetcher fetcher; /* constant once there are jobs; may be zero */
	struct load_pool *pool;
	TAILQ_HEAD(, sched_job) jobs;
	struct draw draw;
	TAILQ_HEAD(, sched_job) for_clerk;
	uint32_t n_jobs;
	job_id last_id;
	struct tier **tiers; /* room for CONFIG_MOST_DATASETS */
	size_t n_tiers;
	uint64_t window_ns; /* time at which the decoders' shares were last computed */
	struct programs *programs;
	TAILQ_HEAD(, load_work) postponed;
	bool room_made; /* the housekeeper has to call supply_has_room */
	/* evictions_told: number of evictions of needed samples at the last advice
	 * (cache_advice.c). told_ns: time of this advice; 0: there was none */
	uint64_t evictions_told, told_ns;
	struct sched_handle *tickets; /* waiting opens, by ticket */
	uint64_t next_ticket;
	bool stopping;
	bool keeps_house;
	pthread_t housekeeper;
	/* signalled when work is due earlier than expected, or `stopping` is set */
	pthread_cond_t house_cond;
	bool has_clerk;
	pthread_t clerk;
	/* signalled when a job wants the clerk, or `stopping` is set */
	pthread_cond_t clerk_cond;
	pthread_cond_t clerk_done_cond;
};

/* Adds to the job's waits the time that a reader has waited since the last call, and notes for what
 * the readers wait from now on. */
void job_count_waits_locked(struct sched_job *job, uint64_t now_ns);
/* Calls job_count_waits_locked for all jobs that wait for the sample, because the cause of their
 * waits changes. */
void wanted_moved_locked(struct wanted *wanted, uint64_t now_ns);
/* Logs a notice (a warning to the user), without the lock, after the critical section. Each kind is
 * logged once for a job. */
void notice_locked(struct sched_job *job, enum notice notice, uint32_t epoch,
	struct aftermath *aftermath);

/* Takes a reading for the figures of the last hour, if one is due. The caller holds no lock. */
void reading_take(struct sched *sched, uint64_t now_ns);

/* Returns the time at which the next delayed work has to begin; UINT64_MAX: no work is delayed. */
uint64_t postponed_first_due_locked(const struct sched *sched);
/* Passes to workers the delayed work whose time has come. Takes the lock. */
void postponed_run_due(struct sched *sched);

void effects_execute_locked(
	struct sched_job *job, struct effects *effects, struct aftermath *aftermath);
/* Resumes opens whose wait in the job's engine has ended, with success or failure. */
void effects_resume_locked(struct sched_job *job, struct aftermath *aftermath);

void shares_join_locked(struct sched_job *job);
void shares_status_locked(const struct sched_job *job, struct sched_job_share *ret);
/* Computes the jobs' new shares of the decoders, once a second. Takes the lock. */
void shares_pass_window(struct sched *sched);

/* Notes the reader's process as the latest process that read the job. */
void program_note_locked(struct sched_job *job, const struct sched_reader *reader);
/* If the job has `script = one`, and the reader may begin a new script, finds out whether the
 * processes of the last script have ended. Takes the lock. */
void program_meet(struct sched_job *job, const struct sched_reader *reader);
/* Returns the reader for the job's engine. With `script = one`, chooses the reader's script. */
struct reader program_who_locked(
	const struct sched_job *job, const struct sched_reader *reader);
/* Tells the engines which scripts have no living process. Takes the lock. */
void programs_look(struct sched *sched);

/* Returns why the job can't move to a new scan of its dataset; NULL: it can. */
const char *move_obstacle(const struct job_config *config);

/* Makes the job's engine. If files in the job's directory belong to earlier editions, opens these
 * editions first. The job must have only its present edition. */
must_check int job_restore_editions(struct sched_job *job);

/* Does the restore or the export that a caller waits for, if any. For the clerk thread. */
void restore_if_wanted(struct sched_job *job);
/* Imports the orders of an exported job, if any (import_for_job). The job continues where the
 * exported job was. */
must_check int job_import(struct sched_job *job, const struct adding *adding);

/* Decides, after a job came or went, which of the edition's tensors are copied to files for the
 * kernel, and with which head. Jobs whose files have another head read them through the daemon. */
void edition_choose_heads_locked(const struct edition *edition);

/* Called once a second. If an order could not be saved, counts down the seconds until the next try
 * (save_in), and at the end has the clerk try again. */
void clerk_second_locked(struct sched_job *job);
void *sched_clerk(void *sched);
void *sched_keep_house(void *sched);

/* Removes the job from the list, ends its waiting opens, and lets the cache evict its samples. */
void job_leave_locked(struct sched_job *job, struct aftermath *aftermath);

/* Finds the job of this name, or, if name is NULL, of this id. NULL: there is none. */
struct sched_job *job_find_locked(struct sched *sched, const char *name, job_id id);
/* Calls `visit` for each job, without the lock; for none if there is no memory for the list. */
void jobs_visit(struct sched *sched, void visit(struct sched_job *job));
/* Queues the job for the clerk, which does the job's work, such as saving an order. */
void clerk_request_locked(struct sched_job *job);
/* Waits until the clerk has done all work for a removed job. Takes the lock. */
void clerk_wait_for_last(struct sched_job *job);

void job_status_locked(struct sched_job *job, struct sched_job_status *ret);

/* Logs, at most every ten minutes, that the cache evicted samples which running epochs need again.
 * Takes the lock. */
void prepared_report(struct sched *sched);
