// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "base/rng.h"
#include "cache/cache.h"
#include "load/load.h"
#include "sampler/sampler.h"
#include "sched/order.h"
#include "sched/sched.h"

#include <stdatomic.h>
#include <sys/queue.h>

/* A failed insertion leaves hash.tbl NULL; nothing exits. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 *            source (a dataset)
 *           /       |          \
 *      samplers   spaces       jobs
 *                (dataset,       |
 *               preparation)   epochs --- order file: position -> sample
 *                   |            |
 *                  uses       stream (the running epoch): queue of drawn samples
 *
 * A *use* exists while a sample of a space is open, waited for, or to be prepared.
 */

struct source {
	struct sched *sched;
	struct dataset *dataset;
	struct sampler *shuffled; /* as configured */
	struct sampler *sequential;
	struct sampler *labelled; /* NULL until a job needs it */
	uint64_t seed;
	roaring_bitmap_t *bad; /* samples whose failure was logged */
	LIST_HEAD(, space) spaces;
};

struct space {
	LIST_ENTRY(space) link;
	struct source *source;
	struct preparation preparation;
	struct cache_space *cache;
	bool in_files; /* of what is prepared, with that head: see space_settle_files */
	enum head_kind head;
	uint32_t number;     /* in its source: the samplers' name for it */
	uint32_t references; /* jobs, uses */
};

struct use_key {
	struct space *space;
	uint64_t sample;
};

enum use_state { USE_OPEN_ONLY, USE_QUEUED, USE_URGENT, USE_LOADING };

struct use {
	UT_hash_handle hash;
	struct use_key key;
	enum use_state state;
	uint32_t opens; /* handles that hold or wait for the tensor */
	TAILQ_ENTRY(use) link;
	TAILQ_HEAD(, sched_handle) waiters;
	/* while loading */
	struct dataset_sample sample;
	struct load_task task;
	bool in_file; /* as the space had it when this began to load */
	enum head_kind head;
	struct use *also; /* of the same sample in another space: shares the decode */
};

TAILQ_HEAD(use_queue, use);

/* An open position. Waits first, holds the tensor then. */
struct sched_handle {
	struct sched_job *job;
	struct epoch *epoch; /* NULL: of a mirror, which has none */
	uint32_t epoch_number;
	uint32_t position;
	sample_id sample;
	bool label;	 /* nothing but the sample is wanted */
	struct use *use; /* NULL while it is not bound, and of a label */
	const struct tensor *tensor;
	/* waiting */
	UT_hash_handle hash; /* by ticket */
	uint64_t ticket;
	/* of the use's waiters, of those that await the epoch, or of finished ones */
	TAILQ_ENTRY(sched_handle) link;
	TAILQ_ENTRY(sched_handle) job_link; /* of the job's parked ones */
	enum {
		HANDLE_OPEN,
		HANDLE_PARKING,
		HANDLE_AWAITS_EPOCH,
		HANDLE_PARKED,
		HANDLE_FINISHED
	} state;
	int status;
	uint64_t parked_ns;
	struct sched_open_callbacks callbacks;
};

TAILQ_HEAD(handle_queue, sched_handle);

/* Bound and not consumed: holds the pin that the draw took. */
struct bound_pin {
	UT_hash_handle hash;
	uint32_t position;
	sample_id sample;
	uint32_t sequence; /* the how-manieth binding of the epoch */
	uint32_t opens;
	bool served;		     /* a reader got it */
	TAILQ_ENTRY(bound_pin) link; /* in the order of binding */
};

struct epoch {
	struct sched_job *job;
	uint32_t number;
	struct order order;
	uint8_t *consumed_bits; /* NULL: over since before a restart; all that is bound */
	uint32_t consumed;
	bool over;
	struct stream *stream;	/* NULL: nothing is drawn for it, or the job is parked */
	struct bound_pin *pins; /* hash by position */
	TAILQ_HEAD(, bound_pin) pin_order;
};

struct drawn {
	sample_id sample;
	enum served served;
	bool pinned;
};

/*
 * An epoch that is not over as the sampler sees it; gone while the job is parked. Where
 * the position decides about the sample (job_is_fixed) there is no sampler, only need.
 */
