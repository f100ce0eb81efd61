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
 * The supply prepares each wanted sample, and puts its tensor into the cache.
 *
 *            source (a dataset)
 *           /       |
 *      samplers   spaces (dataset, preparation)
 *                   |
 *                  wanted samples --- handles (opens)
 *
 *   source.c       adds, replaces and removes datasets
 *   space.c        tensors of one preparation, and the samplers that are told of them
 *   wanted.c       samples that are open, waited for, or to be prepared
 *   prepare.c      tasks for readers and decoders; retry.c: tasks that are tried again later
 *   program.c      samples that a program prepares
 *   storage.c      requests and reads in flight of each storage
 *   tiers.c        disks that keep samples as they were read
 *   fetch.c        tensors that come from another daemon
 *   decode_cost.c  the decode time of a sample
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
	struct storage *storage;   /* the storage of its files */
	struct tier *at;	   /* the tier that it is to join; NULL: none */
	struct tier_dataset *tier; /* keeps samples that were read; NULL: none */
	struct dataset *dataset;
	struct dataset_config config; /* name NULL: not known */
	bool taken;		      /* no job may begin with it */
	bool removed;
	atomic_uint jobs; /* editions, and jobs that are being added or moved here */
	const char *root; /* root of its tree; NULL: links may lead out of the tree */
	struct sampler *shuffled; /* the configured sampler */
	struct sampler *labelled; /* NULL until a job needs it */
	uint64_t seed;
	roaring_bitmap_t *bad;		     /* samples whose failure was logged */
	const roaring_bitmap_t *quarantined; /* constant; NULL: none */
	LIST_HEAD(, space) spaces;
	struct histogram reads, decodes; /* ns per sample */
	_Atomic uint64_t cpu_ns;	 /* processor time of decoding */
};

struct space {
	LIST_ENTRY(space) link;
	struct source *source;
	struct preparation preparation;
	/* (lock) Samples that its program has failed for; NULL: none. */
	roaring_bitmap_t *bad;
	char text[PREPARATION_TEXT]; /* the preparation as text, for other daemons */
	uint64_t text_hash;
	struct cache_space *cache;
	uint64_t cost_ns; /* recent mean of decode times; 0: not known */
	bool in_files; /* tensors get files with this head: file_heads.c of the scheduler */
	struct file_head head; /* each sample has its own label */
	uint32_t number;     /* number in the source, by which samplers know the space */
	uint32_t references; /* parts of editions, and wanted samples */
};

struct wanted_key {
	struct space *space;
	uint64_t sample;
};

enum wanted_state {
	WANTED_OPEN_ONLY,
	WANTED_QUEUED,	/* drawn ahead; jobs have asked for it */
	WANTED_URGENT,	/* jobs have asked for it, and a reader waits */
	WANTED_DELAYED, /* could not be prepared; is tried again when it is due */
	WANTED_LOADING
};

/* The second file of a pair, or a later frame of a group, while it is prepared. */
struct wanted_second {
	struct wanted_second *next;
	struct preparation preparation;
	struct dataset_sample sample;
	struct load_task task;
};

/* Exists while a sample of a space is open, waited for, or to be prepared. */
struct wanted {
	UT_hash_handle hash;
	struct wanted_key key;
	enum wanted_state state;
	struct share_request
		request; /* in no lane while the wanted sample is delayed or loading */
	uint32_t opens;	 /* handles that hold or wait for the tensor */
	/* The job that asked first since the wanted sample was last without a request; 0: another
	 * daemon. */
	job_id asked_by;
	TAILQ_ENTRY(wanted) link;
	TAILQ_HEAD(, sched_handle) waiters;
	uint64_t due_ns; /* while delayed: time of the next try */
	bool lacks_room; /* while delayed: readers hold much open */
	unsigned retries;
	uint64_t first_try_ns; /* when it was delayed first */
	bool here;     /* this daemon prepares it, even if its home is another daemon */
	bool fetching; /* loading, from another daemon */
	bool is_read;  /* loading, and being read */
	struct sched_fetch fetch;
	/* while loading */
	uint64_t read_ns;    /* when its read began */
	uint64_t file_bytes; /* counted until its decode begins */
	uint32_t tier_worth; /* worth to its tier, once it is read */
	uint64_t working;    /* bytes that decoding takes beside the tensor */
	struct dataset_sample sample;
	struct load_task task;
	struct wanted_second *second; /* the second file, or later frames; or NULL */
	bool in_file; /* the space's in_files and head when loading began */
	struct file_head head;
	struct wanted
		*also; /* the same sample of another space, which shares the decode */
};

TAILQ_HEAD(wanted_queue, wanted);

/* The samples of a program. taken: those that are loading for it; running: those that it
 * prepares. */
