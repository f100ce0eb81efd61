// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

#include <errno.h>

/*
 * The events of a job. The way of an open:
 *
 *     epochs_open -> take_up -> choose the epoch -> bound already?      -> answer
 *                        ^                       -> a sample is queued? -> bind, answer
 *                        |                       -> no: DRAW -> epochs_take_drawn
 *     epochs_resume -----+---------------------- -> no stream: wait
 */

struct effect *effect_add(struct effects *effects, enum effect_kind kind)
{
	ensure(effects->n < EFFECTS_MAX);
	struct effect *effect = &effects->list[effects->n++];
	*effect = (struct effect){.kind = kind, .sample = SAMPLE_NONE};
	return effect;
}

static void record(struct effects *effects, struct record record)
{
	effect_add(effects, EFFECT_RECORD)->record = record;
}

int epochs_new(const struct epochs_config *config, struct epochs **ret)
{
	struct epochs *epochs = calloc(1, sizeof(*epochs));
	if (!epochs)
		return -ENOMEM;
	epochs->config = *config;
	LIST_INIT(&epochs->live);
	TAILQ_INIT(&epochs->waiting);
	TAILQ_INIT(&epochs->resuming);
	epochs->saved = roaring_bitmap_create();
	if (!epochs->saved || current_init(epochs) != 0) {
		epochs_free(&epochs);
		return -ENOMEM;
	}
	*ret = epochs;
	return 0;
}

void epochs_free(struct epochs **epochs_pointer)
{
	struct epochs *epochs = *epochs_pointer;
	struct epoch *epoch;
	if (!epochs)
		return;
	ensure(TAILQ_EMPTY(&epochs->waiting) && TAILQ_EMPTY(&epochs->resuming));
	epochs->running = epochs->draining = NULL;
	while ((epoch = LIST_FIRST(&epochs->live)))
		epoch_free(epochs, epoch);
	current_destroy(epochs);
	if (epochs->saved)
		roaring_bitmap_free(epochs->saved);
	free(epochs);
	*epochs_pointer = NULL;
}

struct epoch *find_epoch(const struct epochs *epochs, uint32_t number)
{
	struct epoch *epoch;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (epoch->number == number)
			return epoch;
	return NULL;
}

enum epoch_state epochs_state(const struct epochs *epochs, uint32_t number)
{
	if (find_epoch(epochs, number))
		return EPOCH_LIVE;
	if (roaring_bitmap_contains(epochs->saved, number))
		return EPOCH_SAVED;
	bool left_out = epochs->running && number < epochs->running->number;
	return left_out ? EPOCH_OVER : EPOCH_UNKNOWN;
}

/* --- how epochs follow one another --------------------------------------------------- */

bool may_begin(const struct epochs *epochs, bool rolls)
{
	const struct epoch *running = epochs->running;
	uint32_t n = epochs->config.positions;
	if (!running || running->over)
		return true;
	if (rolls) /* a script that was started again reads what it had */
		return running->consumed >= n - running->consumed;
	return epochs->idle || running->consumed > n / 2;
}

/* Workers that have not come from the epoch before by now will not come back to it. */
static void let_go_of_draining(struct epochs *epochs, struct effects *effects)
{
	struct epoch *draining = epochs->draining;
	if (!draining)
		return;
	epoch_end(epochs, draining, effects);
	epochs->draining = NULL;
	record(effects,
		(struct record){.kind = RECORD_LET_GO, .epoch = draining->number});
	epoch_save(epochs, draining, effects);
}

/* An epoch that drains is drawn for again only when a slow worker comes back to it. */
static int begin(struct epochs *epochs, uint32_t number, bool rolls,
	struct effects *effects, struct epoch **ret)
{
	struct epoch *before = epochs->running;
	int err = epoch_new(epochs, number, ret);
	if (err)
		return err;
	let_go_of_draining(epochs, effects);
	if (before && rolls)
		epoch_end_stream(epochs, before, effects);
	else if (before)
		epoch_end(epochs, before, effects);
	epoch_run(epochs, *ret, rolls);
	record(effects,
		(struct record){
			.kind = RECORD_BEGUN, .epoch = number, .rolls = before && rolls});
	if (before && !rolls)
		epoch_save(epochs, before, effects);
	return 0;
}

/* --- opens --------------------------------------------------------------------------- */

static void answer(struct open_request *request, int status, const struct epoch *epoch,
	struct effects *effects)
{
	request->status = status;
	request->sample = SAMPLE_NONE;
	if (status == 0) {
		request->found_epoch = epoch->number;
		request->sample = epoch->samples[request->position] - 1;
		struct pin *pin =
			request->label ? NULL : epoch_pin(epoch, request->position);
		if (pin)
			pin->opens++;
	}
	effect_add(effects, EFFECT_ANSWER)->request = request;
}

