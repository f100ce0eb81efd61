// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch_internal.h"
#include "epoch_world.h"

/*
 * A twin of the epoch engine that is too simple to be wrong: it keeps arrays by epoch and
 * position, and counts everything anew in loops. It gets the world's events, decides the answers
 * by itself, and is compared with the engine after each event.
 *
 * It decides about explicit epochs. It asks the engine which epoch current/ is (current_choose),
 * whether a script is still in the draining epoch, and which epochs belong to scripts. All
 * consequences it decides by itself.
 */

#define TWIN_POSITIONS 64
#define TWIN_WAITING 256

enum twin_stream { TWIN_NONE, TWIN_MAKING, TWIN_DRAWS };

struct twin_epoch {
	bool begun, over, saved;
	bool gone; /* its order is not kept any more */
	enum twin_stream stream;
	bool bound[TWIN_POSITIONS], consumed[TWIN_POSITIONS], pinned[TWIN_POSITIONS];
	sample_id sample[TWIN_POSITIONS];
	unsigned opens[TWIN_POSITIONS]; /* open files of pinned positions */
	struct drawn queue[TWIN_POSITIONS];
	uint32_t queued;
	/* samples bound in the running epoch when this one was last read */
	uint32_t read_at;
};

/* The expected answer, which is compared with the engine's. */
struct twin_request {
	bool answered;
	int status;
	uint32_t epoch;
	sample_id sample;
	bool is_chosen; /* an epoch of current/ was chosen for it: the next field */
	uint32_t chosen;
	struct choice choice;
};

struct twin_waiting {
	struct world_request *request;
	uint32_t epoch;
	bool resumes;
	int status;
};

struct twin {
	struct epoch_world *world;
	struct twin_epoch epochs[WORLD_EPOCHS];
	int running, draining; /* -1: no epoch */
	bool drains_on;	       /* the engine's answer for the request that is taken up */
	bool idle, left;
	bool lost; /* the end of the journal was lost at some time */
	/* an open was cancelled at some time, so its thread may come too late */
	bool cancelled;
	uint64_t last_read_ns;
	struct twin_waiting waiting[TWIN_WAITING]; /* in the order of their arrival */
	size_t n_waiting;
	struct world_request *drawing;
};

/* --- counts -------------------------------------------------------------------------- */

static inline uint32_t twin_count(const bool *bits, uint32_t n)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++)
		count += bits[i];
	return count;
}

static inline uint32_t twin_n(const struct twin *twin)
{
	return twin->world->config.set.positions;
}

/* Tells whether the engine has forgotten the epoch: its order is in a file, and no pin of it is
 * left. */
static inline bool twin_is_away(const struct twin *twin, const struct twin_epoch *epoch)
{
	return epoch->saved && twin_count(epoch->pinned, twin_n(twin)) == 0;
}

/* --- answers ------------------------------------------------------------------------- */

static inline struct twin_request *twin_of(const struct world_request *request)
{
	return request->twin;
}

static inline void twin_answer(struct world_request *request, int status)
{
	struct twin_request *expected = twin_of(request);
	cr_assert_not(expected->answered);
	expected->answered = true;
	expected->status = status;
}

/* Answers for a bound position. Opens are counted while the position is pinned. */
static inline void twin_answer_bound(
	struct twin *twin, struct world_request *request, uint32_t number)
{
	struct twin_epoch *epoch = &twin->epochs[number];
	uint32_t position = request->request.position;
	twin_answer(request, 0);
	twin_of(request)->epoch = number;
	twin_of(request)->sample = epoch->sample[position];
	if (epoch->pinned[position] && !request->request.label)
		epoch->opens[position]++;
}

