// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "stats/stats.h"

#include <errno.h>

/* What a reader asks for; epoch may be SCHED_CURRENT. */
struct place {
	struct sched_job *job;
	uint32_t epoch, position;
	uint64_t reader;
};

static bool place_exists(const struct place *place)
{
	return (place->epoch == SCHED_CURRENT ||
		       place->epoch < place->job->config.epochs) &&
	       place->position < place->job->samples;
}

static int check_place_locked(const struct place *place)
{
	if (place->job->removed || place->job->sched->stopping)
		return -ENODEV;
	return place_exists(place) ? 0 : -ENOENT;
}

/* Never SCHED_CURRENT; the epoch may not have begun. */
static uint32_t epoch_number_locked(const struct place *place)
{
	return place->epoch != SCHED_CURRENT
		       ? place->epoch
		       : current_epoch_locked(place->job, place->position, place->reader);
}

/* Whether the position can be bound, or is, or can't be any more. */
static bool is_begun(const struct epoch *epoch, uint32_t position)
{
	return epoch->over || (epoch->stream && epoch->stream->ready) ||
	       epoch_has_bound(epoch, position);
}

/* The place's epoch. -EINPROGRESS: it, or the stream it needs, is being begun. */
static int find_epoch_locked(const struct place *place, struct epoch **ret)
{
	struct sched_job *job = place->job;
	bool rolls = place->epoch == SCHED_CURRENT;
	int err = check_place_locked(place);
	if (err)
		return err;
	uint32_t number = epoch_number_locked(place);
	*ret = job->epochs[number];
	if (*ret && is_begun(*ret, place->position))
		return 0;
	if (!*ret && !epoch_may_begin_locked(job, rolls))
		return -EAGAIN;
	begin_request_locked(job, number, rolls);
	return -EINPROGRESS;
}

static int bind_locked(
	const struct place *place, struct epoch **ret, struct aftermath *aftermath)
{
	int err = find_epoch_locked(place, ret);
	if (err)
		return err;
	place->job->last_read_ns = clock_now_ns();
	if (!epoch_has_bound(*ret, place->position))
		err = epoch_bind_locked(*ret, place->position, aftermath);
	if (!err && place->epoch == SCHED_CURRENT)
		current_note_opened_locked(
			place->job, (*ret)->number, place->position, place->reader);
	return err;
}

static struct sched_handle *handle_new(
	struct sched_job *job, const struct sched_open_callbacks *callbacks)
{
	struct sched_handle *handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	atomic_fetch_add(&job->references, 1);
	handle->job = job;
	handle->callbacks = *callbacks;
	return handle;
}

/* The sample that the handle is for: bound, if it was not. */
static int choose_sample_locked(struct sched_handle *handle, const struct place *place,
	struct aftermath *aftermath)
{
	int err = bind_locked(place, &handle->epoch, aftermath);
	if (err)
		return err;
	handle->epoch_number = handle->epoch->number;
	handle->sample = order_sample(&handle->epoch->order, place->position);
	return 0;
}

/* A mirror has the same samples in every epoch; current/ is the first. */
static uint32_t mirrored_epoch(const struct place *place)
{
	return place->epoch == SCHED_CURRENT ? 0 : place->epoch;
}

/* Nothing is bound. */
static int choose_mirrored_locked(struct sched_handle *handle, const struct place *place)
{
	struct sched_job *job = place->job;
	int err = check_place_locked(place);
	if (err)
		return err;
	handle->epoch_number = mirrored_epoch(place);
	handle->sample = job_fixed_sample(job, place->position);
	if (!handle->label)
		count_served_locked(job, how_served_locked(job->space, handle->sample));
	return 0;
}

/* The handle pins its sample and counts in its use, until it is detached. */
static int attach_locked(struct sched_handle *handle)
{
	struct space *space = handle->job->space;
	struct use *use = use_get_locked(space, handle->sample);
	if (!use)
		return -ENOMEM;
	if (cache_pin(space->cache, handle->sample) != 0) {
		use_settle_locked(use);
		return -ENOMEM;
	}
	use->opens++;
	handle->use = use;
	struct bound_pin *pin =
		handle->epoch ? epoch_pin_locked(handle->epoch, handle->position) : NULL;
	if (pin)
		pin->opens++;
	return 0;
}

