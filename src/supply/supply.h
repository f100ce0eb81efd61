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

/* If there is no memory, an insertion leaves hash.tbl NULL instead of ending the process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * The supply decides which wanted sample is read, fetched and decoded next, which sample is tried
 * again, and which tensors the cache keeps. The engine is pure: it has no lock, thread, clock or
 * file. Its only callback is is_elsewhere.
 *
 *            source (a dataset)
 *           /       |
 *      samplers   spaces (dataset, preparation)
 *                   |
 *              wanted samples --- waiters
 *
 *   waiter     an open that waits for a wanted sample
 *   chain      one sample that is wanted in several spaces; one decode serves them all
 *
 *   Flow: an event is one call. Its effects are in supply->effects, which the caller executes
 *         before the next event (supply_take_effects):
 *
 *         event              effect     what follows
 *         supply_want        reads      a reader calls supply_next_read, then reads the file, or
 *                                       fetches the tensor from another daemon
 *         supply_next_read   moved      the caller notes why readers wait
 *                            delayed,   an urgent sample has no room: it is tried again later,
 *                            ready      or its waiters get an error
 *         supply_was_read    moved      the caller notes why readers wait
 *                            decodes    a decoder calls supply_next_decode
 *         supply_done        ready      the waiters are answered
 *                            delayed    supply_time or supply_has_room queues the sample again
 *                            bad        jobs with bad_sample = skip leave the sample out later
 *         supply_fetched     ready      the waiters are answered
 *         supply_drop        gone       the sample will not be loaded
 *         supply_detach      gone       the sample will not be loaded
 *
 *         Most events also have the effects `reads` or `decodes`, because they make room.
 *
 *   Owns: wanted samples, requests, and tables of images that several datasets have. The caller
 *         owns sources and spaces.
 *   Threads: the caller serialises.
 *   Errors: -ENOMEM from supply_want. Other errors go to the waiters.
 */

struct wanted_second;

struct wanted_key {
	struct space *space;
	uint64_t sample;
};

enum wanted_state {
	/* not requested: new, or kept because readers that have waited for it have it open */
	WANTED_OPEN_ONLY,
	WANTED_QUEUED,	/* requested, drawn ahead */
	WANTED_URGENT,	/* requested, and a reader is waiting */
	WANTED_DELAYED, /* could not be prepared; tried again later */
	WANTED_LOADING	/* is being read, fetched or decoded, or waits for a decoder */
};

struct memory_size {
	uint64_t tensor; /* bytes of the tensor */
	/* most bytes that the preparation uses at one time, besides the tensor */
	uint64_t working;
};

/* Bytes that the preparation of a sample takes; constant. If the sample can never be prepared
 * (memory_refuses), all numbers are 0, and `alone` is true. */
struct wanted_needs {
	struct memory_size memory;
	uint64_t file; /* bytes of the sample's files */
	bool alone;    /* the decode makes no tensors for other preparations */
};

/* An open that waits for a tensor. The supply answers by setting status and bad. */
struct waiter {
	TAILQ_ENTRY(waiter) link;
	struct share_job *job;
	bool waits; /* the waiter is in the list of a wanted sample */
	int status;
	bool bad; /* status is an error that is not transient */
};
TAILQ_HEAD(waiters, waiter);

/* A sample with one preparation. It has to be prepared, or a reader waits for it, or a reader that
 * has waited for it has it open. */
