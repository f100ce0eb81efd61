// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/work.h"
#include "config/config_owner.h"
#include "coord/coord.h"
#include "control/control_request.h"
#include "sched/gauges.h"
#include "sched/jobs.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool remove_job(const struct request *request, struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	int err = sched_job_remove(request->context->sched, config->name);
	if (err)
		return request_refuse(request, "%s: %s", config->name, strerror(-err));
	if (request->session)
		session_jobs_changed(request->session, config->name, config->path);
	fprintf(request->out, "removed %s\n", config->name);
	auto_free char *ini =
		control_ini_of(request->context->config->jobs, config->name);
	if (ini)
		fprintf(request->out,
			"%s still exists, so the daemon adds job %s again at its next "
			"start\n",
			ini, config->name);
	return true;
}

/* Removes the jobs whose names match the pattern, and that the sender may change. No job has a name
 * like a pattern, because names have no characters such as *. */
static bool remove_matching(const struct request *request, const char *pattern)
{
	auto_request_jobs struct request_jobs jobs = {0};
	size_t n = 0;
	int err = request_jobs(request, &jobs);
	if (err)
		return request_refuse(request, "rm: %s", strerror(-err));
	bool ok = true;
	for (size_t i = 0; i < jobs.n; i++) {
		if (fnmatch(pattern, jobs.name[i], 0) != 0 ||
			!request_may_change(request, jobs.job[i]))
			continue;
		ok = remove_job(request, jobs.job[i]) && ok;
		n++;
	}
	bool all = config_is_master(request->client->sender.uid);
	return n > 0 ? ok
		     : request_refuse(request, "no job%s matches %s",
			       all ? "" : " of yours", pattern);
}

static bool run_rm(const struct request *request)
{
	const char *name = request->argument[1];
	if (strpbrk(name, "*?["))
		return remove_matching(request, name);
	auto_job *job = request_job_to_change(request, name);
	return job && remove_job(request, job);
}

static bool run_restore(const struct request *request)
{
	const char *name = request->argument[1];
	const char *at = request->n_arguments == 4 ? request->argument[3] : NULL;
	auto_job *job = request_job_to_change(request, name);
	if (!job)
		return false;
	struct work work = {.counts = {{NULL, NULL}}};
	work_begin(&work, "restoring", name);
	int err = sched_job_restore(
		job, request->argument[2], at, request_report, request->out);
	work_end(&work);
	struct sched_job_status status;
	sched_job_status(job, &status);
	if (err)
		return false;
	fprintf(request->out,
		"restored %s: epoch %" PRIu32 ", %" PRIu32 " of %" PRIu32 " read\n", name,
		status.epoch, status.consumed, status.samples);
	return true;
}

static bool run_export(const struct request *request)
{
	const char *name = request->argument[1];
	int descriptor = request->client->descriptor;
	if (descriptor < 0)
		return request_refuse(
			request, "export: no descriptor came with the request");
	auto_job *job = request_job_to_change(request, name);
	return job &&
	       sched_job_export(job, descriptor, request_report, request->out) == 0;
}

static bool run_mount(const struct request *request)
{
	const char *name = request->argument[1];
	int device = request->client->descriptor;
	if (!request->session)
		return request_refuse(request, "mount: the daemon has no mount");
	if (device < 0)
		return request_refuse(
			request, "mount: no descriptor came with the request");
	struct sched_job *job = request_job_to_read(request, name);
	if (!job)
		return false;
	/* The job stays without this reference, because only this thread removes jobs. */
	sched_job_put(job);
	request->client->descriptor = -1;
	int err = session_mount_job(request->session, name, request->client->sender.pid,
		request->client->listener->rights.only != 0, device);
	if (err == -ENOENT)
		return request_unknown_job(request, name);
	if (err == -ENOTTY)
		return request_refuse(
			request, "mount: the descriptor is not of /dev/fuse");
	if (err == -ENODEV)
		return request_refuse(
			request, "mount: the descriptor belongs to no mount");
	if (err == -EUSERS)
		return request_refuse(request,
			"mount: job %s has %d mounts, allowed: at most %d", name,
			SESSION_JOB_MOUNTS, SESSION_JOB_MOUNTS);
	return err ? request_refuse(request, "mount %s: %s", name, strerror(-err)) : true;
}

