// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

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
 *     stays what it was. Not in the layout `classes`, whose files need no labels: a script that
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

int current_init(struct epochs *epochs)
{
	struct current *current = &epochs->current;
	uint32_t n = epochs->config.positions, unit = epochs->config.unit;
	uint32_t window = DOZENS + 2 * (unit < MAX_UNIT ? unit : MAX_UNIT);
	current->window = window < n / 4 ? window : n / 4;
	current->recent = calloc(current->window + 1, sizeof(*current->recent));
	current->pass.epoch = UINT32_MAX;
	current->opened = 1;
	if (epochs->config.shuffled_by_script)
		current->stamps = calloc(n, sizeof(*current->stamps));
	bool complete = current->stamps || !epochs->config.shuffled_by_script;
	return current->recent && complete ? 0 : -ENOMEM;
}

void current_destroy(struct epochs *epochs)
{
	free(epochs->current.recent);
	free(epochs->current.stamps);
}

static uint32_t recent_length(const struct current *current)
{
	return current->consumed < current->window ? (uint32_t)current->consumed
						   : current->window;
}

static bool was_consumed_lately(
	const struct epochs *epochs, const struct epoch *epoch, uint32_t position)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; i < recent_length(current); i++)
		if (current->recent[i].epoch == epoch->number &&
			current->recent[i].position == position)
			return true;
	return false;
}

void current_note_consumed(
	struct epochs *epochs, const struct epoch *epoch, uint32_t position)
{
	struct current *current = &epochs->current;
	if (current->window > 0)
		current->recent[current->consumed % current->window] =
			(struct binding_place){epoch->number, position};
	current->consumed++;
}

static const struct reader *find_reader(const struct current *current, uint64_t id)
{
	for (uint32_t i = 0; id != 0 && i < current->n_readers; i++)
		if (current->reader_ids[i] == id)
			return &current->readers[i];
	return NULL;
}

static bool is_used_to_more(const struct current *current, const struct reader *reader)
{
	bool learned = current->consumed > current->window + 1;
	return !learned || reader->opens < current->habit;
}

/* If the others have read half an epoch since, it is not the same opening any more. */
static bool opens_again(
	const struct epochs *epochs, const struct reader *reader, uint32_t position)
{
	const struct current *current = &epochs->current;
	if (!reader || reader->unit != position / epochs->config.unit ||
		!is_used_to_more(current, reader) ||
		2 * (current->consumed - reader->consumed) > epochs->config.positions)
		return false;
	const struct epoch *epoch = find_epoch(epochs, reader->epoch);
	if (!epoch) /* if its order is in a file, a unit of one position was bound */
		return epochs->config.unit == 1 &&
		       epochs_state(epochs, reader->epoch) == EPOCH_SAVED;
	return !epoch->over || epoch_has_bound(epoch, position);
}

/* Two threads of a reader that is not known, or image and label by different ones. */
static bool another_may_open_again(const struct epochs *epochs, uint64_t reader)
{
	return reader == 0 || !epochs->config.shuffled_by_script;
}

static bool belongs_to_draining(const struct epochs *epochs, uint32_t position,
	uint64_t id, const struct reader *reader)
{
	const struct epoch *draining = epochs->draining;
	if (!draining || epoch_has_bound(epochs->running, position))
		return false;
	if (id != 0 && (!reader || reader->epoch != draining->number))
		return false;
	return (!draining->over && !epoch_has_consumed(draining, position)) ||
	       (another_may_open_again(epochs, id) &&
		       was_consumed_lately(epochs, draining, position));
}

/* In the running epoch, and this is not just another opening of the same. */
static bool was_read_before(const struct epochs *epochs, uint32_t position, uint64_t id,
	const struct reader *reader)
{
	return epoch_has_consumed(epochs->running, position) &&
	       !opens_again(epochs, reader, position) &&
	       !(another_may_open_again(epochs, id) &&
		       was_consumed_lately(epochs, epochs->running, position));
}

