// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/fault.h"
#include "base/kept.h"
#include "base/log.h"
#include "base/own_mounts.h"
#include "control/control_request.h"
#include "epoch/disk.h"
#include "files/sizes.h"
#include "group/group.h"

#include <errno.h>
#include <string.h>

static char *ini_of(const struct dataset_config *config)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	config_print_dataset(out, config);
	return close_text(out, &text);
}

/* Saves the ini for the daemon's next start. Other users may not read the ini, because the
 * dataset's URL may contain a password. */
static int keep(const struct request *request, const struct dataset_config *config)
{
	auto_free char *text = ini_of(config);
	auto_free char *directory =
		aprintf("%s/datasets", request->context->config->state);
	auto_free char *name = aprintf("%s.ini", config->name);
	if (!text || !directory || !name)
		return -ENOMEM;
	return disk_replace(directory, name, text, 0600);
}

/* Removes the saved ini. Returns false if there was none. */
static bool forget(const struct request *request, const char *name)
{
	auto_free char *path =
		aprintf("%s/datasets/%s.ini", request->context->config->state, name);
	return path && unlink(path) == 0;
}

/* Scans a dataset, and sets *ret to the result. next: the dataset is in use, and the result may
 * replace it later; *ret is NULL if nothing has changed. If the request has a client, the client
 * gets the messages of the scan, too. */
static int scan(const struct request *request, const struct dataset_config *config,
	bool next, struct dataset **ret)
{
	const char *state = request->context->config->state;
	const atomic_bool *stop = &request->control->ends;
	int err = fault_hit("dataset.scan");
	log_also_to(request->client ? request->out : NULL);
	if (!err)
		err = next ? dataset_scan_next(config, state, stop, ret)
			   : dataset_scan_anew(config, state, stop, ret);
	log_also_to(NULL);
	return err;
}

static bool add_one(const struct request *request, const struct dataset_config *config)
{
	struct sched *sched = request->context->sched;
	struct dataset *dataset;
	uint32_t number;
	if (sched_dataset_find(sched, config->name, &number) == 0)
		return request_refuse(request,
			"dataset %s: a dataset of this name exists, allowed: another "
			"name; \"joaderctl dataset rescan %s\" looks for changes",
			config->name, config->name);
	/* A daemon that scans its own mount would wait for its own answers. */
	if (own_mounts_cover(config->path))
		return request_refuse(request,
			"dataset %s: path: found \"%s\", which is on the mount point %s "
			"itself, allowed: any other place",
			config->name, config->path, request->context->mountpoint);
	int err = scan(request, config, false, &dataset);
	if (err)
		return request_refuse(request, "dataset %s is not added: %s",
			config->name, strerror(-err));
	err = keep(request, config);
	if (!err)
		err = sched_dataset_add(sched, dataset, config);
	if (!err)
		group_add_dataset(request->context->group, dataset);
	dataset_close(&dataset);
	if (err) {
		(void)forget(request, config->name);
		return request_refuse(request, "dataset %s is not added: %s",
			config->name,
			err == -ENFILE ? "too many datasets" : strerror(-err));
	}
	fprintf(request->out, "added %s\n", config->name);
	return true;
}