static inline void twin_check_answer(const struct world_request *request)
{
	const struct twin_request *expected = twin_of(request);
	const struct open_request *answer = &request->request;
	cr_assert_eq(expected->answered, request->answers, "%u/%u: %u answers",
		answer->epoch, answer->position, request->answers);
	if (!expected->answered)
		return;
	cr_assert_eq(expected->status, answer->status, "status %d, expected %d",
		answer->status, expected->status);
	if (expected->status != 0)
		return;
	cr_assert_eq(expected->epoch, answer->found_epoch);
	cr_assert_eq(expected->sample, answer->sample);
}

/* --- what ends ----------------------------------------------------------------------- */

static inline void twin_wake(struct twin *twin, uint32_t number, int status)
{
	for (size_t i = 0; i < twin->n_waiting; i++)
		if (twin->waiting[i].epoch == number && !twin->waiting[i].resumes) {
			twin->waiting[i].resumes = true;
			twin->waiting[i].status = status;
		}
}

static inline void twin_end_stream(struct twin *twin, uint32_t number)
{
	struct twin_epoch *epoch = &twin->epochs[number];
	if (epoch->stream == TWIN_NONE)
		return;
	epoch->stream = TWIN_NONE;
	epoch->queued = 0;
	twin_wake(twin, number, 0);
}

static inline void twin_unpin_closed(struct twin *twin, struct twin_epoch *epoch)
{
	for (uint32_t i = 0; i < twin_n(twin); i++)
		if (epoch->opens[i] == 0)
			epoch->pinned[i] = false;
}

static inline void twin_end_epoch(struct twin *twin, uint32_t number)
{
	twin->epochs[number].over = true;
	twin_unpin_closed(twin, &twin->epochs[number]);
	twin_end_stream(twin, number);
}

static inline void twin_let_go(struct twin *twin)
{
	if (twin->draining < 0)
		return;
	twin_end_epoch(twin, (uint32_t)twin->draining);
	twin->draining = -1;
}

/* --- opens --------------------------------------------------------------------------- */

static inline bool twin_may_begin(
	const struct twin *twin, const struct open_request *asked)
{
	const struct epochs *epochs = twin->world->epochs;
	if (current_belongs_to_another(epochs, asked, twin->world->now_ns))
		return false;
	if (twin->running < 0 || twin->epochs[twin->running].over)
		return true;
	uint32_t n = twin_n(twin);
	return 2 * twin_count(twin->epochs[twin->running].bound, n) > n - n % 2 ||
	       twin->idle;
}

/* Begins an epoch. If it was opened by its number, the previous epoch ends for good if it is over
 * and no script reads current/. */
static inline void twin_begin(struct twin *twin, uint32_t number, bool rolls)
{
	int before = twin->running;
	twin_let_go(twin);
	if (before >= 0)
		twin_end_stream(twin, (uint32_t)before);
	bool drains = before >= 0 && (rolls || !twin->epochs[before].over ||
					     epochs_current_is_read(twin->world->epochs,
						     twin->world->now_ns));
	twin->draining = drains ? before : -1;
	twin->running = (int)number;
	twin->epochs[number].begun = true;
}

/* Binds the position to the head of the queue. The draining epoch ends when half of the running
 * one was bound since a reader last opened the draining one. */
static inline void twin_bind(
	struct twin *twin, struct world_request *request, uint32_t number)
{
	struct twin_epoch *epoch = &twin->epochs[number];
	uint32_t position = request->request.position, n = twin_n(twin);
	struct drawn head = epoch->queue[0];
	epoch->queued--;
	memmove(&epoch->queue[0], &epoch->queue[1], epoch->queued * sizeof(head));
	cr_assert_not(epoch->bound[position]);
	epoch->bound[position] = true;
	epoch->sample[position] = head.sample;
	epoch->pinned[position] = head.pinned;
	epoch->opens[position] = 0;
	if (twin->draining >= 0 && !twin->drains_on &&
		twin_count(twin->epochs[twin->running].bound, n) -
				twin->epochs[twin->draining].read_at >
			n / 2)
		twin_let_go(twin);
	twin_answer_bound(twin, request, number);
}

