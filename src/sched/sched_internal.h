// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "epoch/journal.h"
#include "draw/draw.h"
#include "edition/job.h"
#include "sched/after.h"
#include "sched/gauges.h"
#include "sched/last_hour.h"
#include "sched/positions.h"
#include "sched/ranks.h"
#include "sched/sched.h"
#include "supply/supply.h"
#include "watch/watch.h"

#include <pthread.h>

/*
 * Types and functions that the files of the scheduler share. sched_handle.h has the
 * opens, admit.h the checks of a new job.
 *
 *       jobs --- epochs (the engine) --- journal
 *         |
 *      streams (one for each epoch that draws)
 *
 *   open.c           serves an open, from its request to its release
 *   open_sample.c    opens a sample for another daemon
 *   bindings.c       tells which samples positions hold
 *   effects.c        executes the decisions of a job's engine
 *   draw_effects.c   executes the decisions of the draw engine
 *   streams.c        makes, fills and ends streams of the draw engine
 *   feeds.c          passes samples to ranks
 *   after.c          ends critical sections; phases.c: runs the work that they leave
 *   watching.c       reports opens and waits to src/watch; readings.c: the last hour
 *   restoring.c      restores jobs to checkpoints, and exports them
 *   clerk.c          the thread for long work: begins epochs, saves orders
 *   run_work.c       gives work to workers, at once or after a delay
 *   resident.c       lists the samples in the cache, for daemons that draw
 *   cache_advice.c   sums up the memory that all prepared samples would take
 *   programs.c       lists the processes that read a job
 *   jobs.c           adds and removes jobs; admit.c: checks a new job
 *   job_lists.c      finds jobs
 *   editions.c       shows editions to callers, and opens earlier ones after a restart
 *   rescan.c         moves jobs to a new scan
 *   stay.c           finds datasets whose jobs can't move
 *   dataset_list.c   adds and removes datasets; tiers.c: opens their tiers
 *   supplying.c      passes events to the supply, and executes its effects
 *   tasks.c          gives the supply's samples to workers
 *   fetch.c          fetches samples from other daemons
 *   storages.c       reports how storages answer
 *   skip*.c          leave bad samples out of later epochs (skipping.h)
 *   sched.c          makes and stops the scheduler and its threads
 *   dump.c           gauges, and the text for the log after a crash
 *   job_status.c     gauges of a job
 */

struct adding;
struct clerk_restore;
struct programs;
struct sched_storage;
struct tier_asked;

/* The state of a job with bad_sample = skip. The pointers of other jobs are NULL. */
struct skipping {
	roaring_bitmap_t *bad; /* the bad samples, which later epochs leave out */
	/* samples of `bad` that stay bad until their files change */
	roaring_bitmap_t *damaged;
	/* bad samples that were logged; only the clerk thread uses this set */
	roaring_bitmap_t *told;
	/* `bad` has samples that the clerk has not handled yet */
	bool found;
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
	/* since when the coordinator can't be reached, so that the rank gets no new
	 * samples; 0: it can be reached, or the job is no rank */
	uint64_t unfed_since_ns;
	bool gives_up; /* An open fails if the feed has no sample for it. */
	/* why the training's next epoch does not begin (sched_feed_waits) */
	char waits_why[SCHED_WAIT_TEXT];
	uint32_t open; /* number of open images of current/ */
	TAILQ_ENTRY(sched_job) clerk_link;
	struct skipping skips;
	/* the restore or export that the clerk thread has to do, or NULL */
	struct clerk_restore *restoring;
	/* the job is queued for the clerk, or the clerk works for it */
	bool clerk_wanted;
	/* save_pause: seconds between two tries to save an epoch's order; save_in:
	 * seconds until the next try */
	uint32_t save_pause, save_in;
	struct handle_queue parked; /* opens that wait, the oldest first */
	struct share_job share;
	struct watch watch;
	/* processes that have read the job, the latest first */
	struct sched_program programs[SCHED_PROGRAMS];
	/* part of the last second during which a reader waited */
	double waiting_part;
};

