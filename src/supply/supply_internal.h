// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "supply/supply.h"

/* Shared by the files of the supply. */

/* --- wanted.c --- */

static inline sample_id wanted_sample(const struct wanted *wanted)
{
	return (sample_id)wanted->key.sample;
}

/* Queues the sample in the lanes of the jobs that asked for it. */
void wanted_queue(struct wanted *wanted);
/* Removes the sample from all lanes, or from the delayed ones, or ends its loading. */
void wanted_unqueue(struct wanted *wanted);
/* Marks the sample as loading; `share_next` removes it from the lanes. */
void wanted_taken(struct wanted *wanted);
/* Tells whether somebody has drawn the sample, or has it open. */
bool wanted_is_pinned(const struct wanted *wanted);
/* Evicts the tensor, although it is pinned by a draw, if the cache exceeds its capacity
 * and nobody has the tensor open. */
void wanted_keep_capacity(struct space *space, sample_id sample);
/* Answers the waiters. */
void wanted_answer(struct wanted *wanted, int status, bool bad);

/* --- retry.c --- */

/* Delays a sample that is in no queue, by at_least_ns or more. false: it was tried often enough,
 * or nobody wants it. */
bool retry_later(
	struct wanted *wanted, bool lacks_room, uint64_t at_least_ns, uint64_t now_ns);

/* --- program.c --- */

/* Counts the sample among those that load for its program: 1 when it begins to load, -1 when
 * it ends. */
void program_change_taken(const struct wanted *wanted, int taken);
/* Tells whether a sample may be read for its program; true where no program prepares it. */
must_check bool program_has_room(const struct wanted *wanted);
/* Tells whether a program prepares the sample, and has a process for it. */
must_check bool program_may_run(const struct wanted *wanted);
void program_begin(const struct wanted *wanted);

/* --- storage.c: requests of each storage --- */

/* Tells whether a reader is to be woken for the storage's requests. */
bool storage_wakes_reader(const struct supply *supply, const struct storage *storage);
/* Tells whether a request could be read now. */
bool storage_has_requests(const struct supply *supply, const struct storage *storage);
/* Notes that the sample's read begins. The sample must be in no queue. */
void storage_begin(struct wanted *wanted, uint64_t now_ns);
/* Notes that the decode begins, and removes the sample from the queue for decoders. */
void storage_decodes(struct wanted *wanted);

/* --- same_image.c: images that several datasets have --- */

/* Tells whether the image of this sample, which was read, is being decoded for another one. */
bool same_is_under_way(const struct wanted *wanted);
/* Begins the sample's decode. Its tasks get the tensors that other datasets have; from now
 * on other samples find this one. */
void same_begin(struct wanted *wanted);
void same_validate(const struct supply *supply);
void same_free(struct supply *supply);

/* --- memory.c --- */

/* Tells whether there is room for a tensor that a reader waits for. If false, there is
 * none until readers hold less open. */
bool memory_has_room(const struct supply *supply, uint64_t tensor_bytes);
/* Tells whether a file may be read. If false, it may not until less is being read. */
bool memory_may_read(const struct supply *supply, uint64_t file_bytes);
/* Tells whether a decode may begin. If false, it may not until less is being decoded. */
bool memory_may_decode(const struct supply *supply, uint64_t working);
void memory_change_working(struct supply *supply, int64_t by);

/* Adds a value to a running mean of recent values. *mean is 0 before the first value. */
void mean_add(uint64_t *mean, uint64_t value);
