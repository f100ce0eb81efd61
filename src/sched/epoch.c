// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "stats/stats.h"

#include <errno.h>

bool epoch_has_consumed(const struct epoch *epoch, uint32_t position)
{
	if (!epoch->consumed_bits)
		return epoch_has_bound(epoch, position);
	return epoch->consumed_bits[position / 8] >> (position % 8) & 1;
}

bool epoch_has_bound(const struct epoch *epoch, uint32_t position)
{
	return order_sample(&epoch->order, position) != SAMPLE_NONE;
}

static void mark_consumed(struct epoch *epoch, uint32_t position)
{
	epoch->consumed_bits[position / 8] |= (uint8_t)(1u << (position % 8));
	epoch->consumed++;
}

/* What was bound before a restart counts as consumed: it can be read again. */
static void mark_bound_as_consumed(struct epoch *epoch)
{
	for (uint32_t k = 0; k < epoch->order.bound; k++) {
		struct sched_binding binding;
		order_binding(&epoch->order, k, &binding);
		mark_consumed(epoch, binding.position);
	}
}

static struct epoch *epoch_alloc(struct sched_job *job, uint32_t number)
{
	struct epoch *epoch = calloc(1, sizeof(*epoch));
	if (!epoch)
		return NULL;
	epoch->job = job;
	epoch->number = number;
	TAILQ_INIT(&epoch->pin_order);
	return epoch;
}

int epoch_map_over(struct sched_job *job, uint32_t number, struct epoch **ret)
{
	struct epoch *epoch = epoch_alloc(job, number);
	if (!epoch)
		return -ENOMEM;
	epoch->over = true;
	int err = order_map(job->directory, number, job->samples, &epoch->order);
	if (!err && !order_log_begins(&epoch->order)) { /* the log may have been lost */
		err = order_read(&epoch->order, &epoch->order.bound);
		epoch->order.read = !err;
		if (!err && epoch->order.bound == 0) /* the daemon died as it began */
			err = -ENOENT;
	}
	if (err)
		epoch_free(&epoch);
	else
		*ret = epoch;
	return err;
}

int epoch_new(struct sched_job *job, uint32_t number, bool create, struct epoch **ret)
{
	struct epoch *epoch = epoch_alloc(job, number);
	if (!epoch)
		return -ENOMEM;
	epoch->consumed_bits = calloc(job->samples / 8 + 1, 1);
	int err = epoch->consumed_bits ? 0 : -ENOMEM;
	if (!err)
		err = order_open(
			job->directory, number, job->samples, create, &epoch->order);
	if (err) {
		epoch_free(&epoch);
		return err;
	}
	mark_bound_as_consumed(epoch);
	*ret = epoch;
	return 0;
}

void epoch_free(struct epoch **epoch)
{
	if (!*epoch)
		return;
	ensure(TAILQ_EMPTY(&(*epoch)->pin_order));
	order_close(&(*epoch)->order);
	free((*epoch)->consumed_bits);
	free(*epoch);
	*epoch = NULL;
}

struct bound_pin *epoch_pin_locked(struct epoch *epoch, uint32_t position)
{
	struct bound_pin *pin;
	HASH_FIND(hash, epoch->pins, &position, sizeof(position), pin);
	return pin;
}

/* Takes over the pin of a drawn sample. false: no memory, the pin is given back. */
static bool keep_pin(struct epoch *epoch, uint32_t position, sample_id sample)
{
	struct bound_pin *pin = calloc(1, sizeof(*pin));
	if (!pin)
		return false;
	*pin = (struct bound_pin){
		.position = position, .sample = sample, .sequence = epoch->order.bound};
	HASH_ADD(hash, epoch->pins, position, sizeof(position), pin);
	if (!pin->hash.tbl) {
		free(pin);
		return false;
	}
	TAILQ_INSERT_TAIL(&epoch->pin_order, pin, link);
	return true;
}

static void unpin(struct epoch *epoch, sample_id sample, struct aftermath *aftermath)
{
	cache_unpin(epoch->job->space->cache, sample);
	use_settle_sample_locked(epoch->job->space, sample);
	cache_trim(epoch->job->sched->cache);
	aftermath->kick = true;
}

static void drop_pin(
	struct epoch *epoch, struct bound_pin *pin, struct aftermath *aftermath)
{
	sample_id sample = pin->sample;
	HASH_DELETE(hash, epoch->pins, pin);
	TAILQ_REMOVE(&epoch->pin_order, pin, link);
	free(pin);
	unpin(epoch, sample, aftermath);
}

void epoch_closed_locked(
	struct epoch *epoch, uint32_t position, struct aftermath *aftermath)
{
	struct bound_pin *pin = epoch_pin_locked(epoch, position);
	if (!pin)
		return;
	pin->opens--;
	bool awaited = !epoch->over && !epoch->job->idle;
	if (pin->opens == 0 && !awaited)
		drop_pin(epoch, pin, aftermath);
}