/* Returns the epoch of the request. A request keeps its chosen epoch as long as this epoch can
 * still answer it. */
static inline uint32_t twin_epoch_of(
	const struct twin *twin, struct world_request *request)
{
	const struct open_request *asked = &request->request;
	struct twin_request *expected = twin_of(request);
	const struct twin_epoch *epoch = &twin->epochs[expected->chosen];
	if (asked->epoch != EPOCH_CURRENT)
		return asked->epoch;
	if (!expected->is_chosen || (epoch->over && !epoch->bound[asked->position]) ||
		twin_is_away(twin, epoch))
		expected->choice = current_choose(twin->world->epochs, asked);
	expected->chosen = expected->choice.epoch;
	expected->is_chosen = true;
	return expected->chosen;
}

/* The new epoch adopts the samples with which the script continues. Then the request waits as the
 * first. */
static inline bool twin_adopts(
	struct twin *twin, struct world_request *request, uint32_t number)
{
	const struct epochs *epochs = twin->world->epochs;
	const struct open_request *asked = &request->request;
	const struct choice *choice = &twin_of(request)->choice;
	const struct record opened = {.epoch = number,
		.position = asked->position,
		.reader = asked->reader,
		.how = choice->how};
	uint32_t since = adopt_since(epochs, &opened);
	if (since == UINT32_MAX)
		return false;
	const struct script *script =
		&epochs->current
			 .scripts[script_place(&epochs->current, asked->reader.script)];
	const struct twin_epoch *from = &twin->epochs[script->epoch];
	struct twin_epoch *to = &twin->epochs[number];
	for (uint32_t i = 0; i < twin_n(twin); i++) {
		if (script->marks[i / epochs->config.file] <= since || !from->bound[i])
			continue;
		to->bound[i] = to->consumed[i] = true;
		to->sample[i] = from->sample[i];
	}
	cr_assert_lt(twin->n_waiting, TWIN_WAITING);
	twin->waiting[twin->n_waiting++] = (struct twin_waiting){
		.request = request, .epoch = number, .resumes = true};
	return true;
}

static inline void twin_take_up(struct twin *twin, struct world_request *request)
{
	const struct open_request *asked = &request->request;
	bool rolls = asked->epoch == EPOCH_CURRENT;
	twin->world->epochs->last_read_ns = twin->world->now_ns;
	twin->drains_on =
		current_needs_draining(twin->world->epochs, twin->world->now_ns);
	uint32_t number = twin_epoch_of(twin, request);
	cr_assert_lt(number, WORLD_EPOCHS);
	struct twin_epoch *epoch = &twin->epochs[number];
	twin->last_read_ns = twin->world->now_ns;
	bool left_out = !epoch->begun && (int)number < twin->running;
	if (left_out || (epoch->gone && twin_is_away(twin, epoch))) {
		cr_assert(!rolls || twin->lost || twin->cancelled,
			"current/ is never stale");
		twin_answer(request, -ESTALE);
		return;
	}
	if (!epoch->begun && !rolls && (int)number != twin->running + 1) {
		twin_answer(request, -ENOENT);
		return;
	}
	if (!epoch->begun && !rolls && !twin_may_begin(twin, asked)) {
		twin_answer(request, -EAGAIN);
		return;
	}
	if (!epoch->begun) {
		twin_begin(twin, number, rolls);
		if (rolls && twin_adopts(twin, request, number))
			return;
	}
	if ((int)number == twin->draining)
		epoch->read_at =
			twin_count(twin->epochs[twin->running].bound, twin_n(twin));
	if (epoch->bound[asked->position]) {
		twin_answer_bound(twin, request, number);
	} else if (epoch->over) {
		cr_assert(!rolls || twin->lost || twin->cancelled,
			"current/ is never stale");
		twin_answer(request, -ESTALE);
	} else if (epoch->stream != TWIN_DRAWS) {
		epoch->stream = TWIN_MAKING;
		twin->idle = false;
		cr_assert_lt(twin->n_waiting, TWIN_WAITING);
		twin->waiting[twin->n_waiting++] =
			(struct twin_waiting){.request = request, .epoch = number};
	} else if (epoch->queued > 0) {
		twin_bind(twin, request, number);
	} else {
		twin->drawing = request;
	}
}