/* --- passes --------------------------------------------------------------------------
 *
 * A pass opens each position once, so it began after any opening of what it opens again.
 * If all who read now came later than that, it began when the first of them did. If not,
 * what they opened until the first repetition is not known to belong to it; and a few
 * repetitions are none, but a script that looks at something twice.
 */

static bool is_pass(const struct epochs *epochs)
{
	const struct pass *pass = &epochs->current.pass;
	uint32_t enough = epochs->config.positions / 64 < MIN_REPEATS
				  ? epochs->config.positions / 64
				  : MIN_REPEATS;
	return pass->epoch == epochs->running->number &&
	       (pass->by_others || pass->repeats > enough);
}

/* What `opened` was when the position was opened last. */
static uint64_t last_opened(const struct current *current, uint32_t position)
{
	return current->opened - (uint32_t)(current->opened - current->stamps[position]);
}

/* When those came who have read since then; and who has read since that; and so on. */
static uint64_t readers_since(const struct current *current, uint64_t since)
{
	for (uint32_t i = 0; i < current->n_readers; i++) {
		const struct reader *reader = &current->readers[i];
		if (reader->read_more && reader->since < since &&
			reader->opened >= since) {
			since = reader->since;
			i = UINT32_MAX; /* from the first one again */
		}
	}
	return since;
}

static void begin_pass(
	struct epochs *epochs, const struct reader *reader, uint64_t opened_before)
{
	struct pass *pass = &epochs->current.pass;
	uint64_t since = readers_since(&epochs->current, reader->since);
	bool known = since > opened_before;
	if (pass->epoch != epochs->running->number)
		*pass = (struct pass){.epoch = epochs->running->number};
	if (known)
		pass->since = since;
	else if (pass->by_others || pass->since <= opened_before)
		pass->since = epochs->current.opened;
	pass->by_others = known;
	pass->floor = opened_before + 1;
}

/* One of its readers came earlier than was known; or those before it still read. */
static void widen_pass(struct epochs *epochs)
{
	struct pass *pass = &epochs->current.pass;
	uint64_t since = readers_since(&epochs->current, pass->since);
	if (since >= pass->floor)
		pass->since = since;
	else if (pass->by_others)
		pass->epoch = UINT32_MAX;
}

static void note_passed(struct epochs *epochs, const struct reader *reader)
{
	struct current *current = &epochs->current;
	struct pass *pass = &current->pass;
	uint64_t opened_before = last_opened(current, reader->unit);
	bool in_pass = pass->epoch == epochs->running->number;
	if (reader->repeated && (!in_pass || opened_before >= pass->floor))
		begin_pass(epochs, reader, opened_before);
	else if (in_pass)
		widen_pass(epochs);
	pass->repeats += reader->repeated;
	current->stamps[reader->unit] = (uint32_t)current->opened++;
}

static bool has_passed(const struct epochs *epochs, uint32_t position)
{
	const struct current *current = &epochs->current;
	const struct pass *pass = &current->pass;
	bool all = !pass->by_others &&
		   current->opened - pass->floor >= epochs->config.positions;
	bool half = 2 * (current->opened - pass->since) >= epochs->config.positions;
	return all || (half && last_opened(current, position) >= pass->since);
}

/* Those who read now came before half was read, and have not opened it yet. */
static bool is_new_to(
	const struct epochs *epochs, const struct reader *reader, uint32_t position)
{
	const struct current *current = &epochs->current;
	if (!current->stamps || !reader)
		return false;
	uint64_t since = readers_since(current, reader->since);
	uint64_t opened = current->opened - since; /* by them */
	uint64_t before = opened < current->begun ? current->begun - opened : 0;
	return last_opened(current, position) < since &&
	       2 * before < epochs->config.positions;
}