static int take_ticket_locked(struct sched_handle *handle)
{
	struct sched *sched = handle->job->sched;
	handle->ticket = ++sched->next_ticket;
	HASH_ADD(hash, sched->tickets, ticket, sizeof(handle->ticket), handle);
	if (!handle->hash.tbl)
		return -ENOMEM;
	handle->state = HANDLE_PARKING;
	handle->parked_ns = clock_now_ns();
	TAILQ_INSERT_TAIL(&handle->job->parked, handle, job_link);
	return 0;
}

static bool is_ready(const struct sched_handle *handle)
{
	return handle->label ||
	       cache_state(handle->use->key.space->cache, handle->sample) == CACHE_READY;
}

static struct place place_of(const struct sched_handle *handle)
{
	return (struct place){handle->job, handle->epoch_number, handle->position,
		handle->callbacks.reader};
}

/* The sample is chosen and held. -EINPROGRESS: its epoch has to begin first. */
static int prepare_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct place place = place_of(handle);
	int err = job_mirrors(place.job)
			  ? choose_mirrored_locked(handle, &place)
			  : choose_sample_locked(handle, &place, aftermath);
	return err || handle->label ? err : attach_locked(handle);
}

void open_resume_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	if (handle->status == 0 && !handle->use) {
		int err = prepare_locked(handle, aftermath);
		if (err == -EINPROGRESS) {
			TAILQ_INSERT_TAIL(&handle->job->beginning.opens, handle, link);
			handle->state = HANDLE_AWAITS_EPOCH;
			return;
		}
		handle->status = err;
	}
	if (handle->status != 0 || is_ready(handle)) {
		handle_finish_locked(handle, handle->status, aftermath);
		return;
	}
	use_request_locked(handle->use, true, aftermath);
	TAILQ_INSERT_TAIL(&handle->use->waiters, handle, link);
	handle->state = HANDLE_PARKED;
}

/*
 * The reader learns its ticket without the lock being held. Meanwhile it may have given
 * up, or its job may be gone (status says so); the sample may have become ready, or have
 * failed and be asked for again.
 */
static void park(struct sched_handle *handle)
{
	struct sched *sched = handle->job->sched;
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	if (handle->callbacks.parking)
		handle->callbacks.parking(handle->callbacks.context, handle->ticket);
	lock_take(&sched->lock);
	open_resume_locked(handle, &aftermath);
	sched_unlock(sched, &aftermath);
}

static int open_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	int err = prepare_locked(handle, aftermath);
	if (err && err != -EINPROGRESS)
		return err;
	if (!err && is_ready(handle)) {
		handle_finish_locked(handle, 0, aftermath);
		return 0;
	}
	err = take_ticket_locked(handle);
	if (err && handle->use)
		handle_detach_locked(handle, aftermath);
	return err;
}

static int open_place(const struct place *place, bool label,
	const struct sched_open_callbacks *callbacks)
{
	struct sched *sched = place->job->sched;
	struct aftermath aftermath;
	struct sched_handle *handle = handle_new(place->job, callbacks);
	if (!handle)
		return -ENOMEM;
	handle->epoch_number = place->epoch;
	handle->position = place->position;
	handle->label = label;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	int err = open_locked(handle, &aftermath);
	bool has_to_park = !err && handle->state == HANDLE_PARKING;
	sched_unlock(sched, &aftermath);
	if (err)
		handle_free(handle);
	else if (has_to_park)
		park(handle);
	return err;
}

int sched_open(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks)
{
	struct place place = {job, epoch, position, callbacks->reader};
	return open_place(&place, false, callbacks);
}

int sched_open_label(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks)
{
	struct place place = {job, epoch, position, callbacks->reader};
	return open_place(&place, true, callbacks);
}

void sched_cancel(struct sched *sched, uint64_t ticket)
{
	struct aftermath aftermath;
	struct sched_handle *handle;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	HASH_FIND(hash, sched->tickets, &ticket, sizeof(ticket), handle);
	if (handle) {
		stats_add(STAT_INTERRUPTS, 1);
		handle_give_up_locked(handle, -EINTR, &aftermath);
	}
	sched_unlock(sched, &aftermath);
}

