// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

#include <errno.h>
#include <string.h>

/*
 * Which epoch a position of current/ belongs to.
 *
 *     epoch e            | epoch e + 1
 *     ... x x x x x . x . | x x .          x consumed   . not bound yet
 *                     ^        ^
 *        a slow worker's     the position that made it roll: consumed in e
 *
 * A position that was consumed means the next epoch's sample, if at least half of the
 * epoch is consumed. Three things must not be mistaken for that:
 *
 *   - A reader that opens a position again: OpenCV opens each file twice, and the label
 *     is read after the image. What a reader opens several times in a row stays what it
 *     was, up to as many times as this job's readers are used to: the same file may well
 *     be a worker's last one in e and its first one in e + 1.
 *   - The same by two threads: one of the last few dozen positions that were consumed
 *     stays what it was. Not in the layout `classes`, which has no labels: a script that
 *     shuffles for itself may well begin with one of those.
 *   - A worker that is still in e when another one has begun e + 1: e goes on ("drains")
 *     until a few dozen positions of e + 1 are bound, and who has not read from e + 1
 *     yet is given what is left of e. So an epoch that rolled too early, because somebody
 *     looked at a file by hand, loses nothing either.
 *
 * A script that was started again before half of the epoch was consumed, or that tried a
 * few batches first, goes through the epoch anew: what it has not opened in this pass is
 * the same sample again, also when more than half is consumed by now. That matters where
 * it shuffles, in the layout `classes`, where a unit is a position. A few positions that
 * are opened again are no such pass.
 *
 * A reader that opens nothing but one file is taken for a person who looks: it neither
 * makes a pass nor ends one, however many of them there are.
 */

#define DOZENS 64
#define MIN_REPEATS 16 /* of a pass */
#define MAX_UNIT 1024

/* A batch is opened as one: its images first, its labels after that. */
static uint32_t unit_of(const struct job_config *config)
{
	return config->layout == LAYOUT_BATCH && config->batch > 0 ? config->batch : 1;
}

int current_init(struct sched_job *job)
{
	struct current *current = &job->current;
	uint32_t unit = unit_of(&job->config);
	uint32_t window = DOZENS + 2 * (unit < MAX_UNIT ? unit : MAX_UNIT);
	current->unit = unit;
	current->window = window < job->samples / 4 ? window : job->samples / 4;
	current->recent = calloc(current->window + 1, sizeof(*current->recent));
	current->pass.epoch = UINT32_MAX;
	current->pass.bits = calloc(job->samples / 8 + 1, 1);
	return current->recent && current->pass.bits ? 0 : -ENOMEM;
}

void current_destroy(struct sched_job *job)
{
	free(job->current.recent);
	free(job->current.pass.bits);
}

static uint32_t recent_length(const struct current *current)
{
	return current->consumed < current->window ? (uint32_t)current->consumed
						   : current->window;
}

static bool was_consumed_lately(const struct epoch *epoch, uint32_t position)
{
	const struct current *current = &epoch->job->current;
	for (uint32_t i = 0; i < recent_length(current); i++)
		if (current->recent[i].epoch == epoch->number &&
			current->recent[i].position == position)
			return true;
	return false;
}

void current_note_consumed_locked(const struct epoch *epoch, uint32_t position)
{
	struct current *current = &epoch->job->current;
	if (current->window > 0)
		current->recent[current->consumed % current->window] =
			(struct binding_place){epoch->number, position};
	current->consumed++;
}

static const struct reader *find_reader(const struct current *current, uint64_t id)
{
	for (uint32_t i = 0; id != 0 && i < current->n_readers; i++)
		if (current->readers[i].id == id)
			return &current->readers[i];
	return NULL;
}

/* Room at the front; if need be, who has not read for the longest time is forgotten. */
static void make_first(struct current *current, const struct reader *before)
{
	uint32_t n = CURRENT_READERS - 1;
	if (before)
		n = (uint32_t)(before - current->readers);
	else if (current->n_readers < CURRENT_READERS)
		n = current->n_readers++;
	memmove(&current->readers[1], &current->readers[0],
		n * sizeof(current->readers[0]));
}

static bool is_used_to_more(const struct current *current, const struct reader *reader)
{
	bool learned = current->consumed > current->window + 1;
	return !learned || reader->opens < current->habit;
}

/* If the others have read half an epoch since, it is not the same opening any more. */
static bool opens_again(
	const struct sched_job *job, const struct reader *reader, uint32_t position)
{
	const struct current *current = &job->current;
	if (!reader || reader->unit != position / current->unit ||
		!is_used_to_more(current, reader) ||
		2 * (current->consumed - reader->consumed) > job->samples)
		return false;
	const struct epoch *epoch = job->epochs[reader->epoch];
	return !epoch->over || epoch_has_bound(epoch, position);
}

/* Two threads of a reader that is not known, or image and label by different ones. */
static bool another_may_open_again(const struct sched_job *job, uint64_t reader)
{
	return reader == 0 || job->config.layout != LAYOUT_CLASSES;
}

static bool belongs_to_draining(const struct sched_job *job, uint32_t position,
	uint64_t id, const struct reader *reader)
{
	const struct epoch *draining = job->draining;
	if (!draining || epoch_has_bound(job->running, position))
		return false;
	if (id != 0 && (!reader || reader->epoch != draining->number))
		return false;
	return (!draining->over && !epoch_has_consumed(draining, position)) ||
	       (another_may_open_again(job, id) &&
		       was_consumed_lately(draining, position));
}

