// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/bitmap.h"
#include "base/escape.h"
#include "base/size_text.h"
#include "config/config_owner.h"
#include "files/text.h"
#include "sched/datasets.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "stats/stats.h"
#include "tier/tier.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const served_names[] = {
	[SERVED_DECODED] = "decoded",
	[SERVED_HIT] = "hit",
	[SERVED_SHARED] = "shared",
	[SERVED_SKIPPED] = "skipped",
};

static void print_readme(FILE *out, const struct files_context *context)
{
	fprintf(out,
		"This is joaderfs %s: training samples, prepared once for all jobs on\n"
		"this machine. Listing changes nothing. Opening a file gives its\n"
		"position a sample. All files are read-only.\n"
		"  jobs/JOB/current/         for a training script: the running epoch,\n"
		"                            and then the next one\n"
		"  data/PATH                 links to these, by the key [view] path\n"
		"  jobs/JOB/epoch-0000/      one epoch, which keeps its samples\n"
		"  jobs/JOB/epoch-0000.order position, sample, label, how served, path\n"
		"  jobs/JOB/status, job.ini  progress; configuration\n"
		"  jobs/JOB/state            a checkpoint for joaderctl restore\n"
		"  datasets/DATASET/         info, classes.txt (line i: label i)\n"
		"  stats, stats.json, metrics: the daemon's counters\n"
		"  dashboard.html            for a browser: plots of the last hour\n"
		"Give a training script %s/jobs/JOB/current to read.\n"
		"For PyTorch, try layout = classes first, or mirror if each file name "
		"must\n"
		"always stand for the same image. where = hash(path) %% 5 != 0 leaves a\n"
		"fifth for validation. joaderfs-readers(7) explains more.\n",
		JOADERFS_VERSION, context->mountpoint);
}

void text_stats(FILE *out, const struct files_context *context)
{
	sched_stats(context->sched);
	stats_print_text(out);
	text_times(out, context, false);
}

void text_stats_json(FILE *out, const struct files_context *context)
{
	sched_stats(context->sched);
	fputs("{", out);
	stats_print_json(out);
	fputs(",\n", out);
	text_times(out, context, true);
	fputs("\n}\n", out);
}

static void print_name(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s ", key);
	escape_print(out, text);
	fputc('\n', out);
}

