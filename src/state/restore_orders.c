// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/questions.h"
#include "state/state_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Makes data->reads a list of two kinds of positions: the positions before `end` that have a
 * sample, and all positions that the epoch leaves out because of bad samples. */
static void take_before(struct order *data, uint32_t end)
{
	uint32_t k = 0;
	data->consumed = 0;
	for (uint32_t position = 0; position < end; position++)
		if (data->samples[position] != 0)
			data->reads[data->consumed++] = position;
	/* The order begins with the positions that the epoch leaves out because of bad samples. */
	for (; k < data->bound && data->log[k] >> ORDER_POSITION_BITS == SERVED_SKIPPED;
		k++) {
		uint32_t position = order_log_entry_position(data->log[k]);
		if (position >= end)
			data->reads[data->consumed++] = position;
	}
}

static bool take_runs(struct order *data, const struct checkpoint *from)
{
	data->consumed = 0;
	for (uint32_t i = 0; i < from->n_runs; i++)
		for (uint32_t k = from->runs[i].first; k <= from->runs[i].last; k++) {
			if (data->samples[k] == 0)
				return false;
			data->reads[data->consumed++] = k;
		}
	return true;
}

/* Keeps only the first point->consumed reads of the order, the reads that the job had made at the
 * checkpoint. Returns false if the order has fewer reads, or if the hash shows that the order
 * begins with other reads. */
static bool take_first(struct order *data, const struct epochs_point *point)
{
	uint64_t hash = 0;
	if (data->consumed < point->consumed)
		return false;
	for (uint32_t k = 0; k < point->consumed; k++)
		hash = order_reads_hash(hash, data->reads[k]);
	if (hash != point->hash)
		return false;
	data->consumed = point->consumed;
	return true;
}

static int take_reads(struct restoring *restoring, struct order *data)
{
	const struct checkpoint *from = restoring->from;
	if (restoring->at) {
		take_before(data, restoring->at_position);
		return 0;
	}
	if (take_first(data, &from->place.running) ||
		(from->all_runs && take_runs(data, from)))
		return 0;
	return restore_refuse(restoring,
		"the samples read in epoch %" PRIu32
		" are no longer known, since the job went back to an earlier place after "
		"this checkpoint, allowed: a later checkpoint, or --at %" PRIu32
		":POSITION",
		from->place.running.epoch, from->place.running.epoch);
}

static const struct epoch_set *restore_set(struct job *job, uint32_t epoch)
{
	LOCK_SCOPE(job->lock);
	return epochs_set(job->epochs, epoch);
}

static int empty_order(const struct edition *edition, struct order *ret)
{
	uint32_t n = edition->set.positions;
	*ret = (struct order){.positions = n,
		.samples = calloc(n, sizeof(uint32_t)),
		.log = calloc(1, sizeof(uint32_t)),
		.reads = calloc(1, sizeof(uint32_t))};
	if (ret->samples && ret->log && ret->reads)
		return 0;
	order_free(ret);
	return -ENOMEM;
}

static enum epoch_state state_of(struct job *job, uint32_t epoch)
{
	LOCK_SCOPE(job->lock);
	return epochs_state(job->epochs, epoch);
}

static int load_order(
	struct job *job, struct restoring *restoring, uint32_t epoch, struct order *ret)
{
	const struct edition *edition = restore_edition(job, epoch);
	int err = order_load(
		job->directory, epoch, edition->set.positions, edition->fingerprint, ret);
	if (err == -ENOENT && state_of(job, epoch) == EPOCH_OVER)
		return restore_refuse(restoring,
			"the order of epoch %" PRIu32
			" is no longer kept, allowed: later epochs (keep_epochs = "
			"%" PRIu32 ")",
			epoch, job->config.keep_epochs);
	/* the order was not saved, because no position of the epoch had a sample */
	if (err == -ENOENT)
		err = empty_order(edition, ret);
	if (err == -EINVAL)
		return restore_refuse(restoring,
			"the order of epoch %" PRIu32 " can't be used: the log says why",
			epoch);
	return err ? restore_failed(restoring, job->directory, err) : 0;
}

static bool next_order(struct job *job, uint32_t *epoch, struct order *ret)
{
	LOCK_SCOPE(job->lock);
	*epoch = epochs_next_live(job->epochs, *epoch);
	if (*epoch != UINT32_MAX)
		*ret = epochs_order(job->epochs, *epoch);
	return *epoch != UINT32_MAX;
}

/* Saves the orders of the live epochs. The caller makes opens wait, so no position gets a sample
 * now. Readers may still close files. job->epochs then adds these reads to the order in memory,
 * after the reads that are saved here. */