static inline void twin_open(struct twin *twin, struct world_request *request)
{
	const struct epochs_config *config = &twin->world->config;
	const struct open_request *asked = &request->request;
	struct twin_request *expected = calloc(1, sizeof(*expected));
	cr_assert_not_null(expected);
	request->twin = expected;
	bool exists = asked->epoch == EPOCH_CURRENT || asked->epoch < config->limit;
	if (twin->left) {
		twin_answer(request, -ENODEV);
	} else if (!exists || asked->position >= config->set.positions) {
		twin_answer(request, -ENOENT);
	} else if (config->kind == EPOCHS_MIRRORED) {
		twin_answer(request, 0);
		expected->epoch = asked->epoch == EPOCH_CURRENT ? 0 : asked->epoch;
		expected->sample = 2 * asked->position;
	} else {
		twin_take_up(twin, request);
	}
}

static inline void twin_forget_waiting(struct twin *twin, size_t i)
{
	twin->n_waiting--;
	memmove(&twin->waiting[i], &twin->waiting[i + 1],
		(twin->n_waiting - i) * sizeof(twin->waiting[0]));
}

static inline void twin_cancel(struct twin *twin, const struct world_request *request)
{
	twin->cancelled = true;
	for (size_t i = 0; i < twin->n_waiting; i++)
		if (twin->waiting[i].request == request) {
			twin_forget_waiting(twin, i);
			return;
		}
}

/* Resumes a request. The engine resumes by the order in which streams came, failed or ended, and
 * then by the order of arrival. The twin knows only the latter, and asks the engine for the
 * request. */
static inline void twin_resume(struct twin *twin)
{
	const struct open_request *first = TAILQ_FIRST(&twin->world->epochs->resuming);
	if (twin->world->epochs->adopting.active)
		return;
	for (size_t i = 0; i < twin->n_waiting; i++) {
		struct twin_waiting waiting = twin->waiting[i];
		if (!waiting.resumes)
			continue;
		if (&waiting.request->request != first) {
			cr_assert_not_null(first, "nobody resumes");
			bool same = waiting.epoch == first->awaited;
			cr_assert_not(same, "one that waits overtakes another");
			continue;
		}
		twin_forget_waiting(twin, i);
		if (twin->left || waiting.status)
			twin_answer(
				waiting.request, twin->left ? -ENODEV : waiting.status);
		else
			twin_take_up(twin, waiting.request);
		return;
	}
	cr_assert_null(first, "who resumes there?");
}

/* --- the other events ---------------------------------------------------------------- */

static inline void twin_begun(struct twin *twin, uint32_t number, int status)
{
	struct twin_epoch *epoch = &twin->epochs[number];
	twin->last_read_ns = twin->world->now_ns;
	if (epoch->stream != TWIN_MAKING)
		return;
	epoch->stream = status ? TWIN_NONE : TWIN_DRAWS;
	twin->cancelled |= status != 0;
	twin_wake(twin, number, status);
}

static inline void twin_drawn(struct twin *twin, const struct world_event *event)
{
	struct twin_epoch *epoch = &twin->epochs[event->epoch];
	struct world_request *request = twin->drawing;
	cr_assert_eq(epoch->stream, TWIN_DRAWS);
	epoch->queue[epoch->queued++] = event->drawn;
	if (!event->taken)
		return;
	twin->drawing = NULL;
	twin_bind(twin, request, event->epoch);
}

