// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

#include <errno.h>
#include <string.h>

/*
 * A position holds its sample for ever, so going back only undoes reads, and the choice of the
 * running epoch:
 *
 *    epoch                    2            3             4
 *    before going back      saved        drains         runs
 *    after going back       saved         runs         known
 *
 * Here epoch 3 has only those reads that it had at the earlier point, and epoch 4 has none. When a
 * known epoch begins, its order is loaded: its positions hold the same samples as before.
 */

static struct epochs_order_file *find_known(const struct epochs *epochs, uint32_t number)
{
	for (size_t i = 0; i < epochs->n_known; i++)
		if (epochs->known[i].epoch == number)
			return &epochs->known[i];
	return NULL;
}

uint32_t epochs_known_bound(const struct epochs *epochs, uint32_t number)
{
	const struct epochs_order_file *known = find_known(epochs, number);
	return known ? known->bound : 0;
}

void known_remove(struct epochs *epochs, uint32_t number)
{
	struct epochs_order_file *known = find_known(epochs, number);
	if (known)
		*known = epochs->known[--epochs->n_known];
}

/* Tells whether an epoch with an order in a file has begun: the epoch is in memory, or comes before
 * the running epoch. If no epoch runs, the epoch has begun unless the job repeats saved orders. If
 * the epoch has begun and ended, notes that its order is saved. */
static bool has_begun(struct epochs *epochs, uint32_t number)
{
	struct epoch *epoch = find_epoch(epochs, number);
	const struct epoch *running = epochs->running;
	bool before = running ? number < running->number : !epochs->config.replays;
	if (!epoch && before)
		roaring_bitmap_add(epochs->saved, number);
	else if (epoch && epoch->over && !epoch->saved && epoch != running &&
		 epoch != epochs->draining)
		epochs_saved(epochs, number);
	return epoch || before;
}

void epochs_has_orders(struct epochs *epochs, struct epochs_order_file *orders, size_t n)
{
	free(epochs->known);
	epochs->known = orders;
	epochs->n_known = 0;
	for (size_t i = 0; i < n; i++)
		if (!has_begun(epochs, orders[i].epoch) && orders[i].bound > 0)
			orders[epochs->n_known++] = orders[i];
}

void epoch_load(struct epoch *epoch, struct effects *effects)
{
	epoch->load = LOAD_WANTED;
	effect_add(effects, EFFECT_LOAD)->epoch = epoch->number;
}

/* Moves the order from `loaded` to the epoch, and empty arrays to `loaded`. */
static void exchange(struct epoch *epoch, struct epoch *loaded)
{
	struct epoch old = *epoch;
	epoch->samples = loaded->samples;
	epoch->log = loaded->log;
	epoch->log_room = loaded->log_room;
	epoch->bound = loaded->bound;
	loaded->samples = old.samples;
	loaded->log = old.log;
}

void epochs_loaded(
	struct epochs *epochs, uint32_t number, struct epoch *loaded, int status)
{
	struct epoch *epoch = find_epoch(epochs, number);
	bool wanted = epoch && epoch->load == LOAD_WANTED;
	if (wanted)
		epoch->load = loaded ? LOAD_DONE : LOAD_FAILED;
	if (wanted && loaded) {
		exchange(epoch, loaded);
		known_remove(epochs, number);
		skip_take(epochs, epoch, true);
		if (epoch == epochs->running && epochs->draining)
			epochs->draining->read_at = epoch->bound;
	}
	if (loaded)
		LIST_INSERT_HEAD(&epochs->dead, loaded, link);
	if (wanted)
		resume_waiting(epochs, number, loaded ? 0 : status);
}

/* --- an epoch from its order ---------------------------------------------------------- */

/* Returns a bit for each sample id, set if the sample is selected; NULL: no memory. Tests of
 * millions of samples in random order take far less time than in a compressed bitmap. */
static uint8_t *selected_bits(const roaring_bitmap_t *selection)
{
	uint8_t *bits = calloc(roaring_bitmap_maximum(selection) / 8 + 1, 1);
	roaring_uint32_iterator_t iterator;
	uint32_t ids[256], n;
	if (!bits)
		return NULL;
	roaring_init_iterator(selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, 256)) > 0)
		for (uint32_t i = 0; i < n; i++)
			bits[ids[i] / 8] |= (uint8_t)(1u << ids[i] % 8);
	return bits;
}

