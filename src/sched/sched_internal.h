// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "base/rng.h"
#include "cache/cache.h"
#include "epoch/epoch.h"
#include "epoch/journal.h"
#include "load/flight.h"
#include "load/load.h"
#include "sampler/sampler.h"
#include "sched/sched.h"
#include "share/share.h"

#include <stdatomic.h>
#include <sys/queue.h>

/*
 * What the files of the scheduler share.
 *
 *            source (a dataset)
 *           /       |          \
 *      samplers   spaces       jobs --- epochs (the engine) --- journal
 *                (dataset,       |
 *               preparation)  streams (one for each epoch that draws)
 *                   |
 *                  uses --- handles (opens)
 *
 *   open.c         the way of an open, from its request to its answer
 *   bound.c        what positions hold; consume.c: those that were read before
 *   effects.c      what the engine decided, done
 *   stream.c       drawing, by the rules of ahead.c; stream_life.c: how streams come and go
 *   strand.c       what streams have of each of several datasets
 *   mixture.c      editions of several datasets
 *   resident.c     what the cache holds, for others who draw
 *   feed.c         instead of drawing: samples of a rank, which others draw
 *   demand.c       what the ranks of a training, and other daemons, still ask for
 *   notice.c       what users are told of what scripts do
 *   clerk.c        the thread for what takes long about an epoch
 *   use.c          samples that are open, waited for, or to be prepared
 *   prepare.c      what readers and decoders do about that; retry.c: once more, later
 *   sources.c      datasets come and go
 *   storage.c      where files lie: requests and reads in flight of each storage
 *   tiers.c        disks that keep what was read
 *   fetch.c        what comes from another daemon instead
 *   shares.c       what jobs cost and wait, which decides who is served (share.h)
 *   waits.c        how long readers wait, and for what; trace.c: each of their opens
 *   laps.c         what an epoch was that was read to the end
 *   postponed.c    other work that is due later
 *   quarantine.c   images that are not prepared, since they end the process
 *   memory.c       how much memory all of it may take
 *   prepared.c     how much of that all samples would take
 *   same.c         images that several datasets have
 *   past.c         what the last hour was like
 *   space.c        tensors of one preparation, and who hears of them
 *   job.c          jobs come and go; join.c, admit.c, selection.c, keep.c: their parts;
 *                  job_status.c: how they are
 *   edition.c      what their epochs are made of; move.c: from one scan to the next
 *   skip.c         bad samples that later epochs leave out
 *   restore.c      where a job is, and back there; checkpoint.c: that as a text
 *                  restore_orders.c: with which orders
 *   import*.c      the same with its orders, to other machines and from there
 *   sched.c        the whole, its threads and the end of each critical section
 *   observe.c      what others are told of all that
 *   validate.c     need and pins, counted anew
 *
 *   Locks: one, sched->lock. A function whose name ends in _locked is called with it.
 */

struct source {
	struct sched *sched;
	struct storage *storage;   /* on which its files are */
	struct tier *at;	   /* the tier that it is to join; NULL: none */
	struct tier_dataset *tier; /* where what is read of it is kept; NULL: nowhere */
	struct dataset *dataset;
	struct dataset_config config; /* without a name where it is not known */
	bool taken;		      /* no job may begin */
	bool removed;
	atomic_uint jobs;	  /* that are not freed */
	const char *root;	  /* of its tree; NULL: links may lead out of the tree */
	struct sampler *shuffled; /* as configured */
	struct sampler *labelled; /* NULL until a job needs it */
	uint64_t seed;
	roaring_bitmap_t *bad;		     /* samples whose failure was logged */
	const roaring_bitmap_t *quarantined; /* constant; NULL: none */
	LIST_HEAD(, space) spaces;
	struct histogram reads, decodes; /* of samples */
	_Atomic uint64_t cpu_ns;	 /* processor time of decoding */
};

struct space {
	LIST_ENTRY(space) link;
	struct source *source;
	struct preparation preparation;
	roaring_bitmap_t *bad; /* (lock) what its program has failed for; NULL: nothing */
	char text[PREPARATION_TEXT]; /* the same for other daemons */
	uint64_t text_hash;
	struct cache_space *cache;
	uint64_t cost_ns; /* of decoding, in the mean of late; 0: not known */
	bool in_files;	  /* of what is prepared, with that head: see space_choose_head */
	struct file_head head; /* its label is each sample's own */
	uint32_t number;       /* in its source: the samplers' name for it */
	uint32_t references;   /* jobs, uses */
};

struct use_key {
	struct space *space;
	uint64_t sample;
};

enum use_state {
	USE_OPEN_ONLY,
	USE_QUEUED,  /* drawn ahead; asked for by jobs */
	USE_URGENT,  /* likewise, and a reader waits */
	USE_DELAYED, /* tried, and to be tried again when it is due */
	USE_LOADING
};

/* The second file of a pair, while it is prepared. */
struct use_second {
	struct dataset_sample sample;
	struct load_task task;
};

