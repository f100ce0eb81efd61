// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "epoch/questions.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * A world around an epoch engine, without threads, files and images: a sampler that draws
 * uniformly from the remaining samples, a cache that counts pins, orders that are kept, and a
 * journal in memory. The world executes each effect. An answer comes back as an event, at once or
 * when the test says so. Events and effects are printed to `out`, if it is set:
 *
 *     begin 0; begun 0; draw 0/3: 5; +bound 0/3=5, +opened 0/3 by 1, -> 0/3=5
 *
 *     e/p=s position p of epoch e holds the sample s
 *     +... a record of the journal
 *     begin, end, draw, save, unpin, notice effects; begun, saved: the answers to them
 *     -> e/p=s, -> ERROR the request is answered; "label": the request was for the label
 *                           only, "saved": the answer is from the order that was kept
 */

#ifndef WORLD_EPOCHS
#define WORLD_EPOCHS 8
#endif
/* of EPOCHS_DRAWN_AT_OPEN, each with an equal part of the positions */
#define WORLD_LABELS 4

/* A request and its answers. */
struct world_request {
	/* the first member, because the engine gives it back */
	struct open_request request;
	char name[12];
	unsigned answers;
	bool cancelled;
	void *twin; /* belongs to the test, or NULL; freed with the request */
	TAILQ_ENTRY(world_request) link;
};

struct world_stream {
	bool wanted; /* BEGIN has come, and no END after it */
	bool saving;
	/* samples that the stream can still draw; NULL: no stream */
	roaring_bitmap_t *left;
	sample_id *saved;  /* the epoch's order, by position */
	struct order file; /* the same order as its file has it */
};

enum world_event_kind {
	EVENT_OPEN,
	EVENT_CANCEL,
	EVENT_RESUME,
	EVENT_BEGUN,
	EVENT_DRAWN,
	EVENT_RELEASED,
	EVENT_SAVED,
	EVENT_HOLD,
	EVENT_RESTORED,
	EVENT_LOADED,
	EVENT_TIME,
	EVENT_LEAVE
};

struct world_event {
	enum world_event_kind kind;
	struct world_request *request;
	uint32_t epoch, position;
	int status;
	bool read;	/* EVENT_RELEASED: the file was read */
	bool taken;	/* EVENT_DRAWN: the sample is for the request that waits */
	bool done;	/* a request was resumed or cancelled */
	uint32_t first; /* the first epoch whose order is kept */
	struct drawn drawn;
	struct epoch *prepared[2]; /* [0]: runs, or was loaded; [1]: drains */
};

struct epoch_world;
typedef void world_watch(struct epoch_world *world, const struct world_event *event);

struct epoch_world {
	struct epochs_config config;
	roaring_bitmap_t *selection;
	struct epochs *epochs;
	struct rng rng;
	uint64_t now_ns;
	bool by_hand;	   /* the test calls world_begun and world_saved */
	uint32_t unpinned; /* one in so many draws has no pin; 0: all draws have one */
	uint32_t keep; /* number of kept orders, which also limits the journal; 0: all */
	uint32_t bound_at_most;		 /* mutant: positions that stay bound; 0: all */
	void (*mutant)(struct epochs *); /* called before each resume; NULL: no mutant */
	struct world_stream streams[WORLD_EPOCHS];
	uint32_t *pins; /* by sample */
	uint32_t n_samples;
	struct record *journal;
	/* by record: the orders with which RESTORED continues */
	struct order *orders;
	size_t n_records, room;
	size_t forgotten; /* records that were not needed any more */
	TAILQ_HEAD(world_requests, world_request) requests;
	unsigned noticed[NOTICES];
	FILE *out;
	bool first_on_line, first_of_event;
	world_watch *before, *after; /* called before each event, and after its effects */
	void *context;
};

/* --- text ---------------------------------------------------------------------------- */

