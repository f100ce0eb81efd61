// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "explain_internal.h"
#include "request.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the daemon says: "KIND key=value ..." lines (src/files/text_explain.c). */

#define NS 1e9
#define IDLE_SECONDS                                                                     \
	60 /* and two epochs: a job that reads nothing for longer is left out */

static const char *find_value(const char *line, const char *key)
{
	size_t n = strlen(key);
	for (const char *word = line; (word = strchr(word, ' ')); word++)
		if (strncmp(word + 1, key, n) == 0 && word[n + 1] == '=')
			return word + n + 2;
	return NULL;
}

static double number_of(const char *line, const char *key)
{
	const char *value = find_value(line, key);
	return value ? strtod(value, NULL) : 0;
}

static void take_text(const char *line, const char *key, char ret[static EXPLAIN_NAME])
{
	const char *value = find_value(line, key);
	snprintf(ret, EXPLAIN_NAME, "%.*s", value ? (int)strcspn(value, " \n") : 0,
		value ? value : "");
}

static void take_daemon(const char *line, struct explain_facts *ret)
{
	ret->cache = number_of(line, "cache");
	ret->workers = number_of(line, "workers");
	ret->reads = number_of(line, "reads");
	ret->eviction = number_of(line, "eviction");
	ret->share = number_of(line, "share");
	ret->cpu = number_of(line, "cpu_ns") / NS;
	ret->served = number_of(line, "served");
}

static void take_laps(const char *line, struct explain_job *ret)
{
	static const char *const causes[EXPLAIN_CAUSES] = {
		"storage_ns", "decoding_ns", "queue_ns", "filesystem_ns"};
	double waited[EXPLAIN_LAPS];
	for (int i = 0; i < EXPLAIN_CAUSES; i++)
		ret->waited[i] = number_of(line, causes[i]) / NS;
	for (int i = 0; i < EXPLAIN_LAPS; i++) {
		char key[32];
		snprintf(key, sizeof(key), "lap_ns_%d", i);
		ret->lap[i] = number_of(line, key) / NS;
		snprintf(key, sizeof(key), "lap_waited_ns_%d", i);
		waited[i] = number_of(line, key) / NS;
	}
	ret->laps = number_of(line, "laps");
	/* The first epoch fills the cache. */
	size_t n = (size_t)fmin(ret->laps, EXPLAIN_LAPS);
	n -= ret->laps > 1 && ret->laps <= EXPLAIN_LAPS;
	for (size_t i = 0; i < n; i++) {
		ret->seconds += ret->lap[i] / (double)n;
		ret->waited_all += waited[i] / (double)n;
	}
}

static void take_job(const char *line, struct explain_job *ret)
{
	*ret = (struct explain_job){.left_out = false};
	take_text(line, "name", ret->name);
	take_text(line, "dataset", ret->dataset);
	take_laps(line, ret);
	ret->epoch = number_of(line, "epoch");
	ret->samples = number_of(line, "samples");
	ret->readers = number_of(line, "readers");
	ret->lookahead = number_of(line, "lookahead");
	ret->first = number_of(line, "first_ns") / NS;
	ret->last = number_of(line, "last_ns") / NS;
	ret->pause = number_of(line, "pause_ns") / NS;
	ret->decoded = number_of(line, "decoded");
	ret->shared = number_of(line, "shared");
	ret->hit = number_of(line, "hit");
	ret->cpu = number_of(line, "cpu_ns") / NS;
	ret->cpu_samples = number_of(line, "cpu_samples");
	ret->drawn = number_of(line, "drawn");
	ret->labels = number_of(line, "labels");
	ret->bytes = number_of(line, "sample_bytes");
	ret->sampler = number_of(line, "sampler");
	ret->most_reads = number_of(line, "most_reads");
	ret->tier = number_of(line, "tier");
}

static bool take_part(const char *line, struct explain_facts *ret)
{
	struct timed_part *more =
		reallocarray(ret->parts, ret->n_parts + 1, sizeof(*more));
	if (!more)
		return false;
	ret->parts = more;
	const char *jobs = find_value(line, "jobs");
	more[ret->n_parts++] =
		(struct timed_part){.jobs = jobs ? strtoull(jobs, NULL, 10) : 0,
			.samples = (uint32_t)number_of(line, "samples")};
	return true;
}

static bool begins_with(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

/* --- the whole ------------------------------------------------------------------------ */

static double mean(const char *line, const char *sum, const char *n)
{
	return number_of(line, n) > 0 ? number_of(line, sum) / NS / number_of(line, n)
				      : 0;
}

/* Its jobs come after it. */
static void take_dataset_of(const char *text, struct explain_job *job)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		char name[EXPLAIN_NAME];
		line += *line == '\n';
		if (!begins_with(line, "dataset "))
			continue;
		take_text(line, "name", name);
		if (strcmp(name, job->dataset) != 0)
			continue;
		job->read = mean(line, "read_ns", "reads");
		job->decode = mean(line, "cpu_ns", "decodes");
	}
}

static bool take_line(const char *line, const char *text, struct explain_facts *ret)
{
	if (begins_with(line, "daemon "))
		take_daemon(line, ret);
	if (begins_with(line, "dataset "))
		ret->decode_cpu += number_of(line, "cpu_ns") / NS;
	if (begins_with(line, "gone") && ret->n_jobs < TIMED_JOBS)
		ret->jobs[ret->n_jobs++] = (struct explain_job){.left_out = true};
	if (begins_with(line, "job ") && ret->n_jobs < TIMED_JOBS) {
		take_job(line, &ret->jobs[ret->n_jobs]);
		take_dataset_of(text, &ret->jobs[ret->n_jobs++]);
	}
	return !begins_with(line, "part ") || take_part(line, ret);
}

/* What a job read long ago says nothing of what runs now. */
static void leave_out(struct explain_facts *facts)
{
	double last = 0;
	for (size_t i = 0; i < facts->n_jobs; i++)
		last = fmax(last, facts->jobs[i].last);
	for (size_t i = 0; i < facts->n_jobs; i++) {
		struct explain_job *job = &facts->jobs[i];
		job->left_out |= job->laps < 1 || !job->drawn ||
				 job->last + 2 * job->seconds + IDLE_SECONDS < last;
	}
}

/* Those that this process may use; the daemon may use as many. */
static double count_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return CPU_COUNT(&set);
	return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

bool explain_ask(const char *socket_path, struct explain_facts *ret)
{
	static const char *const command[] = {"explain"};
	auto_free char *text = NULL;
	size_t bytes;
	*ret = (struct explain_facts){.cpus = count_cpus()};
	FILE *out = open_memstream(&text, &bytes);
	if (!out) {
		complain("%s", strerror(errno));
		return false;
	}
	bool ok = request(socket_path, command, 1, NULL, out) == EXIT_SUCCESS;
	if (fclose(out) != 0 || !ok)
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
