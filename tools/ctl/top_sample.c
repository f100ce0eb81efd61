// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "facts.h"
#include "request.h"
#include "top_internal.h"

#include <errno.h>
#include <string.h>

/* The lines "KIND key=value ..." come from src/files/text_top.c. */

#define TAKE(name) ret->name = facts_number(line, #name);

static void take_daemon(const char *line, struct top_sample *ret)
{
	TOP_DAEMON(TAKE)
	facts_text(line, "mountpoint", true, ret->mountpoint, sizeof(ret->mountpoint));
}

static void take_storage(const char *line, struct top_storage *ret)
{
	TOP_STORAGE(TAKE)
	facts_text(line, "name", true, ret->name, sizeof(ret->name));
}

static void take_job(const char *line, struct top_job *ret)
{
	TOP_JOB(TAKE)
	facts_text(line, "name", false, ret->name, sizeof(ret->name));
	facts_text(line, "dataset", false, ret->dataset, sizeof(ret->dataset));
	facts_text(line, "state", false, ret->state, sizeof(ret->state));
}

static bool take_line(const char *line, struct top_sample *ret)
{
	if (facts_begin(line, "daemon ")) {
		take_daemon(line, ret);
	} else if (facts_begin(line, "storage ")) {
		if (!array_make_room(ret->storages, ret->n_storages, &ret->storage_room))
			return false;
		ret->storages[ret->n_storages] = (struct top_storage){0};
		take_storage(line, &ret->storages[ret->n_storages++]);
	} else if (facts_begin(line, "job ")) {
		if (!array_make_room(ret->jobs, ret->n_jobs, &ret->job_room))
			return false;
		ret->jobs[ret->n_jobs] = (struct top_job){0};
		take_job(line, &ret->jobs[ret->n_jobs++]);
	}
	return true;
}

bool top_sample_get(const char *socket_path, struct top_sample *ret)
{
	auto_free char *text = NULL;
	bool ok = true;
	*ret = (struct top_sample){0};
	if (!request_text(socket_path, (const char *[]){"top"}, 1, &text))
		return false;
	for (char *line = text, *end; ok && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		ok = take_line(line, ret);
	}
	if (!ok) {
		complain("%s", strerror(ENOMEM));
		top_sample_free(ret);
	}
	return ok;
}

void top_sample_free(struct top_sample *sample)
{
	free(sample->storages);
	free(sample->jobs);
	*sample = (struct top_sample){0};
}

static const struct top_job *find_job(const struct top_sample *sample, const char *name)
{
	for (size_t i = 0; sample && i < sample->n_jobs; i++)
		if (strcmp(sample->jobs[i].name, name) == 0)
			return &sample->jobs[i];
	return NULL;
}

/* Returns the growth of a counter. Returns 0 if the counter has become smaller, because it then
 * belongs to a new engine or job. */
static double growth(double now, double before)
{
	return now > before ? now - before : 0;
}

static double at_most_all(double part)
{
	return part < 1 ? part : 1;
}

static void compare_job(struct top_job *job, const struct top_job *before)
{
	double ns = before ? job->now_ns - before->now_ns : 0;
	if (ns <= 0) {
		job->per_second = job->rate;
		job->exposed = job->waited;
		return;
	}
	const double waited[] = {growth(job->storage_ns, before->storage_ns),
		growth(job->decoding_ns, before->decoding_ns),
		growth(job->queue_ns, before->queue_ns),
		growth(job->filesystem_ns, before->filesystem_ns)};
	job->per_second = growth(job->served, before->served) / ns * 1e9;
	for (int i = 0; i < TOP_CAUSES; i++) {
		job->cause[i] = at_most_all(waited[i] / ns);
		job->exposed += waited[i] / ns;
	}
	job->exposed = at_most_all(job->exposed);
}

static void compare_storages(
	struct top_sample *sample, const struct top_sample *before, double seconds)
{
	for (size_t i = 0; i < sample->n_storages && i < before->n_storages; i++) {
		struct top_storage *storage = &sample->storages[i];
		const struct top_storage *old = &before->storages[i];
		storage->reads_per_second = growth(storage->reads, old->reads) / seconds;
		storage->bytes_per_second = growth(storage->bytes, old->bytes) / seconds;
	}
}

void top_sample_compare(struct top_sample *sample, const struct top_sample *before)
{
	double seconds = before ? (sample->now_ns - before->now_ns) / 1e9 : 0;
	for (size_t i = 0; i < sample->n_jobs; i++)
		compare_job(&sample->jobs[i], find_job(before, sample->jobs[i].name));
	if (seconds <= 0)
		return;
	sample->seconds = seconds;
	sample->served_per_second = growth(sample->served, before->served) / seconds;
	sample->decodes_per_second = growth(sample->decodes, before->decodes) / seconds;
	sample->busy = growth(sample->decode_ns, before->decode_ns) / 1e9 / seconds;
	sample->source_per_second =
		growth(sample->source_bytes, before->source_bytes) / seconds;
	sample->tier_per_second =
		growth(sample->tier_hit_bytes, before->tier_hit_bytes) / seconds;
	sample->evicted_needed =
		growth(sample->evictions_needed, before->evictions_needed) / seconds;
	compare_storages(sample, before, seconds);
}

/* Returns the number by which jobs are sorted, the largest first; 0: they are sorted by name. */
static double number_of(const struct top_job *job, enum top_order order)
{
	switch (order) {
	case TOP_BY_WAITED:
		return job->exposed;
	case TOP_BY_RATE:
		return job->per_second;
	case TOP_BY_DONE:
		return job->samples > 0 ? job->consumed / job->samples : 0;
	case TOP_BY_PREPARED:
		return job->decoded;
	default:
		return 0;
	}
}

/* Compares two jobs by number_of, the largest number first. Jobs with equal numbers are sorted by
 * name, so that their lines do not change places without need. */
static int compare(const void *a, const void *b, void *order)
{
	const struct top_job *job = a, *other = b;
	double x = number_of(job, *(enum top_order *)order);
	double y = number_of(other, *(enum top_order *)order);
	return x != y ? (x < y) - (x > y) : strcmp(job->name, other->name);
}

void top_sort(struct top_sample *sample, enum top_order order)
{
	if (order != TOP_AS_ADDED && sample->n_jobs > 1)
		qsort_r(sample->jobs, sample->n_jobs, sizeof(*sample->jobs), compare,
			&order);
}