static void note_opened(struct epochs *epochs, const struct open_request *request,
	uint32_t number, struct effects *effects)
{
	if (request->epoch != EPOCH_CURRENT)
		return;
	current_note_opened(epochs, number, request->position, request->reader);
	record(effects, (struct record){.kind = RECORD_OPENED,
				.epoch = number,
				.position = request->position,
				.reader = request->reader});
}

static void answer_bound(struct epochs *epochs, struct open_request *request,
	const struct epoch *epoch, struct effects *effects)
{
	note_opened(epochs, request, epoch->number, effects);
	answer(request, 0, epoch, effects);
}

sample_id fixed_sample(const struct epochs *epochs, uint32_t position)
{
	uint32_t sample;
	if (epochs->config.fixed)
		return epochs->config.fixed[position];
	bool found = roaring_bitmap_select(epochs->config.selection, position, &sample);
	ensure(found);
	return sample;
}

/* A mirror has the same samples in every epoch; current/ is the first. */
static void answer_mirrored(const struct epochs *epochs, struct open_request *request,
	struct effects *effects)
{
	request->status = 0;
	request->found_epoch = request->epoch == EPOCH_CURRENT ? 0 : request->epoch;
	request->sample = fixed_sample(epochs, request->position);
	effect_add(effects, EFFECT_ANSWER)->request = request;
}

static void look_up(struct epochs *epochs, struct open_request *request, uint32_t epoch,
	struct effects *effects)
{
	note_opened(epochs, request, epoch, effects);
	request->status = 0;
	request->found_epoch = epoch;
	request->sample = SAMPLE_NONE;
	effect_add(effects, EFFECT_LOOK_UP)->request = request;
}

/* The head of the queue is what the position holds from now on. */
static void bind(struct epochs *epochs, struct open_request *request, struct epoch *epoch,
	struct effects *effects)
{
	struct drawn drawn = epoch_pop(epoch);
	epoch_bind(epoch, request->position, drawn.sample, drawn.served);
	record(effects, (struct record){.kind = RECORD_BOUND,
				.epoch = epoch->number,
				.position = request->position,
				.sample = drawn.sample,
				.served = drawn.served});
	if (drawn.pinned)
		epoch_keep_pin(epochs, epoch, request->position, drawn.sample, effects);
	epoch_drop_far_pins(epochs, epoch, effects);
	/* Which may be this one. */
	if (epochs->current.begun >= epochs->current.window ||
		epochs->running->bound > epochs->config.positions / 2)
		let_go_of_draining(epochs, effects);
	answer_bound(epochs, request, epoch, effects);
}

static void draw(struct epochs *epochs, struct open_request *request,
	const struct epoch *epoch, struct effects *effects)
{
	ensure(!epochs->drawing);
	epochs->drawing = request;
	epochs->drawing_epoch = epoch->number;
	struct effect *effect = effect_add(effects, EFFECT_DRAW);
	effect->epoch = epoch->number;
	effect->position = request->position;
	if (epochs->config.kind == EPOCHS_FIXED)
		effect->sample = fixed_sample(epochs, request->position);
}

static void wait(struct epochs *epochs, struct open_request *request, uint32_t number)
{
	request->waits = true;
	request->awaited = number;
	TAILQ_INSERT_TAIL(&epochs->waiting, request, link);
}

void resume_waiting(struct epochs *epochs, uint32_t number, int status)
{
	struct open_request *request, *next;
	for (request = TAILQ_FIRST(&epochs->waiting); request; request = next) {
		next = TAILQ_NEXT(request, link);
		if (request->awaited != number)
			continue;
		TAILQ_REMOVE(&epochs->waiting, request, link);
		request->status = status;
		TAILQ_INSERT_TAIL(&epochs->resuming, request, link);
	}
}

/* The epoch is live, the position unbound. */
static void take_unbound(struct epochs *epochs, struct open_request *request,
	struct epoch *epoch, struct effects *effects)
{
	int err = epoch->over ? -ESTALE : epoch_reserve(epochs, epoch);
	if (!err)
		err = epoch_begin_stream(epochs, epoch, effects);
	if (err)
		answer(request, err, NULL, effects);
	else if (epoch->stream != STREAM_READY)
		wait(epochs, request, epoch->number);
	else if (epoch->queue.length > 0)
		bind(epochs, request, epoch, effects);
	else
		draw(epochs, request, epoch, effects);
}

