// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "control/control_request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

bool request_refuse(const struct request *request, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(request->out, format, args);
	va_end(args);
	fputc('\n', request->out);
	return false;
}

/* --- names ------------------------------------------------------------------------- */

int request_jobs(const struct request *request, struct request_jobs *ret)
{
	auto_free job_id *ids = NULL;
	size_t n;
	int err = sched_job_ids(request->context->sched, &ids, &n);
	if (err)
		return err;
	*ret = (struct request_jobs){.job = calloc(n + 1, sizeof(*ret->job)),
		.name = calloc(n + 1, sizeof(*ret->name))};
	if (!ret->job || !ret->name) {
		free(ret->job);
		free(ret->name);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		struct sched_job *job =
			sched_job_find_id(request->context->sched, ids[i]);
		if (!job)
			continue;
		ret->job[ret->n] = job;
		ret->name[ret->n++] = sched_job_config(job)->name;
	}
	return 0;
}

void request_jobs_put(struct request_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++)
		sched_job_put(jobs->job[i]);
	free(jobs->job);
	free(jobs->name);
}

bool request_unknown_job(const struct request *request, const char *name)
{
	struct request_jobs jobs;
	int err = request_jobs(request, &jobs);
	if (err)
		return request_refuse(request, "no job %s", name);
	const char *nearest = config_nearest(name, jobs.name, jobs.n);
	if (nearest)
		request_refuse(request, "no job %s, did you mean %s?", name, nearest);
	else if (jobs.n == 0)
		request_refuse(request, "no job %s, there are none", name);
	else
		request_refuse(request, "no job %s; \"ls\" lists those there are", name);
	request_jobs_put(&jobs);
	return false;
}