/* Exists while a sample of a space is open, waited for, or to be prepared. */
struct use {
	UT_hash_handle hash;
	struct use_key key;
	enum use_state state;
	struct share_request request; /* aside while delayed or loading */
	uint32_t opens;		      /* handles that hold or wait for the tensor */
	job_id asked_by; /* the first one, since it was last in no queue; 0: a node */
	TAILQ_ENTRY(use) link;
	TAILQ_HEAD(, sched_handle) waiters;
	uint64_t due_ns; /* of a delayed one */
	bool lacks_room; /* likewise: because readers hold much open */
	unsigned retries;
	uint64_t first_try_ns; /* when it was put off first */
	bool here;	       /* it is prepared here, wherever its home is */
	bool fetching;	       /* loading, by another daemon */
	bool is_read;	       /* loading, and it is being read */
	struct sched_fetch fetch;
	/* while loading */
	uint64_t read_ns;    /* when its read began */
	uint64_t file_bytes; /* held from then on until it is decoded */
	uint32_t tier_worth; /* to its tier, once it is read */
	uint64_t working;    /* bytes that decoding takes beside the tensor */
	struct dataset_sample sample;
	struct load_task task;
	struct use_second *second; /* of a pair; or NULL */
	bool in_file;		   /* as the space had it when this began to load */
	struct file_head head;
	struct use *also; /* of the same sample in another space: shares the decode */
};

TAILQ_HEAD(use_queue, use);

/* The load of a program: uses that are loading, and those of them that it prepares. */
struct program_load {
	unsigned processes, taken, running;
};

/* A device. */
struct storage {
	uint64_t device;
	char *root; /* of the first dataset on it: its name */
	struct flight flight;
	unsigned urgent, queued;  /* uses that wait to be read */
	struct use_queue reading; /* the first that began first */
	unsigned waiting;	  /* for a decoder */
	uint64_t latency_ns;	  /* of a read, in the mean of late */
	uint64_t ahead_needs;	  /* so much room the queued ones lacked; 0: not known */
	uint64_t lacked; /* scratch: the same of those that were offered just now */
	unsigned offered;
	uint64_t bytes;		    /* of files that are read or wait */
	uint64_t reads, read_bytes; /* that have ended */
	bool silent;		    /* which was told */
};

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

TAILQ_HEAD(handle_queue, sched_handle);

