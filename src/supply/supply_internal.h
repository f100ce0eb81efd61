// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "supply/supply.h"

/* Types and functions that the files of the supply's engine share. */

/* --- wanted.c --- */

static inline sample_id wanted_sample(const struct wanted *wanted)
{
	return (sample_id)wanted->key.sample;
}

/* Queues the sample again for all jobs that have asked for it. */
void wanted_queue(struct wanted *wanted);
/* Sets the state to WANTED_OPEN_ONLY: removes the sample from the queues or from the delayed
 * samples, or ends its loading. */
void wanted_unqueue(struct wanted *wanted);
/* Sets the state to WANTED_LOADING. Called within share_next, which takes the sample out of the
 * queues itself. */
void wanted_taken(struct wanted *wanted);
/* Tells whether the sample is pinned, by a draw or an open. */
bool wanted_is_pinned(const struct wanted *wanted);
/* Evicts the sample's tensor if two conditions hold: the cache exceeds its capacity, and no reader
 * has the tensor open. A draw may have pinned the tensor; it is then prepared again later. */
void wanted_keep_capacity(struct space *space, sample_id sample);
/* Answers all waiters of the sample. bad: the error is not transient, so the sample is at fault. */
void wanted_answer(struct wanted *wanted, int status, bool bad);

/* --- retry.c --- */

/* Delays a sample that is in no queue, by at least at_least_ns. lacks_room: the reason is that
 * readers have too much open. Returns false if the sample was tried often enough, or is not wanted
 * any more. */
bool retry_later(
	struct wanted *wanted, bool lacks_room, uint64_t at_least_ns, uint64_t now_ns);

/* --- program.c --- */

/* Changes the number of samples that are loading for the sample's program. taken: 1 when the sample
 * begins to load, -1 when it ends. */
void program_change_taken(const struct wanted *wanted, int taken);
/* Tells whether the number of samples that are loading for the sample's program is below its limit;
 * true if no program prepares the sample. */
must_check bool program_has_room(const struct wanted *wanted);
/* Tells whether a program prepares the sample and has a free process. */
must_check bool program_may_run(const struct wanted *wanted);
void program_begin(const struct wanted *wanted);

/* --- storage.c: requests of each storage --- */

/* Tells whether one more reader thread should be woken to read samples from the storage. */
bool storage_wakes_reader(const struct supply *supply, const struct storage *storage);
/* Tells whether a sample of the storage waits to be read, and its read may begin now: the storage
 * has fewer reads than its limit, and the sample is urgent or fits into the cache. */
bool storage_has_requests(const struct supply *supply, const struct storage *storage);
/* Notes that the read of the sample begins. The sample must be in no queue. */
void storage_begin(struct wanted *wanted, uint64_t now_ns);
/* Notes that the decode begins. Removes the sample from the queue for decoders. */
void storage_decodes(struct wanted *wanted);

/* --- same_image.c: images that several datasets have --- */

/* Tells whether a sample that was read has to wait, because its image is being decoded for another
 * dataset. */
bool same_is_under_way(const struct wanted *wanted);
/* Notes that the sample's decode begins, so that other samples of the same image find it. If other
 * datasets already have the tensors of the sample and of all samples in its chain, stores these
 * tensors in the tasks (load_task.same). Then nothing is decoded. */
void same_begin(struct wanted *wanted);
void same_validate(const struct supply *supply);
void same_free(struct supply *supply);

/* --- memory.c --- */

/* Tells whether there is room for a tensor that a reader waits for. If not, the caller tries again
 * when readers have less open. */
bool memory_has_room(const struct supply *supply, uint64_t tensor_bytes);
/* Tells whether a file may be read now. If not, the caller tries again when a read has ended. */
bool memory_may_read(const struct supply *supply, uint64_t file_bytes);
/* Tells whether a decode may begin now. If not, the caller tries again when a decode has ended. */
bool memory_may_decode(const struct supply *supply, uint64_t working);
void memory_change_working(struct supply *supply, int64_t by);

/* Adds a value to the mean of recent values. *mean must be 0 before the first value. */
void mean_add(uint64_t *mean, uint64_t value);