/* In the running epoch, and this is not just another opening of the same. */
static bool was_read_before(const struct sched_job *job, uint32_t position, uint64_t id,
	const struct reader *reader)
{
	return epoch_has_consumed(job->running, position) &&
	       !opens_again(job, reader, position) &&
	       !(another_may_open_again(job, id) &&
		       was_consumed_lately(job->running, position));
}

/* --- passes --------------------------------------------------------------------------
 */

static bool is_pass(const struct sched_job *job)
{
	const struct pass *pass = &job->current.pass;
	uint32_t enough =
		job->samples / 64 < MIN_REPEATS ? job->samples / 64 : MIN_REPEATS;
	return pass->epoch == job->running->number && pass->repeats > enough;
}

static bool has_passed(const struct pass *pass, uint32_t position)
{
	return pass->bits[position / 8] >> (position % 8) & 1;
}

static void mark_passed(struct pass *pass, uint32_t position)
{
	if (has_passed(pass, position))
		return;
	pass->bits[position / 8] |= (uint8_t)(1u << (position % 8));
	pass->n++;
}

/* What was consumed since its reader came belongs to it, as far as that is remembered. */
static void begin_pass(struct sched_job *job, uint64_t since, uint32_t repeats)
{
	const struct current *current = &job->current;
	struct pass *pass = &job->current.pass;
	uint32_t epoch = job->running->number;
	*pass = (struct pass){.epoch = epoch, .repeats = repeats, .bits = pass->bits};
	memset(pass->bits, 0, job->samples / 8 + 1);
	for (uint32_t i = 1; i <= recent_length(current); i++) {
		uint64_t k = current->consumed - i;
		const struct binding_place *place = &current->recent[k % current->window];
		if (k >= since && place->epoch == epoch)
			mark_passed(pass, place->position);
	}
}

static void note_passed(struct sched_job *job, const struct reader *reader)
{
	struct pass *pass = &job->current.pass;
	bool again = reader->repeated;
	bool another = is_pass(job) && has_passed(pass, reader->unit);
	if (again && pass->epoch != job->running->number)
		begin_pass(job, reader->since, 0);
	else if (again && another)
		begin_pass(job, reader->since, pass->repeats);
	if (pass->epoch != job->running->number)
		return;
	pass->repeats += again;
	mark_passed(pass, reader->unit);
}

/* Whether a position that was read before is the next epoch's. */
static bool may_roll(const struct sched_job *job, uint32_t position)
{
	const struct pass *pass = &job->current.pass;
	if (is_pass(job) &&
		(!has_passed(pass, position) || pass->n < job->samples - pass->n))
		return false;
	return epoch_may_begin_locked(job, true);
}

/* The first that has not begun; after the last epoch that one is read again. */
static uint32_t next_epoch(const struct sched_job *job)
{
	uint32_t number = job->running ? job->running->number : 0;
	while (number < job->config.epochs && job->epochs[number])
		number++;
	return number < job->config.epochs ? number : job->running->number;
}

uint32_t current_epoch_locked(const struct sched_job *job, uint32_t position, uint64_t id)
{
	const struct epoch *running = job->running;
	if (!running)
		return 0;
	const struct reader *reader = find_reader(&job->current, id);
	if (opens_again(job, reader, position))
		return reader->epoch;
	if (belongs_to_draining(job, position, id, reader))
		return job->draining->number;
	bool rolls =
		was_read_before(job, position, id, reader) && may_roll(job, position);
	return rolls ? next_epoch(job) : running->number;
}

static void note_reader(
	struct sched_job *job, const struct reader *before, const struct reader *now)
{
	struct current *current = &job->current;
	if (now->opens > current->habit)
		current->habit = now->opens;
	make_first(current, before);
	current->readers[0] = *now;
}

static uint32_t opened_at_once(const struct sched_job *job)
{
	return job->config.layout == LAYOUT_TAR ? job->config.shard : job->current.unit;
}

/* What a reader opened first was not noted: it could have been a look. */
static void note_in_running(
	struct sched_job *job, const struct reader *before, const struct reader *now)
{
	job->current.begun += opened_at_once(job);
	if (job->config.layout != LAYOUT_CLASSES)
		return;
	if (before && !before->read_more && before->epoch == now->epoch)
		note_passed(job, before);
	note_passed(job, now);
}

void current_note_opened_locked(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint64_t id)
{
	struct current *current = &job->current;
	const struct reader *before = find_reader(current, id);
	uint32_t unit = position / current->unit;
	bool running = job->running && epoch == job->running->number;
	bool same = before && before->unit == unit;
	bool again = same && before->epoch == epoch;
	struct reader now = {.id = id,
		.unit = unit,
		.epoch = epoch,
		.opens = again ? before->opens + 1 : 1,
		.read_more = before && (before->read_more || !same),
		.repeated = (again && before->repeated) ||
			    (running && was_read_before(job, position, id, before)),
		.consumed = current->consumed,
		.since = before ? before->since : current->consumed};
	if (running && now.opens == 1 && (now.read_more || id == 0))
		note_in_running(job, before, &now);
	if (id != 0)
		note_reader(job, before, &now);
}
