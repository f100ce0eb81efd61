// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "supply/supply.h"

static inline sample_id wanted_sample(const struct wanted *wanted)
{
	return (sample_id)wanted->key.sample;
}

/* Queues the sample again for all jobs that have asked for it. */
void wanted_queue(struct wanted *wanted);
/* Removes the sample from its queue, if any, and sets the state to WANTED_OPEN_ONLY. */
void wanted_unqueue(struct wanted *wanted);
/* Changes the state, and the counts of the storage and the program, but no queue. */
void wanted_set_state(struct wanted *wanted, enum wanted_state state);
/* Tells whether a draw or an open has pinned the sample. */
bool wanted_is_pinned(const struct wanted *wanted);
/* Evicts the tensor if the cache exceeds its capacity and no reader has the tensor open. If a draw
 * has pinned the tensor, the tensor is prepared again later. */
void wanted_keep_capacity(struct space *space, sample_id sample);
/* Answers all waiters. bad: the error is not transient. */
void wanted_answer(struct wanted *wanted, int status, bool bad);

/* Delays a sample that is in no queue. lacks_room: readers have too much open. at_least_ns: least
 * delay. Returns false if no try is left (retry_is_left). */
bool retry_later(
	struct wanted *wanted, bool lacks_room, uint64_t at_least_ns, uint64_t now_ns);

/* Counts a sample that begins (taken = 1) or stops (-1) to load for its program. */
void program_change_taken(const struct wanted *wanted, int taken);
/* Tells whether one more sample may load for the sample's program; true if it has no program. */
must_check bool program_has_room(const struct wanted *wanted);
/* Tells whether a program prepares the sample and has a free process. */
must_check bool program_may_run(const struct wanted *wanted);
void program_begin(const struct wanted *wanted);

bool storage_wakes_reader(const struct supply *supply, const struct storage *storage);
/* Tells whether the storage has room for a read, and has a sample to read: an urgent one, or one
 * drawn ahead that may fit into the cache. */
bool storage_has_requests(const struct supply *supply, const struct storage *storage);
/* Notes that the read begins. The sample must be in no queue. */
void storage_begin(struct wanted *wanted, uint64_t now_ns);
void storage_decodes(struct wanted *wanted);

/* Tells whether the sample has to wait because its image is being decoded for another dataset. */
bool same_is_under_way(const struct wanted *wanted);
/* Notes that the decode of a chain begins. If other datasets have all tensors of the chain, puts
 * these tensors into the tasks (load_task.same), and nothing is decoded. */
void same_begin(struct wanted *wanted);
void same_validate(const struct supply *supply);
void same_free(struct supply *supply);

/* Tells whether an urgent sample's tensor has room. If not, a reader has to close a file first. */
bool memory_has_room(const struct supply *supply, uint64_t tensor_bytes);
/* Tells whether the file may be read now. If not, a decode of another file has to begin first. */
bool memory_may_read(const struct supply *supply, uint64_t file_bytes);
/* Tells whether the decode may begin now. If not, another decode has to end first. */
bool memory_may_decode(const struct supply *supply, uint64_t working);
void memory_change_working(struct supply *supply, int64_t by);

/* Adds a value to a mean of recent values. Before the first value *mean is 0. */
void mean_add(uint64_t *mean, uint64_t value);
