// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kind_name(enum sampler_kind kind)
{
	static const char *const names[] = {[SAMPLER_DSA] = "dsa",
		[SAMPLER_ISA] = "isa",
		[SAMPLER_EXCHANGE] = "exchange",
		[SAMPLER_SEQUENTIAL] = "sequential"};
	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

bool coord_facts_differ(const struct coord_job *here, const struct coord_job *there,
	uint64_t n_there, char text[COORD_TEXT])
{
	uint64_t n = roaring_bitmap_get_cardinality(here->ids);
	int length = 0;
	if (strcmp(here->dataset, there->dataset) != 0)
		length = snprintf(text, COORD_TEXT,
			"dataset: '%s' here, '%s' in the group", here->dataset,
			there->dataset);
	else if (n != n_there)
		length = snprintf(text, COORD_TEXT,
			"samples: %" PRIu64 " here, %" PRIu64 " in the group", n,
			n_there);
	else if (here->fingerprint != there->fingerprint &&
		 here->fingerprint >> 32 == there->fingerprint >> 32)
		length = snprintf(text, COORD_TEXT,
			"times: the files' paths and sizes are those of the group, but "
			"their modification times differ; rsync -a or cp -a copies files "
			"with their times");
	else if (here->fingerprint != there->fingerprint)
		length = snprintf(text, COORD_TEXT,
			"samples: the samples selected here differ from the group's "
			"(fingerprint %016" PRIx64 " here, %016" PRIx64 " in the group)",
			here->fingerprint, there->fingerprint);
	else if (here->ranks != there->ranks)
		length = snprintf(text, COORD_TEXT,
			"%s: %" PRIu32 " here, %" PRIu32 " in the group",
			here->local_ranks ? "ranks / local_ranks" : "ranks", here->ranks,
			there->ranks);
	else if (here->batch != there->batch)
		length = snprintf(text, COORD_TEXT,
			"batch: %" PRIu32 " here, %" PRIu32 " in the group", here->batch,
			there->batch);
	else if (here->kind != there->kind)
		length = snprintf(text, COORD_TEXT, "sampler: %s here, %s in the group",
			kind_name(here->kind), kind_name(there->kind));
	return length > 0;
}

bool coord_is_behind(const struct coord_job *here, uint32_t epoch, uint32_t next,
	char text[COORD_TEXT])
{
	if (epoch > here->epoch || (epoch == here->epoch && next >= here->n_log))
		return false;
	snprintf(text, COORD_TEXT,
		"position (samples of all ranks): epoch %" PRIu32 ", sample %" PRIu32
		" here, epoch %" PRIu32 ", sample %" PRIu32 " in the group",
		here->epoch, here->n_log, epoch, next);
	return true;
}

sample_id *coord_log_parts(const struct coord_job *job)
{
	sample_id *ids = reallocarray(NULL, (size_t)job->n_log + 1, sizeof(*ids));
	size_t n = 0;
	for (uint32_t r = 0; ids && r < job->ranks; r++)
		for (size_t begin = 0; begin < job->n_log; begin += job->batch)
			for (size_t i = r; i < job->batch && begin + i < job->n_log;
				i += job->ranks)
				ids[n++] = job->log[begin + i];
	return ids;
}

bool coord_text_is_plain(const char *text)
{
	while ((unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	return *text == '\0';
}

bool coord_name_is_good(const char *name)
{
	return name[0] && strlen(name) < COORD_NAME && !strpbrk(name, " {}:") &&
	       coord_text_is_plain(name);
}

bool coord_is_same_job(const struct coord_job *facts, const struct coord_engine_job *log)
{
	return log->ranks == facts->ranks && log->batch == facts->batch &&
	       log->n == roaring_bitmap_get_cardinality(facts->ids) &&
	       log->fingerprint == facts->fingerprint;
}

int coord_facts_copy(const struct coord_job *facts, struct coord_job *ret)
{
	*ret = *facts;
	ret->name = strdup(facts->name);
	ret->dataset = strdup(facts->dataset);
	ret->ids = roaring_bitmap_copy(facts->ids);
	sample_id *log = reallocarray(NULL, (size_t)facts->n_log + 1, sizeof(*log));
	if (log && facts->n_log)
		memcpy(log, facts->log, facts->n_log * sizeof(*log));
	ret->log = log;
	if (ret->name && ret->dataset && ret->ids && log)
		return 0;
	coord_facts_free(ret);
	return -ENOMEM;
}

void coord_facts_free(struct coord_job *facts)
{
	free((char *)(uintptr_t)facts->name);
	free((char *)(uintptr_t)facts->dataset);
	if (facts->ids)
		roaring_bitmap_free((roaring_bitmap_t *)(uintptr_t)facts->ids);
	free((sample_id *)(uintptr_t)facts->log);
	*facts = (struct coord_job){0};
}

int coord_jobs_by_name(const void *a, const void *b)
{
	return strcmp(((const struct coord_engine_job *)a)->name,
		((const struct coord_engine_job *)b)->name);
}

void coord_engine_jobs_free(struct coord_engine_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++) {
		free(jobs->jobs[i].cursors);
		free(jobs->jobs[i].owners);
	}
	free(jobs->jobs);
	*jobs = (struct coord_engine_jobs){0};
}

void coord_look_free(struct coord_look *look)
{
	free(look->members);
	coord_engine_jobs_free(&look->jobs);
}

void coord_offers_free(struct coord_offers *offers)
{
	for (size_t i = 0; i < offers->n; i++)
		free(offers->offers[i].ids);
	free(offers->offers);
	*offers = (struct coord_offers){0};
}
