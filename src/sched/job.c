// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "stats/stats.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND_NS UINT64_C(1000000000)
#define MAX_JOB_ID ((1u << 14) - 1) /* the bits that an inode number has for it */

static int copy_config(const struct job_config *from, struct job_config *ret)
{
	*ret = *from;
	ret->file = strdup(from->file);
	ret->name = strdup(from->name);
	ret->dataset = strdup(from->dataset);
	ret->where = from->where ? strdup(from->where) : NULL;
	ret->extension = strdup(from->extension);
	ret->path = from->path ? strdup(from->path) : NULL;
	bool complete = ret->file && ret->name && ret->dataset && ret->extension &&
			(ret->where || !from->where) && (ret->path || !from->path);
	return complete ? 0 : -ENOMEM;
}

static void job_free(struct sched_job *job)
{
	if (job->epochs)
		for (uint32_t i = 0; i < job->config.epochs; i++)
			epoch_free(&job->epochs[i]);
	free(job->epochs);
	free(job->label_begin);
	free(job->by_label);
	current_destroy(job);
	if (job->selection)
		roaring_bitmap_free(job->selection);
	config_job_free(&job->config);
	free(job->directory);
	free(job);
}

void sched_job_put(struct sched_job *job)
{
	if (atomic_fetch_sub(&job->references, 1) > 1)
		return;
	struct sched *sched = job->sched;
	if (job->space) {
		struct aftermath aftermath;
		aftermath_init(&aftermath);
		lock_take(&sched->lock);
		space_put_locked(job->space);
		sched_unlock(sched, &aftermath);
	}
	job_free(job);
}

static struct source *find_source(struct sched *sched, const char *name)
{
	for (size_t i = 0; i < sched->n_sources; i++)
		if (strcmp(dataset_name(sched->sources[i].dataset), name) == 0)
			return &sched->sources[i];
	return NULL;
}

static int unknown_dataset(struct sched *sched, const struct job_config *config,
	config_report *report, void *context)
{
	const char **names = calloc(sched->n_sources + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < sched->n_sources; i++)
		names[i] = dataset_name(sched->sources[i].dataset);
	const char *near = config_nearest(config->dataset, names, sched->n_sources);
	if (!near && sched->n_sources > 0)
		near = names[0];
	sched_report(report, context,
		"%s:[job]:dataset: found \"%s\", allowed: a [dataset NAME] of the "
		"daemon's ini; did you mean \"%s\"?",
		config->file, config->dataset, near ? near : "");
	free(names);
	return -EINVAL;
}

static bool draws_within_labels(const struct sched_job *job)
{
	return job->config.layout == LAYOUT_CLASSES && !job_is_fixed(job);
}

static int job_new(struct sched *sched, const struct job_config *config,
	config_report *report, void *context, struct sched_job **ret)
{
	struct sched_job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->sched = sched;
	atomic_init(&job->references, 1);
	TAILQ_INIT(&job->parked);
	TAILQ_INIT(&job->beginning.opens);
	int err = copy_config(config, &job->config);
	if (!err && !(job->source = find_source(sched, config->dataset)))
		err = unknown_dataset(sched, config, report, context);
	if (!err)
		err = job_select(job, report, context);
	if (!err)
		err = current_init(job);
	if (!err && draws_within_labels(job))
		err = source_label(job->source);
	if (err)
		goto fail;
	err = -ENOMEM;
	job->epochs = calloc(config->epochs, sizeof(struct epoch *));
	if (!job->epochs || asprintf(&job->directory, "%s/jobs/%s", sched->config->state,
				    config->name) < 0)
		goto fail;
	*ret = job;
	return 0;
fail:
	job_free(job);
	return err;
}

/* The epochs that were begun before a restart. */
static int load_epochs(struct sched_job *job, int64_t running)
{
	for (uint32_t i = 0; i < job->config.epochs; i++) {
		struct epoch **epoch = &job->epochs[i];
		int err = i == running ? epoch_new(job, i, false, epoch)
				       : epoch_map_over(job, i, epoch);
		if (err && err != -ENOENT)
			return err;
	}
	bool has = running >= 0 && running < job->config.epochs;
	job->running = has ? job->epochs[running] : NULL;
	if (job->running)
		job->running->over = job->running->order.bound == job->samples;
	return 0;
}

static int restore_state(struct sched_job *job, struct job_state *state)
{
	int err = state_load(job, state);
	if (err)
		return err;
	if (state->known && state->same)
		return load_epochs(job, state->running);
	if (state->known) {
		log_warn("job %s: its dataset or what `where` selects has changed since "
			 "its epochs began: their order is dropped, they begin again",
			job->config.name);
		state_remove_epochs(job);
	}
	return 0;
}

