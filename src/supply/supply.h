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

#include <stdatomic.h>
#include <sys/queue.h>

/* A failed insertion leaves hash.tbl NULL; nothing exits. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * The supply decides which wanted sample is read, fetched and decoded next, which sample is tried
 * again, and which tensors the cache keeps. The engine is pure: events go in, effects come out.
 * It has no lock, thread or clock, reads no file, and calls nothing back.
 *
 *            source (a dataset)
 *           /       |
 *      samplers   spaces (dataset, preparation)
 *                   |
 *              wanted samples --- waiters
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
 *   prepare.c      the sample that is decoded next, and the end of loading
 *   retry.c        samples that are tried again later
 *   program.c      samples that a program prepares
 *   storage.c      requests and reads in flight of each storage
 *   space.c        tensors of one preparation
 *   memory.c       how much memory all of it may take
 *   same_image.c   images that several datasets have
 *   validate.c     counts sums anew
 */

struct supply;
struct tier_dataset;
struct wanted_second;

struct source {
	struct supply *supply;
	struct storage *storage;   /* the storage of its files */
	struct tier_dataset *tier; /* keeps samples that were read; NULL: none */
	struct dataset *dataset;
	atomic_uint jobs; /* editions, and jobs that are being added or moved here */
	struct sampler *shuffled; /* the configured sampler */
	struct sampler *labelled; /* NULL until a job needs it */
	uint64_t seed;
	roaring_bitmap_t *bad; /* samples whose failure was logged */
	LIST_HEAD(, space) spaces;
	struct histogram reads; /* ns per sample */
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
	bool in_files; /* tensors get files with this head: the scheduler's file_heads.c */
	struct file_head head; /* each sample has its own label */
	uint32_t number;     /* number in the source, by which samplers know the space */
	uint32_t references; /* parts of editions, wanted samples, and opens */
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

/* The memory that a sample needs. */
struct memory_size {
	uint64_t tensor; /* bytes */
	/* most bytes that its preparation needs in addition to the tensor */
	uint64_t working;
};

/* Facts about a sample, which don't change. Zeros for a sample that is refused. */
struct wanted_needs {
	struct memory_size memory;
	uint64_t file; /* bytes of its files */
	bool alone;    /* its decode gives no tensor of another space */
};

/* Somebody who waits for a tensor. */
struct waiter {
	TAILQ_ENTRY(waiter) link;
	struct share_job *job;
	bool waits; /* is among the waiters of a wanted sample */
	/* the answer */
	int status;
	bool bad; /* the sample itself is bad */
};
TAILQ_HEAD(waiters, waiter);

/* Exists while a sample of a space is to be prepared, waited for, or open to who has waited. */
struct wanted {
	UT_hash_handle hash;
	struct wanted_key key;
	enum wanted_state state;
	struct share_request request; /* in no lane while it is delayed or loading */
	uint32_t opens; /* waiters, and who has waited and holds the tensor */
	/* The job that asked first since the wanted sample was last without a request; 0: another
	 * daemon. */
	job_id asked_by;
	TAILQ_ENTRY(wanted) link;
	struct waiters waiters;
	struct wanted_needs needs; /* once it was requested */
	uint64_t due_ns;	   /* while delayed: time of the next try */
	bool lacks_room;	   /* while delayed: readers hold much open */
	unsigned retries;
	uint64_t first_try_ns; /* when it was delayed first */
	bool here;     /* this daemon prepares it, even if its home is another daemon */
	bool fetching; /* loading, from another daemon */
	bool is_read;  /* loading, and being read */
	/* while loading */
	uint64_t read_ns;    /* when its read began */
	uint32_t tier_worth; /* worth to its tier, once it is read */
	uint64_t working;    /* bytes that decoding takes beside the tensor */
	struct load_task
		task; /* the caller's; the engine reads identity, and sets same */
	struct dataset_sample sample; /* the caller's */
	struct wanted_second *second; /* the caller's: the second file, or later frames */
	bool in_file; /* the space's in_files and head when loading began */
	struct file_head head;
	struct wanted *also; /* the sample in another space, which shares the decode */
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

/* The caller executes these after an event. */
struct supply_effects {
	bool reads;	  /* READ: wake a reader, if supply_wakes_reader says so */
	bool decodes;	  /* DECODE: wake a decoder */
	unsigned delayed; /* samples that are tried again: supply_first_due has changed */
	struct waiters
		ready; /* READY: answer them, whose tensor is there or will not come */
	/* The sample, and those that share its decode, wait for another cause since moved_ns. */
	struct wanted *moved;
	uint64_t moved_ns;
	/* GONE: the sample is not in the cache, and will not be loaded. NULL: none. */
	struct space *gone;
	sample_id gone_sample;
	/* BAD: a sample whose own file is bad. damaged: it fails until its file changes. */
	struct space *bad;
	sample_id bad_sample;
	bool damaged;
};

struct supply {
	const struct daemon_config *config;
	struct cache *cache;
	bool copies; /* tensors are copied to files that the kernel can read */
	/* room for CONFIG_MOST_DATASETS; a free entry has no dataset */
	struct source **sources;
	size_t n_sources;      /* entries used so far */
	struct wanted *wanted; /* hash */
	struct shares shares;
	struct storage *storages; /* one per device; room for CONFIG_MOST_DATASETS */
	size_t n_storages;
	struct wanted_queue read; /* samples that wait for a decoder, or a program */
	struct program_load *program_loads; /* indexed by number of the program */
	struct wanted_queue delayed;
	uint32_t lack_room;		/* delayed samples that lack room */
	uint32_t n_deserted;		/* spaces without a job or a wanted sample */
	struct same *same;		/* hash: same_image.c */
	struct same_place *same_places; /* hash: same_image.c */
	uint64_t cost_ns;		/* mean cost of recent decodes */
	uint64_t decoded_ns; /* working time of decoders; the caller resets it */
	uint64_t reading, working, contents, held_peak; /* bytes: memory.c */
	bool stopping; /* nothing is read or tried again */
	struct supply_effects effects;
};

/* Begins with a zeroed struct, and the room for sources and storages. */
void supply_init(
	struct supply *supply, const struct daemon_config *config, struct cache *cache);
/* Frees what the engine owns, and the samples that are still wanted. Their jobs have left. */
void supply_end(struct supply *supply);
/* Takes the effects since the last call. */
void supply_take_effects(struct supply *supply, struct supply_effects *ret);
/* Aborts if an invariant does not hold. For tests. */
void supply_validate(const struct supply *supply);

/* --- events ------------------------------------------------------------------------ */

/* Queues the sample for the job, unless it is being prepared already. urgent: a waiter of the job
 * waits. needs: facts, for a sample in WANTED_OPEN_ONLY. -ENOMEM */
struct want {
	struct share_job *job;
	job_id id; /* 0: another daemon */
	bool urgent;
	struct wanted_needs needs;
};
must_check int supply_want(
	struct supply *supply, struct wanted *wanted, const struct want *want);
/* Adds a waiter to a sample that its job wants. */
void supply_wait(struct wanted *wanted, struct waiter *waiter);
/* Removes a waiter that gives up, if it waits. */
void supply_stop_waiting(struct wanted *wanted, struct waiter *waiter);
/* Opens a sample whose tensor is there, without a wanted sample. false: it is not there. */
must_check bool supply_open(struct space *space, sample_id sample);
void supply_close(struct space *space, sample_id sample);
/* Gives an open of the wanted sample, and its pin, back. */
void supply_detach(struct supply *supply, struct wanted *wanted, struct share_job *job);
/* Gives a pin of a drawn sample back. */
void supply_drop(struct space *space, sample_id sample);

/* Tells whether another daemon is to be asked for the sample. */
typedef bool supply_is_elsewhere(void *context, const struct wanted *wanted);
/* A reader is free. Returns the sample to read, or to fetch if its `fetching` is true. NULL:
 * none. is_elsewhere: answered by the caller, for a sample that is about to be taken; may be
 * NULL. */
struct wanted *supply_next_read(struct supply *supply, uint64_t now_ns,
	supply_is_elsewhere *is_elsewhere, void *context);
/* The sample was read. Its task has the image's identity. */
void supply_was_read(struct supply *supply, struct wanted *wanted, uint64_t now_ns);
/* A decoder, or a program, is free. Returns the sample to decode. NULL: none, or no memory. */
struct wanted *supply_next_decode(struct supply *supply, bool of_program);

/* The end of a decode. */
struct supply_result {
	int status;
	bool passing;	       /* the error is transient */
	bool damaged;	       /* the sample fails until its file changes */
	uint64_t retry_ns;     /* least delay of the next try */
	struct tensor *tensor; /* taken; NULL unless status is 0 */
	bool same;	       /* the tensor is another dataset's */
};
/* The sample is decoded, or has failed. Called for each sample of a shared decode. The sample may
 * be gone afterwards. */
void supply_done(struct supply *supply, struct wanted *wanted,
	const struct supply_result *result, uint64_t now_ns);
/* Tells that the decode took as long, before supply_done. */
void supply_note_cost(struct space *space, uint64_t decode_ns);
/* Ends the use of a program, before supply_done. */
void program_end(struct supply *supply, const struct wanted *wanted);
/* The sample has come from another daemon; or could not be fetched, and is prepared here. The
 * tensor is taken. */
void supply_fetched(struct supply *supply, struct wanted *wanted, struct tensor *tensor,
	uint64_t now_ns);
void supply_not_fetched(struct supply *supply, struct wanted *wanted);

/* Queues the samples that are due. */
void supply_time(struct supply *supply, uint64_t now_ns);
uint64_t supply_first_due(const struct supply *supply); /* UINT64_MAX: none */
/* Queues the samples that lacked room. Called when readers hold less open than before. */
void supply_has_room(struct supply *supply);

/* --- wanted.c ---------------------------------------------------------------------- */

struct wanted *wanted_find(const struct space *space, sample_id sample);
/* Returns the wanted sample, and makes it if there is none. NULL: no memory. */
struct wanted *wanted_get(struct space *space, sample_id sample);
/* Frees the wanted sample, if nothing needs it any more. */
void wanted_drop_if_unused(struct wanted *wanted);
/* Tells whether the sample may be tried once more. */
bool retry_is_left(const struct wanted *wanted);

/* --- next_read.c ------------------------------------------------------------------- */

/* Tells whether a reader that looked now would find a sample. Returns true if that is not
 * known. */
bool supply_has_reads(const struct supply *supply);
/* Tells whether there is such a sample, and a sleeping reader should be woken for it. */
bool supply_wakes_reader(const struct supply *supply);

/* --- storage.c --------------------------------------------------------------------- */

#define STORAGE_MOST_READS                                                               \
	1024 /* most reads of one storage at once, and the most that `reads` allows */

/* Finds the storage of the device, or makes it. root: the name of a new one. -ENOMEM, -ENFILE */
must_check int storage_get(
	struct supply *supply, uint64_t device, const char *root, struct storage **ret);
unsigned storage_most_reads(const struct supply *supply); /* sum of all storages */
bool storage_has_room(const struct supply *supply, const struct storage *storage);
/* Returns how long the storage has not answered; 0: it answers. */
uint64_t storage_silent_ns(const struct storage *storage, uint64_t now_ns);

/* --- space.c ----------------------------------------------------------------------- */

/* Makes a space, which takes a while for millions of ids. -ENOMEM */
must_check int space_make(
	struct source *source, const struct preparation *preparation, struct space **ret);
/* Returns the source's space for the preparation of *spare. If there is none yet, *spare
 * becomes that space, and *spare is set to NULL. */
struct space *space_get(struct space **spare);
/* Gives a reference back. After the last one spaces_leave frees the space's tensors, unless
 * a job takes the space again. */
void space_put(struct space *space);
/* Frees some tensors of a space without references. Returns true if there is more to do.
 * *ret: an emptied space, which the caller frees, or NULL. */
bool spaces_leave(struct supply *supply, struct space **ret);
/* Frees the space, which may have millions of ids. */
void space_free(struct space *space);
/* Tells whether the sample is in the cache, or will be: queued, delayed or loading. */
bool space_has(const struct space *space, sample_id sample);
/* Returns how the sample would be served now: as a hit, shared, or decoded. */
enum served how_served(struct space *space, sample_id sample);
/* Counts the running epochs that have yet to draw the sample, and the spaces in which it is
 * drawn and waits to be read; with `loading` also those in which it is loading. */
uint32_t tier_need(const struct source *source, sample_id sample, bool loading);
uint64_t space_cost(const struct space *space); /* ns of decode time of a sample */

/* --- same_image.c ------------------------------------------------------------------ */

/* Forgets where the sample's image is, since the sample is neither in the cache nor
 * loading. */
void same_gone(struct space *space, sample_id sample);

/* --- memory.c: how much the daemon may hold ---------------------------------------- */

/* Returns the facts about a sample that a job wants. */
struct wanted_needs wanted_needs_of(const struct space *space, sample_id sample);
/* Returns zeros for a sample that is refused, or whose header is not readable. */
struct memory_size memory_size_of(
	const struct supply *supply, const struct space *space, sample_id sample);
uint64_t memory_tensor_bytes(const struct supply *supply, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample);
/* Tells whether the sample can never be prepared within the limits; `message` then gives
 * the reason. */
bool memory_refuses(const struct supply *supply, const struct space *space,
	sample_id sample, char message[static IMAGE_MESSAGE]);
uint64_t memory_most_open(const struct supply
		*supply); /* the cache and the limit of open bytes beyond it */
uint64_t memory_most(const struct supply *supply); /* sum of all limits */
uint64_t memory_held(const struct supply *supply);
/* Holds bytes of contents made for one open. -ENOMEM: readers hold too much open. */
must_check int supply_hold_content(struct supply *supply, uint64_t bytes);
void supply_drop_content(struct supply *supply, uint64_t bytes);

/* --- bad_sample.c ------------------------------------------------------------------ */

/* Returns true for the first failure of a sample, whichever job it is; for a sample that
 * programs prepare, for the first failure with each program. */
bool bad_sample_is_new(struct space *space, sample_id sample);
/* Logs the failure. The message tells the user how to leave the sample out, since few
 * scripts survive EIO. */
void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task);
