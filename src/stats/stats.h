// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/ensure.h"
#include "base/histogram.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The daemon's counters and gauges (STATS_TABLE) and histograms (STATS_HISTOGRAMS). The
 * enumerations, the texts in the mount and the man page are made from these tables.
 *
 *   Flow: any module counts; src/files prints.   Errors: none.
 *   Threads: any, each with its own counters, which stats_get adds up; a gauge is a single value.
 */

/* Each line is STAT(identifier, name, kind, unit, help). */
#define STATS_TABLE(STAT)                                                                \
	STAT(OPENS, "opens", COUNTER, "files", "files of samples that readers opened")   \
	STAT(PASSED_OPENS, "opens_passed_through", COUNTER, "files",                     \
		"opened files that the kernel reads itself, without read requests")      \
	STAT(READS, "reads", COUNTER, "requests", "read requests answered")              \
	STAT(READ_BYTES, "read_bytes", COUNTER, "bytes",                                 \
		"bytes given to readers by read requests")                               \
	STAT(SERVED, "samples_served", COUNTER, "samples",                               \
		"positions whose sample was given to a reader for the first time")       \
	STAT(CONSUMED, "samples_consumed", COUNTER, "samples",                           \
		"positions released for the first time")                                 \
	STAT(ROUNDS, "rounds", COUNTER, "rounds", "rounds of the sampler")               \
	STAT(DRAWS, "draws", COUNTER, "samples", "samples drawn for streams")            \
	STAT(DRAWN_DECODE, "drawn_decoded", COUNTER, "samples",                          \
		"draws of samples that had to be prepared for this stream")              \
	STAT(DRAWN_SHARED, "drawn_shared", COUNTER, "samples",                           \
		"draws of samples that were being prepared for another stream")          \
	STAT(DRAWN_HIT, "drawn_hit", COUNTER, "samples",                                 \
		"draws of samples that were in the cache")                               \
	STAT(DECODES, "decodes", COUNTER, "samples", "samples read and prepared")        \
	STAT(DECODE_ERRORS, "decode_errors", COUNTER, "samples",                         \
		"samples that could not be read or prepared")                            \
	STAT(SKIPPED, "samples_skipped", COUNTER, "samples",                             \
		"bad samples that epochs left out when they began")                      \
	STAT(DECODE_NS, "decode_ns", COUNTER, "ns", "time spent preparing, all workers") \
	STAT(SAVED_NS, "decode_saved_ns", COUNTER, "ns",                                 \
		"time that workers would have spent on samples that were found "         \
		"prepared, by the recent mean")                                          \
	STAT(SAME, "samples_same", COUNTER, "samples",                                   \
		"samples not prepared, because the same image of another dataset was "   \
		"prepared")                                                              \
	STAT(FETCHED, "samples_fetched", COUNTER, "samples",                             \
		"samples fetched from other nodes instead of prepared here")             \
	STAT(FETCHED_BYTES, "fetched_bytes", COUNTER, "bytes",                           \
		"bytes of samples fetched")                                              \
	STAT(FETCH_FAILURES, "fetch_failures", COUNTER, "samples",                       \
		"samples prepared here because another node did not give them")          \
	STAT(GIVEN, "samples_given", COUNTER, "samples", "samples given to other nodes") \
	STAT(GIVEN_BYTES, "given_bytes", COUNTER, "bytes", "bytes of samples given")     \
	STAT(RETRIES, "retries", COUNTER, "samples",                                     \
		"times that a sample was queued again after a transient error")          \
	STAT(WAKEUPS, "worker_wakeups", COUNTER, "times",                                \
		"times that a sleeping worker was woken")                                \
	STAT(SOURCE_BYTES, "source_bytes", COUNTER, "bytes",                             \
		"bytes of source files read")                                            \
	STAT(TIER_HITS, "tier_hits", COUNTER, "samples",                                 \
		"samples read from a tier instead of their source")                      \
	STAT(TIER_MISSES, "tier_misses", COUNTER, "samples",                             \
		"samples looked for in a tier and not found")                            \
	STAT(TIER_HIT_BYTES, "tier_hit_bytes", COUNTER, "bytes",                         \
		"bytes read from tiers")                                                 \
	STAT(TIER_FETCHED_BYTES, "tier_fetched_bytes", COUNTER, "bytes",                 \
		"bytes of samples read from their source after a miss")                  \
	STAT(TIER_WRITTEN, "tier_written", COUNTER, "samples",                           \
		"samples written to tiers")                                              \
	STAT(TIER_EVICTIONS, "tier_evictions", COUNTER, "samples",                       \
		"samples removed from tiers to make room for others")                    \
	STAT(TIER_DAMAGED, "tier_damaged", COUNTER, "samples",                           \
		"samples removed from tiers because they could not be read or had a "    \
		"wrong checksum")                                                        \
	STAT(NOTICES, "notices", COUNTER, "notices",                                     \
		"kinds of misuse noticed in jobs, which the status of each job names")   \
	STAT(WAITS, "waits", COUNTER, "opens", "opens that waited for their sample")     \
	STAT(WAIT_NS, "wait_ns", COUNTER, "ns", "time that opens waited")                \
	STAT(INTERRUPTS, "interrupts", COUNTER, "opens",                                 \
		"waiting opens that their reader gave up")                               \
	STAT(REQUESTS, "requests", COUNTER, "requests",                                  \
		"requests of the kernel, of all kinds that get an answer")               \
	STAT(LOOKUPS, "requests_lookup", COUNTER, "requests",                            \
		"requests of the kernel for a name")                                     \
	STAT(GETATTRS, "requests_getattr", COUNTER, "requests",                          \
		"requests of the kernel for attributes")                                 \
	STAT(READDIRS, "requests_readdir", COUNTER, "requests",                          \
		"requests of the kernel for a part of a directory")                      \
	STAT(OPEN_REQUESTS, "requests_open", COUNTER, "requests",                        \
		"requests of the kernel to open a file of any kind")                     \
	STAT(READ_REQUESTS, "requests_read", COUNTER, "requests",                        \
		"requests of the kernel to read from a file of any kind")                \
	STAT(RELEASES, "requests_release", COUNTER, "requests",                          \
		"requests of the kernel to close a file")                                \
	STAT(EVICTIONS, "evictions", GAUGE, "tensors", "tensors evicted")                \
	STAT(EVICTIONS_NEEDED, "evictions_needed", GAUGE, "tensors",                     \
		"tensors evicted although running epochs need them again")               \
	STAT(CACHE_BYTES, "cache_bytes", GAUGE, "bytes",                                 \
		"bytes of tensors in the cache")                                         \
	STAT(CACHE_PEAK, "cache_peak_bytes", GAUGE, "bytes",                             \
		"the largest value of cache_bytes so far")                               \
	STAT(CACHE_TENSORS, "cache_tensors", GAUGE, "tensors", "tensors in the cache")   \
	STAT(CACHE_PINS, "cache_pins", GAUGE, "pins",                                    \
		"samples drawn and not consumed, whose tensors stay in the cache")       \
	STAT(CACHE_NEED, "cache_need", GAUGE, "samples",                                 \
		"sum over all samples of the number of streams that need them")          \
	STAT(TIER_BYTES, "tier_bytes", GAUGE, "bytes",                                   \
		"bytes that tiers take on their disks")                                  \
	STAT(TIER_SAMPLES, "tier_samples", GAUGE, "samples", "samples in tiers")         \
	STAT(HELD_BYTES, "held_bytes", GAUGE, "bytes",                                   \
		"bytes held for images: tensors, files made of them for single opens, "  \
		"and the most that workers may need now")                                \
	STAT(HELD_PEAK, "held_peak_bytes", GAUGE, "bytes",                               \
		"the largest value of held_bytes so far")                                \
	STAT(HELD_LIMIT, "held_limit_bytes", GAUGE, "bytes",                             \
		"the limit of held_bytes; joaderfs-preparation(7), Memory, explains it") \
	STAT(HEAP_BYTES, "heap_bytes", GAUGE, "bytes",                                   \
		"bytes allocated for all but images: jobs, orders, names, threads' "     \
		"buffers")                                                               \
	STAT(OPEN_FILES, "open_files", GAUGE, "files", "files of samples open now")      \
	STAT(JOBS, "jobs", GAUGE, "jobs", "jobs known")                                  \
	STAT(STREAMS, "streams", GAUGE, "streams", "epochs running")                     \
	STAT(CLUSTER_REACHED, "cluster_reached", GAUGE, "0 or 1",                        \
		"whether the engine of the group can be reached")                        \
	STAT(CLUSTER_LEADS, "cluster_leads", GAUGE, "0 or 1",                            \
		"whether this node leads its group")                                     \
	STAT(CLUSTER_TERM, "cluster_term", GAUGE, "terms",                               \
		"term of the group's leader, if known")                                  \
	STAT(CLUSTER_MEMBERS, "cluster_members", GAUGE, "nodes",                         \
		"nodes of the group that are alive, including this one")                 \
	STAT(CLUSTER_DRAWN, "cluster_drawn", GAUGE, "samples",                           \
		"samples that this node drew for the group as its leader")               \
	STAT(CLUSTER_LAG, "cluster_lag", GAUGE, "samples",                               \
		"samples drawn for the ranks of this node and not consumed yet")