static inline void twin_released(struct twin *twin, const struct world_event *event)
{
	struct twin_epoch *epoch = &twin->epochs[event->epoch];
	uint32_t position = event->position, n = twin_n(twin);
	twin->last_read_ns = twin->world->now_ns;
	if (twin->world->config.kind == EPOCHS_MIRRORED || twin_is_away(twin, epoch))
		return;
	if (epoch->pinned[position]) {
		cr_assert_gt(epoch->opens[position], 0);
		epoch->opens[position]--;
		bool awaited = !epoch->over && !twin->idle;
		epoch->pinned[position] = epoch->opens[position] > 0 || awaited;
	}
	if (!event->read || twin->left || epoch->consumed[position])
		return;
	epoch->consumed[position] = true;
	epoch->pinned[position] = false;
	if (!epoch->over && twin_count(epoch->consumed, n) == n)
		twin_end_epoch(twin, event->epoch);
}

/* Parks the job if it holds a stream or a pin that can be given back. */
static inline void twin_time(struct twin *twin)
{
	bool holds = false;
	for (uint32_t e = 0; e < WORLD_EPOCHS; e++) {
		const struct twin_epoch *epoch = &twin->epochs[e];
		holds |= epoch->stream == TWIN_DRAWS;
		for (uint32_t i = 0; i < twin_n(twin); i++)
			holds |= epoch->pinned[i] && epoch->opens[i] == 0;
	}
	if (!holds ||
		twin->last_read_ns + twin->world->config.idle_ns >= twin->world->now_ns)
		return;
	for (uint32_t e = 0; e < WORLD_EPOCHS; e++) {
		twin_end_stream(twin, e);
		twin_unpin_closed(twin, &twin->epochs[e]);
	}
	twin->idle = true;
}

static inline void twin_leave(struct twin *twin)
{
	twin->left = true;
	for (uint32_t e = 0; e < WORLD_EPOCHS; e++) {
		twin_end_stream(twin, e);
		memset(twin->epochs[e].pinned, 0, sizeof(twin->epochs[e].pinned));
	}
	for (size_t i = 0; i < twin->n_waiting; i++)
		twin->waiting[i].resumes = true;
}

/* Called before the engine gets the event. */
static inline void twin_event(struct twin *twin, const struct world_event *event)
{
	switch (event->kind) {
	case EVENT_OPEN:
		twin_open(twin, event->request);
		break;
	case EVENT_CANCEL:
		twin_cancel(twin, event->request);
		break;
	case EVENT_RESUME:
		twin_resume(twin);
		break;
	case EVENT_BEGUN:
		twin_begun(twin, event->epoch, event->status);
		break;
	case EVENT_DRAWN:
		twin_drawn(twin, event);
		break;
	case EVENT_RELEASED:
		twin_released(twin, event);
		break;
	case EVENT_SAVED:
		twin->epochs[event->epoch].saved = true;
		for (uint32_t e = 0; e < event->first; e++)
			twin->epochs[e].gone = twin->epochs[e].saved;
		break;
	case EVENT_TIME:
		twin_time(twin);
		break;
	case EVENT_LEAVE:
		twin_leave(twin);
		break;
	case EVENT_HOLD:
	case EVENT_RESTORED:
	case EVENT_LOADED:
		cr_assert_fail("the twin does not go back");
	}
}

/* --- after a restart ----------------------------------------------------------------- */

static inline void twin_replay(struct twin *twin, const struct record *record)
{
	struct twin_epoch *epoch = &twin->epochs[record->epoch];
	switch (record->kind) {
	case RECORD_BEGUN:
		epoch->begun = true;
		if (record->rolls)
			twin->draining = twin->running;
		twin->running = (int)record->epoch;
		break;
	case RECORD_BOUND:
		epoch->bound[record->position] = true;
		epoch->sample[record->position] = record->sample;
		epoch->consumed[record->position] |= record->served == SERVED_SKIPPED;
		break;
	case RECORD_CONSUMED:
		epoch->consumed[record->position] = true;
		break;
	case RECORD_ENDED:
		epoch->over = true;
		break;
	case RECORD_LET_GO:
		twin->draining = -1;
		break;
	case RECORD_OPENED:
	case RECORD_RESTORED:
	case RECORD_KINDS:
		break;
	}
}