static bool run_grant(const struct request *request)
{
	const char *name = request->argument[1], *path;
	auto_job *job = request_job_to_change(request, name);
	if (!job)
		return false;
	int err = grants_add(request->control, job, &path);
	if (err)
		return request_refuse(request, "grant %s: %s%s", name, strerror(-err),
			err == -ENAMETOOLONG
				? " (the path of the grant's socket is too long)"
				: "");
	fprintf(request->out, "%s\n", path);
	return true;
}

static bool run_revoke(const struct request *request)
{
	const char *name = request->argument[1];
	auto_job *job = request_job_to_change(request, name);
	if (!job)
		return false;
	if (!grants_remove(request->control, sched_job_id(job)))
		return request_refuse(request, "job %s is not granted", name);
	fprintf(request->out, "revoked %s\n", name);
	return true;
}

static bool change_forget(const struct request *request)
{
	char text[GROUP_TEXT];
	bool ok = group_forget(request->context->group, request->argument[1], text);
	fprintf(request->out, "%s\n", text);
	return ok;
}

/* Returns false if the text is no number from 1 to COORD_RANKS; the answer has the reason. */
static bool take_ranks(const struct request *request, const char *key,
	const char *argument, uint32_t *ret)
{
	char *end;
	unsigned long ranks = strtoul(argument, &end, 10);
	if (end == argument || *end || ranks == 0 || ranks > COORD_RANKS)
		return request_refuse(request, "%s: found \"%s\", allowed: 1 to %d", key,
			argument, COORD_RANKS);
	*ret = (uint32_t)ranks;
	return true;
}

static bool change_resize(const struct request *request)
{
	char text[GROUP_TEXT];
	uint32_t ranks, local_ranks = 0;
	if (!take_ranks(request, "ranks", request->argument[2], &ranks) ||
		(request->n_arguments > 3 && !take_ranks(request, "local_ranks",
						     request->argument[3], &local_ranks)))
		return false;
	bool ok = group_resize(
		request->context->group, request->argument[1], ranks, local_ranks, text);
	fprintf(request->out, "%s\n", text);
	return ok;
}

/* The processes that may send a command. ANY: all that can reach the control socket; the command
 * checks who owns the job. GRANTED: also clients of a socket for one job, but only for this job
 * (argument 1). MASTER: processes of root and of the daemon's user. */
enum sender { SENDER_ANY, SENDER_GRANTED, SENDER_MASTER };

