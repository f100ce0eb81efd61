// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/kept.h"
#include "dataset/dataset_pairs.h"
#include "sched/supplying.h"

#include <errno.h>
#include <string.h>

/* The second file of a pair, or a later frame of a sample of several frames, while the sample is
 * prepared. */
struct wanted_second {
	struct wanted_second *next;
	struct preparation preparation;
	struct dataset_sample sample;
	struct load_task task;
};

static struct load_task new_task(const struct sched *sched, struct wanted *wanted)
{
	const struct space *space = wanted->key.space;
	sample_id sample = (sample_id)wanted->key.sample;
	wanted->head.label = dataset_label(space->source->dataset, sample);
	return (struct load_task){
		.preparation = dataset_preparation(
			space->source->dataset, &space->preparation, sample),
		.backings = wanted->in_file ? sched->backings : NULL,
		.head = wanted->head,
		.owner = wanted};
}

static void fill_also(const struct sched *sched, struct wanted *wanted)
{
	for (; wanted->also; wanted = wanted->also) {
		struct wanted *also = wanted->also;
		also->task = new_task(sched, also);
		wanted->task.also = &also->task;
	}
}

static void fill_file(const struct space *space, sample_id sample,
	const struct dataset_sample *file, struct load_task *task)
{
	task->path = file->path;
	task->name = file->relative;
	task->container = file->container;
	task->part = file->part;
	task->plain = file->plain;
	task->root = file->container ? NULL : sched_source_of(space->source)->root;
	task->expected_bytes = file->bytes;
	task->expected_mtime_ns = file->mtime_ns;
	task->expected_image = file->image;
	task->orientation = file->orientation;
	task->tier = tier_sample_of(space->source, sample, file);
}

static int add_second(struct wanted *wanted, sample_id sample, struct wanted_second **ret)
{
	const struct space *space = wanted->key.space;
	struct wanted_second *second = calloc(1, sizeof(*second));
	if (!second)
		return -ENOMEM;
	int err = dataset_get(space->source->dataset, sample, &second->sample);
	if (err) {
		free(second);
		return err;
	}
	second->preparation = dataset_preparation_behind(space->source->dataset,
		&space->preparation, (sample_id)wanted->key.sample);
	second->task.preparation = &second->preparation;
	second->task.max_pixels = wanted->task.max_pixels;
	fill_file(space, sample, &second->sample, &second->task);
	second->task.tier_worth = wanted->tier_worth;
	*ret = second;
	return 0;
}

/* Makes tasks for the second file or the later frames: a list linked by the field `second`. */
static int fill_second(struct wanted *wanted)
{
	const struct space *space = wanted->key.space;
	struct wanted_second **end = &wanted->second;
	struct load_task *task = &wanted->task;
	int err = 0;
	wanted->second = NULL;
	for (uint32_t i = 0; !err; i++) {
		sample_id next = dataset_behind(space->source->dataset,
			&space->preparation, (sample_id)wanted->key.sample, i);
		if (next == SAMPLE_NONE)
			break;
		err = add_second(wanted, next, end);
		if (err)
			break;
		task = task->second = &(*end)->task;
		end = &(*end)->next;
	}
	return err;
}

static void free_second(struct wanted_second *second)
{
	while (second) {
		struct wanted_second *next = second->next;
		dataset_sample_free(&second->sample);
		free(second);
		second = next;
	}
}

static void fail_catalogue(struct wanted *wanted, int err)
{
	wanted->task.status = err;
	wanted->task.passing = err != -ENOENT;
	snprintf(wanted->task.message, sizeof(wanted->task.message),
		"not in the catalogue: %s", strerror(-err));
}

/* Fills the sample's task. Returns false if the task has failed. If SQLite can't read the sample's
 * row, the sample is not marked bad, because the error may be transient. */
static bool fill_task(const struct sched *sched, struct wanted *wanted)
{
	struct space *space = wanted->key.space;
	const struct sched_source *source = sched_source_of(space->source);
	sample_id sample = (sample_id)wanted->key.sample;
	wanted->task = new_task(sched, wanted);
	wanted->task.max_pixels = sched->config->max_pixels;
	wanted->task.by_content = source->config.same_content;
	fill_also(sched, wanted);
	int err = dataset_get(space->source->dataset, sample, &wanted->sample);
	if (err) {
		fail_catalogue(wanted, err);
		return false;
	}
	if (source->quarantined && roaring_bitmap_contains(source->quarantined, sample)) {
		wanted->task.status = -EIO;
		snprintf(wanted->task.message, sizeof(wanted->task.message),
			"preparing it ended the engine twice");
		return false;
	}
	if (memory_refuses(&sched->supply, space, sample, wanted->task.message)) {
		wanted->task.status = -EIO;
		return false;
	}
	fill_file(space, sample, &wanted->sample, &wanted->task);
	wanted->task.tier_worth = wanted->tier_worth;
	err = fill_second(wanted);
	if (err)
		fail_catalogue(wanted, err);
	return !err;
}

