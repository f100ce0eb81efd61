// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Members have the names and units of the keys that the daemon prints (src/files/text_top.c). */

#define TOP_DAEMON(NUMBER)                                                               \
	NUMBER(now_ns)                                                                   \
	NUMBER(workers)                                                                  \
	NUMBER(cache_capacity)                                                           \
	NUMBER(cache_held)                                                               \
	NUMBER(cache_pinned)                                                             \
	NUMBER(cache_needed_0)                                                           \
	NUMBER(cache_needed_1)                                                           \
	NUMBER(cache_needed_2)                                                           \
	NUMBER(cache_needed_3)                                                           \
	NUMBER(cache_needed_4)                                                           \
	NUMBER(served)                                                                   \
	NUMBER(decodes)                                                                  \
	NUMBER(decode_ns)                                                                \
	NUMBER(saved_ns)                                                                 \
	NUMBER(source_bytes)                                                             \
	NUMBER(tier_hits)                                                                \
	NUMBER(tier_hit_bytes)                                                           \
	NUMBER(tier_fetched_bytes)                                                       \
	NUMBER(fetched)                                                                  \
	NUMBER(fetched_bytes)                                                            \
	NUMBER(evictions)                                                                \
	NUMBER(evictions_needed)                                                         \
	NUMBER(held_bytes)

#define TOP_STORAGE(NUMBER)                                                              \
	NUMBER(in_flight)                                                                \
	NUMBER(most)                                                                     \
	NUMBER(reads)                                                                    \
	NUMBER(bytes)                                                                    \
	NUMBER(latency_ns)                                                               \
	NUMBER(silent_ns)

#define TOP_JOB(NUMBER)                                                                  \
	NUMBER(notices)                                                                  \
	NUMBER(now_ns)                                                                   \
	NUMBER(epoch)                                                                    \
	NUMBER(consumed)                                                                 \
	NUMBER(samples)                                                                  \
	NUMBER(served)                                                                   \
	NUMBER(decoded)                                                                  \
	NUMBER(shared)                                                                   \
	NUMBER(hit)                                                                      \
	NUMBER(errors)                                                                   \
	NUMBER(rate)                                                                     \
	NUMBER(left)                                                                     \
	NUMBER(demand)                                                                   \
	NUMBER(at_least)                                                                 \
	NUMBER(wanted)                                                                   \
	NUMBER(granted)                                                                  \
	NUMBER(waited)                                                                   \
	NUMBER(storage_ns)                                                               \
	NUMBER(decoding_ns)                                                              \
	NUMBER(queue_ns)                                                                 \
	NUMBER(filesystem_ns)                                                            \
	NUMBER(sample_bytes)                                                             \
	NUMBER(all_bytes)

#define TOP_MEMBER(name) double name;
#define TOP_NAME 80
#define TOP_PATH 512

enum top_cause { TOP_STORAGE_WAIT, TOP_DECODING, TOP_QUEUE, TOP_FILE_SYSTEM, TOP_CAUSES };

struct top_job {
	char name[TOP_NAME], dataset[TOP_NAME], state[TOP_NAME];
	TOP_JOB(TOP_MEMBER)
	/* samples per second since the previous reading; in the first reading: `rate` */
	double per_second;
	/* cause: waits by cause, as a part (0 to 1) of the time since the previous reading; 0 in
	 * the first reading. exposed: the sum of these parts, at most 1; in the first reading: the
	 * part of the running epoch in which at least one reader of the job waited. */
	double exposed;
	double cause[TOP_CAUSES];
};

struct top_storage {
	char name[TOP_PATH];
	TOP_STORAGE(TOP_MEMBER)
	double reads_per_second, bytes_per_second;
};

struct top_sample {
	char mountpoint[TOP_PATH];
	TOP_DAEMON(TOP_MEMBER)
	struct top_storage *storages;
	struct top_job *jobs;
	size_t n_storages, n_jobs, storage_room, job_room;
	double seconds; /* time since the previous reading; 0: this is the first one */
	double served_per_second, decodes_per_second,
		busy; /* mean number of decoders that were working */
	double source_per_second, tier_per_second, evicted_needed;
};

/* Asks the daemon for its counters. Returns false after a failure; the reason was printed. */
must_check bool top_sample_get(const char *socket_path, struct top_sample *ret);
/* Computes the rates since the reading `before`; NULL: `sample` is the first reading. */
void top_sample_compare(struct top_sample *sample, const struct top_sample *before);
void top_sample_free(struct top_sample *sample);

enum top_order {
	TOP_AS_ADDED,
	TOP_BY_NAME,
	TOP_BY_WAITED,
	TOP_BY_RATE,
	TOP_BY_DONE,
	TOP_BY_PREPARED
};
void top_sort(struct top_sample *sample, enum top_order order);

struct top_view {
	int width, height; /* height is 0 if it is unlimited */
	bool attributes;
};
/* Prints a screen. Each line ends with a newline, except the last line of a full screen. message:
 * an error that is shown, or NULL. */
void top_print_screen(FILE *out, const struct top_sample *sample,
	const struct top_view *view, const char *message);

/* Prints one JSON object on one line. */
void top_print_json(FILE *out, const struct top_sample *sample);