void epoch_drop_pins_locked(struct epoch *epoch, struct aftermath *aftermath)
{
	struct bound_pin *pin = TAILQ_FIRST(&epoch->pin_order);
	while (pin) {
		struct bound_pin *next = TAILQ_NEXT(pin, link);
		if (pin->opens == 0 || epoch->job->removed)
			drop_pin(epoch, pin, aftermath);
		pin = next;
	}
}

/* Bound, for its label only perhaps, and the job is far past it: it keeps its sample
 * only. */
static void drop_far_pins(struct epoch *epoch, struct aftermath *aftermath)
{
	uint32_t far = 4 * epoch->job->config.lookahead + 256;
	struct bound_pin *pin = TAILQ_FIRST(&epoch->pin_order);
	while (pin && epoch->order.bound - pin->sequence > far) {
		struct bound_pin *next = TAILQ_NEXT(pin, link);
		if (pin->opens == 0)
			drop_pin(epoch, pin, aftermath);
		pin = next;
	}
}

bool epoch_may_begin_locked(const struct sched_job *job, bool rolls)
{
	const struct epoch *running = job->running;
	if (!running || running->over)
		return true;
	if (rolls) /* a script that was started again reads what it had */
		return running->consumed >= running->order.samples - running->consumed;
	return job->idle || running->consumed > running->order.samples / 2;
}

static void epoch_end(struct epoch *epoch, struct aftermath *aftermath)
{
	epoch->over = true;
	epoch_drop_pins_locked(epoch, aftermath);
	stream_end_locked(epoch, aftermath);
}

/* Who has not come from the epoch before by now will not come back to it. */
static void let_go_of_draining(struct sched_job *job, struct aftermath *aftermath)
{
	if (job->draining)
		epoch_end(job->draining, aftermath);
	job->draining = NULL;
}

/* Most often nobody comes back to it: it is drawn for again only when somebody does. */
static void drain(struct epoch *epoch, struct aftermath *aftermath)
{
	epoch->job->draining = epoch;
	epoch->job->current.begun = 0;
	stream_end_locked(epoch, aftermath);
}

void epoch_run_locked(struct epoch *epoch, bool rolls, struct aftermath *aftermath)
{
	struct sched_job *job = epoch->job;
	let_go_of_draining(job, aftermath);
	if (job->running && rolls)
		drain(job->running, aftermath);
	else if (job->running)
		epoch_end(job->running, aftermath);
	job->epochs[epoch->number] = epoch;
	job->running = epoch;
	job->idle = false;
}

roaring_bitmap_t *epoch_remaining(const struct epoch *epoch)
{
	roaring_bitmap_t *remaining = roaring_bitmap_copy(epoch->job->selection);
	if (!remaining)
		return NULL;
	for (uint32_t k = 0; k < epoch->order.bound; k++) {
		struct sched_binding binding;
		order_binding(&epoch->order, k, &binding);
		roaring_bitmap_remove(remaining, binding.sample);
	}
	return remaining;
}

void count_served_locked(struct sched_job *job, enum served served)
{
	struct sched_job_status *totals = &job->totals;
	switch (served) {
	case SERVED_DECODED:
		totals->decoded++;
		break;
	case SERVED_HIT:
		totals->hit++;
		break;
	case SERVED_SHARED:
		totals->shared++;
		break;
	}
}

int epoch_bind_locked(struct epoch *epoch, uint32_t position, struct aftermath *aftermath)
{
	struct sched_job *job = epoch->job;
	if (epoch->over)
		return -ESTALE;
	ensure(epoch->stream);
	struct drawn drawn = stream_take_locked(epoch->stream, position, aftermath);
	bool kept = drawn.pinned && keep_pin(epoch, position, drawn.sample);
	if (drawn.pinned && !kept)
		unpin(epoch, drawn.sample, aftermath);
	order_bind(&epoch->order, position, drawn.sample, drawn.served);
	count_served_locked(job, drawn.served);
	drop_far_pins(epoch, aftermath);
	stream_refill_locked(epoch->stream, aftermath);
	/* Which may be this one. */
	if (job->current.begun >= job->current.window ||
		job->running->order.bound > job->samples / 2)
		let_go_of_draining(job, aftermath);
	return 0;
}

void epoch_consume_locked(
	struct epoch *epoch, uint32_t position, struct aftermath *aftermath)
{
	if (epoch_has_consumed(epoch, position))
		return;
	mark_consumed(epoch, position);
	current_note_consumed_locked(epoch, position);
	stats_add(STAT_CONSUMED, 1);
	job_count_consumed_locked(epoch->job, clock_now_ns());
	struct bound_pin *pin = epoch_pin_locked(epoch, position);
	if (pin)
		drop_pin(epoch, pin, aftermath);
	if (!epoch->over && epoch->consumed == epoch->order.samples)
		epoch_end(epoch, aftermath);
}