/* Returns the next file to read; NULL: there is none. Begins the fetches of samples that another
 * daemon has. sched_unlock wakes another reader thread if more files may be read. */
struct load_task *sched_next_read(void *context)
{
	struct sched *sched = context;
	for (;;) {
		struct aftermath aftermath;
		sched_lock(sched, &aftermath);
		struct wanted *wanted = supply_next_read(
			&sched->supply, clock_now_ns(), fetch_is_due_locked, NULL);
		bool fetching = wanted && wanted->fetching;
		supply_execute_locked(sched, &aftermath);
		sched_unlock(&aftermath);
		if (!wanted)
			return NULL;
		if (fetching) {
			fetch_begin(wanted);
			continue;
		}
		if (fill_task(sched, wanted))
			return &wanted->task;
		sched_read(sched, &wanted->task);
	}
}

void sched_read(void *context, struct load_task *task)
{
	struct sched *sched = context;
	SECTION_SCOPE(sched, aftermath);
	supply_was_read(&sched->supply, task->owner, clock_now_ns());
	supply_execute_locked(sched, &aftermath);
}

static struct wanted *next_decode(struct sched *sched, bool of_program)
{
	SECTION_SCOPE(sched, aftermath);
	struct wanted *wanted = supply_next_decode(&sched->supply, of_program);
	supply_execute_locked(sched, &aftermath);
	return wanted;
}

/* Samples that programs prepare are not noted for the quarantine: a program's crash does not end
 * this process. */
struct load_task *sched_next_run(void *context)
{
	struct wanted *wanted = next_decode(context, true);
	return wanted ? &wanted->task : NULL;
}

struct load_task *sched_next_decode(void *context)
{
	struct wanted *wanted = next_decode(context, false);
	if (!wanted)
		return NULL;
	kept_note_begin(dataset_name(wanted->key.space->source->dataset),
		(sample_id)wanted->key.sample);
	return &wanted->task;
}

/* Tells whether to log the failure. A transient failure is logged only if a reader gets the error,
 * because no further try follows. */
static bool is_worth_a_line(struct wanted *wanted, const struct load_task *result)
{
	struct space *space = wanted->key.space;
	if (result->status == 0)
		return false;
	LOCK_SCOPE(&sched_of_source(space->source)->lock);
	if (result->passing)
		return !result->told && !TAILQ_EMPTY(&wanted->waiters) &&
		       !retry_is_left(wanted);
	return bad_sample_is_new(space, (sample_id)wanted->key.sample);
}

static void note_cost_locked(struct space *space, const struct load_task *result)
{
	struct source *source = space->source;
	lock_assert_held(&sched_of_source(source)->lock);
	if (result->status != 0 || result->same)
		return;
	supply_note_cost(space, result->decode_ns);
	histogram_add_alone(&sched_source_of(source)->decodes, result->decode_ns);
	atomic_fetch_add_explicit(
		&sched_source_of(source)->cpu_ns, result->cpu_ns, memory_order_relaxed);
}

/* Gives the result of a task to the supply. May free the task. first: the chain's first task, whose
 * status counts for all tasks of the chain. */
static void end_task_locked(struct sched *sched, struct load_task *task,
	const struct load_task *first, struct aftermath *aftermath)
{
	struct wanted *wanted = task->owner;
	const struct supply_result result = {.status = first->status,
		.passing = first->passing,
		.damaged = first->damaged,
		.retry_ns = first->retry_ns,
		.tensor = task->tensor,
		.same = task->same != NULL};
	lock_assert_held(&sched->lock);
	wanted->sample = (struct dataset_sample){0};
	wanted->second = NULL;
	supply_done(&sched->supply, wanted, &result, clock_now_ns());
	supply_execute_locked(sched, aftermath);
}

void sched_load_done(void *context, struct load_task *task)
{
	struct sched *sched = context;
	struct wanted *wanted = task->owner;
	struct dataset_sample sample = wanted->sample;
	struct wanted_second *second = wanted->second;
	const struct load_task first = *task;
	struct aftermath aftermath;
	kept_note_end();

	/* The failure is logged before a reader gets the error. */
	if (is_worth_a_line(wanted, &first))
		log_bad_sample(dataset_name(wanted->key.space->source->dataset), &sample,
			&first);
	sched_lock(sched, &aftermath);
	program_end(&sched->supply, wanted);
	note_cost_locked(wanted->key.space, &first);
	for (struct load_task *next; task; task = next) {
		next = task->also;
		end_task_locked(sched, task, &first, &aftermath);
	}
	sched_unlock(&aftermath);

	dataset_sample_free(&sample);
	free_second(second);
}