struct program_load {
	unsigned processes, taken, running;
};

/* A device or a server on which files of datasets lie. */
struct storage {
	uint64_t device;
	char *root; /* the root of the first dataset on it, used as its name */
	struct flight flight;
	unsigned urgent, queued;     /* wanted samples that wait to be read */
	struct wanted_queue reading; /* ordered by read_ns */
	unsigned waiting;	     /* wanted samples that wait for a decoder */
	uint64_t latency_ns;	     /* recent mean of the duration of a read */
	/* Bytes of the smallest queued look-ahead that did not fit into the cache; 0: not known. */
	uint64_t ahead_needs;
	uint64_t lacked;  /* scratch: collects ahead_needs while requests are offered */
	unsigned offered; /* scratch: look-ahead that was offered */
	uint64_t bytes;	  /* bytes of files that are being read or wait for a decoder */
	uint64_t reads, read_bytes; /* reads that have ended, and their bytes */
	bool silent;		    /* the log tells that it does not answer */
};

/* The calls by which the supply reports to the scheduler. */
struct supply_calls {
	/* Reports that the handle's tensor is ready, or will not come (status). Called
	 * once for each handle that waits. */
	void (*done_locked)(
		struct sched_handle *handle, int status, struct aftermath *aftermath);
	/* Reports a sample whose own file is bad. damaged: it fails until its file
	 * changes. */
	void (*bad_locked)(const struct space *space, sample_id sample, bool damaged);
	/* Reports that the sample waits for another cause from now on. Called just before
	 * or just after the change. */
	void (*moved_on_locked)(struct wanted *wanted, uint64_t now_ns);
	/* Tells a tier the worth of its samples. Takes the lock. context: the scheduler. */
	void (*worths)(void *context, struct tier_asked *asked, size_t n);
};

/* --- source.c --- */

must_check int sources_init(
	struct sched *sched, struct dataset **datasets, size_t n, uint64_t seed);
void sources_free(struct sched *sched);
/* Returns the source of this name that is not removed, or NULL. */
struct source *source_find_locked(const struct sched *sched, const char *name);
/* Opens the kept edition `number` of the dataset that `now` has, or finds the source that
 * has it open. Counts the caller as one of the source's jobs. */
must_check int source_open_kept(struct source *now, uint32_t number, struct source **ret);
/* Returns the source of this name, which has to be taken. */
struct source *source_taken_locked(const struct sched *sched, const char *name);
/* Adds a source that is marked as removed from the start, so that nobody finds it by
 * name. Counts the caller as its only job. */
must_check int source_put_beside(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, struct source **ret);
/* Frees removed sources that have no job. No lock held. */
void sources_sweep(struct sched *sched);
/* Makes the source's sampler that exchanges samples within a label. -ENOMEM. No lock held. */
must_check int source_label(struct source *source);

/* --- wanted.c: samples that are open or are to be prepared --- */

struct wanted *wanted_find_locked(const struct space *space, sample_id sample);
/* Returns the wanted sample, and makes it if there is none. NULL: no memory. */
struct wanted *wanted_get_locked(struct space *space, sample_id sample);
/* Queues the wanted sample for the job, unless it is being prepared already. urgent: a reader of
 * the job waits. -ENOMEM */
must_check int wanted_request_locked(struct sched_job *job, struct wanted *wanted,
	bool urgent, struct aftermath *aftermath);
/* Frees the wanted sample, if nothing needs it any more. Called after a pin was given back. */
void wanted_unpinned_locked(struct space *space, sample_id sample);
/* Gives the handle's tensor and its wanted sample back. */
void wanted_detach_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Queues the wanted sample in the lanes of the jobs that asked for it. */
void wanted_queue_locked(struct wanted *wanted, bool urgent);
/* Removes the wanted sample from all lanes, or from the delayed ones, or ends its loading. */
void wanted_unqueue_locked(struct wanted *wanted);
/* Marks the wanted sample as loading; `share_next` removes it from the lanes. */
void wanted_taken_locked(struct wanted *wanted);
/* Tells whether somebody has drawn the sample, or has it open. */
bool wanted_is_pinned(const struct wanted *wanted);
/* Frees the wanted sample, if nothing needs it any more. */
void wanted_drop_if_unused_locked(struct wanted *wanted);
/* Evicts the tensor, although it is pinned by a draw, if the cache exceeds its capacity
 * and nobody has the tensor open. */
void wanted_keep_capacity_locked(struct wanted *wanted);

/* --- prepare.c: tasks for workers --- */

struct load_task *sched_next_read(void *context);
void sched_read(void *context, struct load_task *task);
struct load_task *sched_next_decode(void *context);
struct load_task *sched_next_run(void *context);
void sched_load_done(void *context, struct load_task *task);
/* Publishes the tensor of a wanted sample that was loading, and answers its waiters. */
void load_publish_locked(
	struct wanted *wanted, struct tensor *tensor, struct aftermath *aftermath);
