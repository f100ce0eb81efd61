// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/histogram.h"
#include "cache/cache.h"
#include "load/file_head.h"
#include "load/flight.h"
#include "load/load.h"
#include "sampler/sampler.h"
#include "sched/ranks.h"
#include "section/section.h"
#include "share/share.h"

#include <stdatomic.h>
#include <sys/queue.h>

/*
 * A sample that somebody wants becomes a tensor in the cache.
 *
 *            source (a dataset)
 *           /       |
 *      samplers   spaces (dataset, preparation)
 *                   |
 *                  uses --- handles (opens)
 *
 *   source.c       datasets come and go
 *   space.c        tensors of one preparation, and the samplers that are told of them
 *   wanted.c       samples that are open, waited for, or to be prepared
 *   prepare.c      tasks for readers and decoders; retry.c: tasks that are tried again later
 *   program.c      samples that a program prepares
 *   storage.c      where files lie: requests and reads in flight of each storage
 *   tiers.c        disks that keep samples as they were read
 *   fetch.c        tensors that come from another daemon
 *   decode_cost.c  what it costs to decode a sample
 *   quarantine.c   images that are not prepared, since they end the process
 *   memory.c       how much memory all of it may take
 *   same_image.c   images that several datasets have
 */

struct programs;
struct tier;
struct tier_asked;
struct tier_dataset;
struct sched_storage;

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

/* The second file of a pair, or a later frame of a group, while it is prepared. */
struct use_second {
	struct use_second *next;
	struct preparation preparation;
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
	struct use_second *second; /* of a pair or group; or NULL */
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

/* The scheduler hears of samples through these. */
struct supply_calls {
	/* The tensor is there, or will not come: once for each handle that waits. */
	void (*done_locked)(
		struct sched_handle *handle, int status, struct aftermath *aftermath);
	/* The sample failed by itself. damaged: and will until its file changes. */
	void (*bad_locked)(const struct space *space, sample_id sample, bool damaged);
	/* The sample waits for something else now, or is about to. */
	void (*moved_on_locked)(struct use *use, uint64_t now_ns);
	/* Tells a tier what its samples are worth. Takes the lock. context: the scheduler. */
	void (*worths)(void *context, struct tier_asked *asked, size_t n);
};

/* --- source.c --- */

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

/* --- wanted.c: what is to be prepared and what is open --- */

struct use *use_find_locked(const struct space *space, sample_id sample);
/* Finds or makes; NULL: no memory. */
struct use *use_get_locked(struct space *space, sample_id sample);
/* Queues it for preparation unless that is under way; urgent: a reader of the job waits.
 * -ENOMEM */
must_check int use_request_locked(
	struct sched_job *job, struct use *use, bool urgent, struct aftermath *aftermath);
/* Frees the sample's, if there is one that nothing needs any more: a pin was given back. */
void use_unpinned_locked(struct space *space, sample_id sample);
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

/* --- prepare.c: tasks for workers --- */

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

/* --- program.c --- */

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

/* --- storage.c: what each storage is asked for --- */

#define STORAGE_MOST_READS                                                               \
	1024 /* of one storage at once, also the most that `reads` allows */

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

/* --- tiers.c: disks that keep what was read --- */

/* Opens the tier of the source's configuration, if it has one, or finds the open one: by one
 * thread at a time, without the lock. Logged. */
must_check int tier_find(struct source *source, const struct dataset_config *config);
/* The source is where it stays. */
must_check int tier_join_locked(struct source *source);
/* How many running epochs need it, and have not read it. What is drawn is needed no more,
 * but will be read soon; with `loading` also what is being read just now. */
uint32_t tier_need_locked(const struct source *source, sample_id sample, bool loading);
/* The worth of a sample that was just read, as src/tier/policy.h has it. */
uint32_t tier_worth_of_read_locked(const struct source *source, sample_id sample);
/* What reads it is told of it. No lock held. */
struct tier_sample tier_sample_of(
	const struct source *source, sample_id id, const struct dataset_sample *sample);
void tiers_close(struct sched *sched);

/* --- fetch.c: what comes from another daemon --- */

/* Of one that is about to be read: another daemon is asked for it. */
bool fetch_is_due_locked(const struct use *use);
/* It is loading and `fetching`. No lock held: it may have ended when this returns. */
void fetch_begin(struct use *use);

/* --- decode_cost.c --- */

/* The mean of late, with one more value; 0: there was none. */
void shares_mean(uint64_t *mean, uint64_t value);
uint64_t shares_cost(const struct space *space); /* ns of decode time of a sample */

/* --- same_image.c: images that several datasets have --- */

/* Of one that is read: another use decodes the same images just now. */
bool same_is_under_way_locked(const struct use *use);
/* Its decode begins. It may be found from now on; its tasks get the tensors that there are. */
void same_begin_locked(struct use *use);
/* It is not in the cache, nor on its way there. */
void same_gone_locked(struct space *space, sample_id sample);
void same_validate_locked(const struct sched *sched);
void same_free(struct sched *sched);

/* --- retry.c: what failed by something that passes --- */

/* In no queue -> delayed, at least for so long. false: it was tried often enough, or nobody
 * wants it. */
bool retry_later_locked(struct use *use, bool lacks_room, uint64_t at_least_ns);
bool retry_is_left(const struct use *use);
/* Queues those that are due. */
void retry_due_locked(struct sched *sched, struct aftermath *aftermath);
/* A reader holds less open: queues those that lacked room. */
void retry_with_room_locked(struct sched *sched, struct aftermath *aftermath);
uint64_t retry_first_due_locked(const struct sched *sched); /* UINT64_MAX: none */

/* --- memory.c: how much the daemon may hold --- */

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

/* --- bad_sample.c --- */

/* Few scripts go on after EIO, so the message says how to do without the sample. */
void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task);

/* --- space.c --- */

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