static inline void world_say(struct epoch_world *world, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void world_say(struct epoch_world *world, const char *format, ...)
{
	va_list args;
	if (!world->out)
		return;
	fputs(world->first_on_line	? "  "
		: world->first_of_event ? "; "
					: ", ",
		world->out);
	world->first_on_line = world->first_of_event = false;
	va_start(args, format);
	vfprintf(world->out, format, args);
	va_end(args);
}

static inline void world_end_line(struct epoch_world *world)
{
	if (world->out && !world->first_on_line)
		fputc('\n', world->out);
	world->first_on_line = true;
}

static inline const char *world_error(int status)
{
	return strerrorname_np(-status);
}

/* A reader as text: its thread, with rank and script where they are not the first ones. */
struct world_text {
	char text[40];
};

static inline struct world_text world_reader(struct reader reader)
{
	struct world_text text;
	unsigned script = (unsigned)reader.script, rank = (unsigned)reader.rank,
		 thread = (unsigned)reader.thread;
	if (script != 1)
		snprintf(text.text, sizeof(text.text), "%u:%u:%u", script, rank, thread);
	else if (rank != 1)
		snprintf(text.text, sizeof(text.text), "%u:%u", rank, thread);
	else
		snprintf(text.text, sizeof(text.text), "%u", thread);
	return text;
}

static inline const char *world_how(enum opened_how how)
{
	static const char *const names[] = {[OPENED_GIVEN] = "",
		[OPENED_AGAIN] = " again",
		[OPENED_LATE] = " late",
		[OPENED_ANEW] = " anew",
		[OPENED_NEXT] = " next",
		[OPENED_BEHIND] = " behind",
		[OPENED_KEEPS] = " keeps",
		[OPENED_JOINS] = " joins",
		[OPENED_BEYOND] = " beyond",
		[OPENED_LOOKED] = " looked"};
	return names[how];
}

static inline const char *world_notice(enum notice notice)
{
	static const char *const names[] = {[NOTICE_EARLY] = "early",
		[NOTICE_LAST] = "last",
		[NOTICE_SCRIPTS] = "scripts",
		[NOTICE_PARTS] = "parts",
		[NOTICE_LABELS] = "labels",
		[NOTICE_HANDLES] = "handles",
		[NOTICE_READERS] = "readers"};
	return names[notice];
}

static inline void world_say_record(
	struct epoch_world *world, const struct record *record)
{
	unsigned epoch = record->epoch, position = record->position;
	switch (record->kind) {
	case RECORD_BEGUN:
		world_say(world, "+begun %u%s", epoch, record->rolls ? " rolls" : "");
		if (record->bound > 0)
			world_say(world, "bound %u", record->bound);
		break;
	case RECORD_BOUND:
		world_say(world, "+bound %u/%u=%u", epoch, position, record->sample);
		break;
	case RECORD_OPENED:
		world_say(world, "+opened %u/%u%s by %s%s", epoch, position,
			record->label ? " label" : "", world_reader(record->reader).text,
			world_how(record->how));
		break;
	case RECORD_CONSUMED:
		world_say(world, "+consumed %u/%u", epoch, position);
		break;
	case RECORD_ENDED:
		world_say(world, "+ended %u", epoch);
		break;
	case RECORD_LET_GO:
		world_say(world, "+let go %u", epoch);
		break;
	case RECORD_RESTORED:
		world_say(world, "+restored %u%s bound %u consumed %u", epoch,
			record->drains ? " drains" : "", record->bound, record->consumed);
		break;
	case RECORD_KINDS:
		cr_assert_fail("no record");
	}
}

static inline void world_say_answer(
	struct epoch_world *world, const struct world_request *request, bool looked_up)
{
	const struct open_request *answer = &request->request;
	const char *space = request->name[0] ? " " : "";
	if (answer->status != 0)
		world_say(world, "%s%s-> %s", request->name, space,
			world_error(answer->status));
	else
		world_say(world, "%s%s-> %u/%u=%u%s%s", request->name, space,
			answer->found_epoch, answer->position, answer->sample,
			answer->label ? " label" : "", looked_up ? " saved" : "");
}

/* --- effects ------------------------------------------------------------------------- */

static inline void world_unpin(struct epoch_world *world, sample_id sample)
{
	cr_assert_gt(world->pins[sample], 0, "sample %u is not pinned", sample);
	world->pins[sample]--;
	world_say(world, "unpin %u", sample);
}

static inline void world_keep_record(
	struct epoch_world *world, const struct record *record)
{
	if (world->n_records == world->room) {
		world->room = world->room ? 2 * world->room : 256;
		world->journal = reallocarray(
			world->journal, world->room, sizeof(*world->journal));
		world->orders =
			reallocarray(world->orders, world->room, sizeof(*world->orders));
		cr_assert(world->journal && world->orders);
	}
	world->orders[world->n_records] = (struct order){0};
	world->journal[world->n_records++] = *record;
	world_say_record(world, record);
}

static inline void world_answer(
	struct epoch_world *world, struct open_request *answer, bool look_up)
{
	struct world_request *request = (struct world_request *)answer;
	cr_assert_eq(request->answers++, 0, "answered twice");
	cr_assert_not(request->cancelled, "cancelled, and answered");
	if (look_up) {
		const struct world_stream *stream = &world->streams[answer->found_epoch];
		cr_assert_not_null(stream->saved, "there is no such order");
		answer->sample = stream->saved[answer->position];
		if (answer->sample == SAMPLE_NONE)
			answer->status = -ESTALE;
	}
	world_say_answer(world, request, look_up);
}

static inline void world_end_stream(struct epoch_world *world, struct effect *effect)
{
	struct world_stream *stream = &world->streams[effect->epoch];
	struct drawn_queue *queue = &effect->queue;
	cr_assert(stream->wanted, "epoch %u has no stream", effect->epoch);
	world_say(world, "end %u", effect->epoch);
	for (uint32_t i = 0; i < queue->length; i++) {
		struct drawn *drawn = &queue->ring[(queue->head + i) % queue->size];
		if (drawn->pinned)
			world_unpin(world, drawn->sample);
	}
	free(queue->ring);
	if (stream->left)
		roaring_bitmap_free(stream->left);
	stream->left = NULL;
	stream->wanted = false;
}

static inline void world_execute_one(struct epoch_world *world, struct effect *effect)
{
	switch (effect->kind) {
	case EFFECT_BEGIN:
		cr_assert_not(world->streams[effect->epoch].wanted, "two streams");
		world->streams[effect->epoch].wanted = true;
		world_say(world, "begin %u", effect->epoch);
		break;
	case EFFECT_END:
		world_end_stream(world, effect);
		break;
	case EFFECT_DRAW: /* world_follow draws, after all effects of the list */
		break;
	case EFFECT_UNPIN:
		world_unpin(world, effect->sample);
		break;
	case EFFECT_ANSWER:
		world_answer(world, effect->request, false);
		break;
	case EFFECT_LOOK_UP:
		world_answer(world, effect->request, true);
		break;
	case EFFECT_RECORD:
		world_keep_record(world, &effect->record);
		break;
	case EFFECT_NOTICE:
		world->noticed[effect->notice]++;
		world_say(world, "notice %s", world_notice(effect->notice));
		break;
	case EFFECT_SAVE:
		world->streams[effect->epoch].saving = true;
		world_say(world, "save %u", effect->epoch);
		break;
	case EFFECT_LOAD:
		world_say(world, "load %u", effect->epoch);
		break;
	case EFFECT_KINDS:
		cr_assert_fail("no effect");
	}
}

static inline void world_execute(struct epoch_world *world, struct effects *effects)
{
	const struct pin *pin;
	for (unsigned i = 0; i < effects->n; i++)
		world_execute_one(world, &effects->list[i]);
	TAILQ_FOREACH (pin, &effects->unpinned, link)
		world_unpin(world, pin->sample);
	epochs_unpinned(world->epochs, effects);
}

/* --- events -------------------------------------------------------------------------- */

static inline void world_forget_orders(struct epoch_world *world, uint32_t first)
{
	epochs_forget_before(world->epochs, first);
	for (uint32_t epoch = 0; epoch < first; epoch++) {
		free(world->streams[epoch].saved);
		world->streams[epoch].saved = NULL;
		order_free(&world->streams[epoch].file);
	}
}

static inline uint32_t *world_copy_words(const uint32_t *words, uint32_t n, uint32_t room)
{
	uint32_t *copy = calloc(room, sizeof(*copy));
	cr_assert_not_null(copy);
	if (n > 0)
		memcpy(copy, words, n * sizeof(*copy));
	return copy;
}

static inline struct order world_copy_order(const struct order *order)
{
	uint32_t n = order->positions;
	return (struct order){.positions = n,
		.bound = order->bound,
		.consumed = order->consumed,
		.samples = world_copy_words(order->samples, n, n),
		.log = world_copy_words(order->log, order->bound, n),
		.reads = world_copy_words(order->reads, order->consumed, n)};
}

/* Saves the order of a live epoch to its file. */
static inline void world_keep_order(struct epoch_world *world, uint32_t epoch)
{
	struct world_stream *stream = &world->streams[epoch];
	struct order order = epochs_order(world->epochs, epoch);
	free(stream->saved);
	stream->saved = calloc(order.positions, sizeof(*stream->saved));
	cr_assert_not_null(stream->saved);
	for (uint32_t i = 0; i < order.positions; i++)
		stream->saved[i] = order_sample_at(&order, i);
	order_free(&stream->file);
	stream->file = world_copy_order(&order);
}

static inline struct epoch *world_prepare(const struct epochs *epochs, uint32_t number,
	const struct order *data, uint32_t bound, uint32_t consumed)
{
	struct order copy = world_copy_order(data);
	struct epoch *epoch;
	const char *reason = "";
	cr_assert_eq(0,
		epochs_prepare(epochs, epochs_set(epochs, number), number, &copy, bound,
			consumed, &reason, &epoch),
		"%s", reason);
	return epoch;
}

/* Tells the engine the orders that files have. */
static inline void world_tell_orders(
	const struct epoch_world *world, struct epochs *epochs)
{
	struct epochs_order_file *orders = calloc(WORLD_EPOCHS, sizeof(*orders));
	size_t n = 0;
	cr_assert_not_null(orders);
	for (uint32_t epoch = 0; epoch < WORLD_EPOCHS; epoch++)
		if (world->streams[epoch].saved)
			orders[n++] = (struct epochs_order_file){
				epoch, world->streams[epoch].file.bound};
	epochs_has_orders(epochs, orders, n);
}

static inline void world_tell(
	struct epoch_world *world, struct world_event *event, struct effects *effects)
{
	struct epochs *epochs = world->epochs;
	uint64_t now = world->now_ns;
	switch (event->kind) {
	case EVENT_OPEN:
		epochs_open(epochs, &event->request->request, now, effects);
		break;
	case EVENT_CANCEL:
		event->done = epochs_cancel(epochs, &event->request->request);
		event->request->cancelled = event->done;
		break;
	case EVENT_RESUME:
		if (world->mutant)
			world->mutant(epochs);
		event->done = epochs_resume(epochs, now, effects);
		break;
	case EVENT_BEGUN:
		world_say(world, "begun %u%s%s", event->epoch, event->status ? " " : "",
			event->status ? world_error(event->status) : "");
		epochs_begun(epochs, event->epoch, event->status, now);
		break;
	case EVENT_DRAWN:
		if (event->taken)
			world_say(world, "draw %u/%u: %u", event->epoch, event->position,
				event->drawn.sample);
		else
			world_say(
				world, "ahead %u: %u", event->epoch, event->drawn.sample);
		epochs_drawn(epochs, event->epoch, &event->drawn);
		if (event->taken)
			epochs_take_drawn(epochs, effects);
		break;
	case EVENT_RELEASED:
		epochs_released(
			epochs, event->epoch, event->position, event->read, now, effects);
		break;
	case EVENT_SAVED:
		world_say(world, "saved %u", event->epoch);
		epochs_saved(epochs, event->epoch);
		world_forget_orders(world, event->first);
		break;
	case EVENT_HOLD:
		world_say(world, "hold");
		epochs_hold(epochs, effects);
		break;
	case EVENT_RESTORED:
		world_say(world, "restored %u", event->epoch);
		epochs_restored(epochs, event->prepared[0], event->prepared[1], effects);
		world_tell_orders(world, epochs);
		break;
	case EVENT_LOADED:
		world_say(world, "loaded %u%s%s", event->epoch, event->status ? " " : "",
			event->status ? world_error(event->status) : "");
		epochs_loaded(epochs, event->epoch, event->prepared[0], event->status);
		break;
	case EVENT_TIME:
		epochs_time(epochs, now, effects);
		break;
	case EVENT_LEAVE:
		epochs_leave(epochs, effects);
		break;
	}
}

static inline void world_follow(struct epoch_world *world, const struct effects *effects);

/* Executes an event, its effects, and the events that follow from them. */
static inline void world_event(struct epoch_world *world, struct world_event *event)
{
	struct effects effects;
	effects_init(&effects);
	world->first_of_event = true;
	if (world->before)
		world->before(world, event);
	world_tell(world, event, &effects);
	world_execute(world, &effects);
	if (world->after)
		world->after(world, event);
	world_follow(world, &effects);
}

/* Resumes requests until no request is left to resume. */
static inline void world_resume(struct epoch_world *world)
{
	struct world_event event = {.kind = EVENT_RESUME, .done = true};
	while (event.done)
		world_event(world, &event);
}

/* Returns the range of positions with the label of the position. */
static inline void world_label_range(const struct epoch_world *world, uint32_t position,
	uint32_t *ret_first, uint32_t *ret_end)
{
	uint32_t n = world->config.set.positions;
	uint32_t part = (n + WORLD_LABELS - 1) / WORLD_LABELS;
	*ret_first = position / part * part;
	*ret_end = *ret_first + part < n ? *ret_first + part : n;
}

static inline uint32_t world_label_of_sample(
	const struct epoch_world *world, sample_id sample)
{
	uint32_t first, end;
	uint64_t rank = roaring_bitmap_rank(world->selection, sample) - 1;
	world_label_range(world, (uint32_t)rank, &first, &end);
	return first;
}

/* Draws uniformly from the samples that the stream can still give. */
static inline sample_id world_pick(
	struct epoch_world *world, uint32_t epoch, uint32_t position)
{
	const roaring_bitmap_t *left = world->streams[epoch].left;
	roaring_bitmap_t *within = NULL;
	sample_id sample;
	cr_assert_not_null(left, "epoch %u has no stream", epoch);
	if (world->config.kind == EPOCHS_DRAWN_AT_OPEN) {
		uint32_t first, end;
		within = roaring_bitmap_create();
		world_label_range(world, position, &first, &end);
		for (uint32_t rank = first; rank < end; rank++) {
			cr_assert(roaring_bitmap_select(world->selection, rank, &sample));
			if (roaring_bitmap_contains(left, sample))
				roaring_bitmap_add(within, sample);
		}
		left = within;
	}
	uint64_t n = roaring_bitmap_get_cardinality(left);
	cr_assert_gt(n, 0, "nothing is left to draw");
	cr_assert(roaring_bitmap_select(
		left, (uint32_t)rng_below(&world->rng, n), &sample));
	if (within)
		roaring_bitmap_free(within);
	return sample;
}

static inline void world_drawn(struct epoch_world *world, uint32_t epoch,
	uint32_t position, sample_id sample, bool taken)
{
	bool pinned = !world->unpinned || rng_below(&world->rng, world->unpinned) > 0;
	struct world_event event = {.kind = EVENT_DRAWN,
		.epoch = epoch,
		.position = position,
		.taken = taken,
		.drawn = {.sample = sample,
			.served = (enum served)(sample % 3),
			.pinned = pinned}};
	cr_assert_not_null(world->streams[epoch].left);
	cr_assert(roaring_bitmap_remove_checked(world->streams[epoch].left, sample),
		"sample %u was drawn before", sample);
	world->pins[sample] += pinned;
	world_event(world, &event);
}

/* Draws one sample ahead. false: there is no room, or no sample is left. */
static inline bool world_draw_ahead(struct epoch_world *world, uint32_t epoch)
{
	const roaring_bitmap_t *left = world->streams[epoch].left;
	if (world->config.kind != EPOCHS_DRAWN || !left || roaring_bitmap_is_empty(left))
		return false;
	if (epochs_ahead(world->epochs, epoch) == world->config.lookahead)
		return false;
	world_drawn(world, epoch, 0, world_pick(world, epoch, 0), false);
	return true;
}

/* A stream has come, or failed to. A stream that is not wanted any more is not made. */
static inline void world_begun(struct epoch_world *world, uint32_t epoch, int status)
{
	struct world_stream *stream = &world->streams[epoch];
	struct world_event event = {
		.kind = EVENT_BEGUN, .epoch = epoch, .status = status};
	cr_assert_null(stream->left);
	if (stream->wanted && !status) {
		struct order order = epochs_order(world->epochs, epoch);
		stream->left =
			roaring_bitmap_copy(epochs_set(world->epochs, epoch)->selection);
		for (uint32_t k = 0; k < order.bound; k++)
			roaring_bitmap_remove(
				stream->left, order_binding(&order, k).sample);
	}
	if (status)
		stream->wanted = false;
	world_event(world, &event);
	world_resume(world);
}

static inline bool world_begins_segment(const struct record *record)
{
	return record->kind == RECORD_BEGUN ||
	       (record->kind == RECORD_RESTORED && !record->drains);
}

/* Forgets records as journal_forget does: segments from the first on, never the newest. */
static inline void world_forget_records(struct epoch_world *world, uint32_t first_epoch)
{
	size_t first = 0;
	for (size_t i = 0; i < world->n_records; i++)
		if (world_begins_segment(&world->journal[i]) &&
			(i == 0 || world->journal[i].epoch <= first_epoch))
			first = i;
	for (size_t i = 0; i < first; i++)
		order_free(&world->orders[i]);
	world->n_records -= first;
	memmove(&world->journal[0], &world->journal[first],
		world->n_records * sizeof(world->journal[0]));
	memmove(&world->orders[0], &world->orders[first],
		world->n_records * sizeof(world->orders[0]));
	world->forgotten += first;
}

static inline void world_saved(struct epoch_world *world, uint32_t epoch)
{
	struct world_stream *stream = &world->streams[epoch];
	struct world_event event = {.kind = EVENT_SAVED, .epoch = epoch};
	cr_assert(stream->saving);
	stream->saving = false;
	world_keep_order(world, epoch);
	if (world->keep && epoch >= world->keep)
		event.first = epoch - world->keep + 1;
	world_event(world, &event);
	if (world->keep)
		world_forget_records(world, epochs_first_unsaved(world->epochs));
}

/* The order of an epoch that has begun again was loaded. */
static inline void world_loaded(struct epoch_world *world, uint32_t epoch, int status)
{
	struct world_event event = {
		.kind = EVENT_LOADED, .epoch = epoch, .status = status};
	uint32_t wanted;
	if (!status && epochs_wants(world->epochs, EFFECT_LOAD, &wanted)) {
		cr_assert_eq(epoch, wanted);
		event.prepared[0] =
			world_prepare(world->epochs, epoch, &world->streams[epoch].file,
				epochs_known_bound(world->epochs, epoch), 0);
	}
	world_event(world, &event);
	world_resume(world);
}

static inline void world_follow(struct epoch_world *world, const struct effects *effects)
{
	for (unsigned i = 0; i < effects->n; i++) {
		const struct effect *effect = &effects->list[i];
		sample_id sample = effect->sample;
		if (effect->kind == EFFECT_DRAW && sample == SAMPLE_NONE)
			sample = world_pick(world, effect->epoch, effect->position);
		if (effect->kind == EFFECT_DRAW)
			world_drawn(world, effect->epoch, effect->position, sample, true);
		else if (effect->kind == EFFECT_BEGIN && !world->by_hand)
			world_begun(world, effect->epoch, 0);
		else if (effect->kind == EFFECT_SAVE && !world->by_hand)
			world_saved(world, effect->epoch);
		else if (effect->kind == EFFECT_LOAD && !world->by_hand)
			world_loaded(world, effect->epoch, 0);
	}
}

/* --- what readers do ----------------------------------------------------------------- */

static inline struct world_request *world_request_by(struct epoch_world *world,
	uint32_t epoch, uint32_t position, struct reader reader, bool label)
{
	struct world_request *request = calloc(1, sizeof(*request));
	cr_assert_not_null(request);
	request->request.epoch = epoch;
	request->request.position = position;
	request->request.reader = reader;
	request->request.label = label;
	TAILQ_INSERT_TAIL(&world->requests, request, link);
	return request;
}

/* Makes a request by a thread of the only script. */
static inline struct world_request *world_request_new(struct epoch_world *world,
	uint32_t epoch, uint32_t position, uint64_t thread, bool label)
{
	struct reader reader = {.thread = thread, .rank = 1, .script = 1};
	return world_request_by(world, epoch, position, reader, label);
}

static inline void world_open(struct epoch_world *world, struct world_request *request)
{
	struct world_event event = {.kind = EVENT_OPEN, .request = request};
	world_event(world, &event);
	world_resume(world);
}

static inline void world_forget(struct epoch_world *world, struct world_request *request)
{
	TAILQ_REMOVE(&world->requests, request, link);
	free(request->twin);
	free(request);
}

/* Releases an answered request, and forgets it. */
static inline void world_release(
	struct epoch_world *world, struct world_request *request, bool read)
{
	struct world_event event = {.kind = EVENT_RELEASED,
		.request = request,
		.epoch = request->request.found_epoch,
		.position = request->request.position,
		.read = read};
	cr_assert_eq(request->answers, 1);
	bool before = request->request.era != epochs_era(world->epochs);
	if (request->request.status == 0 && !request->request.label && !before) {
		world_event(world, &event);
		world_resume(world);
	}
	world_forget(world, request);
}

/* Returns false if the request was not waiting any more. */
static inline bool world_cancel(struct epoch_world *world, struct world_request *request)
{
	struct world_event event = {.kind = EVENT_CANCEL, .request = request};
	world_event(world, &event);
	return event.done;
}

/* Opens a file, and releases it as read. */
static inline void world_read_by(struct epoch_world *world, uint32_t epoch,
	uint32_t position, struct reader reader, bool label)
{
	struct world_request *request =
		world_request_by(world, epoch, position, reader, label);
	world_open(world, request);
	cr_assert_eq(request->answers, 1, "%u/%u is not answered", epoch, position);
	world_release(world, request, true);
}

static inline void world_read(struct epoch_world *world, uint32_t epoch,
	uint32_t position, uint64_t thread, bool label)
{
	struct reader reader = {.thread = thread, .rank = 1, .script = 1};
	world_read_by(world, epoch, position, reader, label);
}

static inline void world_time(struct epoch_world *world, uint64_t ns)
{
	struct world_event event = {.kind = EVENT_TIME};
	world->now_ns += ns;
	world_event(world, &event);
	world_resume(world);
}

static inline void world_leave(struct epoch_world *world)
{
	struct world_event event = {.kind = EVENT_LEAVE};
	world_event(world, &event);
	world_resume(world);
}

/* --- going back ----------------------------------------------------------------------- */

/* Returns the epoch as it was when `consumed` positions of its order had been read. Without an
 * order nothing had been read. */
static inline struct epoch *world_at(
	struct epoch_world *world, uint32_t epoch, uint32_t consumed, struct order *ret)
{
	const struct order *file = &world->streams[epoch].file;
	uint32_t n = world->config.set.positions;
	struct order none = {.positions = n};
	struct order order = world->streams[epoch].saved ? *file : none;
	uint32_t *zeros = calloc(n, sizeof(*zeros));
	cr_assert_not_null(zeros);
	if (!order.samples)
		order.samples = zeros;
	cr_assert_leq(consumed, order.consumed);
	order.consumed = consumed;
	*ret = world_copy_order(&order);
	free(zeros);
	uint32_t bound = ret->bound;
	if (world->bound_at_most && bound > world->bound_at_most)
		bound = world->bound_at_most;
	return world_prepare(world->epochs, epoch, ret, bound, ret->consumed);
}

/* Changes the order as if the bound positions before `end` had been read. */
static inline void world_read_before(
	struct epoch_world *world, uint32_t epoch, uint32_t end)
{
	struct order *file = &world->streams[epoch].file;
	if (!world->streams[epoch].saved)
		return;
	file->consumed = 0;
	for (uint32_t position = 0; position < end; position++)
		if (file->samples[position] != 0)
			file->reads[file->consumed++] = position;
}

static inline void world_hold(struct epoch_world *world)
{
	struct world_event event = {.kind = EVENT_HOLD};
	world_event(world, &event);
	for (uint32_t epoch = UINT32_MAX;;) {
		epoch = epochs_next_live(world->epochs, epoch);
		if (epoch == UINT32_MAX)
			return;
		if (epochs_order(world->epochs, epoch).bound > 0)
			world_keep_order(world, epoch);
	}
}

/* Keeps the orders of the RESTORED records. Earlier records are not needed any more. */
static inline void world_keep_snapshots(
	struct epoch_world *world, size_t first, const struct order *data, size_t n)
{
	cr_assert_eq(RECORD_RESTORED, world->journal[first].kind);
	for (size_t i = 0; i < n; i++)
		world->orders[first + i] = data[i];
	if (world->keep)
		world_forget_records(world, world->journal[first].epoch);
}

/* Returns the number of positions that had been read of the epoch that is to run. */
static inline uint32_t world_reads_then(
	struct epoch_world *world, const struct epochs_point *point, uint32_t end)
{
	if (end == UINT32_MAX)
		return point->consumed;
	world_read_before(world, point->epoch, end);
	return world->streams[point->epoch].file.consumed;
}

/* Goes back to the place, which epochs_place gave at that time. end: UINT32_MAX, or the positions
 * before it count as read. */
static inline void world_restore(
	struct epoch_world *world, const struct epochs_place *place, uint32_t end)
{
	struct order data[2];
	struct world_event event = {
		.kind = EVENT_RESTORED, .epoch = place->running.epoch};
	size_t first = world->n_records, n = place->drains ? 2 : 1;
	world_hold(world);
	event.prepared[0] = world_at(world, place->running.epoch,
		world_reads_then(world, &place->running, end), &data[0]);
	world->bound_at_most = 0;
	if (place->drains)
		event.prepared[1] = world_at(
			world, place->draining.epoch, place->draining.consumed, &data[1]);
	for (uint32_t epoch = 0; epoch < WORLD_EPOCHS; epoch++)
		world->streams[epoch].saving = false;
	world_event(world, &event);
	world_keep_snapshots(world, first, data, n);
	world_resume(world);
}

/* --- the life of a world ------------------------------------------------------------- */

/* The samples are 0, 2, 4 ..., so that no sample equals its position. */
static inline void world_begin(
	struct epoch_world *world, const struct epochs_config *config, uint64_t seed)
{
	*world = (struct epoch_world){.config = *config, .first_on_line = true};
	cr_assert_leq(config->limit, WORLD_EPOCHS);
	rng_seed(&world->rng, seed);
	TAILQ_INIT(&world->requests);
	world->n_samples = 2 * config->set.positions;
	world->selection = roaring_bitmap_from_range(0, world->n_samples, 2);
	/* Later sets may have twice as many samples. */
	world->pins = calloc(2 * (size_t)world->n_samples, sizeof(*world->pins));
	cr_assert(world->selection && world->pins);
	world->config.set.selection = world->selection;
	cr_assert_eq(0, epochs_new(&world->config, &world->epochs));
}

/* Checks that nothing is pinned any more. */
static inline void world_check_unpinned(const struct epoch_world *world)
{
	cr_assert_eq(0, epochs_pins(world->epochs));
	for (uint32_t sample = 0; sample < world->n_samples; sample++)
		cr_assert_eq(0, world->pins[sample], "sample %u is pinned", sample);
}

/* The job leaves. Checks that every request was answered once, or cancelled. */
static inline void world_stop(struct epoch_world *world)
{
	struct world_request *request;
	world_leave(world);
	for (uint32_t epoch = 0; epoch < WORLD_EPOCHS; epoch++)
		cr_assert_not(world->streams[epoch].wanted, "epoch %u draws", epoch);
	while ((request = TAILQ_FIRST(&world->requests))) {
		cr_assert_eq(request->answers + request->cancelled, 1);
		world_forget(world, request);
	}
	epochs_validate(world->epochs);
	world_check_unpinned(world);
	epochs_free(&world->epochs);
}

static inline void world_end(struct epoch_world *world)
{
	if (world->epochs)
		world_stop(world);
	for (uint32_t epoch = 0; epoch < WORLD_EPOCHS; epoch++) {
		free(world->streams[epoch].saved);
		order_free(&world->streams[epoch].file);
	}
	for (size_t i = 0; i < world->n_records; i++)
		order_free(&world->orders[i]);
	roaring_bitmap_free(world->selection);
	free(world->pins);
	free(world->journal);
	free(world->orders);
}

static inline void world_replay_record(
	const struct epoch_world *world, struct epochs *epochs, size_t i)
{
	const struct record *record = &world->journal[i];
	const struct order *data = NULL;
	const char *reason = NULL;
	int err;
	if (record->kind == RECORD_RESTORED)
		data = &world->orders[i];
	else if (record->kind == RECORD_BEGUN && record->bound > 0)
		data = &world->streams[record->epoch].file;
	if (data)
		err = epochs_replay_loaded(epochs, record,
			world_prepare(epochs, record->epoch, data, record->bound,
				record->consumed),
			&reason);
	else
		err = epochs_replay(epochs, record, &reason);
	cr_assert_eq(0, err, "record %zu: %s", i, reason);
}

/* Makes a new engine from the first n records of the journal, which have nothing about epochs
 * before the oldest segment. */
static inline struct epochs *world_replay(const struct epoch_world *world, size_t n)
{
	struct epochs *epochs;
	uint32_t oldest = n > 0 ? world->journal[0].epoch : 0;
	cr_assert_eq(0, epochs_new(&world->config, &epochs));
	for (size_t i = 0; i < n; i++) {
		if (world->journal[i].kind == RECORD_RESTORED)
			oldest = world->journal[i].epoch;
		if (world->journal[i].epoch >= oldest)
			world_replay_record(world, epochs, i);
	}
	world_tell_orders(world, epochs);
	return epochs;
}

/* Completes what the end of the process had interrupted. */
static inline void world_replayed(struct epoch_world *world)
{
	struct effects effects;
	unsigned n = 0;
	do {
		cr_assert_lt(n++, 2 * WORLD_EPOCHS, "that never ends");
		effects_init(&effects);
		world->first_of_event = true;
		epochs_replayed(world->epochs, &effects);
		world_execute(world, &effects);
		world_follow(world, &effects);
	} while (effects.n > 0);
}

/* Restarts the engine with the first n_records of the journal. The caller then calls
 * world_replayed. */
static inline void world_restart(struct epoch_world *world, size_t n_records)
{
	FILE *out = world->out;
	world_watch *before = world->before, *after = world->after;
	world->out = NULL;
	world->before = world->after = NULL;
	world_stop(world);
	world->out = out;
	world->before = before;
	world->after = after;
	cr_assert_leq(n_records, world->n_records);
	for (size_t i = n_records; i < world->n_records; i++)
		order_free(&world->orders[i]);
	world->n_records = n_records;
	for (uint32_t epoch = 0; epoch < WORLD_EPOCHS; epoch++)
		world->streams[epoch].saving = false;
	world->epochs = world_replay(world, n_records);
}

static inline char *world_print(const struct epochs *epochs)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	cr_assert_not_null(out);
	epochs_print(epochs, out);
	fclose(out);
	return text;
}