#define N_COMMANDS 20
static const struct command {
	const char *name, *usage;
	size_t min, max; /* number of arguments, including the command */
	bool is_long;	 /* a worker carries it out */
	enum sender sender;
	bool (*run)(const struct request *request);
} commands[N_COMMANDS] = {
	{"add", CONTROL_ADD_USAGE, 3, MAX_ARGUMENTS, true, SENDER_ANY, control_add},
	{"rm", "rm JOB", 2, 2, true, SENDER_ANY, run_rm},
	{"restore", "restore JOB TEXT [EPOCH:POSITION]", 3, 4, true, SENDER_ANY,
		run_restore},
	{"export", "export JOB", 2, 2, true, SENDER_ANY, run_export},
	{"mount", "mount JOB", 2, 2, true, SENDER_GRANTED, run_mount},
	{"grant", "grant JOB", 2, 2, false, SENDER_ANY, run_grant},
	{"revoke", "revoke JOB", 2, 2, false, SENDER_ANY, run_revoke},
	{"ls", "ls", 1, 1, false, SENDER_ANY, show_ls},
	{"cluster", "cluster", 1, 1, false, SENDER_ANY, show_cluster},
	{"cluster-forget", "cluster forget NODE|TRAINING", 2, 2, true, SENDER_MASTER,
		change_forget},
	{"cluster-resize", "cluster resize TRAINING RANKS [LOCAL_RANKS]", 3, 4, true,
		SENDER_MASTER, change_resize},
	{"status", "status [JOB]", 1, 2, false, SENDER_GRANTED, show_status},
	{"order", "order JOB [EPOCH]", 2, 3, false, SENDER_GRANTED, show_order},
	{"stats", "stats", 1, 1, false, SENDER_ANY, show_stats},
	{"trace", "trace JOB [FROM]", 2, 3, false, SENDER_ANY, show_trace},
	{"top", "top", 1, 1, false, SENDER_ANY, show_top},
	{"explain", "explain", 1, 1, false, SENDER_ANY, show_explain},
	{"dataset", CONTROL_DATASET_USAGE, 2, 4, true, SENDER_MASTER, control_dataset},
	{"datasets", "datasets [DATASET]", 1, 2, false, SENDER_ANY, show_datasets},
	{"upgrade", "upgrade [PROGRAM]", 1, 2, true, SENDER_MASTER, control_upgrade},
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static bool unknown_command(const struct request *request)
{
	const char *names[N_COMMANDS];
	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	const char *nearest = config_nearest(request->argument[0], names, N_COMMANDS);
	if (nearest)
		return request_refuse(request, "no command %s, did you mean %s?",
			request->argument[0], nearest);
	fprintf(request->out, "no command %s, the commands are:", request->argument[0]);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(request->out, " %s", names[i]);
	fputc('\n', request->out);
	return false;
}

static bool is_whole(const struct client *client)
{
	return client->in[client->n_in - 1] == '\0';
}

static bool is_list(const struct client *client)
{
	size_t n = strlen(client->in) + 1;
	return n < client->n_in && strcmp(client->in, "dataset") == 0 &&
	       strcmp(client->in + n, "ls") == 0;
}

enum control_place control_place_of(const struct client *client)
{
	const struct command *command =
		is_whole(client) ? find_command(client->in) : NULL;
	if (!command || !command->is_long)
		return CONTROL_AT_ONCE;
	if (command->run != control_dataset)
		return CONTROL_WORKER;
	return is_list(client) ? CONTROL_AT_ONCE : CONTROL_SCANNER;
}

/* Tells whether the client's socket allows the request. A socket for one job allows only commands
 * for this job. Compares also the job's id, because a later job may have the same name. */
static bool is_allowed(const struct request *request, const struct command *command)
{
	const struct listener_rights *rights = &request->client->listener->rights;
	if (!rights->only)
		return true;
	if (!command || command->sender != SENDER_GRANTED || request->n_arguments < 2 ||
		strcmp(request->argument[1], rights->name) != 0)
		return false;
	auto_job *job = sched_job_find(request->context->sched, request->argument[1]);
	return job && sched_job_id(job) == rights->only;
}

static bool execute(struct request *request)
{
	const char *text = request->client->in;
	size_t bytes = request->client->n_in;
	if (!is_whole(request->client))
		return request_refuse(request, "the request is cut off");
	for (size_t i = 0; i < bytes; i += strlen(text + i) + 1, request->n_arguments++)
		if (request->n_arguments < MAX_ARGUMENTS)
			request->argument[request->n_arguments] = text + i;
	const struct command *command = find_command(request->argument[0]);
	if (!is_allowed(request, command))
		return request_refuse(request,
			"this socket is only for job %s, allowed: its mount, status and "
			"order",
			request->client->listener->rights.name);
	if (!command)
		return unknown_command(request);
	if (request->n_arguments < command->min || request->n_arguments > command->max)
		return request_refuse(request, "usage: %s", command->usage);
	if (command->sender == SENDER_MASTER && !is_list(request->client) &&
		!config_is_master(request->client->sender.uid))
		return request_refuse(request,
			"%s: only root and the daemon's user are allowed",
			request->argument[0]);
	return command->run(request);
}

bool control_execute(struct control *control, struct client *client, FILE *out)
{
	struct request request = {.context = control->context,
		.session = control->session,
		.control = control,
		.client = client,
		.out = out};
	return execute(&request);
}