/* A dataset of the daemon. */
struct sched_source {
	struct source is; /* fields for src/supply and src/edition */
	struct sched *sched;
	struct tier *at; /* the tier that the dataset has to join, or NULL */
	/* config.name is NULL if the configuration is not known */
	struct dataset_config config;
	bool taken; /* jobs may not begin to use the dataset */
	bool removed;
	/* directory that symbolic links must not leave; NULL: links may lead
	 * anywhere */
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
	/* how often a dataset was added or removed */
	uint64_t sources_changed;
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
	uint64_t window_ns; /* when the shares of the decoders were last computed */
	struct programs *programs;
	TAILQ_HEAD(, load_work) postponed;
	bool room_made; /* the housekeeper has to call supply_has_room */
	/* told_ns: when the advice (cache_advice.c) was last logged; evictions_told:
	 * number of evictions at this time */
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

/* --- watching.c --- */

/* If a reader has waited since the last call, adds this time to the job's waits. Then
 * notes for what the readers wait from now on. */
void job_count_waits_locked(struct sched_job *job, uint64_t now_ns);
/* Calls job_count_waits_locked for all jobs that wait for the sample, because the cause
 * of their waits changes. */
void wanted_moved_locked(struct wanted *wanted, uint64_t now_ns);
/* Notes a notice (a warning to the user) about the job. The notice is logged after the
 * lock is released, once for each kind of notice and job. */
void notice_locked(struct sched_job *job, enum notice notice, uint32_t epoch,
	struct aftermath *aftermath);
/* --- readings.c --- */

/* Takes a reading for the figures of the last hour, if the last reading is old enough.
 * The caller holds no lock. */
void reading_take(struct sched *sched, uint64_t now_ns);

/* --- tier_worths.c --- */

/* Sets the worth of each sample that a tier asks about: a tier replaces samples of little
 * worth first. context: the scheduler. Takes the lock. */
void tell_worths(void *context, struct tier_asked *asked, size_t n);

/* --- run_work.c --- */

/* Returns when the next delayed work has to begin; UINT64_MAX: no work is delayed. */
uint64_t postponed_first_due_locked(const struct sched *sched);
/* Has workers do the delayed work whose time has come. Takes the lock. */
void postponed_run_due(struct sched *sched);

/* --- effects.c --- */

void effects_execute_locked(
	struct sched_job *job, struct effects *effects, struct aftermath *aftermath);
/* Resumes opens that waited in the job's engine, if their wait has ended, with success or
 * failure. */
void effects_resume_locked(struct sched_job *job, struct aftermath *aftermath);

/* --- job_shares.c --- */

void shares_join_locked(struct sched_job *job);
void shares_leave_locked(struct sched_job *job);
void shares_status_locked(const struct sched_job *job, struct sched_job_share *ret);
/* Computes the jobs' new shares of the decoders, once a second. Takes the lock. */
void shares_pass_window(struct sched *sched);

/* --- programs.c --- */

/* Notes the reader's process as the latest process that read the job. */
void program_note_locked(struct sched_job *job, const struct sched_reader *reader);
/* If the job has `script = one`, and the reader may begin a new script, finds out
 * whether the processes of the last script have ended. Takes the lock. */
void program_meet(struct sched_job *job, const struct sched_reader *reader);
/* Returns the reader as the job's engine sees the reader. With `script = one`, chooses
 * the script to which the reader belongs. */
struct reader program_who_locked(
	const struct sched_job *job, const struct sched_reader *reader);
/* Tells the engines which scripts have no living process. Takes the lock. */
void programs_look(struct sched *sched);

/* --- rescan.c --- */

/* Returns why the job can't move to a new scan of its dataset; NULL: it can. */
const char *move_obstacle(const struct job_config *config);

/* --- editions.c --- */

/* Makes the job's engine, and opens the editions (earlier scans of the dataset) to which
 * files in the job's directory belong. The job must have only its present edition. */
must_check int job_restore_editions(struct sched_job *job);

/* --- restoring.c --- */

/* Does the restore or the export that a caller waits for, if any. For the clerk
 * thread. */
void restore_if_wanted(struct sched_job *job);
/* Imports the orders of an exported job, if any (import_for_job). The job continues where
 * the exported job was. */
must_check int job_import(struct sched_job *job, const struct adding *adding);

/* --- file_heads.c --- */

/* Decides, after a job came or went, which of the edition's tensors are copied to files
 * for the kernel, and which head these files have. Jobs whose files have another head
 * read these tensors through the daemon. */
void edition_choose_heads_locked(const struct edition *edition);

/* --- clerk.c: long work at an epoch, in a thread of its own --- */

/* Counts a second of the pause (save_in) after an order could not be saved. When the
 * pause is over, has the clerk try again. */
void clerk_second_locked(struct sched_job *job);
void *sched_clerk(void *sched);
void *sched_keep_house(void *sched);

/* --- jobs.c --- */

/* Removes the job from the list, ends its waiting opens, and lets the cache evict its
 * samples. */
void job_leave_locked(struct sched_job *job, struct aftermath *aftermath);

/* --- job_lists.c --- */

/* Finds the job of this name, or, if name is NULL, of this id. NULL: there is none. */
struct sched_job *job_find_locked(struct sched *sched, const char *name, job_id id);
/* Calls `visit` for each job, without the lock, holding a reference to the job. Visits
 * none if there is no memory for the list. */
void jobs_visit(struct sched *sched, void visit(struct sched_job *job));
/* Queues the job for the clerk thread, which then does the job's work, such as making a
 * stream or saving an order. */
void clerk_request_locked(struct sched_job *job);
/* Waits until the clerk has done all work for a removed job. Takes the lock. */
void clerk_wait_for_last(struct sched_job *job);

/* --- job_status.c --- */

void job_status_locked(struct sched_job *job, struct sched_job_status *ret);

/* --- cache_advice.c: the memory that all prepared samples take --- */

/* Logs, at most every ten minutes, that samples were evicted which will be needed again.
 * Takes the lock. */
void prepared_report(struct sched *sched);