/* Takes over an epoch from its file, because the journal has no record of it. */
static inline void twin_read_order(struct twin *twin, uint32_t number)
{
	const sample_id *saved = twin->world->streams[number].saved;
	struct twin_epoch *epoch = &twin->epochs[number];
	*epoch = (struct twin_epoch){.begun = true, .over = true, .saved = true};
	for (uint32_t i = 0; i < twin_n(twin); i++) {
		epoch->sample[i] = saved[i];
		epoch->bound[i] = saved[i] != SAMPLE_NONE;
	}
}

/* Forgets all that neither the journal nor a file has. */
static inline void twin_restart(struct twin *twin, bool lost)
{
	struct epoch_world *world = twin->world;
	uint32_t n = twin_n(twin);
	*twin = (struct twin){.world = world,
		.lost = lost,
		.cancelled = true,
		.running = -1,
		.draining = -1};
	for (size_t i = 0; i < world->n_records; i++)
		if (world->journal[i].epoch >= world->journal[0].epoch)
			twin_replay(twin, &world->journal[i]);
	for (uint32_t e = 0; e < WORLD_EPOCHS; e++) {
		struct twin_epoch *epoch = &twin->epochs[e];
		bool last = (int)e == twin->running || (int)e == twin->draining;
		if (world->streams[e].saved && !epoch->begun)
			twin_read_order(twin, e);
		else if (world->streams[e].saved)
			epoch->saved = epoch->over && !last;
		epoch->over |= epoch->begun && twin_count(epoch->consumed, n) == n;
	}
}

/* --- compared ------------------------------------------------------------------------ */

static inline void twin_check_positions(const struct twin *twin, uint32_t number)
{
	const struct twin_epoch *expected = &twin->epochs[number];
	const struct epoch *epoch = find_epoch(twin->world->epochs, number);
	uint32_t n = twin_n(twin), pins = 0;
	if (!epoch)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct pin *pin = epoch_pin(epoch, i);
		cr_assert_eq(expected->bound[i], epoch_has_bound(epoch, i));
		if (expected->bound[i])
			cr_assert_eq(expected->sample[i], epoch->samples[i] - 1);
		cr_assert_eq(expected->consumed[i], epoch_has_consumed(epoch, i));
		cr_assert_eq(expected->pinned[i], pin != NULL, "pin of %u/%u", number, i);
		cr_assert(!pin || pin->opens == expected->opens[i]);
		pins += expected->pinned[i];
	}
	cr_assert_eq(epoch->n_pins, pins);
	cr_assert_eq(epoch->bound, twin_count(expected->bound, n));
	cr_assert_eq(epoch->consumed, twin_count(expected->consumed, n));
	cr_assert_eq(epoch->over, expected->over);
	cr_assert_eq(epoch->queue.length, expected->queued);
	cr_assert_eq(epochs_ahead(twin->world->epochs, number), expected->queued);
}

/* Checks that an epoch is saved, or being saved, unless it runs or drains, because then positions
 * may still be bound. */
static inline void twin_check_saved(const struct twin *twin, uint32_t number)
{
	const struct twin_epoch *epoch = &twin->epochs[number];
	const struct world_stream *stream = &twin->world->streams[number];
	bool last = (int)number == twin->running || (int)number == twin->draining;
	if (epoch->begun)
		cr_assert_eq(!last, stream->saving || epoch->saved,
			"epoch %u is not saved", number);
}