struct stream {
	TAILQ_ENTRY(stream) link; /* of those that draw, or that are only counted */
	struct sched_job *job;
	struct epoch *epoch;
	struct sampler *sampler;
	stream_id id;
	job_id joined_as;    /* the job's, or the stand-in's */
	struct drawn *queue; /* ring of job->config.lookahead */
	uint32_t head, length;
	bool ready; /* to draw: the sampler has settled */
	/* what remains, while it is not in the sampler; one of them or both */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
	bool leaves;	 /* its need is to be given back, by the first who gets to it */
	uint32_t filled; /* length that it was last refilled to, or could have been */
};

/* What a reader of current/ opened last. */
struct reader {
	uint64_t id;
	uint32_t unit; /* of positions, see current.c */
	uint32_t epoch;
	uint32_t opens;	   /* of that unit, one after the other */
	bool read_more;	   /* it has opened other units before: no person who looks */
	bool repeated;	   /* what it opened last had been read before */
	uint64_t consumed; /* by the job until then */
	uint64_t opened;   /* the same of what was opened */
	uint64_t since;	   /* and that when it opened its first */
};

/* Who reads current/, and what was consumed lately; current.c. */
#define CURRENT_READERS 128

struct current {
	uint32_t unit;	       /* positions that a reader opens as one */
	uint32_t window;       /* a few dozen, at most a quarter of the epoch */
	struct binding_place { /* ring of `window`: the last that were consumed */
		uint32_t epoch, position;
	} * recent;
	uint64_t consumed; /* since the job was added */
	uint32_t habit;	   /* most opens of a unit by a reader, one after the other */
	struct reader readers[CURRENT_READERS]; /* the latest first */
	uint32_t n_readers;
	uint32_t begun; /* positions opened since the running epoch began, not by looks */
	struct pass {	/* of a script that was started again, through the same epoch */
		uint32_t epoch;
		uint32_t repeats; /* positions that were read in an earlier pass */
		bool by_others;	  /* all its readers came after the earlier pass */
		uint64_t floor;	  /* it began here or later, in terms of `opened` */
		uint64_t since;	  /* what was opened since then belongs to it */
	} pass;
	uint64_t opened;  /* units, of `classes`, not by looks */
	uint32_t *stamps; /* classes: the low bits of that when a position was opened last
			   */
};

#define RATE_SECONDS 8

struct sched_job {
	TAILQ_ENTRY(sched_job) link;
	struct sched *sched;
	atomic_uint references;
	bool removed;
	job_id id;
	struct job_config config;
	struct source *source;
	struct space *space;
	struct sampler *sampler;     /* joined; NULL: samples are not drawn */
	roaring_bitmap_t *selection; /* D_j */
	uint32_t samples;	     /* |D_j| */
	uint64_t selection_hash;
	uint64_t largest_bytes; /* of a tensor */
	uint32_t *label_begin;	/* classes: first position of each label, and the end */
	sample_id *by_label;	/* classes in dataset order: sample by position */
	struct epoch **epochs;	/* config.epochs pointers, NULL where not begun */
	struct epoch *running;
	struct epoch *draining; /* the one before, which current/ may still give */
	struct beginning {
		TAILQ_ENTRY(sched_job) link; /* of those that wait for their turn */
		bool wanted;		     /* an epoch, or a stream for it */
		uint32_t number;
		bool rolls;
		unsigned done; /* how many have been */
		int status;    /* of the last */
		struct handle_queue opens;
	} beginning;
	struct current current;
	bool idle;
	uint64_t last_read_ns;
	struct handle_queue parked;
	struct sched_job_status totals; /* served ... wait_ns */
	uint32_t rate[RATE_SECONDS];
	uint64_t rate_second;
	char *directory; /* <state>/jobs/<name> */
};

struct sched {
	struct lock lock; /* all below, and what hangs on it, but the constant fields */
	struct daemon_config const *config;
	struct source *sources;
	size_t n_sources;
	struct cache *cache;
	struct backings *backings; /* constant once there are jobs; may be NULL */
	struct load_pool *pool;
	TAILQ_HEAD(, sched_job) jobs;
	TAILQ_HEAD(, stream) streams;
	TAILQ_HEAD(, stream) counted; /* need is counted, but they do not draw */
	TAILQ_HEAD(, sched_job) beginning;
	uint32_t n_streams, n_jobs;
	stream_id next_stream;
	job_id last_id;
	struct use *uses;
	struct use_queue urgent, queued;
	struct sched_handle *tickets; /* hash by ticket */
	uint64_t next_ticket;
	stream_id *round_ids; /* scratch of a round: n_streams each */
	struct stream **round_streams;
	sample_id *round_samples;
	bool stopping;
	bool keeps_house;
	pthread_t housekeeper;
	pthread_cond_t stop_cond;
	bool begins;
	pthread_t beginner;
	pthread_cond_t begin_cond; /* there is something to begin, or to stop */
	pthread_cond_t begun_cond;
};