static struct sched_job *find_locked(struct sched *sched, const char *name, job_id id)
{
	struct sched_job *job;
	TAILQ_FOREACH (job, &sched->jobs, link) {
		if (name ? strcmp(job->config.name, name) == 0 : job->id == id)
			return job;
	}
	return NULL;
}

/* Ids are kept for a name; a new name gets one that nobody has had for long. */
static job_id unused_id_locked(struct sched *sched)
{
	do {
		sched->last_id = sched->last_id % MAX_JOB_ID + 1;
	} while (find_locked(sched, NULL, sched->last_id));
	return sched->last_id;
}

static int join_locked(struct sched_job *job)
{
	const struct source *source = job->source;
	if (job_is_fixed(job))
		return 0;
	struct sampler *sampler = draws_within_labels(job) ? source->labelled
				  : job->config.order == ORDER_SEQUENTIAL
					  ? source->sequential
					  : source->shuffled;
	int err = sampler_join(sampler, job->id, job->space->number, job->selection);
	if (!err)
		job->sampler = sampler;
	return err;
}

static int install_locked(
	struct sched_job *job, const struct job_state *state, struct sched *sched)
{
	if (sched->stopping)
		return -ENODEV;
	if (find_locked(sched, job->config.name, 0) ||
		admit_conflict_locked(sched, &job->config))
		return -EEXIST;
	if (sched->n_jobs >= MAX_JOB_ID)
		return -ENFILE;
	bool keep = state->known && !find_locked(sched, NULL, state->id);
	job->space = space_get_locked(job->source, &job->config.preparation);
	if (!job->space)
		return -ENOMEM;
	job->id = keep ? state->id : unused_id_locked(sched);
	int err = join_locked(job);
	if (err)
		return err;
	if (job->id > sched->last_id)
		sched->last_id = job->id;
	atomic_fetch_add(&job->references, 1);
	TAILQ_INSERT_TAIL(&sched->jobs, job, link);
	sched->n_jobs++;
	space_settle_files_locked(job->space);
	return 0;
}

static int save_state(struct sched_job *job, bool persist)
{
	int err = state_save(job, job->running ? (int64_t)job->running->number : -1);
	if (!err && persist)
		err = state_save_ini(job);
	return err;
}

static bool name_is_taken(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	return find_locked(sched, name, 0) != NULL;
}

static int add_job(struct sched *sched, struct sched_job *job, bool persist)
{
	struct job_state state;
	int err = restore_state(job, &state);
	if (err)
		return err;
	lock_take(&sched->lock);
	err = install_locked(job, &state, sched);
	lock_release(&sched->lock);
	if (err)
		return err;
	err = save_state(job, persist);
	if (err)
		(void)!sched_job_remove(sched, job->config.name);
	return err;
}

int sched_job_add(struct sched *sched, const struct job_config *config, bool persist,
	config_report *report, void *context)
{
	struct sched_job *job = NULL;
	if (name_is_taken(sched, config->name)) {
		sched_report(report, context,
			"%s:[job]:name: found \"%s\", which is the name of a running "
			"job, allowed: any other",
			config->file, config->name);
		return -EEXIST;
	}
	int err = admit_path(sched, config, report, context);
	if (!err)
		err = job_new(sched, config, report, context, &job);
	if (err)
		return err;
	err = admit_view(job);
	if (!err)
		err = add_job(sched, job, persist);
	if (err)
		sched_report(report, context, "job %s: %s: %s", config->name,
			job->directory, strerror(-err));
	sched_job_put(job);
	return err;
}

static void end_streams_locked(struct sched_job *job, struct aftermath *aftermath)
{
	if (job->running)
		stream_end_locked(job->running, aftermath);
	if (job->draining)
		stream_end_locked(job->draining, aftermath);
}

void job_leave_locked(struct sched_job *job, struct aftermath *aftermath)
{
	struct sched_handle *handle, *next;
	job->removed = true;
	TAILQ_REMOVE(&job->sched->jobs, job, link);
	job->sched->n_jobs--;
	space_settle_files_locked(job->space);
	for (handle = TAILQ_FIRST(&job->parked); handle; handle = next) {
		next = TAILQ_NEXT(handle, job_link);
		handle_give_up_locked(handle, -ENODEV, aftermath);
	}
	end_streams_locked(job, aftermath);
	for (uint32_t i = 0; i < job->config.epochs; i++)
		if (job->epochs[i])
			epoch_drop_pins_locked(job->epochs[i], aftermath);
	if (job->sampler)
		sampler_leave(job->sampler, job->id);
}