/* Whether a position that was read before is the next epoch's. */
static bool may_roll(
	const struct epochs *epochs, const struct reader *reader, uint32_t position)
{
	bool passed = is_pass(epochs) ? has_passed(epochs, position)
				      : !is_new_to(epochs, reader, position);
	return passed && may_begin(epochs, true);
}

/* The first that has not begun; after the last epoch that one is read again. If none runs,
 * none has begun, or all that have are in files: the journal's end was lost. */
static uint32_t next_epoch(const struct epochs *epochs)
{
	const struct epoch *running = epochs->running;
	uint32_t number = running ? running->number : 0;
	while (number < epochs->config.limit &&
		epochs_state(epochs, number) != EPOCH_UNKNOWN)
		number++;
	if (number < epochs->config.limit)
		return number;
	return running ? running->number : epochs->config.limit - 1;
}

/* Another one was about to begin, but the journal's end was lost. */
static bool was_cut_off(const struct epoch *running, uint32_t position)
{
	return running->over && !epoch_has_bound(running, position);
}

uint32_t current_epoch(const struct epochs *epochs, uint32_t position, uint64_t id)
{
	const struct epoch *running = epochs->running;
	if (!running)
		return next_epoch(epochs);
	const struct reader *reader = find_reader(&epochs->current, id);
	if (opens_again(epochs, reader, position))
		return reader->epoch;
	if (belongs_to_draining(epochs, position, id, reader))
		return epochs->draining->number;
	bool rolls = was_read_before(epochs, position, id, reader) &&
		     may_roll(epochs, reader, position);
	rolls = rolls || was_cut_off(running, position);
	return rolls ? next_epoch(epochs) : running->number;
}

/* A place for one more; if need be, who has not read for the longest time is forgotten. */
static uint8_t new_place(struct current *current)
{
	if (current->n_readers == CURRENT_READERS)
		return current->latest[CURRENT_READERS - 1];
	uint8_t place = (uint8_t)current->n_readers++;
	current->latest[place] = place;
	return place;
}

static void note_reader(
	struct current *current, const struct reader *before, const struct reader *now)
{
	uint8_t place =
		before ? (uint8_t)(before - current->readers) : new_place(current);
	const uint8_t *was = memchr(current->latest, place, current->n_readers);
	memmove(&current->latest[1], &current->latest[0],
		(size_t)(was - current->latest));
	current->latest[0] = place;
	current->readers[place] = *now;
	current->reader_ids[place] = now->id;
	if (now->opens > current->habit)
		current->habit = now->opens;
}

/* What a reader opened first was not noted: it could have been a look. */
static void note_in_running(
	struct epochs *epochs, const struct reader *before, const struct reader *now)
{
	epochs->current.begun += epochs->config.file;
	if (!epochs->config.shuffled_by_script)
		return;
	if (before && !before->read_more && before->epoch == now->epoch)
		note_passed(epochs, before);
	note_passed(epochs, now);
}

void current_note_opened(
	struct epochs *epochs, uint32_t epoch, uint32_t position, uint64_t id)
{
	struct current *current = &epochs->current;
	const struct reader *found = find_reader(current, id);
	struct reader before = found ? *found : (struct reader){.since = current->opened};
	uint32_t unit = position / epochs->config.unit;
	bool running = epochs->running && epoch == epochs->running->number;
	bool shuffled = epochs->config.shuffled_by_script;
	bool same = found && before.unit == unit;
	bool again = same && before.epoch == epoch;
	struct reader now = {.id = id,
		.unit = unit,
		.epoch = epoch,
		.opens = again ? before.opens + 1 : 1,
		.read_more = found && (before.read_more || !same),
		.repeated = (again && before.repeated) ||
			    (shuffled && running &&
				    was_read_before(epochs, position, id, found)),
		.consumed = current->consumed,
		.opened = current->opened,
		.since = before.since};
	if (id != 0)
		note_reader(current, found, &now);
	if (running && now.opens == 1 && (now.read_more || id == 0))
		note_in_running(epochs, found ? &before : NULL, &now);
}