/* Tells whether a reader thread that looked now would find a task. Returns true if that
 * is not known. */
bool prepare_waits_locked(const struct sched *sched);
/* Tells whether there is such a task, and a sleeping reader thread should be woken for
 * it. */
bool prepare_wakes_locked(const struct sched *sched);

/* --- program.c --- */

must_check int program_loads_new(struct sched *sched);
/* Counts the wanted sample among those that load for its program: 1 when it begins to load, -1 when
 * it ends. */
void program_change_taken_locked(const struct wanted *wanted, int taken);
/* Tells whether a sample may be read for its program; true where no program prepares it. */
must_check bool program_has_room_locked(const struct wanted *wanted);
/* Tells whether a program prepares the sample, and has a process for it. */
must_check bool program_may_run_locked(const struct wanted *wanted);
void program_begin_locked(struct wanted *wanted);
void program_end_locked(struct wanted *wanted, struct aftermath *aftermath);
/* Finds the job's program, and sets the job's preparation. -EINVAL, reported: there is none, or
 * its arrays do not fit the job. */
must_check int program_adopt(struct sched *sched, struct job_config *config,
	config_report *report, void *context);

/* --- storage.c: requests of each storage --- */

#define STORAGE_MOST_READS                                                               \
	1024 /* most reads of one storage at once, and the most that `reads` allows */

/* Returns the device or server of the dataset's files; 0: not known. */
uint64_t storage_device(const struct dataset *dataset);
/* Finds the storage of the device, or makes it. root: the name of a new one. -ENOMEM, -ENFILE */
must_check int storage_of_locked(
	struct sched *sched, uint64_t device, const char *root, struct storage **ret);
unsigned storage_most_reads(const struct sched *sched); /* sum of all storages */
bool storage_has_room_locked(const struct sched *sched, const struct storage *storage);
/* Tells whether a reader is to be woken for the storage's requests. */
bool storage_wakes_reader_locked(
	const struct sched *sched, const struct storage *storage);
/* Tells whether a request could be read now. */
bool storage_has_requests_locked(
	const struct sched *sched, const struct storage *storage);
/* Notes that the wanted sample's read begins. The wanted sample must be in no queue. */
void storage_begin_locked(struct wanted *wanted);
/* Notes that the read has ended, and queues the wanted sample for a decoder. */
void storage_end_locked(struct wanted *wanted);
/* Notes that the decode begins, and removes the wanted sample from the queue for decoders. */
void storage_decodes_locked(struct wanted *wanted);
void storage_status_locked(const struct sched *sched, const struct storage *storage,
	struct sched_storage *ret);
/* Logs storages that have stopped or resumed answering. No lock held. */
void storages_report(struct sched *sched);

/* --- tiers.c: disks that keep samples as they were read --- */

/* Opens the tier of the source's configuration, if there is one, or finds it open. Called by one
 * thread at a time, without the lock. Errors of the tier are logged. */
must_check int tier_find(struct source *source, const struct dataset_config *config);
/* Adds the dataset to its tier. The tier keeps the source's address, which may not change. */
must_check int tier_join_locked(struct source *source);
/* Counts the running epochs that have yet to draw the sample, and the spaces in which it is
 * drawn and waits to be read; with `loading` also those in which it is loading. */
uint32_t tier_need_locked(const struct source *source, sample_id sample, bool loading);
/* Returns the worth of a sample that was just read, as src/tier/policy.h defines it. */
uint32_t tier_worth_of_read_locked(const struct source *source, sample_id sample);
/* Describes the sample to the tier, for the thread that reads it. No lock held. */
struct tier_sample tier_sample_of(
	const struct source *source, sample_id id, const struct dataset_sample *sample);
void tiers_close(struct sched *sched);

/* --- fetch.c: tensors from another daemon --- */

/* Tells whether to ask another daemon for the sample, which is about to be read. */
bool fetch_is_due_locked(const struct wanted *wanted);
/* Asks another daemon for a wanted sample that is loading and `fetching`. The wanted sample may have
 * ended when this returns. No lock held. */
void fetch_begin(struct wanted *wanted);

/* --- decode_cost.c --- */

/* Adds a value to a running mean of recent values. *mean is 0 before the first value. */
void shares_mean(uint64_t *mean, uint64_t value);
uint64_t shares_cost(const struct space *space); /* ns of decode time of a sample */

/* --- same_image.c: images that several datasets have --- */

/* Tells whether the image of this sample, which was read, is being decoded for another one. */
bool same_is_under_way_locked(const struct wanted *wanted);
/* Begins the wanted sample's decode. Its tasks get the tensors that other datasets have; from now
 * on other wanted samples find this one. */
