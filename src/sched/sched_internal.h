// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "epoch/journal.h"
#include "draw/draw.h"
#include "sched/positions.h"
#include "sched/sched.h"
#include "supply/supply.h"
#include "watch/watch.h"

#include <pthread.h>

/*
 * What the files of the scheduler share: its jobs, their opens, and the whole.
 *
 *       jobs --- epochs (the engine) --- journal
 *         |
 *      streams (one for each epoch that draws)
 *
 *   open.c           the way of an open, from its request to its answer
 *   bindings.c       what positions hold, and those that were read before
 *   effects.c        what the engine decided, done
 *   after.c   what is done after a critical section
 *   clerk.c          the thread for what takes long about an epoch
 *   delayed_work.c   other work that is due later
 *   resident.c       what the cache holds, for others who draw
 *   cache_advice.c   how much memory all samples would take
 *   programs.c       the processes that read a job
 *   job.c            jobs come and go; admit.c: what has to be right for that
 *   rescan.c         from one scan to the next; stay.c: jobs that keep what they have
 *   skip.c           bad samples that later epochs leave out
 *   sched.c          the whole, its threads and the end of each critical section
 *   dump.c           gauges, and what the log has after a bug
 *   validate.c       need and pins, counted anew
 */

struct adding;
struct restoring;

/*
 * An open, from its request to its release.
 *
 *     OPENING --> PARKING --> AWAITS_SAMPLE --> AWAITS_TENSOR --> FINISHED
 *
 * OPENING: its opener holds the lock. PARKING: the opener tells the reader its ticket,
 * without the lock; whatever happens meanwhile is left to it. AWAITS_SAMPLE: the engine
 * has not answered the request, or a worker reads the sample from a saved order
 * (looks_up). AWAITS_TENSOR: of the use's waiters. A step is left out when there is nothing
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
	bool bare; /* a sample without a position: the engine knows nothing of it */
	struct open_request request; /* its sample, epoch and position once answered */
	bool answered;
	bool looks_up; /* a worker is at it, and nobody else may finish the handle */
	struct load_work look_up;
	struct use *use; /* NULL before the answer, and of a label */
	const struct tensor *tensor;
	enum handle_state state;
	int status;
	bool bad;	     /* failed, by what is wrong with the sample itself */
	UT_hash_handle hash; /* by ticket */
	uint64_t ticket;
	uint64_t parked_ns;
	uint64_t awaits_ns; /* a tensor since then */
	uint64_t waited_ns; /* for its tensor */
	uint64_t traced_as;
	TAILQ_ENTRY(sched_handle) link;	    /* of the use's waiters, or an aftermath's */
	TAILQ_ENTRY(sched_handle) job_link; /* of the job's that have a ticket */
	struct sched_open_callbacks callbacks;
};

/* bad_sample = skip; without it all are NULL. */
struct skipping {
	roaring_bitmap_t *bad;	   /* what later epochs leave out */
	roaring_bitmap_t *damaged; /* of these, what is bad until its file changes */
	roaring_bitmap_t *told;	   /* and what the log tells of; the clerk's */
	bool found;		/* there is more of it, which the clerk does not know */
	struct skip_plan *plan; /* of the next epoch; NULL: it leaves out nothing */
};

struct sched_job {
	TAILQ_ENTRY(sched_job) link;
	struct sched *sched;
	atomic_uint references;
	bool removed;
	job_id id;
	struct job_config config;
	TAILQ_HEAD(, edition) editions; /* (lock) */
	struct edition *now;		/* (lock) of the epochs that begin */
	struct feed feeds[FEEDS];	/* of a rank; by epoch */
	uint32_t consumed_since;	/* whoever feeds it was told */
	uint64_t unfed_since_ns;	/* sched_feed_away */
	bool gives_up;
	uint64_t ini_hash;
	uint32_t open; /* images of current/ */
	struct epochs *epochs;
	struct journal *journal;
	TAILQ_ENTRY(sched_job) clerk_link;
	struct skipping skips;
	struct restoring *restoring;  /* what the clerk is asked for; or NULL */
	bool clerk_wanted;	      /* it waits for the clerk, or the clerk is at it */
	uint32_t save_pause, save_in; /* s until an order is saved that could not be */
	struct handle_queue parked;   /* those with a ticket */
	struct share_job share;
	unsigned waiting;	 /* handles, for a tensor */
	uint64_t waits_since_ns; /* not yet counted in share and totals */
	enum wait_cause waits_for;
	_Atomic uint64_t own_ns; /* that answering opens took, beside waits */
	struct watched watched;
	struct sched_program programs[SCHED_PROGRAMS]; /* used last first */
	struct sched_laps laps;
	uint64_t lap_served; /* when the processor time of readers was looked at last */
	struct trace *trace; /* NULL: nobody asks for it */
	double waiting_part; /* of the last window, in which one waited */
	struct sched_job_status totals; /* served ... exposed_ns */
	uint32_t rate[RATE_SECONDS];
	uint64_t rate_second;
	char *directory; /* <state>/jobs/<name> */
	bool fixed;	 /* constant once it has an edition: mapping.c */
};