static int check_sample(const struct epochs *epochs, const struct epoch *epoch,
	uint32_t position, uint8_t *left, const char **ret_reason)
{
	uint32_t last = roaring_bitmap_maximum(epoch->set->selection);
	sample_id sample = epoch->samples[position] - 1;
	if (sample > last || !(left[sample / 8] >> sample % 8 & 1))
		return replay_refuse(
			roaring_bitmap_contains(epoch->set->selection, sample)
				? "the sample is already bound"
				: "the sample is none of the job's",
			ret_reason);
	left[sample / 8] &= (uint8_t) ~(1u << sample % 8);
	if (epochs->config.kind == EPOCHS_FIXED &&
		sample != fixed_sample(epoch->set, position))
		return replay_refuse("the position has another sample", ret_reason);
	return 0;
}

/* Checks that each bound sample is one of the job's, and is bound only once. Sets the bit in `ret`
 * of each bound position. */
static int check_samples(const struct epochs *epochs, const struct epoch *epoch,
	uint8_t *ret, const char **ret_reason)
{
	auto_free uint8_t *left = selected_bits(epoch->set->selection);
	uint32_t n = 0;
	int err = left ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < epoch->set->positions && !err; i++) {
		if (epoch->samples[i] == 0)
			continue;
		n++;
		ret[i / 8] |= (uint8_t)(1u << i % 8);
		err = check_sample(epochs, epoch, i, left, ret_reason);
	}
	return !err && n != epoch->bound
		       ? replay_refuse("a binding is missing", ret_reason)
		       : err;
}

/* Checks that the log has each bound position once. Clears these positions' bits in `bound`. */
static int check_log(const struct epoch *epoch, uint8_t *bound, const char **ret_reason)
{
	for (uint32_t k = 0; k < epoch->bound; k++) {
		uint32_t position = order_log_entry_position(epoch->log[k]);
		if (position >= epoch->set->positions ||
			!(bound[position / 8] >> position % 8 & 1))
			return replay_refuse(
				"there is no such position, or twice", ret_reason);
		bound[position / 8] &= (uint8_t) ~(1u << position % 8);
	}
	return 0;
}

/* Moves the first `bound` bindings of the order to the epoch, and checks them. */
static int take_bindings(const struct epochs *epochs, struct epoch *epoch,
	struct order *data, uint32_t bound, const char **ret_reason)
{
	auto_free uint8_t *bits = calloc(epoch->set->positions / 8 + 1, 1);
	if (!bits)
		return -ENOMEM;
	for (uint32_t k = bound; k < data->bound; k++) {
		uint32_t position = order_log_entry_position(data->log[k]);
		if (position >= epoch->set->positions)
			return replay_refuse(
				"there is no such position, or twice", ret_reason);
		data->samples[position] = 0;
	}
	free(epoch->samples);
	epoch->samples = data->samples;
	epoch->log = data->log;
	epoch->log_room = epoch->bound = bound;
	data->samples = data->log = NULL;
	int err = check_samples(epochs, epoch, bits, ret_reason);
	return err ? err : check_log(epoch, bits, ret_reason);
}

/* Sets epoch->files_read and n_files_read: the files of which all positions were consumed. */
static int find_files_read(const struct epochs *epochs, struct epoch *epoch)
{
	uint32_t n = epoch->set->positions, per_file = epochs->config.file;
	uint32_t files = files_of(epochs, epoch->set);
	if (epoch->consumed == 0)
		return 0;
	epoch->files_read = calloc(files / 8 + 1, 1);
	if (!epoch->files_read)
		return -ENOMEM;
	for (uint32_t file = 0; file < files; file++) {
		uint32_t position = file * per_file;
		uint32_t end = n - position < per_file ? n : position + per_file;
		while (position < end && epoch_has_consumed(epoch, position))
			position++;
		if (position < end)
			continue;
		epoch->files_read[file / 8] |= (uint8_t)(1u << file % 8);
		epoch->n_files_read++;
	}
	return 0;
}

static int make_all(const struct epochs *epochs, struct epoch *epoch, struct order *data,
	uint32_t bound, uint32_t consumed, const char **ret_reason)
{
	if (data->positions != epoch->set->positions || bound > data->bound ||
		consumed > data->consumed)
		return replay_refuse("its order is too short", ret_reason);
	int err = take_bindings(epochs, epoch, data, bound, ret_reason);
	for (uint32_t k = 0; k < consumed && !err; k++)
		err = replay_consumed(epoch, data->reads[k], ret_reason);
	epoch->over = consumed == epoch->set->positions;
	return err ? err : find_files_read(epochs, epoch);
}

int epochs_prepare(const struct epochs *epochs, const struct epoch_set *set,
	uint32_t number, struct order *data, uint32_t bound, uint32_t consumed,
	const char **ret_reason, struct epoch **ret)
{
	struct epoch *epoch;
	int err = epoch_alloc(set, number, &epoch);
	if (!err)
		err = make_all(epochs, epoch, data, bound, consumed, ret_reason);
	order_free(data);
	if (err)
		epoch_reaped_free(epoch);
	*ret = err ? NULL : epoch;
	return err;
}

