// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/histogram.h"
#include "cache/cache.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "epoch/record.h"
#include "load/file_head.h"
#include "load/flight.h"
#include "load/load.h"
#include "sampler/sampler.h"
#include "share/share.h"
#include "supply/space.h"

#include <stdatomic.h>
#include <sys/queue.h>

/* This option of uthash makes a failed insertion leave hash.tbl NULL, instead of ending the
 * process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * The supply decides which wanted sample is read, fetched and decoded next, which sample is tried
 * again, and which tensors the cache keeps. The engine is pure: events go in, effects come out.
 * It has no lock, thread or clock, reads no file, and calls back only is_elsewhere.
 *
 *            source (a dataset)
 *           /       |
 *      samplers   spaces (dataset, preparation)
 *                   |
 *              wanted samples --- waiters
 *
 *   source     a dataset, as the scheduler knows it
 *   space      the tensors of a source with one preparation
 *   wanted     a sample of a space that has to be prepared, or that readers wait for
 *   waiter     an open that waits for a wanted sample
 *   chain      wanted samples of several spaces that are the same sample, decoded once for all
 *   look-ahead samples that were drawn, and for which no reader waits yet
 *
 *   Flow: an event is one call. Its effects are in supply->effects, which the caller executes
 *         before the next event (supply_take_effects):
 *
 *         supply_want -----> reads, and a reader calls supply_next_read
 *              --> the caller reads the file, or fetches the tensor from another daemon
 *         supply_was_read --> decodes, moved, and a decoder calls supply_next_decode
 *         supply_done,    --> ready: the waiters are answered; or the sample is tried again:
 *         supply_fetched      delayed, and supply_time or supply_has_room queues it
 *         supply_drop, supply_detach --> gone: the sample will not be loaded
 *
 *   Owns: wanted samples, requests, and what is known of images that several datasets have. The
 *         caller owns sources and spaces.
 *   Threads: the caller serialises.
 *   Errors: -ENOMEM from supply_want. Other errors go to the waiters.
 *
 *   wanted.c       samples that are open, waited for, or to be prepared
 *   next_read.c    the sample that is read next
 *   next_decode.c  the sample that is decoded next, and the end of loading
 *   retry.c        samples that are tried again later
 *   program.c      samples that a program prepares
 *   storage.c      requests and reads in flight of each storage
 *   space.c        tensors of one preparation (space.h)
 *   memory.c       how much memory images may take
 *   same_image.c   images that several datasets have
 *   validate.c     checks of invariants, for tests
 */

struct wanted_second;

struct wanted_key {
	struct space *space;
	uint64_t sample;
};

enum wanted_state {
	WANTED_OPEN_ONLY, /* is not requested; readers that waited for it have it open */
	WANTED_QUEUED,	  /* drawn ahead: jobs have asked for it */
	WANTED_URGENT,	  /* jobs have asked for it, and a reader is waiting */
	WANTED_DELAYED,	  /* could not be prepared, and is tried again when it is due */
	WANTED_LOADING	  /* is being read, fetched or decoded, or waits for a decoder */
};

/* The memory that a sample needs. */
struct memory_size {
	uint64_t tensor; /* bytes of the tensor */
	/* The most bytes that the preparation needs at a time, in addition to the tensor. */
	uint64_t working;
};

/* Facts about a sample that never change. If the sample is refused, the numbers are 0, and `alone`
 * is true. */
struct wanted_needs {
	struct memory_size memory;
	uint64_t file; /* bytes of the sample's files */
	bool alone;    /* the sample's decode can't make tensors of other preparations */
};

/* An open that waits for a tensor, and its answer. */
struct waiter {
	TAILQ_ENTRY(waiter) link;
	struct share_job *job;
	bool waits; /* the waiter is in the list of a wanted sample */
	/* The members from here on are the answer. */
	int status;
	bool bad; /* status is an error that is not transient: the sample is at fault */
};
TAILQ_HEAD(waiters, waiter);

/* A sample that some job wants with one preparation. A wanted sample exists while it has to be
 * prepared, while readers wait for it, and while readers that have waited have it open. */