struct wanted {
	UT_hash_handle hash;
	struct wanted_key key;
	enum wanted_state state;
	struct share_request request; /* one for all jobs that want the sample */
	/* number of readers that wait for the sample, or have waited and have it open; the caller
	 * adds a reader, supply_detach subtracts it */
	uint32_t opens;
	job_id asked_by; /* first job that requested the sample; 0: another daemon */
	TAILQ_ENTRY(wanted) link;
	struct waiters waiters;
	struct wanted_needs needs; /* valid from the first request on */
	uint64_t due_ns;	   /* delayed: time of the next try */
	bool lacks_room;	   /* delayed because readers have too much open */
	unsigned retries;
	uint64_t first_try_ns; /* time when the sample was first delayed */
	bool here;	       /* prepare here; don't fetch from the sample's home */
	bool spare; /* the tensor is evicted first if no stream needs it (cache_spare) */
	/* The fields from here to `also` are used only while the sample is loading. */
	bool fetching;	     /* the tensor comes from another daemon */
	bool is_read;	     /* the sample's file is being read */
	uint64_t read_ns;    /* time when the read began */
	uint32_t tier_worth; /* the sample's worth for its tier when the read began */
	uint64_t working;    /* bytes of the decode under way, besides the tensor */
	/* belongs to the caller, but the engine reads `identity` and sets `same` */
	struct load_task task;
	struct dataset_sample sample; /* belongs to the caller */
	/* belongs to the caller: the second file of a pair, or the later frames of a group */
	struct wanted_second *second;
	bool in_file; /* the tensor is copied to a file for the kernel (space.in_files) */
	struct file_head head;
	struct wanted *also; /* the next sample of the chain */
};

TAILQ_HEAD(wanted_queue, wanted);

/* The load of one program (prepare/prepare.h). processes: number of the program's processes. taken:
 * number of the program's samples that are in WANTED_LOADING. running: number of these samples that
 * a process prepares now. */
struct program_load {
	unsigned processes, taken, running;
};

/* A device or a server with files of datasets. */
struct storage {
	uint64_t device;
	char *root; /* the storage's name: the root of its first dataset */
	struct flight flight;
	unsigned urgent, queued;     /* samples in WANTED_URGENT, WANTED_QUEUED */
	struct wanted_queue reading; /* samples being read, ordered by read_ns */
	unsigned waiting;	     /* samples that were read and wait for a decoder */
	uint64_t latency_ns; /* mean duration of recent reads; 0: not measured yet */
	/* bytes of the smallest tensor that was drawn ahead and did not fit into the cache. Samples
	 * drawn ahead are tried again when the cache has this much room. 0: not known */
	uint64_t ahead_needs;
	/* bytes of the smallest tensor that was drawn ahead and did not fit into the cache during
	 * the present search for a sample to read (next_read.c); UINT64_MAX: none. Becomes
	 * ahead_needs if the search finds no sample. */
	uint64_t lacked;
	/* number of samples drawn ahead that the present search has tried */
	unsigned offered;
	uint64_t bytes; /* bytes of files being read, or waiting for a decoder */
	uint64_t reads, read_bytes; /* completed reads, and their bytes */
	bool silent; /* the log already says that the storage does not answer */
};

struct supply_effects {
	bool reads;   /* READ: wake a reader, if supply_wakes_reader is true */
	bool decodes; /* DECODE: wake a decoder */
	/* number of samples that were delayed; if not 0, the housekeeper calls supply_first_due */
	unsigned delayed;
	/* READY: answer these waiters; their tensor is there or will not come */
	struct waiters ready;
	/* MOVED: the read of this sample and its chain began or ended (is_read) at moved_ns, so the
	 * readers of the chain now wait for another reason. NULL: no read began or ended. */
	struct wanted *moved;
	uint64_t moved_ns;
	/* GONE: gone_sample of this space is neither in the cache nor loading; NULL: no sample */
	struct space *gone;
	sample_id gone_sample;
	/* BAD: bad_sample of this space failed because of its file or its program; NULL: no sample
	 * failed. damaged: the sample will fail until its file changes. */
	struct space *bad;
	sample_id bad_sample;
	bool damaged;
};

struct supply {
	const struct daemon_config *config;
	struct cache *cache;
	bool copies; /* tensors are copied to files that the kernel can read */
	/* array of CONFIG_MOST_DATASETS entries; the `dataset` of an unused entry is NULL */
	struct source **sources;
	size_t n_sources;      /* number of entries of `sources` that were ever used */
	struct wanted *wanted; /* hash table */
	struct shares shares;
	/* array of CONFIG_MOST_DATASETS entries; a device or server has one entry */
	struct storage *storages;
	size_t n_storages;
	struct wanted_queue read; /* samples that wait for a decoder or a program */
	struct program_load *program_loads; /* indexed by the program's number */
	struct wanted_queue delayed;
	uint32_t lack_room;  /* samples delayed because readers have too much open */
	uint32_t n_deserted; /* spaces without references */
	/* hash table: images that several datasets may have */
	struct same *same;
	struct same_place *same_places; /* hash table: samples that have such an image */
	uint64_t cost_ns;		/* mean duration of recent decodes */
	uint64_t decoded_ns; /* decode time since the caller last set this to 0 */
	/* Bytes in use (memory.c). reading: files that are being read, or wait for a decoder.
	 * working: running decodes. contents: contents made from a tensor for one open. held_peak:
	 * the most bytes ever held, tensors included. */
	uint64_t reading, working, contents, held_peak;
	bool stopping; /* no sample is read or tried again */
	struct supply_effects effects;
};