static void take_up(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects)
{
	bool rolls = request->epoch == EPOCH_CURRENT;
	uint32_t number =
		rolls ? current_epoch(epochs, request->position, request->reader)
		      : request->epoch;
	struct epoch *epoch = find_epoch(epochs, number);
	enum epoch_state state = epochs_state(epochs, number);
	epochs->last_read_ns = now_ns;
	if (state == EPOCH_SAVED) {
		look_up(epochs, request, number, effects);
		return;
	}
	int err = epoch ? 0 : state == EPOCH_OVER ? -ESTALE : -EAGAIN;
	if (err == -EAGAIN && may_begin(epochs, rolls))
		err = begin(epochs, number, rolls, effects, &epoch);
	if (err)
		answer(request, err, NULL, effects);
	else if (epoch_has_bound(epoch, request->position))
		answer_bound(epochs, request, epoch, effects);
	else
		take_unbound(epochs, request, epoch, effects);
}

void epochs_open(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects)
{
	bool exists = (request->epoch == EPOCH_CURRENT ||
			      request->epoch < epochs->config.limit) &&
		      request->position < epochs->config.positions;
	request->waits = false;
	if (epochs->left)
		answer(request, -ENODEV, NULL, effects);
	else if (!exists)
		answer(request, -ENOENT, NULL, effects);
	else if (epochs->config.kind == EPOCHS_MIRRORED)
		answer_mirrored(epochs, request, effects);
	else
		take_up(epochs, request, now_ns, effects);
}

bool epochs_cancel(struct epochs *epochs, struct open_request *request)
{
	struct open_request *other;
	if (!request->waits)
		return false;
	TAILQ_FOREACH (other, &epochs->resuming, link)
		if (other == request)
			break;
	TAILQ_REMOVE(other ? &epochs->resuming : &epochs->waiting, request, link);
	request->waits = false;
	return true;
}

void epochs_begun(struct epochs *epochs, uint32_t number, int status, uint64_t now_ns)
{
	struct epoch *epoch = find_epoch(epochs, number);
	epochs->last_read_ns = now_ns; /* making it may have taken long */
	if (!epoch || epoch->stream != STREAM_BEGINNING)
		return; /* it has ended meanwhile */
	epoch_begun(epochs, epoch, status);
	resume_waiting(epochs, number, status);
}

bool epochs_resume(struct epochs *epochs, uint64_t now_ns, struct effects *effects)
{
	struct open_request *request = TAILQ_FIRST(&epochs->resuming);
	if (!request)
		return false;
	TAILQ_REMOVE(&epochs->resuming, request, link);
	request->waits = false;
	int status = epochs->left ? -ENODEV : request->status;
	if (status)
		answer(request, status, NULL, effects);
	else
		take_up(epochs, request, now_ns, effects);
	return true;
}

void epochs_drawn(struct epochs *epochs, uint32_t number, const struct drawn *drawn)
{
	struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch && epoch->stream == STREAM_READY);
	epoch_push(epoch, drawn);
	epochs->pins += drawn->pinned;
	epochs->needed--;
}

void epochs_take_drawn(struct epochs *epochs, struct effects *effects)
{
	struct open_request *request = epochs->drawing;
	ensure(request);
	epochs->drawing = NULL;
	bind(epochs, request, find_epoch(epochs, epochs->drawing_epoch), effects);
}

/* --- what was opened ----------------------------------------------------------------- */

bool epochs_given(struct epochs *epochs, uint32_t number, uint32_t position)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	struct pin *pin = epoch ? epoch_pin(epoch, position) : NULL;
	if (epochs->config.kind == EPOCHS_MIRRORED)
		return true; /* each time counts */
	if (!pin || pin->given)
		return false;
	pin->given = true;
	return true;
}

static void consume(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	struct effects *effects)
{
	if (epoch_has_consumed(epoch, position))
		return;
	epoch_mark_consumed(epochs, epoch, position);
	record(effects, (struct record){.kind = RECORD_CONSUMED,
				.epoch = epoch->number,
				.position = position});
	struct pin *pin = epoch_pin(epoch, position);
	if (pin)
		epoch_drop_pin(epochs, epoch, pin, effects);
	if (!epoch->over && epoch->consumed == epochs->config.positions)
		epoch_end(epochs, epoch, effects);
}

/* Of an epoch that is over, or while the job is parked, nobody will come back for it. */
static void close_pin(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	struct effects *effects)
{
	struct pin *pin = epoch_pin(epoch, position);
	if (!pin)
		return;
	pin->opens--;
	if (pin->opens == 0 && (epoch->over || epochs->idle))
		epoch_drop_pin(epochs, epoch, pin, effects);
}

static void free_if_saved(struct epochs *epochs, struct epoch *epoch)
{
	if (epoch->saved && TAILQ_EMPTY(&epoch->pins))
		epoch_free(epochs, epoch);
}