static int bind_sample_locked(const struct place *place, sample_id *ret,
	uint32_t *ret_epoch, struct aftermath *aftermath)
{
	struct epoch *epoch = NULL;
	if (job_mirrors(place->job)) {
		int err = check_place_locked(place);
		if (err)
			return err;
		*ret = job_fixed_sample(place->job, place->position);
		*ret_epoch = mirrored_epoch(place);
		return 0;
	}
	int err = bind_locked(place, &epoch, aftermath);
	if (err)
		return err;
	*ret = order_sample(&epoch->order, place->position);
	*ret_epoch = epoch->number;
	return 0;
}

int sched_bind_for(struct sched_job *job, uint32_t epoch, uint32_t position,
	uint64_t reader, sample_id *ret, uint32_t *ret_epoch)
{
	struct aftermath aftermath;
	struct place place = {job, epoch, position, reader};
	aftermath_init(&aftermath);
	lock_take(&job->sched->lock);
	int err = bind_sample_locked(&place, ret, ret_epoch, &aftermath);
	while (err == -EINPROGRESS) {
		err = begin_wait_locked(job);
		if (!err)
			err = bind_sample_locked(&place, ret, ret_epoch, &aftermath);
	}
	sched_unlock(job->sched, &aftermath);
	return err;
}

int sched_bind(struct sched_job *job, uint32_t epoch, uint32_t position, sample_id *ret)
{
	uint32_t number;
	return sched_bind_for(job, epoch, position, 0, ret, &number);
}

sample_id sched_bound(struct sched_job *job, uint32_t epoch_number, uint32_t position)
{
	struct place place = {job, epoch_number, position, 0};
	LOCK_SCOPE(&job->sched->lock);
	if (!place_exists(&place))
		return SAMPLE_NONE;
	if (job_is_fixed(job))
		return job_fixed_sample(job, position);
	const struct epoch *epoch = job->epochs[epoch_number_locked(&place)];
	return epoch ? order_sample(&epoch->order, position) : SAMPLE_NONE;
}

/* The order of an epoch that was over before a restart is read when it is asked for. */
static bool has_order_locked(struct sched_job *job, uint32_t number)
{
	while (job->epochs[number] && !job->epochs[number]->order.read) {
		if (job->removed || job->sched->stopping)
			return false;
		begin_request_locked(job, number, false);
		if (begin_wait_locked(job) != 0)
			return false;
	}
	return job->epochs[number] != NULL;
}

bool sched_has_order(struct sched_job *job, uint32_t epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	return epoch < job->config.epochs && job->epochs[epoch] &&
	       order_log_begins(&job->epochs[epoch]->order);
}

uint32_t sched_bindings(struct sched_job *job, uint32_t epoch, uint32_t k, uint32_t n,
	struct sched_binding *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	if (epoch >= job->config.epochs || !has_order_locked(job, epoch))
		return 0;
	const struct order *order = &job->epochs[epoch]->order;
	uint32_t i;
	for (i = 0; i < n && k + i < order->bound; i++)
		order_binding(order, k + i, &ret[i]);
	return i;
}

bool sched_binding(
	struct sched_job *job, uint32_t epoch, uint32_t k, struct sched_binding *ret)
{
	return sched_bindings(job, epoch, k, 1, ret) == 1;
}

const struct tensor *sched_handle_tensor(const struct sched_handle *handle)
{
	return handle->tensor;
}

sample_id sched_handle_sample(const struct sched_handle *handle)
{
	return handle->sample;
}

uint32_t sched_handle_epoch(const struct sched_handle *handle)
{
	return handle->epoch_number;
}

/* The first time it belongs to the epoch; of a mirror each time counts for the rate. */
static void count_read_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	if (handle->epoch)
		epoch_consume_locked(handle->epoch, handle->position, aftermath);
	else
		job_count_consumed_locked(handle->job, clock_now_ns());
}

static void give_back(struct sched_handle *handle, bool read)
{
	struct sched *sched = handle->job->sched;
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	ensure(handle->state == HANDLE_FINISHED);
	handle->job->last_read_ns = clock_now_ns();
	if (handle->use)
		handle_detach_locked(handle, &aftermath);
	if (read)
		count_read_locked(handle, &aftermath);
	sched_unlock(sched, &aftermath);
	handle_free(handle);
}

void sched_release(struct sched_handle *handle)
{
	give_back(handle, true);
}

void sched_undo(struct sched_handle *handle)
{
	give_back(handle, false);
}