/* What a stream has of a part of its edition. Ids are those of the part's source. */
struct strand {
	const struct part *part;
	struct sampler *sampler; /* NULL: samples are not drawn */
	/* what remains, while it is not in the sampler; one of them or both */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/*
 * An epoch that is not over as samplers see it; gone while the job is parked. Where the
 * position decides about the sample there is no sampler, only need.
 */
struct stream {
	TAILQ_ENTRY(stream) link; /* of those that draw, or that are only counted */
	struct sched_job *job;
	uint32_t epoch;
	struct edition *edition; /* held */
	stream_id id;		 /* in each of its samplers */
	job_id joined_as;	 /* the job's, or the stand-in's */
	bool ready;	 /* to draw: the sampler is up to date, the engine knows */
	bool leaves;	 /* its need is to be given back, by the first who gets to it */
	uint32_t filled; /* for ahead.h */
	size_t n_strands;
	struct strand *strands; /* one for each part */
	struct strand *next;	/* which gives its next sample; strand.c */
	struct rng rng;
};

/* What came for an epoch of a rank, and is neither drawn nor bound. */
struct feed {
	uint32_t epoch;
	uint32_t
		next; /* samples of the epoch that came, with those that are drawn or bound */
	uint32_t head, n, room; /* in ids */
	sample_id *ids;
	uint32_t consumed; /* the first bindings that all were, as far as is known */
	uint32_t had;	   /* so many were consumed by another daemon */
	bool used;
};
#define FEEDS 2 /* of the epoch that runs, and of the one before, which drains */

#define RATE_SECONDS 8

#define LAP_READERS 64 /* more are not told apart */

/* A thread that has opened files of the epoch. */
struct lap_reader {
	long thread;	 /* 0: none, nor behind it */
	uint32_t epoch;	 /* the last one that it opened files of */
	uint32_t opens;	 /* of that epoch */
	uint32_t first;	 /* samples that all had consumed at its first open */
	uint32_t last;	 /* and at its last one */
	uint64_t cpu_ns; /* as it was looked at last; 0: never */
};

/* How the samples of an epoch were served so far. */
struct lap_served {
	uint32_t epoch;
	uint64_t n[SERVED_SKIPPED + 1];
};

/* The epoch that a job's readers read last, since its first open. */
struct watched {
	uint32_t epoch;
	uint64_t begun_ns, last_ns;	  /* 0: none; the last sample was read */
	uint64_t exposed_ns[WAIT_CAUSES]; /* before it, as the next ones */
	uint64_t waited_ns, pause_ns;
	uint32_t positions, consumed, opens;
	bool ended; /* all were consumed */
	struct lap_served
		bound[2]; /* of the running epoch, and of the one before: by its number */
	struct lap_reader reader[LAP_READERS];
};

/* bad_sample = skip; without it all are NULL. */
struct skipping {
	roaring_bitmap_t *bad;	   /* what later epochs leave out */
	roaring_bitmap_t *damaged; /* of these, what is bad until its file changes */
	roaring_bitmap_t *told;	   /* and what the log tells of; the clerk's */
	bool found;		/* there is more of it, which the clerk does not know */
	struct skip_plan *plan; /* of the next epoch; NULL: it leaves out nothing */
};

/* Where samples of an edition come from: of a mixture one for each dataset, else one. */
struct part {
	struct edition *edition;
	struct source *source;
	struct space *space;
	struct sampler *sampler; /* NULL: samples are not drawn */
	bool joined;		 /* (lock) it, by the job */
	/* The sample of the edition that is the source's 0; part_of. */
	sample_id first;
	roaring_bitmap_t *own;		   /* of a mixture: its selection */
	const roaring_bitmap_t *selection; /* ids of the source */
	uint64_t all_bytes;		   /* of their tensors */
	uint32_t in_epoch;		   /* so many of them an epoch has */
	uint64_t seed;			   /* of a mixture: of its passes */
};

/*
 * What the epochs of a job are made of, from the first one after a scan of its dataset to the
 * last one before the next scan. Constant, but for what the lock says. It is freed when none
 * of these epochs is kept and nobody holds it: by the clerk, or with its job.
 */
struct edition {
	struct sched_edition is;   /* what others see */
	TAILQ_ENTRY(edition) link; /* (lock) of the job's, the oldest first */
	struct sched_job *job;
	atomic_uint holds;
	bool dropped; /* (lock) no epoch is made of it */
	struct part *parts;
	size_t n_parts;
	struct dataset *mixed;	     /* of a mixture: is.dataset, its own */
	struct epoch_set set;	     /* the engine's */
	uint64_t fingerprint;	     /* of the selected samples, and job_kind */
	uint64_t content;	     /* of the selected samples: dataset_fingerprint */
	bool noted;		     /* measured_load has found what is known of them */
	roaring_bitmap_t *selection; /* D_j */
	roaring_bitmap_t *readable;  /* D_j without what is refused for its size */
	uint64_t largest_bytes;	     /* of a tensor */
	uint64_t all_bytes;	     /* of the tensors of all that it selects */
	uint64_t sample_bytes;	     /* of one, in the mean */
	uint64_t typical_bytes;	     /* three of four tensors are no larger */
	uint32_t *label_begin;	/* classes: first position of each label, and the end */
	uint32_t *labels;	/* labels = fixed: by position */
	float *targets;		/* labels = columns: by sample and column */
	sample_id *by_position; /* in dataset order: the sample of each */
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
	struct daemon_config const *config;
	struct source *sources; /* SCHED_MOST_DATASETS; without a dataset: free */
	size_t n_sources;	/* the others were never used */
	uint64_t sources_changed;
	uint64_t seed;			/* constant */
	struct quarantine *quarantine;	/* constant */
	struct past *past;		/* constant */
	struct same *same;		/* hash: same.c */
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
	uint64_t evictions_told, told_ns;		/* prepared.c */
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

/*
 * What a critical section leaves to do after it: writing the journal, callbacks, frees,
 * waking workers, drawing ahead. Nothing of that may happen under the lock, or in the
 * same section.
 */
struct aftermath {
	struct sched_job *flush; /* its journal; an answer of it holds the job */
	struct handle_queue finished;
	struct handle_queue look_ups; /* their samples are in saved orders */
	bool kick;		      /* the readers */
	bool kick_decoders;
	struct sched_job *noticed; /* a reference; what is to be said of it */
	enum notice notice;
	uint32_t noticed_epoch;
	struct sched_job *refill; /* a reference; its streams are low */
	bool news;		  /* for who feeds ranks */
};

void aftermath_init(struct aftermath *aftermath);
void sched_unlock(struct sched *sched, struct aftermath *aftermath);

/* --- sources.c ------------------------------------------------------------------------- */

must_check int sources_init(
	struct sched *sched, struct dataset **datasets, size_t n, uint64_t seed);
void sources_free(struct sched *sched);
/* NULL: there is none of the name. */
struct source *source_find_locked(const struct sched *sched, const char *name);
/* The same of an edition that is kept; one that is there has one more job. */
must_check int source_open_kept(struct source *now, uint32_t number, struct source **ret);
/* It is taken. */
struct source *source_taken_locked(const struct sched *sched, const char *name);
/* Nobody finds it, since it is removed, and it has one job: the caller. */
must_check int source_put_beside(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, struct source **ret);
/* What was removed, and has no job any more, is freed. No lock held. */
void sources_sweep(struct sched *sched);
/* Labels of a source's samples and what exchanges within them; -ENOMEM. No lock held. */
must_check int source_label(struct source *source);

/* --- open.c --------------------------------------------------------------------------- */

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

/* --- postponed.c ---------------------------------------------------------------------- */

must_check bool postponed_take_back(struct sched *sched, struct load_work *work);
uint64_t postponed_first_due_locked(const struct sched *sched); /* UINT64_MAX: none */
/* No lock held. */
void postponed_run_due(struct sched *sched);

/* --- effects.c ------------------------------------------------------------------------ */

/* What the engine of the job decided is done. */
void effects_execute_locked(
	struct sched_job *job, struct effects *effects, struct aftermath *aftermath);
/* Requests that waited for something that is there, or will not come. */
void effects_resume_locked(struct sched_job *job, struct aftermath *aftermath);

/* --- use.c: what is to be prepared and what is open ----------------------------------- */

struct use *use_find_locked(const struct space *space, sample_id sample);
/* Finds or makes; NULL: no memory. */
struct use *use_get_locked(struct space *space, sample_id sample);
/* Queues it for preparation unless that is under way; urgent: a reader of the job waits.
 * -ENOMEM */
must_check int use_request_locked(
	struct sched_job *job, struct use *use, bool urgent, struct aftermath *aftermath);
/* Frees the sample's, if there is one that nothing needs any more: a pin was given back. */
void use_unpinned_locked(struct space *space, sample_id sample);
/* The handle pins its sample and counts in its use, until it is detached. -ENOMEM */
must_check int use_attach_locked(struct sched_handle *handle);
/* The handle gives back its tensor and its use. */
void use_detach_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Into the lanes of the jobs that asked for it, and out; use_taken_locked: share_next does
 * so. */
void use_queue_locked(struct use *use, bool urgent);
void use_unqueue_locked(struct use *use);
void use_taken_locked(struct use *use);
/* Somebody has drawn the sample, or has it open. */
bool use_is_wanted(const struct use *use);
/* Frees it if nothing needs it any more. */
void use_drop_if_unused_locked(struct use *use);
/* A tensor that others have drawn but nobody holds open does not stay beyond capacity. */
void use_keep_capacity_locked(struct use *use);

/* --- prepare.c: tasks for workers ----------------------------------------------------- */

struct load_task *sched_next_read(void *context);
void sched_read(void *context, struct load_task *task);
struct load_task *sched_next_decode(void *context);
struct load_task *sched_next_run(void *context);
void sched_load_done(void *context, struct load_task *task);
/* What was loading is there. */
void load_publish_locked(
	struct use *use, struct tensor *tensor, struct aftermath *aftermath);
/* Whether a reader that looked now would find a task; true also if that is not known. */
bool prepare_waits_locked(const struct sched *sched);
/* There is, and a thread that reads is to be woken for it. */
bool prepare_wakes_locked(const struct sched *sched);

/* --- program.c --------------------------------------------------------------------------- */

must_check int program_loads_new(struct sched *sched);
void program_change_taken_locked(const struct use *use, int taken);
/* Tells whether a sample may be read for its program; true where no program prepares it. */
must_check bool program_has_room_locked(const struct use *use);
/* Tells whether a program prepares the sample, and has a process for it. */
must_check bool program_may_run_locked(const struct use *use);
void program_begin_locked(struct use *use);
void program_end_locked(struct use *use, struct aftermath *aftermath);
/* Finds the job's program; what it can't be used for is reported. -EINVAL */
must_check int program_adopt(struct sched *sched, struct job_config *config,
	config_report *report, void *context);

/* --- storage.c: what each storage is asked for ------------------------------------------ */

/* Of the files of a dataset; 0: not known. */
uint64_t storage_device(const struct dataset *dataset);
/* That of the device; made if there is none yet. root: its name then. -ENOMEM, -ENFILE */
must_check int storage_of_locked(
	struct sched *sched, uint64_t device, const char *root, struct storage **ret);
unsigned storage_most_reads(const struct sched *sched); /* of all together */
bool storage_has_room_locked(const struct sched *sched, const struct storage *storage);
bool storage_wakes_reader_locked(
	const struct sched *sched, const struct storage *storage);
bool storage_has_requests_locked(
	const struct sched *sched, const struct storage *storage);
/* A use from no queue -> read -> waits for a decoder -> in no queue. */
void storage_begin_locked(struct use *use);
void storage_end_locked(struct use *use);
void storage_decodes_locked(struct use *use);
void storage_status_locked(const struct sched *sched, const struct storage *storage,
	struct sched_storage *ret);
/* Logs which storages don't answer any more, and which do again. No lock held. */
void storages_report(struct sched *sched);

/* --- tiers.c: disks that keep what was read ---------------------------------------------- */

/* Opens the tier of the source's configuration, if it has one, or finds the open one: by one
 * thread at a time, without the lock. Logged. */
must_check int tier_find(struct source *source, const struct dataset_config *config);
/* The source is where it stays. */
must_check int tier_join_locked(struct source *source);
/* The worth of a sample that was just read, as src/tier/policy.h has it. */
uint32_t tier_worth_of_read_locked(const struct source *source, sample_id sample);
/* What reads it is told of it. No lock held. */
struct tier_sample tier_sample_of(
	const struct source *source, sample_id id, const struct dataset_sample *sample);
void tiers_close(struct sched *sched);

/* --- fetch.c: what comes from another daemon -------------------------------------------- */

/* Of one that is about to be read: another daemon is asked for it. */
bool fetch_is_due_locked(const struct use *use);
/* It is loading and `fetching`. No lock held: it may have ended when this returns. */
void fetch_begin(struct use *use);

/* --- shares.c ---------------------------------------------------------------------------- */

/* The mean of late, with one more value; 0: there was none. */
void shares_mean(uint64_t *mean, uint64_t value);
uint64_t shares_cost(const struct space *space); /* ns of decode time of a sample */
void shares_note_cost_locked(struct space *space, uint64_t decode_ns);
void shares_join_locked(struct sched_job *job);
void shares_leave_locked(struct sched_job *job);
void shares_status_locked(const struct sched_job *job, struct sched_job_share *ret);
/* No lock held. */
void shares_pass_window(struct sched *sched);

/* --- waits.c: how long readers wait, and for what ---------------------------------------- */

/* Until now. */
void waits_count_locked(struct sched_job *job, uint64_t now_ns);
/* 1: the handle begins to wait for its tensor; -1: it does not any more. */
void waits_change_locked(struct sched_handle *handle, int change);
/* What the sample waits for is about to be something else, or has become so just now. */
void waits_move_on_locked(struct use *use, uint64_t now_ns);
/* The handle knows its epoch, perhaps the first one of it. */
void waits_epoch_locked(const struct sched_handle *handle);
void waits_exposed_locked(const struct sched_job *job, uint64_t ret[static WAIT_CAUSES]);

/* --- laps.c: epochs that were read to the end ------------------------------------------ */

/* The job is about to watch another epoch. */
void lap_begin_locked(struct sched_job *job, uint64_t begun_ns);
void lap_open_locked(const struct sched_handle *handle);
/* A position of an epoch was bound. */
void lap_bound_locked(struct sched_job *job, uint32_t epoch, enum served served);
/* A sample of an epoch was consumed. */
void lap_consumed_locked(struct sched_job *job, uint32_t epoch);
/* Once a second, with no lock. */
void laps_measure(struct sched *sched);

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
void waits_status_locked(struct sched_job *job, struct sched_job_status *ret);
/* As it was counted last. */
void waits_exposed_locked(const struct sched_job *job, uint64_t ret[static WAIT_CAUSES]);

/* --- same.c: images that several datasets have ------------------------------------------- */

/* Of one that is read: another use decodes the same images just now. */
bool same_is_under_way_locked(const struct use *use);
/* Its decode begins. It may be found from now on; its tasks get the tensors that there are. */
void same_begin_locked(struct use *use);
/* It is not in the cache, nor on its way there. */
void same_gone_locked(struct space *space, sample_id sample);
void same_validate_locked(const struct sched *sched);
void same_free(struct sched *sched);

/* --- past.c: the last hour ---------------------------------------------------------------- */

must_check int past_new(struct past **ret);
void past_free(struct past **past);
/* A job has come, or is about to go. */
void past_join_locked(const struct sched_job *job);
void past_leave_locked(struct sched_job *job);
/* It is given the tensor of a position for the first time. */
void past_given_locked(const struct sched_job *job, const struct tensor *tensor);
/* By the housekeeper: takes a reading, if one is due. No lock held. */
void past_pass(struct sched *sched, uint64_t now_ns);

/* --- trace.c: what readers open and close ------------------------------------------------ */

/* If somebody asks for that. */
void trace_note_locked(struct sched_handle *handle, enum sched_trace_kind kind);
void traces_forget(struct sched *sched); /* that nobody asks for; no lock held */
void trace_free(struct sched_job *job);

/* --- retry.c: what failed by something that passes ------------------------------------- */

/* In no queue -> delayed, at least for so long. false: it was tried often enough, or nobody
 * wants it. */
bool retry_later_locked(struct use *use, bool lacks_room, uint64_t at_least_ns);
bool retry_is_left(const struct use *use);
/* Queues those that are due. */
void retry_due_locked(struct sched *sched, struct aftermath *aftermath);
/* A reader holds less open: queues those that lacked room. */
void retry_with_room_locked(struct sched *sched, struct aftermath *aftermath);
uint64_t retry_first_due_locked(const struct sched *sched); /* UINT64_MAX: none */

/* --- memory.c: how much the daemon may hold -------------------------------------------- */

struct memory_size {
	uint64_t tensor;  /* bytes */
	uint64_t working; /* what preparing it takes at most beside that */
};

/* Zeros for a sample that is refused, or whose header is not readable. */
struct memory_size memory_size_of(
	const struct sched *sched, const struct space *space, sample_id sample);
/* Of the file, which is not read if the sample is refused. */
uint64_t memory_file_bytes(
	const struct sched *sched, const struct space *space, sample_id sample);
/* move.c: why a job goes on with what it has when its dataset changes; NULL: it does not. */
const char *move_obstacle(const struct job_config *config);

uint64_t memory_tensor_bytes(const struct sched *sched, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample);
/* Whether it can't be prepared within the limits, and why. */
bool memory_refuses(const struct sched *sched, const struct space *space,
	sample_id sample, char message[static IMAGE_MESSAGE]);
/* For what a reader waits for; false: when readers hold less open. */
bool memory_has_room_locked(const struct sched *sched, uint64_t tensor_bytes);
/* false: when less is being read, or decoded. */
bool memory_may_read_locked(const struct sched *sched, uint64_t file_bytes);
bool memory_may_decode_locked(const struct sched *sched, uint64_t working);
void memory_change_working_locked(struct sched *sched, int64_t by);
uint64_t memory_most_open(
	const struct sched *sched);		 /* the cache, and what is beside it */
uint64_t memory_most(const struct sched *sched); /* all together */
void memory_stats_locked(const struct sched *sched);

/* --- bad_sample.c --------------------------------------------------------------------- */

/* Few scripts go on after EIO, so the message says how to do without the sample. */
void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task);

/* --- skip.c: bad samples that later epochs leave out ------------------------------------ */

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

/* --- space.c -------------------------------------------------------------------------- */

/* With millions of ids this takes a while. No lock held. -ENOMEM */
must_check int space_make(
	struct source *source, const struct preparation *preparation, struct space **ret);
/* The space of the same preparation, or else the spare one, which is NULL then. */
struct space *space_get_locked(struct space **spare);
/* The last job has gone: its tensors go when the lock is let go, if no other job comes. */
void space_put_locked(struct space *space);
/* Takes a step of that; true: there is more to do. *ret: to be freed, or NULL. */
bool spaces_leave_locked(struct sched *sched, struct space **ret);
/* No lock held: it may have millions of ids. */
void space_free(struct space *space);
/*
 * Whether the tensors of a space lie in files that the kernel can give to readers: a job
 * came, or went. What jobs of other formats then read of them is given to them as ever.
 */
void space_choose_head_locked(struct space *space);
void edition_choose_heads_locked(const struct edition *edition);
/* Whether a sample is in the cache or on its way there. */
bool space_has_locked(const struct space *space, sample_id sample);
/*
 * A draw of the sampler brings it there: the others hear of it as far as that is without
 * regard to the sample itself. The labels that a script asks for, the order of a
 * sequential job and the names read in a mirror are not, and exchanging for what they
 * have brought would make some samples come early.
 */
void space_drawn_locked(
	struct space *space, sample_id sample, const struct sampler *sampler);
/* It is there no longer: all samplers hear of it. */
void space_gone_locked(struct space *space, sample_id sample);
cache_gone sched_cache_gone;
enum served how_served_locked(struct space *space, sample_id sample);
void unpin_locked(struct space *space, sample_id sample, struct aftermath *aftermath);

/* --- notice.c ------------------------------------------------------------------------- */

/* Counted, and said when the lock is let go, unless that kind was before. */
void notice_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath);
/* An image of current/ is opened. */
void notice_open_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* A rank opens a file, and other ranks are on other machines. true: the open fails. */
bool notice_is_refused_locked(struct sched_handle *handle, struct aftermath *aftermath);
void notice_say(struct sched_job *job, enum notice notice, uint32_t epoch);

