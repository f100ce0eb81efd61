// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/work.h"
#include "control/control_request.h"
#include "files/text.h"
#include "files/trace_lines.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool show_cluster(const struct request *request)
{
	group_print(request->context->group, request->out);
	return true;
}

bool show_status(const struct request *request)
{
	if (request->n_arguments == 2) {
		auto_job *job = request_job_to_read(request, request->argument[1]);
		if (job)
			text_job_status(request->out, job);
		return job != NULL;
	}
	auto_request_jobs struct request_jobs jobs = {0};
	int err = request_jobs(request, &jobs);
	if (err)
		return request_refuse(request, "status: %s", strerror(-err));
	unsigned printed = work_print(request->out);
	for (size_t i = 0; i < jobs.n; i++) {
		if (!request_may_read(request, jobs.job[i]))
			continue;
		fprintf(request->out, "%sjob %s\n", printed++ ? "\n" : "", jobs.name[i]);
		text_job_status(request->out, jobs.job[i]);
	}
	return true;
}

static bool parse_epoch(const char *text, uint32_t *ret)
{
	if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, NULL, 10);
	*ret = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
	return errno == 0;
}

static bool has_begun(
	struct sched_job *job, const struct sched_job_status *status, uint32_t epoch)
{
	return epoch == status->epoch || sched_has_order(job, epoch);
}

/* Makes the answer continue with the lines of an epoch's order, and takes over the reference to the
 * job. Returns false if the request is refused; then the caller keeps the reference. */
static bool begin_order(
	const struct request *request, struct sched_job *job, const char *epoch_text)
{
	const struct job_config *config = sched_job_config(job);
	struct sched_job_status status;
	sched_job_status(job, &status);
	uint32_t epoch = status.epoch;
	if (epoch_text && !parse_epoch(epoch_text, &epoch))
		return request_refuse(request,
			"order: found \"%s\", allowed: the number of an epoch",
			epoch_text);
	if (epoch >= config_job_epochs(config))
		return request_refuse(request,
			"job %s has no epoch %s, its last epoch is %" PRIu32,
			config->name, epoch_text, config_job_epochs(config) - 1);
	if (!status.started)
		return request_refuse(
			request, "job %s has not begun its first epoch", config->name);
	if (!has_begun(job, &status, epoch))
		return request_refuse(request,
			"job %s has not begun epoch %s, its running epoch is %" PRIu32,
			config->name, epoch_text, status.epoch);
	request->client->lines = (struct order_lines){.job = job, .epoch = epoch};
	return true;
}

bool show_order(const struct request *request)
{
	struct sched_job *job = request_job_to_read(request, request->argument[1]);
	if (!job)
		return false;
	bool ok = begin_order(
		request, job, request->n_arguments == 3 ? request->argument[2] : NULL);
	if (!ok)
		sched_job_put(job);
	return ok;
}

bool show_stats(const struct request *request)
{
	text_stats(request->out, request->context);
	return true;
}

bool show_trace(const struct request *request)
{
	bool goes_on = request->n_arguments == 3;
	const char *text = goes_on ? request->argument[2] : "0";
	if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
		return request_refuse(
			request, "trace: found \"%s\", allowed: a number", text);
	uint64_t from = strtoull(text, NULL, 10);
	auto_job *job = request_job_to_read(request, request->argument[1]);
	if (!job)
		return false;
	int err = trace_lines(request->out, job, goes_on ? &from : NULL);
	return err ? request_refuse(request, "trace: %s", strerror(-err)) : true;
}

bool show_top(const struct request *request)
{
	int err = text_top(request->out, request->context);
	return err ? request_refuse(request, "top: %s", strerror(-err)) : true;
}

bool show_explain(const struct request *request)
{
	int err = text_explain(request->out, request->context);
	return err ? request_refuse(request, "explain: %s", strerror(-err)) : true;
}
