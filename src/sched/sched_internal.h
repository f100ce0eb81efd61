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
 * Types and functions shared by the files of the scheduler: jobs, their opens, and struct sched.
 *
 *       jobs --- epochs (the engine) --- journal
 *         |
 *      streams (one for each epoch that draws)
 *
 *   open.c           serves an open, from its request to its release
 *   bindings.c       tells which samples positions hold
 *   effects.c        executes the decisions of a job's engine
 *   draw_effects.c   executes the decisions of the draw engine
 *   streams.c        makes, fills and ends streams of the draw engine
 *   feeds.c          passes samples to ranks
 *   after.c          ends critical sections; phases.c: runs the work that they leave
 *   watching.c       tells a job's watch what its handles do; readings.c: the last hour
 *   restoring.c      restores jobs to checkpoints, and exports them
 *   clerk.c          the thread for long work: begins epochs, saves orders
 *   run_work.c       gives work to workers, at once or after a delay
 *   resident.c       lists the samples in the cache, for daemons that draw
 *   cache_advice.c   sums up the memory that all prepared samples would take
 *   programs.c       lists the processes that read a job
 *   job.c            adds and removes jobs; admit.c: checks a new job; job_lists.c: finds jobs
 *   editions.c       shows editions to callers, and opens earlier ones after a restart
 *   rescan.c         moves jobs to a new scan; stay.c: finds datasets whose jobs can't move
 *   source.c         adds and removes datasets; tiers.c: opens their tiers
 *   supplying.c      passes events to the supply, and executes its effects
 *   tasks.c          gives the supply's samples to workers; fetch.c: fetches them from other
 *                    daemons
 *   storages.c       reports how storages answer
 *   skip*.c          leave bad samples out of later epochs (skipping.h)
 *   sched.c          makes and stops the scheduler and its threads
 *   dump.c           gauges, and the text for the log after a crash; job_status.c: those of a job
 *   validate.c       counts need and pins anew
 */

struct adding;
struct clerk_restore;
struct programs;
struct sched_storage;
struct tier_asked;

/*
 * An open, from its request to its release.
 *
 *     OPENING --> PARKING --> AWAITS_SAMPLE --> AWAITS_TENSOR --> FINISHED
 *
 * OPENING: the opener holds the lock. PARKING: the opener tells the reader its ticket, without
 * the lock; until it is done, only the opener changes the state. AWAITS_SAMPLE: the engine has
 * not answered the request, or a worker reads the sample from a saved order (looks_up).
 * AWAITS_TENSOR: the handle is among the wanted sample's waiters. A step is left out when there is nothing
 * to wait for.
 */
enum handle_state {
	HANDLE_OPENING,
	HANDLE_PARKING,
	HANDLE_AWAITS_SAMPLE,
	HANDLE_AWAITS_TENSOR,
	HANDLE_FINISHED
};

struct sched_handle {
	struct sched_job *job;
	bool bare; /* a sample without a position, unknown to the engine */
	struct open_request request; /* has sample, epoch and position once answered */
	bool answered;
	bool looks_up; /* a worker looks the sample up; only it may finish the handle */
	struct load_work look_up;
	/* space of its sample; NULL before the answer, and for a label */
	struct space *space;
	sample_id in_space;    /* the sample's number in the space */
	struct wanted *wanted; /* NULL if the tensor was there */
	const struct tensor *tensor;
	enum handle_state state;
	int status;
	bool bad;	     /* the sample itself is bad */
	UT_hash_handle hash; /* key: ticket */
	uint64_t ticket;
	uint64_t parked_ns;
	uint64_t awaits_ns;		    /* start of its present wait for the tensor */
	uint64_t waited_ns;		    /* sum of its waits for the tensor */
	uint64_t traced_as;		    /* number in the trace */
	struct waiter waiter;		    /* while it awaits the tensor */
	TAILQ_ENTRY(sched_handle) link;	    /* links handles in an aftermath */
	TAILQ_ENTRY(sched_handle) job_link; /* the job's `parked` */
	struct sched_open_callbacks callbacks;
};