struct wanted {
	UT_hash_handle hash;
	struct wanted_key key;
	enum wanted_state state;
	/* the request of all jobs that want the sample; not queued while the sample is delayed or
	 * loading */
	struct share_request request;
	/* number of readers that wait for the sample, or that have waited and have it open */
	uint32_t opens;
	/* the first job that requested the sample; 0: another daemon did */
	job_id asked_by;
	TAILQ_ENTRY(wanted) link;
	struct waiters waiters;
	struct wanted_needs needs; /* valid from the first request on */
	uint64_t due_ns;	   /* while delayed: time of the next try */
	bool lacks_room;	   /* while delayed: readers have too much open */
	unsigned retries;
	uint64_t first_try_ns; /* when the sample was first delayed */
	/* the sample has to be prepared here, and not fetched from its home */
	bool here;
	/* the cache prefers to evict this tensor as soon as no stream needs it (cache_spare) */
	bool spare;
	bool fetching; /* loading: being fetched from another daemon */
	bool is_read;  /* loading: its file is being read */
	/* The members from here on are used while the sample is loading. */
	uint64_t read_ns;    /* when the read began */
	uint32_t tier_worth; /* the sample's worth for its tier when the read began */
	/* bytes that the decode under way needs in addition to the tensor */
	uint64_t working;
	/* belongs to the caller; the engine reads `identity` and sets `same` */
	struct load_task task;
	struct dataset_sample sample; /* belongs to the caller */
	/* belongs to the caller: the second file of a pair, or the later frames of a group */
	struct wanted_second *second;
	bool in_file; /* the value of the space's in_files when loading began */
	struct file_head head;
	/* next in the chain: the same sample with another preparation, for which the same decode
	 * makes a tensor */
	struct wanted *also;
};

TAILQ_HEAD(wanted_queue, wanted);

/* The load of a program. taken: number of samples that are loading for the program; running: number
 * of samples that it is preparing. */
struct program_load {
	unsigned processes, taken, running;
};

/* A device or a server that has files of datasets. */
struct storage {
	uint64_t device;
	char *root; /* root of the first dataset on it, which is its name */
	struct flight flight;
	/* number of samples in the state WANTED_URGENT, and in WANTED_QUEUED */
	unsigned urgent, queued;
	struct wanted_queue reading; /* samples that are being read, ordered by read_ns */
	unsigned waiting; /* number of samples that were read and wait for a decoder */
	/* mean duration of recent reads, in ns; 0: not measured yet */
	uint64_t latency_ns;
	/* Bytes of the smallest tensor that was drawn ahead and did not fit into the cache. Until
	 * the cache has this much room, no sample drawn ahead is tried. 0: not known. */
	uint64_t ahead_needs;
	/* becomes ahead_needs when a search for a sample to read (next_read.c) has found none */
	uint64_t lacked;
	/* number of samples drawn ahead that the present search has tried */
	unsigned offered;
	/* bytes of files that are being read, or were read and wait for a decoder */
	uint64_t bytes;
	/* number of completed reads, and the bytes that they read */
	uint64_t reads, read_bytes;
	bool silent; /* the log says that the storage does not answer */
};

/* The effects of an event. The caller executes them. */
struct supply_effects {
	bool reads;   /* READ: wake a reader, if supply_wakes_reader is true */
	bool decodes; /* DECODE: wake a decoder */
	/* number of samples that this event has delayed; if not 0, the housekeeper has to call
	 * supply_first_due again */
	unsigned delayed;
	/* READY: answer these waiters, whose tensor is there or will not come */
	struct waiters ready;
	/* MOVED: the read of this sample, and of the samples that share its decode, began or ended
	 * at moved_ns. From then on their readers wait for another reason (is_read). NULL: none. */
	struct wanted *moved;
	uint64_t moved_ns;
	/* GONE: the sample is not in the cache, and is not being loaded. NULL: none. */
	struct space *gone;
	sample_id gone_sample;
	/* BAD: this sample could not be prepared, because of its own file or its program. damaged:
	 * every further try will fail until the file changes. */
	struct space *bad;
	sample_id bad_sample;
	bool damaged;
};

struct supply {
	const struct daemon_config *config;
	struct cache *cache;
	bool copies; /* tensors are copied to files that the kernel can read */
	/* room for CONFIG_MOST_DATASETS entries; an unused entry has no dataset */
	struct source **sources;
	size_t n_sources;      /* number of entries that were ever used */
	struct wanted *wanted; /* hash table */
	struct shares shares;
	/* one per device; array of CONFIG_MOST_DATASETS entries */
	struct storage *storages;
	size_t n_storages;
	struct wanted_queue read; /* samples that wait for a decoder or a program */
	struct program_load *program_loads; /* indexed by the program's number */
	struct wanted_queue delayed;
	/* number of samples that are delayed because readers have too much open */
	uint32_t lack_room;
	/* number of spaces without references */
	uint32_t n_deserted;
	/* hash table of images that several datasets have (same_image.c) */
	struct same *same;
	/* hash table: the samples that have these images */
	struct same_place *same_places;
	uint64_t cost_ns;    /* mean duration of recent decodes, in ns */
	uint64_t decoded_ns; /* decode time in ns since the caller last set this to 0 */
	/* reading, working, contents: bytes in use for files, decodes and contents (memory.c);
	 * held_peak: the largest number of bytes that the daemon has used so far */
	uint64_t reading, working, contents, held_peak;
	bool stopping; /* no sample is read or tried again */
	struct supply_effects effects;
};