/* Checks that an epoch whose positions are all bound has each sample once. */
static inline void twin_check_permutation(const struct twin *twin, uint32_t number)
{
	const struct twin_epoch *epoch = &twin->epochs[number];
	uint64_t seen[2] = {0};
	if (twin_count(epoch->bound, twin_n(twin)) < twin_n(twin))
		return;
	for (uint32_t i = 0; i < twin_n(twin); i++)
		seen[epoch->sample[i] / 64] |= UINT64_C(1) << epoch->sample[i] % 64;
	for (uint32_t i = 0; i < twin_n(twin); i++)
		cr_assert(seen[2 * i / 64] >> 2 * i % 64 & 1, "%u is never given", 2 * i);
}

static inline enum epoch_state twin_state(
	const struct twin *twin, const struct twin_epoch *epoch)
{
	if (!epoch->begun)
		return epoch < &twin->epochs[twin->running < 0 ? 0 : twin->running]
			       ? EPOCH_OVER
			       : EPOCH_UNKNOWN;
	if (!twin_is_away(twin, epoch))
		return EPOCH_LIVE;
	return epoch->gone ? EPOCH_OVER : EPOCH_SAVED;
}

/* Compares the pins of each sample in the world, the engine and the twin, and the need, which is
 * the number of samples that streams can still draw. */
static inline void twin_check_held(const struct twin *twin)
{
	const struct epoch_world *world = twin->world;
	uint32_t pins[2 * TWIN_POSITIONS] = {0}, sum = 0;
	uint64_t needed = 0;
	for (uint32_t e = 0; e < WORLD_EPOCHS; e++) {
		const struct twin_epoch *epoch = &twin->epochs[e];
		const struct world_stream *stream = &world->streams[e];
		for (uint32_t i = 0; i < twin_n(twin); i++)
			pins[epoch->sample[i] % world->n_samples] += epoch->pinned[i];
		for (uint32_t i = 0; i < epoch->queued; i++)
			pins[epoch->queue[i].sample] += epoch->queue[i].pinned;
		cr_assert_eq(stream->wanted, epoch->stream != TWIN_NONE);
		cr_assert_eq(stream->left != NULL, epoch->stream == TWIN_DRAWS);
		if (stream->left)
			needed += roaring_bitmap_get_cardinality(stream->left);
	}
	for (uint32_t sample = 0; sample < world->n_samples; sample++) {
		cr_assert_eq(pins[sample], world->pins[sample], "pins of %u", sample);
		cr_assert_eq(pins[sample], epochs_pins_of(world->epochs, NULL, sample));
		sum += pins[sample];
	}
	cr_assert_eq(sum, epochs_pins(world->epochs));
	cr_assert_eq(needed, world->epochs->needed);
}

static inline void twin_check_status(const struct twin *twin)
{
	struct epochs_status status;
	epochs_status(twin->world->epochs, &status);
	cr_assert_eq(status.idle, twin->idle);
	cr_assert_eq(status.started, twin->running >= 0);
	if (twin->running < 0)
		return;
	const struct twin_epoch *running = &twin->epochs[twin->running];
	cr_assert_eq((int)status.epoch, twin->running);
	cr_assert_eq(status.running, !running->over);
	cr_assert_eq(status.bound, twin_count(running->bound, twin_n(twin)));
	cr_assert_eq(status.consumed, twin_count(running->consumed, twin_n(twin)));
	cr_assert_eq(status.ahead, running->queued);
}

/* Called after an event, when its effects have been executed. */
static inline void twin_check(const struct twin *twin)
{
	const struct epoch_world *world = twin->world;
	const struct world_request *request;
	if (world->epochs->adopting.active)
		return;
	epochs_validate(world->epochs);
	TAILQ_FOREACH (request, &world->requests, link)
		if (request->twin)
			twin_check_answer(request);
	for (uint32_t e = 0; e < WORLD_EPOCHS; e++) {
		cr_assert_eq(epochs_state(world->epochs, e),
			twin_state(twin, &twin->epochs[e]), "state of epoch %u", e);
		twin_check_positions(twin, e);
		twin_check_permutation(twin, e);
		twin_check_saved(twin, e);
	}
	twin_check_held(twin);
	twin_check_status(twin);
}