/* State of bad_sample = skip; all NULL if the job does not skip. */
struct skipping {
	roaring_bitmap_t *bad;	   /* samples that later epochs leave out */
	roaring_bitmap_t *damaged; /* samples bad until their files change */
	roaring_bitmap_t *told; /* bad samples that were logged; only the clerk uses it */
	bool found;		/* `bad` has grown since the clerk looked */
	struct skip_plan *plan; /* plan of the next epoch; NULL: leaves out nothing */
};

struct sched_job {
	struct job is; /* the part that edition, state and watch use */
	TAILQ_ENTRY(sched_job) link;
	struct sched *sched;
	atomic_uint references;
	bool removed;
	struct feeds feeds;		 /* feeds of a rank, by epoch */
	uint64_t unfed_since_ns;	 /* when its feed failed: see sched_feed_away */
	bool gives_up;			 /* opens that find no sample in the feed fail */
	char waits_why[SCHED_WAIT_TEXT]; /* see sched_feed_waits */
	uint32_t open;			 /* open images of current/ */
	TAILQ_ENTRY(sched_job) clerk_link;
	struct skipping skips;
	struct clerk_restore *restoring; /* the restore that the clerk has to do */
	bool clerk_wanted; /* waits for the clerk, or the clerk works for it */
	/* Seconds between two tries to save an order, and seconds until the next try. */
	uint32_t save_pause, save_in;
	struct handle_queue parked; /* handles with a ticket */
	struct share_job share;
	struct watch watch;
	struct sched_program programs[SCHED_PROGRAMS]; /* the latest first */
	double waiting_part; /* part of the last window during which a reader waited */
};

/* A dataset of the daemon. */
struct sched_source {
	struct source is; /* the part that supply and edition use */
	struct sched *sched;
	struct tier *at;	      /* the tier that it is to join; NULL: none */
	struct dataset_config config; /* name NULL: not known */
	bool taken;		      /* no job may begin with it */
	bool removed;
	const char *root; /* root of its tree; NULL: links may lead out of the tree */
	const roaring_bitmap_t *quarantined; /* constant; NULL: none */
	struct histogram decodes;	     /* ns per sample */
	_Atomic uint64_t cpu_ns;	     /* processor time of decoding */
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
	/* Guards the fields below and all that they point to, except constant fields. */
	struct lock lock;
	struct section section; /* constant: phases.c */
	struct supply supply;
	struct sched_source *sources; /* the supply's array */
	struct daemon_config const *config;
	uint64_t sources_changed;      /* counts datasets that came or went */
	uint64_t seed;		       /* constant */
	struct quarantine *quarantine; /* constant */
	struct past *past;	       /* constant */
	struct cache *cache;
	struct backings *backings; /* constant once there are jobs; may be NULL */
	sched_head_of *head_of;
	sched_news *news; /* constant once there are jobs; may be NULL */
	void *news_context;
	sched_lives *lives;	      /* constant once there are jobs; NULL: not known */
	struct sched_fetcher fetcher; /* constant once there are jobs; may be zero */
	struct load_pool *pool;
	TAILQ_HEAD(, sched_job) jobs;
	struct draw draw;
	TAILQ_HEAD(, sched_job) for_clerk;
	uint32_t n_jobs;
	job_id last_id;
	struct tier **tiers; /* room for CONFIG_MOST_DATASETS */
	size_t n_tiers;
	uint64_t window_ns; /* end of the last window */
	struct programs *programs;
	TAILQ_HEAD(, load_work) postponed;
	bool room_made; /* the housekeeper has to tell the supply: supply_has_room */
	uint64_t evictions_told, told_ns; /* cache_advice.c */
	struct sched_handle *tickets;	  /* hash by ticket */
	uint64_t next_ticket;
	bool stopping;
	bool keeps_house;
	pthread_t housekeeper;
	/* signalled when work is due earlier than expected, or on `stopping` */
	pthread_cond_t house_cond;
	bool has_clerk;
	pthread_t clerk;
	/* signalled when a job wants the clerk, or on `stopping` */
	pthread_cond_t clerk_cond;
	pthread_cond_t clerk_done_cond;
};

/* --- watching.c --- */