void same_begin_locked(struct wanted *wanted);
/* Forgets where the sample's image is, since the sample is neither in the cache nor
 * loading. */
void same_gone_locked(struct space *space, sample_id sample);
void same_validate_locked(const struct sched *sched);
void same_free(struct sched *sched);

/* --- retry.c: errors that pass --- */

/* Delays a wanted sample that is in no queue, by at_least_ns or more. false: it was tried often enough, or
 * nobody wants it. */
bool retry_later_locked(struct wanted *wanted, bool lacks_room, uint64_t at_least_ns);
/* Tells whether the wanted sample may be delayed once more. */
bool retry_is_left(const struct wanted *wanted);
/* Queues the wanted samples that are due. */
void retry_due_locked(struct sched *sched, struct aftermath *aftermath);
/* Queues the wanted samples that lacked room. Called when readers hold less open than before. */
void retry_with_room_locked(struct sched *sched, struct aftermath *aftermath);
uint64_t retry_first_due_locked(const struct sched *sched); /* UINT64_MAX: none */

/* --- memory.c: how much the daemon may hold --- */

struct memory_size {
	uint64_t tensor; /* bytes */
	/* most bytes that its preparation needs in addition to the tensor */
	uint64_t working;
};

/* Returns zeros for a sample that is refused, or whose header is not readable. */
struct memory_size memory_size_of(
	const struct sched *sched, const struct space *space, sample_id sample);
/* Returns the bytes of the sample's files; 0 for a refused sample, whose files are not read. */
uint64_t memory_file_bytes(
	const struct sched *sched, const struct space *space, sample_id sample);
uint64_t memory_tensor_bytes(const struct sched *sched, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample);
/* Tells whether the sample can never be prepared within the limits; `message` then gives
 * the reason. */
bool memory_refuses(const struct sched *sched, const struct space *space,
	sample_id sample, char message[static IMAGE_MESSAGE]);
/* Tells whether there is room for a tensor that a reader waits for. If false, there is
 * none until readers hold less open. */
bool memory_has_room_locked(const struct sched *sched, uint64_t tensor_bytes);
/* Tells whether a file may be read. If false, it may not until less is being read. */
bool memory_may_read_locked(const struct sched *sched, uint64_t file_bytes);
/* Tells whether a decode may begin. If false, it may not until less is being decoded. */
bool memory_may_decode_locked(const struct sched *sched, uint64_t working);
void memory_change_working_locked(struct sched *sched, int64_t by);
uint64_t memory_most_open(
	const struct sched *sched); /* the cache and the limit of open bytes beyond it */
uint64_t memory_most(const struct sched *sched); /* sum of all limits */
void memory_stats_locked(const struct sched *sched);

/* --- bad_sample.c --- */

/* Logs the failure. The message tells the user how to leave the sample out, since few
 * scripts survive EIO. */
void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task);

/* --- space.c --- */

/* Makes a space, which takes a while for millions of ids. No lock held. -ENOMEM */
must_check int space_make(
	struct source *source, const struct preparation *preparation, struct space **ret);
/* Returns the source's space for the preparation of *spare. If there is none yet, *spare
 * becomes that space, and *spare is set to NULL. */
struct space *space_get_locked(struct space **spare);
/* Gives a reference back. After the last one the space's tensors are freed when the lock is
 * released, unless a job takes the space again. */
void space_put_locked(struct space *space);
/* Frees some tensors of a space without references. Returns true if there is more to do.
 * *ret: an emptied space, which the caller frees, or NULL. */
bool spaces_leave_locked(struct sched *sched, struct space **ret);
/* Frees the space, which may have millions of ids. No lock held. */
void space_free(struct space *space);
/* Tells whether the sample is in the cache, or will be: queued, delayed or loading. */
bool space_has_locked(const struct space *space, sample_id sample);
/*
 * Tells the other samplers that this sampler's draw brings the sample into the cache, but
 * only if the draw did not depend on the sample itself. It does depend on it where a
 * script asks for a label, a job reads in sequential order, or a mirror is read by name.
 * If other samplers exchanged for such samples, some samples would come early.
 */
void space_drawn_locked(
	struct space *space, sample_id sample, const struct sampler *sampler);
/* Tells all samplers that the sample is no longer in the cache. */
void space_gone_locked(struct space *space, sample_id sample);
cache_gone sched_cache_gone;
/* Returns how the sample would be served now: as a hit, shared, or decoded. */
enum served how_served_locked(struct space *space, sample_id sample);
/* Gives a pin of the sample back. */
void unpin_locked(struct space *space, sample_id sample, struct aftermath *aftermath);
