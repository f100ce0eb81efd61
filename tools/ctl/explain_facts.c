// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "explain_internal.h"
#include "facts.h"
#include "request.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The lines "KIND key=value ..." come from src/files/text_explain.c. */

#define NS 1e9
/* A job has stopped reading if any job has read more than IDLE_SECONDS + 2 * E after the last read
 * of this job. E is the duration of this job's latest epoch. */
#define IDLE_SECONDS 60

static void take_daemon(const char *line, struct explain_facts *ret)
{
	ret->cache = facts_number(line, "cache");
	ret->workers = facts_number(line, "workers");
	ret->reads = facts_number(line, "reads");
	ret->eviction = facts_number(line, "eviction");
	ret->share = facts_number(line, "share");
	ret->cpu = facts_number(line, "cpu_ns") / NS;
	ret->served = facts_number(line, "served");
}

static void take_laps(const char *line, struct explain_job *ret)
{
	static const char *const causes[EXPLAIN_CAUSES] = {
		"storage_ns", "decoding_ns", "queue_ns", "filesystem_ns"};
	for (int i = 0; i < EXPLAIN_CAUSES; i++)
		ret->waited[i] = facts_number(line, causes[i]) / NS;
	for (int i = 0; i < EXPLAIN_LAPS; i++) {
		char key[32];
		snprintf(key, sizeof(key), "lap_ns_%d", i);
		ret->lap[i] = facts_number(line, key) / NS;
		snprintf(key, sizeof(key), "lap_waited_ns_%d", i);
		ret->lap_waited[i] = facts_number(line, key) / NS;
	}
	ret->laps = facts_number(line, "laps");
	ret->ended = facts_number(line, "ended_ns") / NS;
}

/* Computes a job's means over its latest epoch, and over the earlier epochs that began after
 * `since`. All jobs that are not left out were reading from `since` on. */
static void take_mean(struct explain_job *job, double since)
{
	size_t n = (size_t)fmin(job->laps, EXPLAIN_LAPS), i;
	double end = job->ended;
	/* The first of several epochs does not count, because it fills the cache. */
	n -= job->laps > 1 && job->laps <= EXPLAIN_LAPS;
	for (i = 0; i < n && (i == 0 || end - job->lap[i] >= since); i++) {
		job->seconds += job->lap[i];
		job->waited_all += job->lap_waited[i];
		end -= job->lap[i] + job->pause;
	}
	job->seconds /= fmax((double)i, 1);
	job->waited_all /= fmax((double)i, 1);
}

static void take_job(const char *line, struct explain_job *ret)
{
	*ret = (struct explain_job){.left_out = false};
	facts_text(line, "name", false, ret->name, EXPLAIN_NAME);
	facts_text(line, "dataset", false, ret->dataset, EXPLAIN_NAME);
	take_laps(line, ret);
	ret->epoch = facts_number(line, "epoch");
	ret->samples = facts_number(line, "samples");
	ret->readers = facts_number(line, "readers");
	ret->lookahead = facts_number(line, "lookahead");
	ret->first = facts_number(line, "first_ns") / NS;
	ret->last = facts_number(line, "last_ns") / NS;
	ret->pause = facts_number(line, "pause_ns") / NS;
	ret->decoded = facts_number(line, "decoded");
	ret->shared = facts_number(line, "shared");
	ret->hit = facts_number(line, "hit");
	ret->cpu = facts_number(line, "cpu_ns") / NS;
	ret->cpu_samples = facts_number(line, "cpu_samples");
	ret->drawn = facts_number(line, "drawn");
	ret->labels = facts_number(line, "labels");
	ret->bytes = facts_number(line, "sample_bytes");
	ret->sampler = facts_number(line, "sampler");
	ret->most_reads = facts_number(line, "most_reads");
	ret->tier = facts_number(line, "tier");
	ret->small_files = facts_number(line, "small_files") > 0;
}

static bool take_part(const char *line, struct explain_facts *ret)
{
	if (!array_make_room(ret->parts, ret->n_parts, &ret->part_room))
		return false;
	const char *jobs = facts_value(line, "jobs");
	ret->parts[ret->n_parts++] =
		(struct timed_part){.jobs = jobs ? strtoull(jobs, NULL, 10) : 0,
			.samples = (uint32_t)facts_number(line, "samples")};
	return true;
}

static double mean(const char *line, const char *sum, const char *n)
{
	return facts_number(line, n) > 0
		       ? facts_number(line, sum) / NS / facts_number(line, n)
		       : 0;
}

static void take_dataset_of(const char *text, struct explain_job *job)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		char name[EXPLAIN_NAME];
		line += *line == '\n';
		if (!facts_begin(line, "dataset "))
			continue;
		facts_text(line, "name", false, name, EXPLAIN_NAME);
		if (strcmp(name, job->dataset) != 0)
			continue;
		job->read = mean(line, "read_ns", "reads");
		job->decode = mean(line, "cpu_ns", "decodes");
	}
}

static bool take_line(const char *line, const char *text, struct explain_facts *ret)
{
	if (facts_begin(line, "daemon "))
		take_daemon(line, ret);
	if (facts_begin(line, "dataset "))
		ret->decode_cpu += facts_number(line, "cpu_ns") / NS;
	if (facts_begin(line, "gone") && ret->n_jobs < TIMED_JOBS)
		ret->jobs[ret->n_jobs++] = (struct explain_job){.left_out = true};
	if (facts_begin(line, "job ") && ret->n_jobs < TIMED_JOBS) {
		take_job(line, &ret->jobs[ret->n_jobs]);
		take_dataset_of(text, &ret->jobs[ret->n_jobs++]);
	}
	return !facts_begin(line, "part ") || take_part(line, ret);
}

/* Leaves out jobs without a complete epoch or without a sampler. Also leaves out jobs that have
 * stopped reading, because such jobs slow no other job. */
static void leave_out(struct explain_facts *facts)
{
	double last = 0, since = 0;
	for (size_t i = 0; i < facts->n_jobs; i++)
		last = fmax(last, facts->jobs[i].last);
	for (size_t i = 0; i < facts->n_jobs; i++) {
		struct explain_job *job = &facts->jobs[i];
		job->left_out |= job->laps < 1 || !job->drawn ||
				 job->last + 2 * job->lap[0] + IDLE_SECONDS < last;
		if (!job->left_out)
			since = fmax(since, job->first);
	}
	for (size_t i = 0; i < facts->n_jobs; i++)
		take_mean(&facts->jobs[i], since);
}

/* Returns the number of CPUs of this process. The daemon is assumed to have as many. */
static double count_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return CPU_COUNT(&set);
	return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

bool explain_ask(const char *socket_path, struct explain_facts *ret)
{
	auto_free char *text = NULL;
	bool ok = true;
	*ret = (struct explain_facts){.cpus = count_cpus()};
	if (!request_text(socket_path, (const char *[]){"explain"}, 1, &text))
		return false;
	const char *line = text;
	while (ok && *line) {
		ok = take_line(line, text, ret);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	leave_out(ret);
	if (!ok) {
		complain("%s", strerror(ENOMEM));
		explain_facts_free(ret);
	}
	return ok;
}

void explain_facts_free(struct explain_facts *facts)
{
	free(facts->parts);
	facts->parts = NULL;
}