/* The caller zeroes *supply before this call. Later the caller sets `cache` and `copies`, and
 * allocates `sources`, `storages` and `program_loads`, which supply_end frees. */
void supply_init(struct supply *supply, const struct daemon_config *config);
/* All jobs must have left. */
void supply_end(struct supply *supply);
/* Moves to *ret the effects that were added since the last call of this function. */
void supply_take_effects(struct supply *supply, struct supply_effects *ret);
/* Tells whether there are effects besides `reads`. When a reader closes a file, `reads` is
 * usually the only effect. */
static inline bool supply_has_effects(const struct supply *supply)
{
	const struct supply_effects *effects = &supply->effects;
	return effects->decodes || effects->delayed > 0 || effects->moved ||
	       effects->gone || effects->bad || !TAILQ_EMPTY(&effects->ready);
}
void supply_validate(const struct supply *supply);

/* The arguments of supply_want. */
struct want {
	struct share_job *job;
	job_id id;   /* 0: another daemon wants the sample */
	bool urgent; /* an open waits for the sample */
	/* ignored if the sample is already requested or loading */
	struct wanted_needs needs;
};
/* Event: a job wants a sample that a draw or an open has pinned. The sample is queued unless it is
 * loading or delayed. -ENOMEM */
must_check int supply_want(
	struct supply *supply, struct wanted *wanted, const struct want *want);
/* Adds a waiter, whose job must already want the sample (supply_want). */
void supply_wait(struct wanted *wanted, struct waiter *waiter);
/* Removes a waiter whose open has given up. Does nothing if the waiter was answered. */
void supply_stop_waiting(struct wanted *wanted, struct waiter *waiter);
/* Opens a tensor without a struct wanted. Returns false if the tensor is not ready. */
must_check bool supply_open(struct space *space, sample_id sample);
void supply_close(struct space *space, sample_id sample);
/* Ends an open of the wanted sample, and removes the open's pin. */
void supply_detach(struct wanted *wanted, struct share_job *job);
/* Removes a pin that a draw has set on the sample. */
void supply_drop(struct space *space, sample_id sample);

/* Tells whether to fetch the sample from another daemon. */
typedef bool supply_is_elsewhere(void *context, const struct wanted *wanted);
/* Event: a reader is free. Returns the sample that the reader has to read, or to fetch if the
 * sample's field `fetching` is true; NULL: there is none. If is_elsewhere is NULL, nothing is
 * fetched. */
struct wanted *supply_next_read(struct supply *supply, uint64_t now_ns,
	supply_is_elsewhere *is_elsewhere, void *context);
/* Event: the sample's file was read, or the read failed. The caller has set task.identity, to zeros
 * after a failure. */
void supply_was_read(struct supply *supply, struct wanted *wanted, uint64_t now_ns);
/* Event: a decoder is free or, if of_program is true, a process of a program is free. Returns the
 * sample to prepare; NULL: there is none, or memory is short. */
struct wanted *supply_next_decode(struct supply *supply, bool of_program);

struct supply_result {
	int status;
	bool passing;	       /* the error is transient */
	bool damaged;	       /* the sample will fail until its file changes */
	uint64_t retry_ns;     /* least delay before the next try; 0: any */
	struct tensor *tensor; /* NULL unless status is 0; the engine takes it over */
	bool same; /* the tensor was taken from another dataset (same_image.c) */
};
/* Event, for each sample of a chain: it was decoded, or has failed. May free `wanted`. */
void supply_done(struct supply *supply, struct wanted *wanted,
	const struct supply_result *result, uint64_t now_ns);