/* Each line is HISTOGRAM(identifier, name, help), a histogram of durations. Other modules keep the
 * histograms of single datasets and locks; this folder only prints them. */
#define STATS_HISTOGRAMS(HISTOGRAM)                                                      \
	HISTOGRAM(OPEN_LATENCY, "open_latency",                                          \
		"from the request to open a sample until it is answered")                \
	HISTOGRAM(OPEN_WAIT, "open_wait", "that an open waited for its sample")          \
	HISTOGRAM(SAMPLE_READ, "sample_read",                                            \
		"that reading a sample took, or the part of a file that it is in")       \
	HISTOGRAM(SAMPLE_DECODE, "sample_decode", "that preparing a sample took")        \
	HISTOGRAM(LOCK_HOLD, "lock_hold", "that a lock was held")

enum stats_histogram {
#define HISTOGRAM(identifier, name, help) STATS_##identifier,
	STATS_HISTOGRAMS(HISTOGRAM)
#undef HISTOGRAM
		STATS_HISTOGRAM_COUNT
};

enum stat_id {
#define STAT(identifier, name, kind, unit, help) STAT_##identifier,
	STATS_TABLE(STAT)
#undef STAT
		STAT_COUNT
};

static inline bool stats_is_counter(enum stat_id stat)
{
	enum { COUNTER, GAUGE };
	static const uint8_t kinds[] = {
#define STAT(identifier, name, kind, unit, help) kind,
		STATS_TABLE(STAT)
#undef STAT
	};
	return kinds[stat] == COUNTER;
}