static void print_prepared(
	FILE *out, const struct files_context *context, const struct dataset *dataset)
{
	auto_free struct sched_prepared *prepared = NULL;
	size_t n;
	if (sched_dataset_prepared(context->sched, dataset, &prepared, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		fprintf(out,
			"prepared %" PRIu32 " samples of %" PRIu64
			" bytes, all of them %s, for jobs: %" PRIu32 ", %s\n",
			prepared[i].samples, prepared[i].sample_bytes,
			size_text(prepared[i].samples * prepared[i].sample_bytes).text,
			prepared[i].jobs, prepared[i].preparation);
}

static const char *tier_state(const struct tier_status *tier)
{
	if (!tier->ready)
		return "is looked through";
	return tier->writes ? "reads and writes" : "reads only, it can't be written";
}

static void print_tier(
	FILE *out, const struct files_context *context, const struct dataset *dataset)
{
	struct tier_status tier;
	const char *directory;
	if (!sched_tier(context->sched, dataset, &tier, &directory))
		return;
	print_name(out, "tier", directory);
	fprintf(out, "tier_limit %" PRIu64 "\n", tier.capacity);
	fprintf(out, "tier_bytes %" PRIu64 "\n", tier.used);
	fprintf(out, "tier_samples %" PRIu64 "\n", tier.samples);
	fprintf(out, "tier_state %s\n", tier_state(&tier));
	fprintf(out, "tier_hits %" PRIu64 "\n", tier.hits);
	fprintf(out, "tier_misses %" PRIu64 "\n", tier.misses);
	fprintf(out, "tier_hit_bytes %" PRIu64 "\n", tier.hit_bytes);
	fprintf(out, "tier_fetched_bytes %" PRIu64 "\n", tier.fetched_bytes);
	fprintf(out, "tier_written %" PRIu64 "\n", tier.written);
	fprintf(out, "tier_evictions %" PRIu64 "\n", tier.evicted);
	fprintf(out, "tier_damaged %" PRIu64 "\n", tier.damaged);
}

void text_dataset_info(
	FILE *out, const struct files_context *context, const struct dataset *dataset)
{
	print_name(out, "name", dataset_name(dataset));
	fprintf(out, "samples %" PRIu32 "\n", dataset_samples(dataset));
	fprintf(out, "classes %" PRIu32 "\n", dataset_classes(dataset));
	fprintf(out, "bytes %" PRIu64 "\n", dataset_bytes(dataset));
	struct dataset_pixels kinds = dataset_pixels(dataset);
	char pixels[DATASET_PIXELS_TEXT];
	if (dataset_pixels_print(&kinds, pixels))
		fprintf(out, "pixels %s\n", pixels);
	print_name(out, "source", dataset_source(dataset));
	fprintf(out, "jobs %" PRIu32 "\n", sched_dataset_jobs(context->sched, dataset));
	print_prepared(out, context, dataset);
	print_tier(out, context, dataset);
}

static void print_classes(FILE *out, const struct dataset *dataset)
{
	uint32_t n = dataset_classes(dataset);
	for (uint32_t label = 0; label < n; label++) {
		escape_print(out, dataset_class_name(dataset, label));
		fputc('\n', out);
	}
}

static void print_storage(FILE *out, struct sched_job *job)
{
	struct sched_storage storage;
	sched_job_storage(job, &storage);
	if (storage.silent_ns > 0)
		fprintf(out, "storage does not answer, %u reads wait, for %.0f s: ",
			storage.reads, (double)storage.silent_ns / 1e9);
	else
		fprintf(out, "storage answers, %u reads of at most %u: ", storage.reads,
			storage.most_reads);
	escape_print(out, storage.root);
	fputc('\n', out);
}

static void print_job_tier(FILE *out, struct sched_job *job)
{
	struct tier_status tier;
	const char *directory;
	if (!sched_job_tier(job, &tier, &directory))
		return;
	fputs("tier ", out);
	escape_print(out, directory);
	fprintf(out, ": %" PRIu64 " samples, %s of %s, %s\n", tier.samples,
		size_text(tier.used).text, size_text(tier.capacity).text,
		tier_state(&tier));
}

static void print_share(FILE *out, const struct sched_job_share *share)
{
	fprintf(out, "demand %s%.1f\n", share->at_least ? "more than " : "",
		share->demand);
	fprintf(out, "share_wanted %.3f\n", share->wanted_part);
	fprintf(out, "share_granted %.3f\n", share->granted_part);
	fprintf(out, "waiting %.3f\n", share->waiting);
}

static void print_waits(FILE *out, const struct sched_job_status *status)
{
	fprintf(out, "waits %" PRIu64 "\n", status->waits);
	fprintf(out, "wait_s %.3f\n", (double)status->wait_ns / 1e9);
	fprintf(out, "waited %.3f\n", status->waited_part);
	for (int i = 0; i < WAIT_CAUSES; i++)
		fprintf(out, "waited_s_%s %.3f\n", sched_wait_cause((enum wait_cause)i),
			(double)status->exposed_ns[i] / 1e9);
}

#define MOST_NAMED 100

static void print_path(
	FILE *out, const char *before, struct dataset *dataset, sample_id id)
{
	struct dataset_sample sample = {0};
	if (dataset_get(dataset, id, &sample) == 0) {
		fputs(before, out);
		escape_print(out, sample.relative);
		fputc('\n', out);
	}
	dataset_sample_free(&sample);
}

static void print_bad_samples(
	FILE *out, struct sched_job *job, const struct sched_job_status *status)
{
	auto_bitmap roaring_bitmap_t *bad = sched_job_bad(job);
	if (!bad)
		return;
	fprintf(out, "bad_samples %" PRIu32 "\n", status->bad);
	fprintf(out, "skipped %" PRIu32 "\n", status->skipped);
	auto_edition *edition = sched_edition(job, SCHED_CURRENT);
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(bad, &iterator);
	for (unsigned i = 0; iterator.has_value && i < MOST_NAMED; i++) {
		print_path(out, "left_out ", edition->dataset, iterator.current_value);
		roaring_advance_uint32_iterator(&iterator);
	}
}

/* Prints, for each dataset of a mixture, how many of its samples an epoch has. */
static void print_parts(FILE *out, struct sched_job *job)
{
	struct sched_part parts[CONFIG_MOST_MIXED];
	size_t n = sched_job_parts(job, parts);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "part %s %" PRIu32 " of %" PRIu32 "\n", parts[i].dataset,
			parts[i].in_epoch, parts[i].samples);
}

static void print_owner(FILE *out, const struct job_config *config)
{
	struct job_owner owner = config_job_owner(config);
	fputs("owner ", out);
	config_print_user(out, owner.uid);
	fprintf(out, "\ngroup %lu\nmode %04o\n", (unsigned long)owner.gid,
		(unsigned)owner.mode);
}

void text_job_status(FILE *out, struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	struct sched_job_status status;
	sched_job_status(job, &status);
	fprintf(out, "name %s\n", config->name);
	fprintf(out, "dataset %s\n", config->dataset);
	print_parts(out, job);
	print_owner(out, config);
	fprintf(out, "state %s\n", sched_job_state(config, &status));
	fprintf(out, "epoch %" PRIu32 "\n", status.epoch);
	if (config->epochs)
		fprintf(out, "epochs %" PRIu32 "\n", config->epochs);
	else
		fputs("epochs unlimited\n", out);
	if (config->layout == LAYOUT_CLASSES && config->order == ORDER_SHUFFLED)
		fprintf(out, "mapping %s\n", status.fixed ? "fixed" : "fresh");
	fprintf(out, "samples %" PRIu32 "\n", status.samples);
	fprintf(out, "bound %" PRIu32 "\n", status.bound);
	fprintf(out, "consumed %" PRIu32 "\n", status.consumed);
	fprintf(out, "drawn_ahead %" PRIu32 "\n", status.drawn);
	fprintf(out, "rate %.1f\n", status.rate);
	if (status.unfed_ns)
		fprintf(out,
			"cluster away for %" PRIu64
			" s: readers get what was drawn, %s\n",
			status.unfed_ns / 1000000000,
			status.gives_up ? "then ETIMEDOUT" : "then they wait");
	if (status.waits_why[0])
		fprintf(out, "cluster %s\n", status.waits_why);
	print_share(out, &status.share);
	fprintf(out, "served %" PRIu64 "\n", status.served);
	fprintf(out, "decoded %" PRIu64 "\n", status.decoded);
	fprintf(out, "shared %" PRIu64 "\n", status.shared);
	fprintf(out, "hit %" PRIu64 "\n", status.hit);
	fprintf(out, "errors %" PRIu64 "\n", status.errors);
	print_waits(out, &status);
	for (unsigned i = 0; i < NOTICES; i++)
		if (status.notices & 1u << i)
			fprintf(out, "notice %s\n", notice_text((enum notice)i));
	fprintf(out, "prepared_sample_bytes %" PRIu64 "\n", status.sample_bytes);
	fprintf(out, "prepared_all_bytes %" PRIu64 "\n", status.all_bytes);
	print_storage(out, job);
	print_job_tier(out, job);
	print_bad_samples(out, job, &status);
}

void text_order_line(
	FILE *out, const struct sched_edition *edition, const struct binding *binding)
{
	struct dataset *dataset = edition->dataset;
	struct dataset_sample sample;
	int err = dataset_get(dataset, binding->sample, &sample);
	fprintf(out, "%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%s\t", binding->position,
		binding->sample, dataset_label(dataset, binding->sample),
		served_names[binding->served]);
	if (err) {
		fprintf(out, "(%s)\n", strerror(-err));
		return;
	}
	escape_print(out, sample.relative);
	fputc('\n', out);
	dataset_sample_free(&sample);
}

/* Returns the number of digits, as a sum of comparisons. Branches would be slower, and a read may
 * measure a million lines. */
static unsigned digits(uint32_t number)
{
	return 1U + (number > 9) + (number > 99) + (number > 999) + (number > 9999) +
	       (number > 99999) + (number > 999999) + (number > 9999999) +
	       (number > 99999999) + (number > 999999999);
}

size_t text_order_line_length(
	const struct sched_edition *edition, const struct binding *binding)
{
	const struct dataset *dataset = edition->dataset;
	return digits(binding->position) + digits(binding->sample) +
	       digits(dataset_label(dataset, binding->sample)) +
	       strlen(served_names[binding->served]) +
	       dataset_path_length(dataset, binding->sample) + strlen("\t\t\t\t\n");
}

bool text_is(enum inode_kind kind)
{
	switch (kind) {
	case INODE_README:
	case INODE_STATS:
	case INODE_STATS_JSON:
	case INODE_METRICS:
	case INODE_DASHBOARD:
	case INODE_DATASET_INFO:
	case INODE_DATASET_CLASSES:
	case INODE_DATASET_BAD:
	case INODE_JOB_INI:
	case INODE_JOB_STATUS:
	case INODE_JOB_CLASSES:
	case INODE_JOB_STATE:
	case INODE_EPOCH_ORDER:
		return true;
	default:
		return false;
	}
}

static int print_bad(FILE *out, struct sched *sched, struct dataset *dataset)
{
	auto_bitmap roaring_bitmap_t *samples = sched_quarantined(sched, dataset);
	roaring_uint32_iterator_t at;
	if (!samples)
		return -ENOMEM;
	roaring_init_iterator(samples, &at);
	for (; at.has_value; roaring_advance_uint32_iterator(&at))
		print_path(out, "", dataset, at.current_value);
	return 0;
}

static int print_of_dataset(
	FILE *out, const struct files_context *context, struct inode inode)
{
	struct dataset *dataset = sched_dataset_hold(context->sched, inode.job);
	int err = 0;
	if (!dataset)
		return -ENOENT;
	if (inode.kind == INODE_DATASET_INFO)
		text_dataset_info(out, context, dataset);
	else if (inode.kind == INODE_DATASET_BAD)
		err = print_bad(out, context->sched, dataset);
	else
		print_classes(out, dataset);
	dataset_close(&dataset);
	return err;
}

static int print_of_job(FILE *out, struct sched *sched, struct inode inode)
{
	auto_job *job = sched_job_find_id(sched, inode.job);
	if (!job)
		return -ENOENT;
	if (inode.kind == INODE_JOB_INI) {
		config_print_job(out, sched_job_config(job));
	} else if (inode.kind == INODE_JOB_STATUS) {
		text_job_status(out, job);
	} else if (inode.kind == INODE_JOB_STATE) {
		sched_job_print_state(job, out);
	} else {
		auto_edition *edition = sched_edition(job, SCHED_CURRENT);
		print_classes(out, edition->dataset);
	}
	return 0;
}

int text_print(FILE *out, const struct files_context *context, struct inode inode)
{
	switch (inode.kind) {
	case INODE_DATASET_INFO:
	case INODE_DATASET_CLASSES:
	case INODE_DATASET_BAD:
		return print_of_dataset(out, context, inode);
	case INODE_JOB_INI:
	case INODE_JOB_STATUS:
	case INODE_JOB_CLASSES:
	case INODE_JOB_STATE:
		return print_of_job(out, context->sched, inode);
	default:
		print_readme(out, context);
		return 0;
	}
}