/*
 * What a critical section leaves to do after it: callbacks, frees, waking workers,
 * drawing ahead. Nothing of that may happen under the lock, or in the same section.
 */
struct aftermath {
	struct handle_queue finished;
	bool kick;
	const struct epoch *refill; /* of a job that the caller holds; NULL: none */
};

void aftermath_init(struct aftermath *aftermath);
/* Labels of a source's samples and what exchanges within them; -ENOMEM. No lock held. */
must_check int source_label(struct source *source);
void sched_unlock(struct sched *sched, struct aftermath *aftermath);

/* --- use.c: what is to be prepared and what is open --- */

struct use *use_find_locked(const struct space *space, sample_id sample);
/* Finds or makes; NULL: no memory. */
struct use *use_get_locked(struct space *space, sample_id sample);
/* Queues it for preparation unless that is under way; urgent: a reader waits. */
void use_request_locked(struct use *use, bool urgent, struct aftermath *aftermath);
/* Frees it if nothing needs it any more. */
void use_settle_locked(struct use *use);
/* The same for the sample's, if there is one: a pin was given back. */
void use_settle_sample_locked(struct space *space, sample_id sample);
void handle_finish_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
/* A waiting one is finished with -errno, by whoever may do that. */
void handle_give_up_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
/* The handle gives back its tensor and its use. */
void handle_detach_locked(struct sched_handle *handle, struct aftermath *aftermath);
void handle_free(struct sched_handle *handle);
struct load_task *sched_load_next(void *context);
void sched_load_done(void *context, struct load_task *task);

/* --- space.c --- */

struct space *space_get_locked(
	struct source *source, const struct preparation *preparation);
void space_put_locked(struct space *space);
/*
 * Whether the tensors of a space lie in files that the kernel can give to readers: a job
 * came, or went. What jobs of other formats then read of them is given to them as ever.
 */
void space_settle_files_locked(struct space *space);
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

/* --- stream.c: drawing ahead --- */

/*
 * An epoch joins the sampler. No lock held: with a million samples this takes a while, of
 * which readers notice nothing but steps of a few microseconds. Of one job, one stream
 * at a time. 0, also when it is not wanted any more; -ENOMEM.
 */
must_check int stream_begin(struct epoch *epoch);
/* It leaves: pins of what is not bound are given back, and need when the lock is let go.
 */
void stream_end_locked(struct epoch *epoch, struct aftermath *aftermath);
/* The need of streams that have ended is given back. No lock held. */
void streams_let_go(struct sched *sched);
bool streams_leave_locked(const struct sched *sched);
/*
 * What the position is to be bound to: the head of the queue, which is filled when it is
 * empty; or drawn now, where the position has a label or is fixed.
 */
struct drawn stream_take_locked(
	struct stream *stream, uint32_t position, struct aftermath *aftermath);
/* Asks for rounds if the stream is below its low-water mark. */
void stream_refill_locked(const struct stream *stream, struct aftermath *aftermath);
/* Draws them, for all streams with room, until this one has none. No lock held. */
void stream_fill(const struct epoch *epoch);
/* Of one that is only counted. */
bool stream_counts(const struct stream *stream, sample_id sample);
uint32_t stream_remaining(const struct stream *stream);
bool stream_contains(const struct stream *stream, sample_id sample);
enum served how_served_locked(struct space *space, sample_id sample);
void count_served_locked(struct sched_job *job, enum served served);

/* --- epoch.c: order, binding, consuming --- */

/* Opens or creates the order file. No lock held. */
must_check int epoch_new(
	struct sched_job *job, uint32_t number, bool create, struct epoch **ret);
/* The same for one that was over before a restart: its order is read when it is asked
 * for. -ENOENT: it never had one. */
must_check int epoch_map_over(struct sched_job *job, uint32_t number, struct epoch **ret);
void epoch_free(struct epoch **epoch);
/* Whether another epoch may begin now; rolls: by current/. */
bool epoch_may_begin_locked(const struct sched_job *job, bool rolls);
/* Becomes the running one; the one that ran is over. If current/ rolls, it goes on for
 * slower readers until a few dozen positions of this one are bound. */
