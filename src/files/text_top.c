// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/escape.h"
#include "files/text.h"
#include "sched/gauges.h"
#include "sched/jobs.h"

#include <inttypes.h>

/* Lines are "KIND key=value ...". Counters are totals, from which joaderctl computes rates. */

static void print_daemon(FILE *out, const struct files_context *context)
{
	struct sched_cache cache;
	static const struct {
		const char *key;
		enum stat_id stat;
	} counters[] = {
		{"served", STAT_SERVED},
		{"decodes", STAT_DECODES},
		{"decode_ns", STAT_DECODE_NS},
		{"saved_ns", STAT_SAVED_NS},
		{"source_bytes", STAT_SOURCE_BYTES},
		{"tier_hits", STAT_TIER_HITS},
		{"tier_hit_bytes", STAT_TIER_HIT_BYTES},
		{"tier_fetched_bytes", STAT_TIER_FETCHED_BYTES},
		{"fetched", STAT_FETCHED},
		{"fetched_bytes", STAT_FETCHED_BYTES},
		{"evictions", STAT_EVICTIONS},
		{"evictions_needed", STAT_EVICTIONS_NEEDED},
		{"held_bytes", STAT_HELD_BYTES},
	};
	sched_stats(context->sched);
	sched_cache(context->sched, &cache);
	fprintf(out,
		"daemon now_ns=%" PRIu64 " workers=%u cache_capacity=%" PRIu64
		" cache_held=%" PRIu64 " cache_pinned=%" PRIu64,
		clock_now_ns(), context->config->workers, cache.capacity, cache.held,
		cache.pinned);
	for (int i = 0; cache.by_need && i < SCHED_NEEDS; i++)
		fprintf(out, " cache_needed_%d=%" PRIu64, i, cache.needed[i]);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		fprintf(out, " %s=%" PRIu64, counters[i].key,
			stats_get(counters[i].stat));
	fputs(" mountpoint=", out);
	escape_print(out, context->mountpoint);
	fputc('\n', out);
}

static void print_storages(FILE *out, const struct files_context *context)
{
	struct sched_storage storage;
	for (size_t i = 0; sched_storage(context->sched, i, &storage); i++) {
		fprintf(out,
			"storage in_flight=%u most=%u reads=%" PRIu64 " bytes=%" PRIu64
			" latency_ns=%" PRIu64 " silent_ns=%" PRIu64 " name=",
			storage.reads, storage.most_reads, storage.ended, storage.bytes,
			storage.latency_ns, storage.silent_ns);
		escape_print(out, storage.root);
		fputc('\n', out);
	}
}

static void print_job(FILE *out, struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	struct sched_job_status status;
	sched_job_status(job, &status);
	const struct sched_job_share *share = &status.share;
	fprintf(out,
		"job name=%s dataset=%s state=%s notices=%u now_ns=%" PRIu64
		" epoch=%" PRIu32 " consumed=%" PRIu32 " samples=%" PRIu32,
		config->name, config->dataset, sched_job_state(config, &status),
		status.notices != 0, status.now_ns, status.epoch, status.consumed,
		status.samples);
	fprintf(out,
		" served=%" PRIu64 " decoded=%" PRIu64 " shared=%" PRIu64 " hit=%" PRIu64
		" errors=%" PRIu64 " rate=%.3f left=%.1f",
		status.served, status.decoded, status.shared, status.hit, status.errors,
		status.rate, sched_seconds_left(&status));
	fprintf(out, " demand=%.3f at_least=%d wanted=%.4f granted=%.4f waited=%.4f",
		share->demand, share->at_least, share->wanted_part, share->granted_part,
		status.waited_part);
	for (int i = 0; i < WAIT_CAUSES; i++)
		fprintf(out, " %s_ns=%" PRIu64, sched_wait_cause((enum wait_cause)i),
			status.exposed_ns[i]);
	fprintf(out, " sample_bytes=%" PRIu64 " all_bytes=%" PRIu64 "\n",
		status.sample_bytes, status.all_bytes);
}

int text_top(FILE *out, const struct files_context *context)
{
	auto_free job_id *ids = NULL;
	size_t n = 0;
	int err = sched_job_ids(context->sched, &ids, &n);
	if (err)
		return err;
	print_daemon(out, context);
	print_storages(out, context);
	for (size_t i = 0; i < n; i++) {
		auto_job *job = sched_job_find_id(context->sched, ids[i]);
		if (job)
			print_job(out, job);
	}
	return 0;
}
