// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/escape.h"
#include "config/config_owner.h"
#include "control/control_request.h"
#include "files/text.h"
#include "fuse/reader.h"
#include "sched/datasets.h"
#include "sched/gauges.h"
#include "sched/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LS_COLUMNS 12
#define LS_OWNER 11
struct ls_row {
	char cell[LS_COLUMNS][80]; /* names have at most 64 bytes */
};

static bool has_ended(const struct sched_job_status *status)
{
	for (size_t i = 0; i < SCHED_PROGRAMS && status->programs[i].id; i++)
		if (reader_lives(&status->programs[i]))
			return false;
	return status->programs[0].id != 0;
}

static void ls_fill_state(struct ls_row *row, const struct job_config *config,
	const struct sched_job_status *status)
{
	const char *state = sched_job_state(config, status);
	uint64_t s = status->read_ns / UINT64_C(1000000000);
	char *cell = row->cell[2];
	if (strcmp(state, "finished") == 0 || !has_ended(status))
		snprintf(cell, sizeof(row->cell[2]), "%s", state);
	else if (s < 120)
		snprintf(cell, sizeof(row->cell[2]), "ended %" PRIu64 " s ago", s);
	else if (s < 7200)
		snprintf(cell, sizeof(row->cell[2]), "ended %" PRIu64 " min ago", s / 60);
	else
		snprintf(cell, sizeof(row->cell[2]), "ended %" PRIu64 " h ago", s / 3600);
}

static void ls_fill_mapping(struct ls_row *row, const struct job_config *config,
	const struct sched_job_status *status)
{
	bool maps = config->layout == LAYOUT_CLASSES && config->order == ORDER_SHUFFLED;
	snprintf(row->cell[5], sizeof(row->cell[5]), "%s%s",
		maps && config->mapping == MAPPING_AUTO ? "auto " : "",
		!maps		? "-"
		: status->fixed ? "fixed"
				: "fresh");
}

/* Fills in the cells from RATE to PREPARED/SERVED. Rate, demand and share stay "-" if the job could
 * use no samples now (its demand is 0). */
static void ls_fill_share(struct ls_row *row, const struct sched_job_status *status)
{
	const struct sched_job_share *share = &status->share;
	snprintf(row->cell[9], sizeof(row->cell[9]), "%.0f%%", 100 * status->waited_part);
	snprintf(row->cell[10], sizeof(row->cell[10]), "%" PRIu64 "/%" PRIu64,
		status->decoded, status->served);
	if (share->demand <= 0)
		return;
	snprintf(row->cell[6], sizeof(row->cell[6]), "%.0f", status->rate);
	snprintf(row->cell[7], sizeof(row->cell[7]), "%s%.0f", share->at_least ? ">" : "",
		share->demand);
	snprintf(row->cell[8], sizeof(row->cell[8]), "%.0f%%/%.0f%%",
		100 * share->granted_part, 100 * share->wanted_part);
}

static void ls_fill_owner(char *cell, size_t size, const struct job_config *config)
{
	FILE *out = fmemopen(cell, size, "w");
	if (!out)
		return;
	config_print_user(out, config_job_owner(config).uid);
	(void)fclose(out); /* a name that is too long is cut */
}

static void ls_fill(struct ls_row *row, struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	struct sched_job_status status;
	sched_job_status(job, &status);
	for (int c = 0; c < LS_COLUMNS; c++)
		strcpy(row->cell[c], "-");
	snprintf(row->cell[0], sizeof(row->cell[0]), "%s%s", config->name,
		status.notices ? "!" : "");
	snprintf(row->cell[1], sizeof(row->cell[1]), "%s", config->dataset);
	ls_fill_state(row, config, &status);
	ls_fill_mapping(row, config, &status);
	ls_fill_owner(row->cell[LS_OWNER], sizeof(row->cell[LS_OWNER]), config);
	if (!status.started)
		return;
	ls_fill_share(row, &status);
	snprintf(row->cell[3], sizeof(row->cell[3]), "%" PRIu32, status.epoch);
	snprintf(row->cell[4], sizeof(row->cell[4]), "%" PRIu32 "/%" PRIu32 " %d%%",
		status.consumed, status.samples,
		status.samples ? (int)(100.0 * status.consumed / status.samples) : 100);
}

static void ls_print(FILE *out, const struct ls_row *rows, size_t n)
{
	int width[LS_COLUMNS] = {0};
	for (size_t i = 0; i < n; i++)
		for (int c = 0; c < LS_COLUMNS; c++)
			if ((int)strlen(rows[i].cell[c]) > width[c])
				width[c] = (int)strlen(rows[i].cell[c]);
	for (size_t i = 0; i < n; i++) {
		for (int c = 0; c < LS_COLUMNS - 1; c++)
			fprintf(out, "%-*s  ", width[c], rows[i].cell[c]);
		fprintf(out, "%s\n", rows[i].cell[LS_COLUMNS - 1]);
	}
}

static bool is_of_earlier_job(
	const struct sched_storage *storage, struct sched_job *const *jobs, size_t n)
{
	struct sched_storage earlier;
	for (size_t i = 0; i < n; i++) {
		sched_job_storage(jobs[i], &earlier);
		if (strcmp(earlier.root, storage->root) == 0)
			return true;
	}
	return false;
}