static bool add(const struct request *request, const char *file, const char *text)
{
	auto_free struct dataset_config *configs = NULL;
	bool ok = true;
	size_t n = 0;
	if (file[0] != '/')
		return request_refuse(request,
			"found \"%s\", allowed: the absolute path of an ini", file);
	if (config_parse_datasets(file, text, request->context->config->sampler,
		    request_report, request->out, &configs, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		ok = ok && add_one(request, &configs[i]);
		config_dataset_free(&configs[i]);
	}
	return ok;
}

static bool refuse_taken(const struct request *request, const char *verb,
	const char *name, int err, const char *jobs)
{
	if (err == -ENOENT)
		return control_unknown_dataset(request, name);
	return request_refuse(request, "%s: not %s: %s%s", name, verb,
		jobs[0] ? "used by " : strerror(-err), jobs);
}

static bool remove_one(const struct request *request, const char *name)
{
	struct dataset_config config;
	char jobs[SCHED_JOB_NAMES];
	int err = sched_dataset_take(request->context->sched, name, false, &config, jobs);
	if (err)
		return refuse_taken(request, "removed", name, err, jobs);
	config_dataset_free(&config);
	bool kept = forget(request, name);
	sched_dataset_remove(request->context->sched, name);
	group_remove_dataset(request->context->group, name);
	fprintf(request->out, "removed %s\n", name);
	if (kept)
		dataset_forget(request->context->config->state, name);
	else
		fprintf(request->out,
			"%s still has the dataset, so the daemon adds it again at its "
			"next start\n",
			request->context->config->file);
	return true;
}

static int rescan_unused(
	const struct request *request, const struct dataset_config *config)
{
	struct dataset *dataset = NULL;
	int err = scan(request, config, false, &dataset);
	if (!err)
		err = sched_dataset_replace(request->context->sched, dataset, config);
	if (!err)
		group_add_dataset(request->context->group, dataset);
	dataset_close(&dataset);
	return err;
}

/* Makes jobs use the new scan from their next epochs on. After a failure the caller
 * calls sched_dataset_give_back; until then no job can begin to use the dataset. */
static int move(const struct request *request, const struct dataset_config *config,
	const char *jobs, struct dataset *next)
{
	int err = sched_dataset_move(request->context->sched, next, config, sizes_change,
		request_report, request->out);
	if (err)
		return err;
	group_add_dataset(request->context->group, next);
	if (request->session)
		session_dataset_moved(request->session, config->name);
	fprintf(request->out,
		"dataset %s: these jobs use the new scan from their next epochs on: %s\n",
		config->name, jobs);
	return 0;
}

static int rescan_used(const struct request *request, const struct dataset_config *config,
	const char *jobs)
{
	struct sched *sched = request->context->sched;
	struct dataset *next = NULL;
	int err = scan(request, config, true, &next);
	if (err)
		return err;
	if (!next) {
		sched_dataset_give_back(sched, config->name);
		fprintf(request->out, "dataset %s: the scan found no change\n",
			config->name);
		return 0;
	}
	err = move(request, config, jobs, next);
	dataset_close(&next);
	return err;
}

static bool rescan(const struct request *request, const char *name)
{
	struct sched *sched = request->context->sched;
	struct dataset_config config;
	char jobs[SCHED_JOB_NAMES];
	int err = sched_dataset_take(sched, name, true, &config, jobs);
	if (err)
		return refuse_taken(request, "scanned", name, err, jobs);
	err = jobs[0] ? rescan_used(request, &config, jobs)
		      : rescan_unused(request, &config);
	config_dataset_free(&config);
	if (err) {
		sched_dataset_give_back(sched, name);
		return request_refuse(
			request, "dataset %s is as it was: %s", name, strerror(-err));
	}
	fprintf(request->out, "scanned %s\n", name);
	return true;
}

/* --- in the background -------------------------------------------------------------------- */

static bool is_unseen(struct sched *sched, const char *name)
{
	uint32_t number;
	struct dataset *dataset = sched_dataset_find(sched, name, &number) == 0
					  ? sched_dataset_hold(sched, number)
					  : NULL;
	bool unseen = dataset && dataset_is_unseen(dataset);
	dataset_close(&dataset);
	return unseen;
}

static bool move_behind(const struct request *request, struct dataset *next)
{
	struct sched *sched = request->context->sched;
	const char *name = dataset_name(next);
	struct dataset_config config;
	char jobs[SCHED_JOB_NAMES];
	int err = sched_dataset_take(sched, name, true, &config, jobs);
	if (err)
		return refuse_taken(request, "scanned", name, err, jobs);
	err = move(request, &config, jobs, next);
	config_dataset_free(&config);
	if (err)
		sched_dataset_give_back(sched, name);
	return err ? request_refuse(
			     request, "dataset %s is as it was: %s", name, strerror(-err))
		   : true;
}

/* Scans a dataset in the background, while jobs use it. Makes these jobs use the new scan if it has
 * found changes. Jobs of this dataset may be added during the scan, but not during
 * move_behind. */
static bool scan_behind(
	const struct request *request, const struct dataset_config *config)
{
	struct dataset *next = NULL;
	int err = scan(request, config, true, &next);
	bool ok = err ? request_refuse(request, "it failed: %s", strerror(-err))
		      : !next || move_behind(request, next);
	dataset_close(&next);
	return ok;
}

/* <state>/datasets/NAME.looking is a file that exists during a background scan of the dataset NAME.
 * The file holds the number of the scan's tries, including the running one. An engine that takes
 * over a mount and finds the file scans again, because the previous engine ended during the scan.
 * There are at most MOST_TRIES tries in all, because the scan may be what ends the engines. */
#define LOOKING "%s/datasets/%s.looking"
#define MOST_TRIES 3

static unsigned tries_left_behind(const char *state, const char *name)
{
	unsigned tries = 0;
	if (!kept_is_again())
		return 0;
	auto_free char *path = aprintf(LOOKING, state, name);
	if (!path)
		return 0;
	auto_fclose FILE *in = fopen(path, "re");
	return in && fscanf(in, "%u", &tries) == 1 ? tries : 0;
}

static void note_tries(const char *state, const char *name, unsigned tries)
{
	char text[16];
	auto_free char *directory = aprintf("%s/datasets", state);
	auto_free char *file = aprintf("%s.looking", name);
	snprintf(text, sizeof(text), "%u\n", tries);
	int err = directory && file ? disk_replace(directory, file, text, 0600) : -ENOMEM;
	if (err)
		log_warn("%s/datasets/%s.looking: %s", state, name, strerror(-err));
}

static void forget_tries(const char *state, const char *name)
{
	auto_free char *path = aprintf(LOOKING, state, name);
	if (path && unlink(path) != 0 && errno != ENOENT)
		log_warn("%s: %s", path, strerror(errno));
}

static void look_for_changes(struct request *request, const struct dataset_config *config)
{
	const char *name = config->name;
	auto_free char *said = NULL;
	size_t size;
	request->out = open_memstream(&said, &size);
	bool ok = request->out && scan_behind(request, config);
	if (request->out && fclose(request->out) != 0)
		ok = false;
	if (ok || atomic_load(&request->control->ends))
		return;
	size_t n = said ? strlen(said) : 0;
	while (n > 0 && said[n - 1] == '\n')
		said[--n] = '\0';
	for (size_t i = 0; i < n; i++)
		said[i] = said[i] == '\n' ? ';' : said[i];
	log_warn("dataset %s: the scan after the start failed: %s; the next start scans "
		 "before it serves readers",
		name, said ? said : strerror(ENOMEM));
	dataset_look_before(request->context->config->state, name);
}

void control_look_for_changes(struct control *control)
{
	const struct files_context *context = control->context;
	const atomic_bool *stop = &control->ends;
	struct request request = {
		.context = context, .session = control->session, .control = control};
	for (size_t i = 0; i < context->config->n_datasets && !atomic_load(stop); i++) {
		const struct dataset_config *config = &context->config->datasets[i];
		const char *state = context->config->state, *name = config->name;
		unsigned tries = tries_left_behind(state, name);
		if (config->look != LOOK_BEHIND ||
			(tries == 0 && !is_unseen(context->sched, name)))
			continue;
		if (tries >= MOST_TRIES) {
			log_warn("dataset %s: %u engines ended while they scanned it; "
				 "the next start looks for changes, or joaderctl dataset "
				 "rescan %s",
				name, tries, name);
			forget_tries(state, name);
			continue;
		}
		note_tries(state, name, tries + 1);
		look_for_changes(&request, config);
		if (!atomic_load(stop))
			forget_tries(state, name);
	}
}

bool control_dataset(const struct request *request)
{
	const char *const *arguments = request->argument + 1;
	const char *verb = arguments[0];
	size_t n = request->n_arguments - 1;
	if (strcmp(verb, "ls") == 0 && n == 1)
		return control_dataset_table(request);
	if (strcmp(verb, "add") == 0 && n == 3)
		return add(request, arguments[1], arguments[2]);
	if (strcmp(verb, "rm") == 0 && n == 2)
		return remove_one(request, arguments[1]);
	if (strcmp(verb, "rescan") == 0 && n == 2)
		return rescan(request, arguments[1]);
	return request_refuse(request, "usage: " CONTROL_DATASET_USAGE);
}