/* --- going back ---------------------------------------------------------------------- */

void epochs_hold(struct epochs *epochs, struct effects *effects)
{
	struct epoch *epoch;
	ensure(!epochs->held);
	epochs->held = true;
	LIST_FOREACH (epoch, &epochs->live, link)
		epoch_end_stream(epochs, epoch, effects);
}

/* Lets the waiting requests choose their epochs again. */
void epochs_unhold(struct epochs *epochs)
{
	struct open_request *request;
	epochs->held = false;
	TAILQ_CONCAT(&epochs->resuming, &epochs->waiting, link);
	TAILQ_FOREACH (request, &epochs->resuming, link) {
		request->status = 0;
		request->chosen = false;
	}
}

uint32_t epochs_next_live(const struct epochs *epochs, uint32_t after)
{
	const struct epoch *epoch;
	uint32_t least = UINT32_MAX;
	LIST_FOREACH (epoch, &epochs->live, link)
		if ((after == UINT32_MAX || epoch->number > after) &&
			epoch->number < least)
			least = epoch->number;
	return least;
}

static void drop_all(struct epochs *epochs, struct effects *effects)
{
	struct epoch *epoch, *next;
	epochs->running = epochs->draining = NULL;
	for (epoch = LIST_FIRST(&epochs->live); epoch; epoch = next) {
		next = LIST_NEXT(epoch, link);
		epoch_drop_pins(epochs, epoch, 0, true, effects);
		epoch_kill(epochs, epoch);
	}
	roaring_bitmap_clear(epochs->saved);
}

/* Lets new scripts continue with the files that were not read in the restored epoch. */
static void restore_current(struct epochs *epochs, struct epoch *running)
{
	struct current *current = &epochs->current;
	current_destroy(epochs);
	free(current->before);
	memset(current, 0, sizeof(*current));
	current->went_back = true;
	current->before_epoch = running->number;
	current->before = running->files_read;
	current->n_before = running->n_files_read;
	running->files_read = NULL;
}

void restore_live(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects)
{
	drop_all(epochs, effects);
	restore_current(epochs, running);
	LIST_INSERT_HEAD(&epochs->live, running, link);
	skip_take(epochs, running, false);
	epochs->running = running;
	known_remove(epochs, running->number);
	epochs->draining = draining;
	if (!draining)
		return;
	LIST_INSERT_HEAD(&epochs->live, draining, link);
	skip_take(epochs, draining, false);
	draining->read_at = running->bound;
	known_remove(epochs, draining->number);
}

static void record_restored(
	const struct epoch *epoch, bool drains, struct effects *effects)
{
	effect_record(effects, (struct record){.kind = RECORD_RESTORED,
				       .epoch = epoch->number,
				       .bound = epoch->bound,
				       .consumed = epoch->consumed,
				       .drains = drains});
}

void epochs_restored(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects)
{
	ensure(epochs->held && !epochs->drawing);
	restore_live(epochs, running, draining, effects);
	record_restored(running, false, effects);
	if (draining)
		record_restored(draining, true, effects);
	epochs->idle = false;
	epochs->era++;
	epochs_unhold(epochs);
}

uint32_t epochs_era(const struct epochs *epochs)
{
	return epochs->era;
}

static struct epochs_point point_of(const struct epoch *epoch)
{
	return (struct epochs_point){epoch->number, epoch->consumed, epoch->reads_hash};
}

void epochs_place(const struct epochs *epochs, struct epochs_place *ret)
{
	*ret = (struct epochs_place){.started = epochs->running != NULL};
	if (epochs->running)
		ret->running = point_of(epochs->running);
	ret->drains = epochs->draining != NULL;
	if (epochs->draining)
		ret->draining = point_of(epochs->draining);
}

/* The most positions that epochs_read_runs looks at. There are far fewer to look at if files are
 * read in order. */
#define MOST_SEARCHED 65536

uint32_t epochs_read_runs(const struct epochs *epochs, uint32_t number, struct run *ret,
	uint32_t n, bool *ret_all)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	uint32_t position = epoch ? epoch->first_unread : 0, runs = 0;
	*ret_all = true;
	if (!epoch || epoch->consumed == 0)
		return 0;
	uint32_t end = epoch->read_end, searched = 0;
	if (position > 0 && n > 0)
		ret[runs++] = (struct run){0, position - 1};
	for (; position < end; position++) {
		bool read = epoch_has_consumed(epoch, position);
		bool goes_on = read && runs > 0 && ret[runs - 1].last + 1 == position;
		if (++searched > MOST_SEARCHED || (read && !goes_on && runs == n)) {
			*ret_all = false;
			break;
		}
		if (goes_on)
			ret[runs - 1].last = position;
		else if (read)
			ret[runs++] = (struct run){position, position};
	}
	return runs;
}