/* --- demand.c: samples at home here that a training still asks for in an epoch -------- */

/* The ids of the strands of a rank's stream, before they are counted as need. No lock held.
 * -ENOMEM. */
must_check int demand_find(struct stream *stream);
/* The stream draws from now on; it keeps the ids if no other stream has them. */
void demand_enter_locked(struct stream *stream);
/* A rank was given the sample; or another daemon has asked for it. */
void demand_drawn_locked(const struct stream *stream, sample_id sample);
void demand_fetched_locked(const struct space *space, sample_id id);
/* The stream ends, and draws no more. true: it has ids whose need is to be given back. */
must_check bool demand_keep_locked(struct stream *stream);

/* --- stream.c: drawing ahead; stream_life.c ------------------------------------------- */

struct stream *stream_find_locked(const struct sched_job *job, uint32_t epoch);
/*
 * Makes the stream that the engine has asked for. No lock held: with a million samples
 * this takes a while, of which readers notice nothing but steps of a few microseconds.
 * 0, also when it is not wanted any more; -ENOMEM.
 */
must_check int stream_make(struct sched_job *job, uint32_t epoch);
/* It leaves; its need is given back when the lock is let go. */
void stream_end_locked(struct stream *stream, struct aftermath *aftermath);
/* The need of streams that have ended is given back. No lock held. */
void streams_let_go(struct sched *sched);
bool streams_leave_locked(const struct sched *sched);
/* A sample for the position, which has to be `fixed` unless that is SAMPLE_NONE. */
void stream_draw_locked(struct stream *stream, uint32_t position, sample_id fixed,
	struct aftermath *aftermath);