struct sched {
	struct lock lock; /* all below, and what hangs on it, but the constant fields */
	const struct after_phases *phases;	 /* constant: after.c */
	const struct supply_calls *supply_calls; /* constant */
	struct daemon_config const *config;
	struct source *sources; /* SCHED_MOST_DATASETS; without a dataset: free */
	size_t n_sources;	/* the others were never used */
	uint64_t sources_changed;
	uint64_t seed;			/* constant */
	struct quarantine *quarantine;	/* constant */
	struct past *past;		/* constant */
	struct same *same;		/* hash: same_image.c */
	struct same_place *same_places; /* hash, likewise */
	struct cache *cache;
	struct backings *backings; /* constant once there are jobs; may be NULL */
	sched_head_of *head_of;
	sched_news *news; /* constant once there are jobs; may be NULL */
	void *news_context;
	sched_lives *lives; /* constant once there are jobs; NULL: nobody knows */
	struct sched_fetcher fetcher; /* constant once there are jobs; may be zero */
	struct load_pool *pool;
	TAILQ_HEAD(, sched_job) jobs;
	TAILQ_HEAD(, stream) streams;
	TAILQ_HEAD(, stream) counted; /* need is counted, but they do not draw */
	TAILQ_HEAD(, sched_job) for_clerk;
	uint32_t n_streams, n_jobs;
	uint32_t n_deserted; /* spaces without a job or a use */
	stream_id next_stream;
	job_id last_id;
	struct use *uses;
	struct storage
		*storages; /* one for each device, in room for SCHED_MOST_DATASETS */
	size_t n_storages;
	struct tier **tiers; /* in room for SCHED_MOST_DATASETS */
	size_t n_tiers;
	struct shares shares;
	uint64_t window_ns;    /* when the last one ended */
	uint64_t decoded_ns;   /* that decoders worked since then */
	uint64_t cost_ns;      /* of decoding, in the mean of late */
	struct use_queue read; /* that wait for a decoder, or a program */
	struct programs *programs;
	struct program_load *program_loads; /* (lock) by the number of the program */
	struct use_queue delayed;
	TAILQ_HEAD(, load_work) postponed;
	uint32_t lack_room; /* delayed ones */
	bool room_made;	    /* which the housekeeper tells them */
	uint64_t reading, working, contents, held_peak; /* bytes: memory.c */
	uint64_t evictions_told, told_ns;		/* cache_advice.c */
	struct sched_handle *tickets;			/* hash by ticket */
	uint64_t next_ticket;
	stream_id *round_ids; /* scratch of a round: n_streams each */
	struct stream **round_streams;
	sample_id *round_samples;
	bool stopping;
	bool keeps_house;
	pthread_t housekeeper;
	pthread_cond_t house_cond; /* something is due earlier, or to stop */
	bool has_clerk;
	pthread_t clerk;
	pthread_cond_t clerk_cond; /* there is something to do, or to stop */
	pthread_cond_t clerk_done_cond;
};

/* --- tier_worths.c --- */

void tell_worths(void *context, struct tier_asked *asked, size_t n);

/* --- after.c --- */

extern const struct after_phases after_phases;

/* --- open.c --- */

/* The engine has answered the handle's request. */
void handle_answered_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* The sample of a request that was answered by EFFECT_LOOK_UP. */
void handle_look_up_locked(struct sched_handle *handle, struct aftermath *aftermath);
void handle_finish_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
/* One that has a ticket is finished with -errno, by whoever may do that. */
void handle_give_up_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
void handle_free(struct sched_handle *handle);

/* --- delayed_work.c --- */

must_check bool postponed_take_back(struct sched *sched, struct load_work *work);
uint64_t postponed_first_due_locked(const struct sched *sched); /* UINT64_MAX: none */
/* No lock held. */
void postponed_run_due(struct sched *sched);

/* --- effects.c --- */

/* What the engine of the job decided is done. */
void effects_execute_locked(
	struct sched_job *job, struct effects *effects, struct aftermath *aftermath);
