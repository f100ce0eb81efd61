// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/escape.h"
#include "files/text.h"
#include "sched/datasets.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "tier/tier.h"

#include <inttypes.h>

/* Lines are "KIND key=value ...". Times are in ns. */

static void print_daemon(FILE *out, const struct files_context *context)
{
	const struct daemon_config *config = context->config;
	sched_stats(context->sched);
	fprintf(out,
		"daemon cache=%" PRIu64 " workers=%u reads=%u eviction=%d share=%d "
		"cpu_ns=%" PRIu64 " served=%" PRIu64 "\n",
		config->cache_bytes, config->workers, config->reads,
		(int)config->eviction, (int)config->share,
		clock_ns(CLOCK_PROCESS_CPUTIME_ID), stats_get(STAT_SERVED));
}

static void print_job(FILE *out, struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	struct sched_laps laps;
	struct sched_storage storage;
	struct tier_status tier;
	const char *directory;
	sched_job_laps(job, &laps);
	sched_job_storage(job, &storage);
	fprintf(out,
		"job name=%s dataset=%s first_ns=%" PRIu64 " last_ns=%" PRIu64
		" ended_ns=%" PRIu64 " laps=%" PRIu64 " epoch=%" PRIu32
		" samples=%" PRIu32 " readers=%u lookahead=%" PRIu32
		" weight=%.4f pause_ns=%" PRIu64,
		config->name, config->dataset, laps.first_ns, laps.last_ns, laps.ended_ns,
		laps.n, laps.epoch, laps.samples, laps.readers, config_lookahead(config),
		laps.weight, laps.pause_ns);
	for (uint64_t i = 0; i < laps.n && i < SCHED_LAPS; i++) {
		uint64_t at = (laps.n - 1 - i) % SCHED_LAPS;
		fprintf(out,
			" lap_ns_%" PRIu64 "=%" PRIu64 " lap_waited_ns_%" PRIu64
			"=%" PRIu64,
			i, laps.ns[at], i, laps.waited_ns[at]);
	}
	for (int i = 0; i < WAIT_CAUSES; i++)
		fprintf(out, " %s_ns=%" PRIu64, sched_wait_cause((enum wait_cause)i),
			laps.exposed_ns[i]);
	fprintf(out,
		" decoded=%" PRIu64 " shared=%" PRIu64 " hit=%" PRIu64 " cpu_ns=%" PRIu64
		" cpu_samples=%" PRIu64,
		laps.decoded, laps.shared, laps.hit, laps.cpu_ns, laps.cpu_samples);
	fprintf(out,
		" drawn=%d labels=%" PRIu32 " sample_bytes=%" PRIu64
		" sampler=%d most_reads=%u tier=%d small_files=%d\n",
		laps.drawn, laps.labels, laps.sample_bytes, (int)laps.sampler,
		storage.most_reads, sched_job_tier(job, &tier, &directory),
		config_has_small_files(config, laps.sample_bytes));
}

static void print_dataset(FILE *out, const struct files_context *context, uint32_t number)
{
	struct sched_dataset_times times;
	struct dataset *dataset = sched_dataset_hold(context->sched, number);
	if (dataset && sched_dataset_times(context->sched, number, &times)) {
		fprintf(out,
			"dataset reads=%" PRIu64 " read_ns=%" PRIu64 " decodes=%" PRIu64
			" decode_ns=%" PRIu64 " cpu_ns=%" PRIu64 " name=",
			histogram_count(&times.read), times.read.sum_ns,
			histogram_count(&times.decode), times.decode.sum_ns,
			times.cpu_ns);
		escape_print(out, dataset_name(dataset));
		fputc('\n', out);
	}
	dataset_close(&dataset);
}

static int print_common(
	FILE *out, const struct files_context *context, const job_id *ids, size_t n)
{
	auto_free struct sched_common *common = NULL;
	size_t n_common;
	int err = sched_common(context->sched, ids, n, &common, &n_common);
	for (size_t i = 0; !err && i < n_common; i++)
		fprintf(out, "part jobs=%" PRIu64 " samples=%" PRIu32 "\n",
			common[i].jobs, common[i].samples);
	return err;
}

/* Among the printed lines are lines `part jobs=J samples=N`: each job of a set reads these N
 * samples, and no other printed job reads them. The lines of jobs, which are "gone" for removed
 * jobs, have numbers from 0. Bit i of J tells whether the job of line i is in the set. */
int text_explain(FILE *out, const struct files_context *context)
{
	auto_free job_id *ids = NULL;
	size_t n = 0;
	int err = sched_job_ids(context->sched, &ids, &n);
	if (err)
		return err;
	n = n < SCHED_COMMON_JOBS ? n : SCHED_COMMON_JOBS;
	print_daemon(out, context);
	for (uint32_t i = 0; i < sched_datasets(context->sched, NULL); i++)
		print_dataset(out, context, i);
	for (size_t i = 0; i < n; i++) {
		auto_job *job = sched_job_find_id(context->sched, ids[i]);
		if (job)
			print_job(out, job);
		else
			fputs("gone\n", out);
	}
	return print_common(out, context, ids, n);
}