void epoch_run_locked(struct epoch *epoch, bool rolls, struct aftermath *aftermath);
bool epoch_has_bound(const struct epoch *epoch, uint32_t position);
bool epoch_has_consumed(const struct epoch *epoch, uint32_t position);
/* D_j minus what is bound. NULL: no memory. */
roaring_bitmap_t *epoch_remaining(const struct epoch *epoch);
/* Binds an unbound position; the epoch has a stream, or is over. -ESTALE: it is over. */
must_check int epoch_bind_locked(
	struct epoch *epoch, uint32_t position, struct aftermath *aftermath);
void epoch_consume_locked(
	struct epoch *epoch, uint32_t position, struct aftermath *aftermath);
/* Gives back what is bound, not consumed and not open. */
void epoch_drop_pins_locked(struct epoch *epoch, struct aftermath *aftermath);
/* An open of the position is over; what nobody will come back for is given back. */
void epoch_closed_locked(
	struct epoch *epoch, uint32_t position, struct aftermath *aftermath);
/* NULL: consumed, or given back. */
struct bound_pin *epoch_pin_locked(struct epoch *epoch, uint32_t position);

/* --- begin.c: what takes long about an epoch, in a thread of its own --- */

/*
 * Asks for an epoch of the job, or a stream for it, or that the order of one that is over
 * be read; opens wait in job->beginning.
 */
void begin_request_locked(struct sched_job *job, uint32_t number, bool rolls);
/* Until what is being begun for the job has begun. The lock is let go meanwhile. */
must_check int begin_wait_locked(struct sched_job *job);
/* Until nothing is being begun for a job that has left. No lock held. */
void begin_wait_for_last(struct sched_job *job);
/* An open that waited for it goes on. */
void open_resume_locked(struct sched_handle *handle, struct aftermath *aftermath);
void *sched_begin_epochs(void *sched);

/* --- current.c: which epoch current/ means --- */

must_check int current_init(struct sched_job *job); /* -ENOMEM */
void current_destroy(struct sched_job *job);
/* The number of the epoch that the position belongs to; it may have to be begun. */
uint32_t current_epoch_locked(
	const struct sched_job *job, uint32_t position, uint64_t reader);
void current_note_opened_locked(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint64_t reader);
void current_note_consumed_locked(const struct epoch *epoch, uint32_t position);

/* --- selection.c: the samples of a job, and those that positions stand for --- */

void sched_report(config_report *report, void *context, const char *format, ...)
	printf_like(3, 4);
/* -EINVAL (reported), -ENOMEM. */
must_check int job_select(struct sched_job *job, config_report *report, void *context);
/* Nothing is sampled: a position is the sample of that rank in the selection. */
bool job_mirrors(const struct sched_job *job);
/* The sample of a position is settled by the selection: mirror, classes in order. */
bool job_is_fixed(const struct sched_job *job);
sample_id job_fixed_sample(const struct sched_job *job, uint32_t position);
uint32_t job_label_of(const struct sched_job *job, uint32_t position);

/* --- job.c --- */

/* No longer among the jobs: parked opens, pins and need are given back. */
void job_leave_locked(struct sched_job *job, struct aftermath *aftermath);
void job_park_locked(struct sched_job *job, struct aftermath *aftermath);
void job_count_consumed_locked(struct sched_job *job, uint64_t now_ns);

/* --- admit.c: what else has to be right for a job to be added --- */

/* The job whose place below data/ would collide with the path of this one, or NULL. */
const struct sched_job *admit_conflict_locked(
	const struct sched *sched, const struct job_config *config);
/* -EEXIST for such a collision, reported. */
must_check int admit_path(struct sched *sched, const struct job_config *config,
	config_report *report, void *context);
/* What its layout will ask the dataset for is made now: it takes a while, and may fail.
 */
must_check int admit_view(const struct sched_job *job);

/* --- state.c: what is kept in <state>/jobs/<name> --- */

struct job_state {
	job_id id;
	bool known;	 /* an id was given before */
	bool same;	 /* dataset and selection are as they were then */
	int64_t running; /* number of the epoch that ran, -1: none */
};

/* Tells whether a selection is the one that an order belongs to. */
uint64_t state_selection_hash(const roaring_bitmap_t *selection);
must_check int state_load(const struct sched_job *job, struct job_state *ret);
must_check int state_save(const struct sched_job *job, int64_t running);
must_check int state_save_ini(const struct sched_job *job);
void state_remove_epochs(const struct sched_job *job);
void state_remove(const struct sched_job *job);
