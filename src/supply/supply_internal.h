// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "supply/supply.h"

/* Shared by the files of the supply engine. */

/* --- wanted.c --- */

static inline sample_id wanted_sample(const struct wanted *wanted)
{
	return (sample_id)wanted->key.sample;
}

/* Queues the sample in the lanes of the jobs that asked for it. */
void wanted_queue(struct wanted *wanted);
/* Removes the sample from the lanes, or from the delayed samples, or ends its loading. */
void wanted_unqueue(struct wanted *wanted);
/* Marks the sample as loading. share_next has removed it from the lanes. */
void wanted_taken(struct wanted *wanted);
/* Tells whether the sample is drawn or open. */
bool wanted_is_pinned(const struct wanted *wanted);
/* Evicts the tensor, although it is pinned by a draw, if the cache exceeds its capacity
 * and nobody has the tensor open. */
void wanted_keep_capacity(struct space *space, sample_id sample);
/* Answers the waiters. */
void wanted_answer(struct wanted *wanted, int status, bool bad);

/* --- retry.c --- */

/* Delays a sample that is in no queue, by at least at_least_ns. false: it was tried often enough,
 * or is not wanted any more. */
bool retry_later(
	struct wanted *wanted, bool lacks_room, uint64_t at_least_ns, uint64_t now_ns);

/* --- program.c --- */

/* Changes the number of samples that are loading for the sample's program. taken: 1 when the sample
 * begins to load, -1 when it ends. */
void program_change_taken(const struct wanted *wanted, int taken);
/* Tells whether the sample may be read. Only samples for programs have a limit. */
must_check bool program_has_room(const struct wanted *wanted);
/* Tells whether a program prepares the sample and has a free process. */
must_check bool program_may_run(const struct wanted *wanted);
void program_begin(const struct wanted *wanted);

/* --- storage.c: requests of each storage --- */

/* Tells whether to wake a reader for the storage's requests. */
bool storage_wakes_reader(const struct supply *supply, const struct storage *storage);
/* Tells whether a request of the storage could be read now. */
bool storage_has_requests(const struct supply *supply, const struct storage *storage);
/* Notes that the read of the sample begins. The sample must be in no queue. */
void storage_begin(struct wanted *wanted, uint64_t now_ns);
/* Notes that the decode begins. Removes the sample from the queue for decoders. */
void storage_decodes(struct wanted *wanted);

/* --- same_image.c: images that several datasets have --- */

/* Tells whether the image of this sample is being decoded for another sample. This one was already
 * read. */
bool same_is_under_way(const struct wanted *wanted);
/* Begins the sample's decode. Its tasks get the tensors that other datasets already have. From now
 * on other samples of the same image can find this one. */
void same_begin(struct wanted *wanted);
void same_validate(const struct supply *supply);
void same_free(struct supply *supply);

/* --- memory.c --- */

/* Tells whether there is room for a tensor that a reader waits for. If not, there will be room when
 * readers have less open. */
bool memory_has_room(const struct supply *supply, uint64_t tensor_bytes);
/* Tells whether a file may be read now. If not, the caller tries again when a read has ended. */
bool memory_may_read(const struct supply *supply, uint64_t file_bytes);
/* Tells whether a decode may begin now. If not, the caller tries again when a decode has ended. */
bool memory_may_decode(const struct supply *supply, uint64_t working);
void memory_change_working(struct supply *supply, int64_t by);

/* Adds a value to a running mean of recent values. *mean is 0 before the first value. */
void mean_add(uint64_t *mean, uint64_t value);