/* Prints the storage of job i if the storage does not answer, because this explains why readers
 * wait. Prints nothing if an earlier job has the same storage. */
static void print_silent(FILE *out, struct sched_job *const *jobs, size_t i)
{
	struct sched_storage storage;
	sched_job_storage(jobs[i], &storage);
	if (storage.silent_ns == 0 || is_of_earlier_job(&storage, jobs, i))
		return;
	fprintf(out,
		"storage does not answer, %u reads wait, for %.0f s: ", storage.reads,
		(double)storage.silent_ns / 1e9);
	escape_print(out, storage.root);
	fputc('\n', out);
}

static int print_list(FILE *out, const struct request_jobs *jobs)
{
	auto_free struct ls_row *rows = calloc(jobs->n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	rows[0] = (struct ls_row){
		{"NAME", "DATASET", "STATE", "EPOCH", "PROGRESS", "MAPPING", "RATE",
			"DEMAND", "SHARE", "WAITED", "PREPARED/SERVED", "OWNER"}};
	for (size_t i = 0; i < jobs->n; i++)
		ls_fill(&rows[i + 1], jobs->job[i]);
	ls_print(out, rows, jobs->n + 1);
	for (size_t i = 0; i < jobs->n; i++)
		print_silent(out, jobs->job, i);
	return 0;
}

bool show_ls(const struct request *request)
{
	auto_request_jobs struct request_jobs jobs = {0};
	int err = request_jobs(request, &jobs);
	if (!err)
		err = print_list(request->out, &jobs);
	return err ? request_refuse(request, "ls: %s", strerror(-err)) : true;
}

struct held {
	struct dataset **dataset;
	const char **name;
	size_t n;
};

#define auto_held __attribute__((cleanup(put_held)))

static void put_held(struct held *held)
{
	for (size_t i = 0; i < held->n; i++)
		dataset_close(&held->dataset[i]);
	free(held->dataset);
	free(held->name);
}

static int hold_all(const struct files_context *context, struct held *ret)
{
	uint32_t n = sched_datasets(context->sched, NULL);
	*ret = (struct held){.dataset = calloc(n + 1, sizeof(*ret->dataset)),
		.name = calloc(n + 1, sizeof(*ret->name))};
	if (!ret->dataset || !ret->name)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct dataset *dataset = sched_dataset_hold(context->sched, i);
		if (!dataset)
			continue;
		ret->name[ret->n] = dataset_name(dataset);
		ret->dataset[ret->n++] = dataset;
	}
	return 0;
}

static const struct dataset *find_held(const struct held *held, const char *name)
{
	for (size_t i = 0; i < held->n; i++)
		if (strcmp(held->name[i], name) == 0)
			return held->dataset[i];
	return NULL;
}

static bool refuse_unknown(
	const struct request *request, const struct held *held, const char *name)
{
	const char *nearest = config_nearest(name, held->name, held->n);
	if (nearest)
		return request_refuse(
			request, "no dataset %s, did you mean %s?", name, nearest);
	return request_refuse(request,
		"no dataset %s; \"joaderctl datasets\" lists all datasets", name);
}

bool control_unknown_dataset(const struct request *request, const char *name)
{
	auto_held struct held held = {0};
	return hold_all(request->context, &held) == 0 &&
	       refuse_unknown(request, &held, name);
}

bool show_datasets(const struct request *request)
{
	const char *name = request->n_arguments == 2 ? request->argument[1] : NULL;
	auto_held struct held held = {0};
	if (hold_all(request->context, &held) != 0)
		return false;
	const struct dataset *only = name ? find_held(&held, name) : NULL;
	if (name && !only)
		return refuse_unknown(request, &held, name);
	if (only)
		text_dataset_info(request->out, request->context, only);
	for (size_t i = 0; !name && i < held.n; i++) {
		if (i)
			fputc('\n', request->out);
		text_dataset_info(request->out, request->context, held.dataset[i]);
	}
	return true;
}

static int longest(const struct held *held)
{
	int n = (int)strlen("NAME");
	for (size_t i = 0; i < held->n; i++)
		if ((int)strlen(held->name[i]) > n)
			n = (int)strlen(held->name[i]);
	return n;
}

bool control_dataset_table(const struct request *request)
{
	FILE *out = request->out;
	auto_held struct held held = {0};
	if (hold_all(request->context, &held) != 0)
		return false;
	int width = longest(&held);
	fprintf(out, "%-*s  %-9s  %10s  %7s  %15s  %4s  PATH\n", width, "NAME", "SOURCE",
		"SAMPLES", "CLASSES", "BYTES", "JOBS");
	for (size_t i = 0; i < held.n; i++) {
		const struct dataset *dataset = held.dataset[i];
		fprintf(out,
			"%-*s  %-9s  %10" PRIu32 "  %7" PRIu32 "  %15" PRIu64
			"  %4" PRIu32 "  ",
			width, held.name[i], dataset_kind(dataset),
			dataset_samples(dataset), dataset_classes(dataset),
			dataset_bytes(dataset),
			sched_dataset_jobs(request->context->sched, dataset));
		escape_print(out, dataset_source(dataset));
		fputc('\n', out);
	}
	return true;
}