/* A sample that was drawn, or has been fed, goes to the engine; there is room. */
void stream_hold_locked(
	struct stream *stream, sample_id sample, struct aftermath *aftermath);
bool stream_has_room(const struct stream *stream);
/* Asks for rounds if the stream is below its low-water mark. */
void stream_refill_locked(const struct stream *stream, struct aftermath *aftermath);
/* Draws them, for all streams with room, until those of the job have none. No lock held. */
void streams_fill(struct sched_job *job);
/* Of one that is only counted. */
bool strand_counts(const struct strand *strand, sample_id sample);
uint32_t stream_remaining(const struct stream *stream);
bool stream_contains(
	const struct stream *stream, const struct strand *strand, sample_id sample);

/* --- strand.c: streams of several samplers ---------------------------------------------- */

uint32_t strand_remaining(const struct stream *stream, const struct strand *strand);
/* The one that a sample of the edition is of. */
struct strand *strand_of(const struct stream *stream, sample_id sample);
/* Or NULL. */
const struct strand *strand_in(const struct stream *stream, const struct space *space);
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Which one gives the stream's next sample. */
void stream_choose_next_locked(struct stream *stream);

/* --- feed.c: samples of a rank ---------------------------------------------------------- */

bool job_is_fed(const struct sched_job *job);
/* |D_j| becomes the part of the rank. -EINVAL (reported): that is nothing. */
must_check int feed_divide(struct edition *edition, config_report *report, void *context);
/* The stream of the epoch ends: what it had drawn comes first, should it begin again. */
void feed_return_locked(
	struct sched_job *job, uint32_t epoch, const struct drawn_queue *queue);