/* Adds the time until now to the job's waits and to its share's, and finds the cause of its
 * waiting from now on. */
void job_count_waits_locked(struct sched_job *job, uint64_t now_ns);
/* Counts a handle that begins to wait for its tensor (change 1), or whose wait ends
 * (-1). */
void handle_waits_locked(struct sched_handle *handle, int change);
/* Counts the waits of all jobs that wait for the sample. Called just before or just after
 * the cause of their waiting changes. */
void wanted_moved_locked(struct wanted *wanted, uint64_t now_ns);
/* Notes the open of a handle whose epoch has just been found. */
void handle_in_epoch_locked(const struct sched_handle *handle);
/* Adds the event to the job's trace, which somebody reads. */
void handle_trace_event_locked(struct sched_handle *handle, enum sched_trace_kind kind);
static inline void handle_trace_locked(
	struct sched_handle *handle, enum sched_trace_kind kind)
{
	if (handle->job->watch.trace)
		handle_trace_event_locked(handle, kind);
}
/* Counts a notice, and has it logged after the lock is released. Each kind is logged once
 * for each job. */
void notice_locked(struct sched_job *job, enum notice notice, uint32_t epoch,
	struct aftermath *aftermath);
/* Checks at the open of an image whether scripts keep too many files open, and whether
 * readers can be told apart. */
void notice_open_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Warns if the reader is a rank of a training that also runs on other machines. Returns
 * true if the open must fail for that. */
bool notice_is_refused_locked(struct sched_handle *handle, struct aftermath *aftermath);

/* --- readings.c --- */

/* Takes a reading, if one is due. Called by the housekeeper, with no lock held. */
void reading_take(struct sched *sched, uint64_t now_ns);

/* --- tier_worths.c --- */

/* Sets the worth of each sample that a tier asks about. context: the scheduler. Takes the
 * lock. */
void tell_worths(void *context, struct tier_asked *asked, size_t n);

/* --- open.c --- */

/* Continues an open whose request the engine has answered. */
void handle_answered_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Has a worker look up a request's sample in a saved order (EFFECT_LOOK_UP). */
void handle_look_up_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Ends an open: removes its ticket, and gives it the tensor, or on failure gives the
 * sample back. `opened` is called after the critical section. */
void handle_finish_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
/* Ends an open that has a ticket, with -errno: at once, or as soon as the thread that
 * works on it is done. */
void handle_give_up_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
void handle_free(struct sched_handle *handle);

/* --- run_work.c --- */

uint64_t postponed_first_due_locked(const struct sched *sched); /* UINT64_MAX: none */
/* Runs work that is due. Takes the lock. */
void postponed_run_due(struct sched *sched);

/* --- effects.c --- */

/* Executes decisions of the job's engine. */
void effects_execute_locked(
	struct sched_job *job, struct effects *effects, struct aftermath *aftermath);
/* Resumes requests that waited in the engine, and whose wait has ended with success or
 * failure. */
void effects_resume_locked(struct sched_job *job, struct aftermath *aftermath);

/* --- job_shares.c --- */

void shares_join_locked(struct sched_job *job);
void shares_leave_locked(struct sched_job *job);
void shares_status_locked(const struct sched_job *job, struct sched_job_share *ret);
/* Ends the window of measurements: counts waits and makes new shares. Called once a
 * second. Takes the lock. */
void shares_pass_window(struct sched *sched);

/* --- programs.c --- */

/* Notes the reader's process as the latest one that read the job. */
void program_note_locked(struct sched_job *job, const struct sched_reader *reader);
/* Finds out whether the earlier programs have ended. Does so only if the job says that
 * all its readers are one script, and this reader may begin a new one. Takes the lock. */
void program_meet(struct sched_job *job, const struct sched_reader *reader);
/* Returns the reader's identity as the job's engine knows it. */
struct reader program_who_locked(
	const struct sched_job *job, const struct sched_reader *reader);
/* Tells the engines which scripts have ended, that is, have no living process. Takes the
 * lock. */
void programs_look(struct sched *sched);

/* --- rescan.c --- */

