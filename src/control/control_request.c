// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "control/control_request.h"
#include "config/config_owner.h"
#include "sched/jobs.h"

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

void request_report(void *out, const char *message)
{
	fprintf(out, "%s\n", message);
}

int request_jobs(const struct request *request, struct request_jobs *ret)
{
	auto_free job_id *ids = NULL;
	size_t n;
	int err = sched_job_ids(request->context->sched, &ids, &n);
	if (err)
		return err;
	*ret = (struct request_jobs){.job = calloc(n + 1, sizeof(*ret->job)),
		.name = calloc(n + 1, sizeof(*ret->name))};
	if (!ret->job || !ret->name)
		return -ENOMEM;
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
	auto_request_jobs struct request_jobs jobs = {0};
	if (request_jobs(request, &jobs) != 0)
		return request_refuse(request, "no job %s", name);
	const char *nearest = config_nearest(name, jobs.name, jobs.n);
	if (nearest)
		return request_refuse(
			request, "no job %s, did you mean %s?", name, nearest);
	return request_refuse(request,
		jobs.n == 0 ? "no job %s: the daemon has no job"
			    : "no job %s; \"joaderctl ls\" lists all jobs",
		name);
}

bool request_has_group(const struct client *client, gid_t group)
{
	socklen_t bytes = 0;
	int socket = client->watch.fd;
	if (client->sender.gid == group)
		return true;
	(void)getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes);
	auto_free gid_t *groups = bytes > 0 ? malloc(bytes) : NULL;
	if (!groups || getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) != 0)
		return false;
	for (size_t i = 0; i < bytes / sizeof(*groups); i++)
		if (groups[i] == group)
			return true;
	return false;
}

static bool has_group(void *client, gid_t group)
{
	return request_has_group(client, group);
}

/* Tells whether the client may read the job. If rights.only is set, the client uses a socket for
 * one job, and may read this job; is_allowed has refused requests for other jobs. */
bool request_may_read(const struct request *request, const struct sched_job *job)
{
	struct client *client = request->client;
	struct config_user user = {.uid = client->sender.uid,
		.gid = client->sender.gid,
		.has_group = has_group,
		.context = client};
	return client->listener->rights.only ||
	       config_job_allows(sched_job_config(job), &user, 5);
}

bool request_may_change(const struct request *request, const struct sched_job *job)
{
	uid_t uid = request->client->sender.uid;
	return config_is_master(uid) ||
	       uid == config_job_owner(sched_job_config(job)).uid;
}

static struct sched_job *find_allowed(const struct request *request, const char *name,
	bool (*allowed)(const struct request *request, const struct sched_job *job),
	const char *which)
{
	struct sched_job *job = sched_job_find(request->context->sched, name);
	if (!job) {
		request_unknown_job(request, name);
		return NULL;
	}
	if (allowed(request, job))
		return job;
	fprintf(request->out, "%s: the job belongs to ", name);
	config_print_user(request->out, config_job_owner(sched_job_config(job)).uid);
	fprintf(request->out, ", allowed: %s\n", which);
	sched_job_put(job);
	return NULL;
}

struct sched_job *request_job_to_change(const struct request *request, const char *name)
{
	return find_allowed(request, name, request_may_change, "this user and root");
}

struct sched_job *request_job_to_read(const struct request *request, const char *name)
{
	return find_allowed(request, name, request_may_read,
		"users whom the job's mode lets read it");
}