/* As much as the look-ahead has room for; opens that waited for it get it. */
void feed_fill_locked(struct stream *stream, struct aftermath *aftermath);
/* One more position was consumed. Whether so many were that who feeds should know. */
bool feed_has_news_locked(struct sched_job *job);
void feeds_free(struct sched_job *job);

/* --- clerk.c: what takes long about an epoch, in a thread of its own ------------------ */

/* The engine of the job has asked for a stream, or an order is to be saved. */
void clerk_request_locked(struct sched_job *job);
/* Once a second: an order that could not be saved is tried again, if it is time. */
void clerk_second_locked(struct sched_job *job);
/* Until the clerk has nothing to do for a job that has left. No lock held. */
void clerk_wait_for_last(struct sched_job *job);
void *sched_clerk(void *sched);
/* Until the scheduler stops: what is due, and once a second what is done then. */
void *sched_keep_house(void *sched);

/* --- restore.c: back to a checkpoint --------------------------------------------------- */

struct checkpoint;

struct restoring {
	struct checkpoint *from;
	bool at;     /* there instead, in the order of positions */
	bool export; /* it stays there: only its orders go to files, and `from` is filled */
	uint32_t at_epoch, at_position;
	int err;
	char message[600];
};

/* All but the checks, and without the clerk: of a job that nobody knows yet. */
must_check int restore_new(struct sched_job *job, struct restoring *restoring);
/* Whether the job can go where `at` says. */
must_check int restore_check_target(struct sched_job *job, struct restoring *restoring);
/* By the clerk, while the caller waits. */
must_check int restore_by_clerk(struct sched_job *job, struct restoring *restoring);