/* Returns the reason why a job can't move to a new scan of its dataset; NULL: it can. */
const char *move_obstacle(const struct job_config *config);

/* --- editions.c --- */

/* Makes the job's engine, and the editions of its earlier epochs, as far as files in the
 * job's directory name them. Before this call the job has one edition. */
must_check int job_restore_editions(struct sched_job *job);

/* --- restoring.c --- */

/* Does the restore that a caller waits for, if there is one. Called by the clerk. */
void restore_if_wanted(struct sched_job *job);
/* Imports orders for a job that is being added (import_for_job), and moves the job to where
 * the exported job was. */
must_check int job_import(struct sched_job *job, const struct adding *adding);

/* --- file_heads.c --- */

/* Decides anew whether tensors of the edition's spaces lie in files from which the kernel
 * can answer readers. Called when a job came or went. Jobs with another file format read
 * these tensors through the daemon. */
void edition_choose_heads_locked(const struct edition *edition);

/* --- clerk.c: long work at an epoch, in a thread of its own --- */

/* Tries again to save an order that could not be saved, if it is time. Called once a
 * second. */
void clerk_second_locked(struct sched_job *job);
/* Runs the clerk's thread. */
void *sched_clerk(void *sched);
/* Runs the housekeeper's thread: does work when it is due, and the periodic work once a
 * second. */
void *sched_keep_house(void *sched);

/* --- job.c --- */

/* Removes the job from the list, answers its parked opens, and gives its pins and need
 * back. */
void job_leave_locked(struct sched_job *job, struct aftermath *aftermath);

/* --- job_lists.c --- */

/* Returns the job of this name, or of this id if name is NULL. NULL: there is none. */
struct sched_job *job_find_locked(struct sched *sched, const char *name, job_id id);
/* Calls `visit` for each job, without the lock; the job is held meanwhile. Visits no job if
 * there is no memory for the list of ids. */
void jobs_visit(struct sched *sched, void visit(struct sched_job *job));
/* Queues the job for the clerk, because it has work such as a stream to make, or an order
 * to save. */
void clerk_request_locked(struct sched_job *job);
/* Waits until the clerk has done its work for a job that was removed. Takes the lock. */
void clerk_wait_for_last(struct sched_job *job);

/* --- job_status.c --- */

void job_status_locked(struct sched_job *job, struct sched_job_status *ret);

/* --- admit.c: checks of a job that is to be added --- */

/* Finds the job's program, and sets the job's preparation. -EINVAL, reported: there is none, or
 * its arrays do not fit the job. */
must_check int program_adopt(struct sched *sched, struct job_config *config,
	config_report *report, void *context);

/* Returns the job whose path below data/ collides with this one's, or NULL. */
const struct sched_job *admit_conflict_locked(
	const struct sched *sched, const struct job_config *config);
/* Refuses a job whose path collides with another job's: -EEXIST, reported. */
must_check int admit_path(struct sched *sched, const struct job_config *config,
	config_report *report, void *context);
/* Tells whether the job fits the other ranks of its training. If not, *ret_other is the rank that
 * it conflicts with, and *ret_key the key. */
bool admit_rank_locked(const struct sched *sched, const struct job_config *config,
	const struct sched_job **ret_other, const char **ret_key);
/* Refuses a job that conflicts with another rank: -EEXIST, reported. */
must_check int admit_rank(struct sched *sched, const struct job_config *config,
	config_report *report, void *context);
/* Refuses a job whose batches the daemon can't hold in memory: -EINVAL, reported. */
must_check int admit_batch(
	const struct edition *edition, config_report *report, void *context);
/* Refuses a format, a filter or a layout that can't hold the channels which the job keeps:
 * -EINVAL, reported. */
must_check int admit_channels(
	const struct edition *edition, config_report *report, void *context);
/* Makes the tables of the dataset that the job's layout needs, which takes a while.
 * -errno. */
must_check int admit_view(const struct edition *edition);

/* --- cache_advice.c: the memory that all prepared samples take --- */

/* Logs, at most every ten minutes, that evicted samples will be needed again. Takes the
 * lock. */
void prepared_report(struct sched *sched);