void epochs_released(struct epochs *epochs, uint32_t number, uint32_t position, bool read,
	uint64_t now_ns, struct effects *effects)
{
	struct epoch *epoch = find_epoch(epochs, number);
	epochs->last_read_ns = now_ns;
	if (!epoch)
		return;
	close_pin(epochs, epoch, position, effects);
	if (read && !epochs->left)
		consume(epochs, epoch, position, effects);
	free_if_saved(epochs, epoch);
}

void epochs_saved(struct epochs *epochs, uint32_t number)
{
	struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch && epoch->over);
	ensure(epoch != epochs->running && epoch != epochs->draining);
	roaring_bitmap_add(epochs->saved, number);
	epoch->saved = true;
	free_if_saved(epochs, epoch);
}

void epochs_forget_before(struct epochs *epochs, uint32_t number)
{
	roaring_bitmap_remove_range(epochs->saved, 0, number);
}

/* --- what ends it -------------------------------------------------------------------- */

static void end_streams(struct epochs *epochs, bool all_pins, struct effects *effects)
{
	struct epoch *epoch, *next;
	for (epoch = LIST_FIRST(&epochs->live); epoch; epoch = next) {
		next = LIST_NEXT(epoch, link);
		epoch_end_stream(epochs, epoch, effects);
		epoch_drop_pins(epochs, epoch, all_pins, effects);
		free_if_saved(epochs, epoch);
	}
}

/* Whether it holds what is given back when nobody reads. */
static bool holds(const struct epoch *epoch)
{
	const struct pin *pin;
	if (epoch->stream == STREAM_READY)
		return true;
	TAILQ_FOREACH (pin, &epoch->pins, link)
		if (pin->opens == 0)
			return true;
	return false;
}

void epochs_time(struct epochs *epochs, uint64_t now_ns, struct effects *effects)
{
	const struct epoch *epoch;
	bool any = false;
	LIST_FOREACH (epoch, &epochs->live, link)
		any = any || holds(epoch);
	if (!any || epochs->last_read_ns + epochs->config.idle_ns >= now_ns)
		return;
	end_streams(epochs, false, effects);
	epochs->idle = true;
}

void epochs_leave(struct epochs *epochs, struct effects *effects)
{
	epochs->left = true;
	end_streams(epochs, true, effects);
	TAILQ_CONCAT(&epochs->resuming, &epochs->waiting, link);
}

/* --- questions ----------------------------------------------------------------------- */

void epochs_status(const struct epochs *epochs, struct epochs_status *ret)
{
	const struct epoch *running = epochs->running;
	*ret = (struct epochs_status){.idle = epochs->idle};
	if (!running)
		return;
	ret->started = true;
	ret->running = !running->over;
	ret->epoch = running->number;
	ret->bound = running->bound;
	ret->consumed = running->consumed;
	ret->ahead = running->queue.length;
}

sample_id epochs_bound(const struct epochs *epochs, uint32_t number, uint32_t position)
{
	if (position >= epochs->config.positions)
		return SAMPLE_NONE;
	if (epochs->config.kind == EPOCHS_FIXED || epochs->config.kind == EPOCHS_MIRRORED)
		return fixed_sample(epochs, position);
	if (number == EPOCH_CURRENT)
		number = epochs_current(epochs, position);
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch ? epoch->samples[position] - 1 : SAMPLE_NONE;
}

uint32_t epochs_current(const struct epochs *epochs, uint32_t position)
{
	return current_epoch(epochs, position, 0);
}

struct order epochs_order(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch);
	return (struct order){.positions = epochs->config.positions,
		.bound = epoch->bound,
		.samples = epoch->samples,
		.log = epoch->log};
}

bool epochs_wants_stream(const struct epochs *epochs, uint32_t *ret_epoch)
{
	const struct epoch *epoch;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (epoch->stream == STREAM_BEGINNING) {
			*ret_epoch = epoch->number;
			return true;
		}
	return false;
}

bool epochs_wants_stream_of(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch && epoch->stream == STREAM_BEGINNING;
}

bool epochs_wants_save(const struct epochs *epochs, uint32_t *ret_epoch)
{
	const struct epoch *epoch;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (epoch->saving && !epoch->saved) {
			*ret_epoch = epoch->number;
			return true;
		}
	return false;
}

uint32_t epochs_first_unsaved(const struct epochs *epochs)
{
	const struct epoch *epoch;
	uint32_t first = UINT32_MAX;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (!epoch->saved && epoch->number < first)
			first = epoch->number;
	return first;
}

uint32_t epochs_ahead(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch ? epoch->queue.length : 0;
}