/* --- import.c: orders of other machines ------------------------------------------------- */

#define IMPORT_AT "--at: found \"%s\", allowed: EPOCH:POSITION"

/* How a job is added. */
struct adding {
	const struct sched_import *import; /* or NULL */
	config_report *report;
	void *context;
};

/* What order = replay:FILE or an import asks for, if the job has no epochs yet. -EBADMSG:
 * refused, and reported. */
must_check int import_for_job(struct sched_job *job, const struct adding *adding);

uint64_t restore_hash_ini(const struct job_config *config);
/* By the clerk. */
void restore_if_wanted(struct sched_job *job);
/* The message of a failure; -EINVAL, and err. */
int restore_refuse(struct restoring *restoring, const char *format, ...)
	printf_like(2, 3);
int restore_failed(struct restoring *restoring, const char *what, int err);

/* --- restore_orders.c: the orders that it goes back with -------------------------------- */

/* By the clerk, or of a job that nobody knows yet. */
struct edition *restore_edition(struct sched_job *job, uint32_t epoch);

/* Those of live epochs go to files. The job is held, as for the next two. */
must_check int restore_save_live(struct sched_job *job, struct restoring *restoring);
/* The epoch that is to run; to drain: *ret stays NULL where none is. Both are in files of
 * the next segment of the journal, too. */
must_check int restore_make_running(
	struct sched_job *job, struct restoring *restoring, struct epoch **ret);
must_check int restore_make_draining(
	struct sched_job *job, struct restoring *restoring, struct epoch **ret);
/* What the files of the job's directory hold; the caller frees it. */
must_check int restore_list_orders(
	struct sched_job *job, struct epochs_order_file **ret, size_t *ret_n);
/* An epoch as the file has it; path NULL: that of an epoch that has ended. -EINVAL: there
 * is none that can be used. */
must_check int restore_load(struct sched_job *job, const char *path, uint32_t epoch,
	uint32_t bound, uint32_t consumed, const char **ret_reason, struct epoch **ret);

/* --- selection.c: the samples of a job, and those that positions stand for ------------ */

void sched_stats_locked(struct sched *sched);

void sched_report(config_report *report, void *context, const char *format, ...)
	printf_like(3, 4);
/* -EINVAL (reported), -ENOMEM. */
must_check int edition_select(
	struct edition *edition, config_report *report, void *context);
enum epochs_kind job_kind(const struct sched_job *job);
bool edition_fixes_labels(const struct edition *edition);
uint32_t edition_label_of(const struct edition *edition, uint32_t position);

/* --- job.c ---------------------------------------------------------------------------- */

/* The engine; first: what its first epochs are made of. */
must_check int job_make_epochs(struct sched_job *job, const struct epoch_set *first);
/* So many positions an open binds at once: those of a batch, else 1. */
uint32_t job_binds_at_once(const struct job_config *config);
/* No longer among the jobs: parked opens, pins and need are given back. */
void job_leave_locked(struct sched_job *job, struct aftermath *aftermath);
/* Each job that is there, held, without the lock; none without memory for their ids. */
void jobs_visit(struct sched *sched, void visit(struct sched_job *job));
void job_status_locked(struct sched_job *job, struct sched_job_status *ret);
void job_count_consumed_locked(struct sched_job *job, uint64_t now_ns);