/* Initialises an engine, whose struct must be zeroed. The caller then sets the arrays `sources`,
 * `storages` and `program_loads`; supply_end frees them. */
void supply_init(
	struct supply *supply, const struct daemon_config *config, struct cache *cache);
/* Frees the data of the engine, including samples that are still wanted. All jobs must have
 * left. */
void supply_end(struct supply *supply);
/* Moves the effects that came since the last call to *ret. */
void supply_take_effects(struct supply *supply, struct supply_effects *ret);
/* Tells whether there are effects besides READ. Closing a file mostly has no other effect. */
static inline bool supply_has_effects(const struct supply *supply)
{
	const struct supply_effects *effects = &supply->effects;
	return effects->decodes || effects->delayed > 0 || effects->moved ||
	       effects->gone || effects->bad || !TAILQ_EMPTY(&effects->ready);
}
/* Aborts if an invariant does not hold. For tests. */
void supply_validate(const struct supply *supply);

/* --- events ------------------------------------------------------------------------ */

/* Event: a job wants a sample. Queues the sample, unless it is already being prepared. urgent: an
 * open of the job waits for it. needs: facts about the sample; only read if the sample is in the
 * state WANTED_OPEN_ONLY. -ENOMEM */
struct want {
	struct share_job *job;
	job_id id; /* the job's id; 0: another daemon wants the sample */
	bool urgent;
	struct wanted_needs needs;
};
must_check int supply_want(
	struct supply *supply, struct wanted *wanted, const struct want *want);
/* Adds a waiter to a wanted sample. The waiter's job must want the sample. */
void supply_wait(struct wanted *wanted, struct waiter *waiter);
/* Removes a waiter that has given up. Does nothing if the waiter is not waiting. */
void supply_stop_waiting(struct wanted *wanted, struct waiter *waiter);
/* Opens a sample whose tensor is ready; no wanted sample is needed. Returns false if the tensor is
 * not ready. */
must_check bool supply_open(struct space *space, sample_id sample);
void supply_close(struct space *space, sample_id sample);
/* Ends an open of the wanted sample, and removes the open's pin. */
void supply_detach(struct supply *supply, struct wanted *wanted, struct share_job *job);
/* Removes a pin of the sample that a draw has added. */
void supply_drop(struct space *space, sample_id sample);

/* Tells whether the caller should fetch the sample from another daemon. */
typedef bool supply_is_elsewhere(void *context, const struct wanted *wanted);
/* Event: a reader is free. Returns the next sample; NULL: there is none. The caller has to fetch
 * the sample if its field `fetching` is true, and to read it otherwise. is_elsewhere: tells whether
 * a sample can be fetched; NULL: nothing is fetched. */
struct wanted *supply_next_read(struct supply *supply, uint64_t now_ns,
	supply_is_elsewhere *is_elsewhere, void *context);
/* Event: the sample's file was read. The caller has set the image's identity in the sample's
 * task. */
void supply_was_read(struct supply *supply, struct wanted *wanted, uint64_t now_ns);
/* Event: a decoder is free (of_program is false), or a process of a program is (of_program is
 * true). Returns the sample to prepare. NULL: there is no such sample, or not enough memory. */
struct wanted *supply_next_decode(struct supply *supply, bool of_program);

/* The result of a decode. */
struct supply_result {
	int status;
	bool passing;	   /* the error is transient */
	bool damaged;	   /* preparing the sample will fail until its file changes */
	uint64_t retry_ns; /* least delay before the next try; 0: any */
	/* NULL unless status is 0; the engine takes ownership */
	struct tensor *tensor;
	/* the tensor was not decoded, but taken from another dataset (same_image.c) */
	bool same;
};
/* Event: a sample was decoded, or has failed. The caller calls this for each sample of a shared
 * decode. The wanted sample may then be freed. */
void supply_done(struct supply *supply, struct wanted *wanted,
	const struct supply_result *result, uint64_t now_ns);