/* The counts of this thread, indexed by stat_id; NULL: nothing was counted yet. */
extern _Thread_local _Atomic uint64_t *stats_own;
void stats_add_first(enum stat_id stat, uint64_t n);

static inline void stats_add(enum stat_id stat, uint64_t n)
{
	ensure(stats_is_counter(stat));
	if (!stats_own) {
		stats_add_first(stat, n);
		return;
	}
	uint64_t count = atomic_load_explicit(&stats_own[stat], memory_order_relaxed);
	atomic_store_explicit(&stats_own[stat], count + n, memory_order_relaxed);
}

void stats_set(enum stat_id stat, uint64_t value); /* Sets a gauge. */
void stats_change(enum stat_id stat, int64_t by);  /* Adds `by` to a gauge. */
uint64_t stats_get(enum stat_id stat);

/* Adds a duration to a histogram of the whole daemon. */
void stats_record(enum stats_histogram histogram, uint64_t ns);
/* Copies a histogram of the whole daemon: the sum over all threads. */
void stats_copy(enum stats_histogram histogram, struct histogram_copy *ret);

void stats_print_text(FILE *out); /* Prints "name value" lines. */
/* Prints the counters and gauges as members of a JSON object, without the object's braces. */
void stats_print_json(FILE *out);
/* Prints STATS_TABLE as list items of mdoc, for the man page. */
void stats_print_man(FILE *out);
void stats_print_histograms_man(FILE *out);

/* The two text formats that Prometheus reads. Both have the lines HELP, TYPE and UNIT before a
 * value, and EOF at the end. A counter's name ends in "_total"; in STATS_OPENMETRICS the lines
 * HELP, TYPE and UNIT have the name without this ending. */
enum stats_form { STATS_PROMETHEUS, STATS_OPENMETRICS };

enum stats_kind { STATS_GAUGE, STATS_COUNTER, STATS_TIMES };
/* Prints the lines HELP, TYPE and UNIT of joaderfs_NAME. A counter's NAME must end in
 * _total. A unit is printed if NAME, without _total, ends in seconds, bytes or ratio. */
void stats_print_head(FILE *out, enum stats_form form, const char *name,
	enum stats_kind kind, const char *help);
void stats_print_metrics(FILE *out, enum stats_form form);

/* A histogram, and the labels that Prometheus shows with it, such as dataset="photos". */
struct stats_times {
	char name[80];	  /* dataset or lock; "": the whole daemon */
	char labels[200]; /* all labels, as text to print between { and }; "": none */
	struct histogram_copy copy;
};
/* Prints "name value" lines: count, sum and quantiles of each of the n histograms. */
void stats_print_times_text(FILE *out, enum stats_histogram histogram,
	const struct stats_times *times, size_t n);
/* Prints the n histograms as one field of a JSON object. */
void stats_print_times_json(FILE *out, enum stats_histogram histogram,
	const struct stats_times *times, size_t n);
void stats_print_times_metrics(FILE *out, enum stats_form form,
	enum stats_histogram histogram, const struct stats_times *times, size_t n);