/* Requests that waited for something that is there, or will not come. */
void effects_resume_locked(struct sched_job *job, struct aftermath *aftermath);

/* --- job_shares.c --- */

void shares_note_cost_locked(struct space *space, uint64_t decode_ns);
void shares_join_locked(struct sched_job *job);
void shares_leave_locked(struct sched_job *job);
void shares_status_locked(const struct sched_job *job, struct sched_job_share *ret);
/* No lock held. */
void shares_pass_window(struct sched *sched);

/* --- programs.c --- */

void program_note_locked(struct sched_job *job, const struct sched_reader *reader);
/* Whether the programs before this one have ended is known afterwards, if it is new and the
 * job says that all are one script. No lock held. */
void program_meet(struct sched_job *job, const struct sched_reader *reader);
/* The reader, as the engine of the job knows it. */
struct reader program_who_locked(
	const struct sched_job *job, const struct sched_reader *reader);
/* Scripts are told of whose programs have all ended. No lock held. */
void programs_look(struct sched *sched);

/* --- stay.c --- */

/* rescan.c: why a job goes on with what it has when its dataset changes; NULL: it does not. */
const char *move_obstacle(const struct job_config *config);

/* --- skip.c: bad samples that later epochs leave out --- */

/* What is known to be bad when the job begins; its directory is there. -ENOMEM */
must_check int skip_begin(struct sched_job *job);
void skip_free(struct sched_job *job);
/* A sample failed by itself. damaged: and will until its file changes. */
void skip_found_locked(const struct space *space, sample_id sample, bool damaged);
/* By the clerk: what was found is saved, and told. */
void skip_update(struct sched_job *job);
/* By the clerk: the epoch begins. */
void skip_epoch(struct sched_job *job, uint32_t epoch);
void skip_status_locked(const struct sched_job *job, struct sched_job_status *ret);

/* --- file_heads.c --- */

/*
 * Whether the tensors of a space lie in files that the kernel can give to readers: a job
 * came, or went. What jobs of other formats then read of them is given to them as ever.
 */
void edition_choose_heads_locked(const struct edition *edition);

/* --- clerk.c: what takes long about an epoch, in a thread of its own --- */

/* The engine of the job has asked for a stream, or an order is to be saved. */
void clerk_request_locked(struct sched_job *job);
/* Once a second: an order that could not be saved is tried again, if it is time. */
void clerk_second_locked(struct sched_job *job);
/* Until the clerk has nothing to do for a job that has left. No lock held. */
void clerk_wait_for_last(struct sched_job *job);
void *sched_clerk(void *sched);
/* Until the scheduler stops: what is due, and once a second what is done then. */
void *sched_keep_house(void *sched);

/* --- dump.c --- */

void sched_stats_locked(struct sched *sched);

/* --- job.c --- */

/* No longer among the jobs: parked opens, pins and need are given back. */
void job_leave_locked(struct sched_job *job, struct aftermath *aftermath);
/* Each job that is there, held, without the lock; none without memory for their ids. */
void jobs_visit(struct sched *sched, void visit(struct sched_job *job));
void job_status_locked(struct sched_job *job, struct sched_job_status *ret);

/* --- admit.c: what else has to be right for a job to be added --- */

/* The job whose place below data/ would collide with the path of this one, or NULL. */
const struct sched_job *admit_conflict_locked(
	const struct sched *sched, const struct job_config *config);
/* -EEXIST for such a collision, reported. */
must_check int admit_path(struct sched *sched, const struct job_config *config,
	config_report *report, void *context);
/* Whether it goes together with the jobs of the same training; else which one, and why. */
bool admit_rank_locked(const struct sched *sched, const struct job_config *config,
	const struct sched_job **ret_other, const char **ret_key);
/* -EEXIST if not, reported. */
must_check int admit_rank(struct sched *sched, const struct job_config *config,
	config_report *report, void *context);
/* -EINVAL, reported, for batches that the daemon can't hold. */
must_check int admit_batch(
	const struct edition *edition, config_report *report, void *context);
/* What its layout will ask the dataset for is made now: it takes a while, and may fail. */
/* Refuses a format, a filter or a layout that can't hold the channels which the job keeps. */
must_check int admit_channels(
	const struct edition *edition, config_report *report, void *context);
must_check int admit_view(const struct edition *edition);

/* --- cache_advice.c: how much all prepared samples take --- */

/* Logs, now and then, that samples were evicted that will be needed again. No lock held. */
void prepared_report(struct sched *sched);