int restore_save_live(struct job *job, struct restoring *restoring)
{
	uint32_t epoch = UINT32_MAX;
	struct order order;
	int err = 0;
	while (!err && next_order(job, &epoch, &order))
		if (order.bound > 0)
			err = order_save(job->directory, epoch,
				restore_edition(job, epoch)->fingerprint, &order);
	return err ? restore_failed(restoring, job->directory, err) : 0;
}

int restore_list_orders(struct job *job, struct epochs_order_file **ret, size_t *ret_n)
{
	auto_free uint32_t *numbers = NULL;
	size_t n_sets;
	auto_free struct order_set *sets = edition_order_sets(job, &n_sets);
	int err = sets ? order_list(job->directory, sets, n_sets, &numbers, ret_n)
		       : -ENOMEM;
	*ret = err ? NULL : calloc(*ret_n + 1, sizeof(**ret));
	if (!err && !*ret)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < *ret_n; i++) {
		(*ret)[i].epoch = numbers[i];
		err = order_bound(job->directory, numbers[i], &(*ret)[i].bound);
	}
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

int restore_load(struct job *job, const char *path, uint32_t epoch, uint32_t bound,
	uint32_t consumed, const char **ret_reason, struct epoch **ret)
{
	struct order data;
	const struct edition *edition = restore_edition(job, epoch);
	uint32_t n = edition->set.positions;
	uint64_t fingerprint = edition->fingerprint;
	int err = path ? order_load_at(path, epoch, n, fingerprint, &data)
		       : order_load(job->directory, epoch, n, fingerprint, &data);
	if (err) {
		*ret_reason = "its order is missing or can't be used";
		return err == -ENOENT ? -EINVAL : err;
	}
	return epochs_prepare(job->epochs, restore_set(job, epoch), epoch, &data, bound,
		consumed, ret_reason, ret);
}

/* Makes the epoch from its order `data`, and takes over `data`. Saves the order for the journal's
 * next segment, too. drains: the epoch is the draining one, not the running one. */
static int make_epoch(struct job *job, struct restoring *restoring, uint32_t epoch,
	bool drains, struct order *data, struct epoch **ret)
{
	const char *reason = "";
	auto_free char *path = NULL;
	lock_take(job->lock);
	path = journal_next_order(job->journal, job->directory, drains);
	lock_release(job->lock);
	const struct edition *edition = restore_edition(job, epoch);
	int err = path ? order_save_at(path, epoch, edition->fingerprint, data) : -ENOMEM;
	if (err) {
		order_free(data);
		return restore_failed(restoring, path ? path : job->directory, err);
	}
	uint32_t bound = data->bound, consumed = data->consumed;
	err = epochs_prepare(job->epochs, restore_set(job, epoch), epoch, data, bound,
		consumed, &reason, ret);
	if (err == -EINVAL)
		return restore_refuse(
			restoring, "the order of epoch %" PRIu32 ": %s", epoch, reason);
	return err ? restore_failed(restoring, job->directory, err) : 0;
}

static int make_running(struct job *job, struct restoring *restoring, struct epoch **ret)
{
	struct order data;
	uint32_t epoch = restoring->at ? restoring->at_epoch
				       : restoring->from->place.running.epoch;
	int err = load_order(job, restoring, epoch, &data);
	if (err)
		return err;
	err = take_reads(restoring, &data);
	if (err) {
		order_free(&data);
		return err;
	}
	return make_epoch(job, restoring, epoch, false, &data, ret);
}

/* Makes the draining epoch of the checkpoint. Leaves *ret unchanged, so that only the running epoch
 * continues, in these cases: no epoch was draining; the job goes to restoring->at_epoch; the order
 * of the draining epoch is gone, or has other reads than the checkpoint. */
static int make_draining(struct job *job, struct restoring *restoring, struct epoch **ret)
{
	const struct epochs_point *point = &restoring->from->place.draining;
	struct order data;
	if (!restoring->from->place.drains || restoring->at)
		return 0;
	const struct edition *edition = restore_edition(job, point->epoch);
	if (order_load(job->directory, point->epoch, edition->set.positions,
		    edition->fingerprint, &data) != 0)
		return 0;
	if (!take_first(&data, point)) {
		order_free(&data);
		return 0;
	}
	return make_epoch(job, restoring, point->epoch, true, &data, ret);
}

void restored_free(struct restored *restored)
{
	epoch_reaped_free(restored->running);
	epoch_reaped_free(restored->draining);
	free(restored->orders);
}

int restore_make(struct job *job, struct restoring *restoring, struct restored *ret)
{
	*ret = (struct restored){0};
	int err = restore_save_live(job, restoring);
	if (!err)
		err = make_running(job, restoring, &ret->running);
	if (!err)
		err = make_draining(job, restoring, &ret->draining);
	if (!err) {
		err = restore_list_orders(job, &ret->orders, &ret->n_orders);
		if (err)
			(void)restore_failed(restoring, job->directory, err);
	}
	if (err)
		restored_free(ret);
	return err;
}