/* Adds the duration of a decode to the means. The caller calls this before supply_done. */
void supply_note_cost(struct space *space, uint64_t decode_ns);
/* Event: a program has finished with the sample. The caller calls this before supply_done. */
void program_end(struct supply *supply, const struct wanted *wanted);
/* Event: the tensor came from another daemon. The engine takes ownership of it. */
void supply_fetched(struct supply *supply, struct wanted *wanted, struct tensor *tensor,
	uint64_t now_ns);
/* Event: the sample could not be fetched from another daemon. If the sample is still needed, it is
 * queued to be prepared here. Otherwise the wanted sample may be freed. spare: the cache shall
 * prefer to evict the tensor as soon as no stream needs it (cache_spare). */
void supply_not_fetched(struct supply *supply, struct wanted *wanted, bool spare);

/* Event: time has passed. Queues the samples that are due. */
void supply_time(struct supply *supply, uint64_t now_ns);
/* Returns when the first delayed sample is due; UINT64_MAX: none is delayed. */
uint64_t supply_first_due(const struct supply *supply);
/* Event: readers have less open than before. Queues the delayed samples that lacked room. */
void supply_has_room(struct supply *supply);

/* --- wanted.c ---------------------------------------------------------------------- */

struct wanted *wanted_find(const struct space *space, sample_id sample);
/* Returns the wanted sample; creates it if it does not exist. NULL: no memory. */
struct wanted *wanted_get(struct space *space, sample_id sample);
/* Frees the wanted sample if it is not needed any more. */
void wanted_drop_if_unused(struct wanted *wanted);
/* Tells whether the sample will be tried again if a transient error occurs now. */
bool retry_is_left(const struct wanted *wanted);

/* --- next_read.c ------------------------------------------------------------------- */

/* Tells whether a sleeping reader should be woken, because there is a sample to read. */
bool supply_wakes_reader(const struct supply *supply);

/* --- storage.c --------------------------------------------------------------------- */

/* The largest number of reads of one storage in flight, and the largest value of the key
 * `reads`. */
#define STORAGE_MOST_READS 1024

/* Returns the storage of the device; creates it if it does not exist. root: the name for a new
 * storage. -ENOMEM, -ENFILE */
must_check int storage_get(
	struct supply *supply, uint64_t device, const char *root, struct storage **ret);
/* Returns the limit of reads in flight of all storages together. */
unsigned storage_most_reads(const struct supply *supply);
bool storage_has_room(const struct supply *supply, const struct storage *storage);
/* Returns the time for which the storage has not answered; 0: it answers. */
uint64_t storage_silent_ns(const struct storage *storage, uint64_t now_ns);

/* --- same_image.c ------------------------------------------------------------------ */

/* Tells same_image.c that the sample's tensor is neither in the cache nor loading any more. */
void same_gone(struct space *space, sample_id sample);

/* --- memory.c: how much the daemon may hold ---------------------------------------- */

/* Returns how much memory the preparation of a sample needs, and how many bytes its files have. */
struct wanted_needs wanted_needs_of(const struct space *space, sample_id sample);
/* Returns the memory that the sample needs. Zeros: the sample is refused, or its header can't be
 * read. */
struct memory_size memory_size_of(
	const struct supply *supply, const struct space *space, sample_id sample);
uint64_t memory_tensor_bytes(const struct supply *supply, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample);
/* Tells whether the sample can never be prepared within the limits. If so, `message` is the
 * reason. */
bool memory_refuses(const struct supply *supply, const struct space *space,
	sample_id sample, char message[static IMAGE_MESSAGE]);
/* Returns the limit of the cache plus the limit of the bytes that readers have open beyond it. */
uint64_t memory_most_open(const struct supply *supply);
uint64_t memory_most(const struct supply *supply); /* sum of all limits in memory.c */
uint64_t memory_held(const struct supply *supply);
/* Counts bytes of contents that were made from a tensor for one open. -ENOMEM: readers have too
 * much open. */
must_check int supply_hold_content(struct supply *supply, uint64_t bytes);
void supply_drop_content(struct supply *supply, uint64_t bytes);

/* --- bad_sample.c ------------------------------------------------------------------ */

/* Notes a failure of the sample. Returns true if the sample has not failed before, in any job. If a
 * program prepares the sample, failures with other programs do not count. */
bool bad_sample_is_new(struct space *space, sample_id sample);
/* Logs the failure. The message explains how to leave the sample out, because few scripts can
 * handle EIO. */
void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task);