/* --- mixture.c: editions of several datasets -------------------------------------------- */

/*
 * What edition_select finds by looking at each sample is noted in the job's directory, so that
 * the next engine needs not look: measured.c. -ENOENT: there is no note of these samples.
 */
#define MEASURED_FILE "selection"
must_check int measured_load(struct edition *edition);
/* A note that can't be written is missed by the next engine only, which is logged. */
void measured_save(const struct edition *edition);

/* As edition_select does it for one. */
must_check int mixture_select(
	struct edition *edition, config_report *report, void *context);
/* Of what its epochs are, beside their samples. */
uint64_t mixture_fingerprint(const struct edition *edition);
/* What of a part an epoch has; of a rank nothing that this node would know of. -ENOMEM */
must_check int part_samples(
	const struct part *part, uint32_t epoch, roaring_bitmap_t **ret);

/* --- join.c: how a job comes to its sampler -------------------------------------------- */

/* The part gets its space. *ret stays as it is where there is no sampler. No lock held. */
must_check int join_begin(struct part *part, struct sampler_joining **ret);
/* -EAGAIN: to be begun again. */
must_check int join_finish_locked(struct part *part, struct sampler_joining *joining);
/* Both, of the parts from this one on of an edition that nobody else has yet, or whose job is
 * there. No lock held. */
must_check int join(struct edition *edition, size_t from);

/* --- edition.c ------------------------------------------------------------------------- */

/* Of n sources, whose counts of jobs have one more then. What can't be is reported. */
must_check int edition_new(struct sched_job *job, struct source *const *sources, size_t n,
	config_report *report, void *context, struct edition **ret);
/* edition_beside.c: finds what comes along with its samples. -EINVAL, reported: some lack it. */
must_check int edition_beside(
	struct edition *edition, config_report *report, void *context);
/* The one that a sample of the edition is of; its id in the source is sample - first. */
struct part *part_of(const struct edition *edition, sample_id sample);
/* The one of a dataset, of a source, of a space, or NULL. */
const struct part *edition_part_of(
	const struct edition *edition, const struct dataset *dataset);
const struct part *edition_part_of_source(
	const struct edition *edition, const struct source *source);
const struct part *edition_part_in(
	const struct edition *edition, const struct space *space);
/* A sample of the edition is unpinned. */
void edition_unpin_locked(
	struct edition *edition, sample_id sample, struct aftermath *aftermath);
/* No epoch is made of it. No lock held. */
void edition_free(struct edition *edition);
void edition_leave_samplers_locked(struct edition *edition);
/* epoch: or SCHED_CURRENT, as epochs_set. */
struct edition *edition_of_locked(const struct sched_job *job, uint32_t epoch);
struct edition *edition_hold(struct sched_job *job, uint32_t epoch);
void edition_let_go(struct edition *edition);
struct order_set edition_order_set(const struct edition *edition);
/* Those of the job's epochs; the caller frees it. NULL: no memory. */
struct order_set *edition_order_sets(struct sched_job *job, size_t *ret_n);
/* By the clerk: frees those of which no epoch is made any more. */
void editions_sweep(struct sched_job *job);
/* With the engine: which edition the epochs so far have, as the files in the job's directory
 * tell. The job has one edition. */
must_check int editions_restore(struct sched_job *job);

/* --- admit.c: what else has to be right for a job to be added ------------------------- */

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

/* --- prepared.c: how much all prepared samples take -------------------------------------- */

/* Logs, now and then, that samples were evicted that will be needed again. No lock held. */
void prepared_report(struct sched *sched);

/* --- keep.c: what is kept in <state>/jobs/<name> -------------------------------------- */

/* The directory is made; *ret_id: the id that the name had before, 0: none. */
/* --- mapping.c: what a file of layout = classes holds ------------------------------------- */

/* Decides about job->fixed when its first edition is measured; all_bytes: of its tensors. */
must_check int mapping_choose(struct sched_job *job, uint64_t all_bytes);
/* *mapping: of the job that is added, `auto` becomes that of the imported orders. -EBADMSG:
 * refused, and reported. */
must_check int mapping_of_import(const struct adding *adding, enum view_mapping *mapping);
/* Writes the choice of `auto` to the job's state. */
must_check int mapping_keep(const struct sched_job *job);

must_check int keep_begin(const struct sched_job *job, uint32_t *ret_id);
/* The engine is rebuilt from orders and journal, which is open then. */
must_check int keep_restore(struct sched_job *job);
must_check int keep_id(const struct sched_job *job);
must_check int keep_ini(const struct sched_job *job);
void keep_no_ini(const struct sched_job *job);
/* The bad samples: for skip.c. NULL: there is no such file. */
FILE *keep_bad_open(const struct sched_job *job);
must_check int keep_bad(const struct sched_job *job, const char *text);
/* The first epoch that is kept when this one has been saved. */
uint32_t keep_from(const struct sched_job *job, uint32_t epoch);
/* The order of an epoch that has ended goes to a file, older ones are removed. No lock
 * held. */
must_check int keep_order(
	struct sched_job *job, uint32_t epoch, const struct order *order);
void keep_nothing(const struct sched_job *job);