/* Adds a decode's duration to the means of the space and the engine. Called before supply_done. */
void supply_note_cost(struct space *space, uint64_t decode_ns);
/* Event: a program has finished with the sample. Called before supply_done. */
void program_end(struct supply *supply, const struct wanted *wanted);
/* Event: the tensor came from another daemon. The engine becomes the tensor's owner. */
void supply_fetched(struct supply *supply, struct wanted *wanted, struct tensor *tensor,
	uint64_t now_ns);
/* Event: the sample could not be fetched. If it is still needed, it is queued to be prepared here;
 * otherwise `wanted` may be freed. spare: the tensor prepared here is evicted first when no stream
 * needs it (cache_spare). */
void supply_not_fetched(struct supply *supply, struct wanted *wanted, bool spare);

/* Event: time has passed. Queues the samples that are due. */
void supply_time(struct supply *supply, uint64_t now_ns);
/* Returns the time at which the first delayed sample is due; UINT64_MAX: none is delayed. */
uint64_t supply_first_due(const struct supply *supply);
/* Event: readers have closed files. Queues the delayed samples that lacked room. */
void supply_has_room(struct supply *supply);

struct wanted *wanted_find(const struct space *space, sample_id sample);
/* Returns the wanted sample; makes it if there is none. NULL: memory is short. */
struct wanted *wanted_get(struct space *space, sample_id sample);
void wanted_drop_if_unused(struct wanted *wanted);
/* Tells whether the sample would be tried again after a transient error. */
bool retry_is_left(const struct wanted *wanted);

/* Tells whether a sleeping reader should be woken to read a sample. */
bool supply_wakes_reader(const struct supply *supply);

/* most reads of one storage in flight; also the largest value of the key `reads` in [joaderfs] */
#define STORAGE_MOST_READS 1024

/* Finds the device's storage, or makes one named `root`. device = 0: the device is unknown, and a
 * new storage is made. -ENOMEM; -ENFILE: too many storages */
must_check int storage_get(
	struct supply *supply, uint64_t device, const char *root, struct storage **ret);
/* Returns the most reads in flight of all storages together. */
unsigned storage_most_reads(const struct supply *supply);
bool storage_has_room(const struct supply *supply, const struct storage *storage);
/* Returns how many ns ago the oldest read in flight began; 0: the storage is not silent. A storage
 * is silent if this read began, and the last read ended, at least two seconds ago. */
uint64_t storage_silent_ns(const struct storage *storage, uint64_t now_ns);

/* Event: the sample's tensor is neither in the cache nor loading any more. */
void same_gone(struct space *space, sample_id sample);

struct wanted_needs wanted_needs_of(const struct space *space, sample_id sample);
/* Returns the bytes of the sample's tensor; 0: the sample is refused, or the header of its image
 * can't be read. */
uint64_t memory_tensor_bytes(const struct supply *supply, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample);
/* Tells whether the sample can never be prepared within the limits. If so, message says why. */
bool memory_refuses(const struct supply *supply, const struct space *space,
	sample_id sample, char message[static IMAGE_MESSAGE]);
/* Returns the most bytes that tensors and contents may have: the cache's size, plus a part that is
 * only for tensors and contents that readers have open. */
uint64_t memory_most_open(const struct supply *supply);
uint64_t memory_most(const struct supply *supply); /* sum of all limits in memory.c */
uint64_t memory_held(const struct supply *supply);
/* Counts bytes made from a tensor for one open. -ENOMEM: readers have too much open. */
must_check int supply_hold_content(struct supply *supply, uint64_t bytes);
void supply_drop_content(struct supply *supply, uint64_t bytes);

/* Notes a failure of the sample. Returns true if the sample has not failed before, in any job. If a
 * program prepares the sample, earlier failures with other preparations do not count. */
bool bad_sample_is_new(struct space *space, sample_id sample);
/* Tells whether the sample's file still has this size and time; a changed file is another image. */
bool bad_sample_is_unchanged(
	struct dataset *dataset, sample_id id, uint64_t bytes, int64_t mtime_ns);
/* Logs the failure, and how to leave the sample out, because few scripts can handle EIO. */
void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task);