int sched_job_remove(struct sched *sched, const char *name)
{
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	struct sched_job *job = find_locked(sched, name, 0);
	if (job)
		job_leave_locked(job, &aftermath);
	sched_unlock(sched, &aftermath);
	if (!job)
		return -ENOENT;
	begin_wait_for_last(job); /* it may be making files */
	state_remove(job);
	sched_job_put(job);
	return 0;
}

void job_park_locked(struct sched_job *job, struct aftermath *aftermath)
{
	end_streams_locked(job, aftermath);
	if (job->running)
		epoch_drop_pins_locked(job->running, aftermath);
	if (job->draining)
		epoch_drop_pins_locked(job->draining, aftermath);
	job->idle = true;
}

static struct sched_job *take(struct sched_job *job)
{
	if (job)
		atomic_fetch_add(&job->references, 1);
	return job;
}

struct sched_job *sched_job_find(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	return take(find_locked(sched, name, 0));
}

struct sched_job *sched_job_find_id(struct sched *sched, job_id id)
{
	LOCK_SCOPE(&sched->lock);
	return take(find_locked(sched, NULL, id));
}

int sched_job_ids(struct sched *sched, job_id **ret, size_t *ret_n)
{
	LOCK_SCOPE(&sched->lock);
	job_id *ids = calloc(sched->n_jobs + 1, sizeof(*ids));
	struct sched_job *job;
	size_t n = 0;
	if (!ids)
		return -ENOMEM;
	TAILQ_FOREACH (job, &sched->jobs, link)
		ids[n++] = job->id;
	*ret = ids;
	*ret_n = n;
	return 0;
}

job_id sched_job_id(const struct sched_job *job)
{
	return job->id;
}

const struct job_config *sched_job_config(const struct sched_job *job)
{
	return &job->config;
}

struct dataset *sched_job_dataset(const struct sched_job *job)
{
	return job->source->dataset;
}

uint32_t sched_job_samples(const struct sched_job *job)
{
	return job->samples;
}

const roaring_bitmap_t *sched_job_selection(const struct sched_job *job)
{
	return job->selection;
}

/* A ring of counts per second; seconds in which nothing happened are cleared. */
static void advance_rate_locked(struct sched_job *job, uint64_t now_ns)
{
	uint64_t second = now_ns / SECOND_NS;
	uint64_t first = job->rate_second + 1;
	if (second >= first + RATE_SECONDS)
		first = second - RATE_SECONDS + 1;
	for (uint64_t i = first; i <= second; i++)
		job->rate[i % RATE_SECONDS] = 0;
	job->rate_second = second;
}

void job_count_consumed_locked(struct sched_job *job, uint64_t now_ns)
{
	advance_rate_locked(job, now_ns);
	job->rate[job->rate_second % RATE_SECONDS]++;
}

static double rate_locked(struct sched_job *job)
{
	uint64_t now_ns = clock_now_ns();
	advance_rate_locked(job, now_ns);
	uint64_t n = 0;
	for (int i = 0; i < RATE_SECONDS; i++)
		n += job->rate[i];
	double seconds =
		RATE_SECONDS - 1 + (double)(now_ns % SECOND_NS) / (double)SECOND_NS;
	return (double)n / seconds;
}

void sched_job_status(struct sched_job *job, struct sched_job_status *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	const struct epoch *running = job->running;
	*ret = job->totals;
	ret->samples = job->samples;
	ret->parked_idle = job->idle;
	ret->rate = rate_locked(job);
	if (!running)
		return;
	ret->drawn = running->stream ? running->stream->length : 0;
	ret->started = true;
	ret->running = !running->over;
	ret->epoch = running->number;
	ret->bound = running->order.bound;
	ret->consumed = running->consumed;
}

uint32_t sched_dataset_jobs(struct sched *sched, const struct dataset *dataset)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_job *job;
	uint32_t n = 0;
	TAILQ_FOREACH (job, &sched->jobs, link)
		n += job->source->dataset == dataset;
	return n;
}

static void restore_one(struct sched *sched, const char *directory, const char *name)
{
	struct job_config config;
	auto_free char *path = NULL;
	if (asprintf(&path, "%s/%s/job.ini", directory, name) < 0 ||
		access(path, F_OK) != 0 || name_is_taken(sched, name))
		return;
	if (config_load_job(path, config_report_to_log, NULL, &config) != 0)
		return;
	(void)!sched_job_add(sched, &config, true, config_report_to_log, NULL);
	config_job_free(&config);
}

void sched_jobs_restore(struct sched *sched)
{
	auto_free char *directory = NULL;
	struct dirent **entries = NULL;
	if (asprintf(&directory, "%s/jobs", sched->config->state) < 0)
		return;
	int n = scandir(directory, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			restore_one(sched, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}
