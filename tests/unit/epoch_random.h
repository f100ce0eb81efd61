// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/questions.h"
#include "epoch_twin.h"

/*
 * Random sequences of events for an epoch engine, beside its twin. Scripts go through current/, in
 * order or shuffled, with labels, and one behind another. Readers open epochs by number, close
 * files with and without having read them, give up, and are silent for a long time. Samples are
 * drawn ahead. Streams come late or not at all, and orders are saved late. The engine restarts,
 * also with the end of the journal lost.
 */

#define RANDOM_READERS 6

/* Counts of events, by which a test checks that each kind has occurred. */
struct random_seen {
	unsigned answers, stale, again, no_entry, no_memory, looked_up, drained, parked,
		cancelled, ended, restarts, lost, epochs;
};

struct random_script {
	uint32_t order[TWIN_POSITIONS];
	uint32_t next;
	bool shuffles;
};

struct random_world {
	struct epoch_world world;
	struct twin twin;
	struct rng rng;
	struct random_script scripts[RANDOM_READERS];
	struct random_seen seen;
	bool saves; /* orders are written to their files */
	bool restarts;
	bool eager; /* readers close files right after they have opened them */
};

static inline uint32_t random_below(struct random_world *random, uint32_t bound)
{
	return (uint32_t)rng_below(&random->rng, bound);
}

static inline bool random_one_in(struct random_world *random, uint32_t n)
{
	return random_below(random, n) == 0;
}

/* --- watching ------------------------------------------------------------------------ */

/* Prints the event, for a sequence that is examined. */
static inline void random_say(
	const struct epoch_world *world, const struct world_event *event)
{
	static const char *const names[] = {[EVENT_OPEN] = "open",
		[EVENT_CANCEL] = "cancel",
		[EVENT_RELEASED] = "release",
		[EVENT_TIME] = "time",
		[EVENT_LEAVE] = "leave"};
	if (!world->out || !names[event->kind])
		return;
	fprintf(world->out, "\n%s", names[event->kind]);
	if (event->kind == EVENT_RELEASED)
		fprintf(world->out, " %u/%u%s", event->epoch, event->position,
			event->read ? "" : " unread");
	else if (event->request)
		fprintf(world->out, " %d/%u by %u%s", (int)event->request->request.epoch,
			event->request->request.position,
			(unsigned)event->request->request.reader.thread,
			event->request->request.label ? " label" : "");
	fflush(world->out);
}

static inline void random_before(
	struct epoch_world *world, const struct world_event *event)
{
	struct random_world *random = world->context;
	bool parked = random->twin.idle;
	random_say(world, event);
	twin_event(&random->twin, event);
	random->seen.parked += random->twin.idle && !parked;
	random->seen.drained += random->twin.draining >= 0;
}

static inline void random_after(
	struct epoch_world *world, const struct world_event *event)
{
	struct random_world *random = world->context;
	(void)event;
	twin_check(&random->twin);
}

static inline void random_count(
	struct random_world *random, const struct world_request *request)
{
	struct random_seen *seen = &random->seen;
	const struct open_request *answer = &request->request;
	seen->answers += answer->status == 0;
	seen->stale += answer->status == -ESTALE;
	seen->again += answer->status == -EAGAIN;
	seen->no_entry += answer->status == -ENOENT;
	seen->no_memory += answer->status == -ENOMEM;
	if (answer->status == 0 && answer->found_epoch < WORLD_EPOCHS)
		seen->looked_up += epochs_state(random->world.epochs,
					   answer->found_epoch) == EPOCH_SAVED;
}

/* --- readers ------------------------------------------------------------------------- */

static inline void random_shuffle(
	struct random_world *random, struct random_script *script)
{
	uint32_t n = random->world.config.set.positions;
	script->next = 0;
	script->shuffles = random_one_in(random, 2);
	for (uint32_t i = 0; i < n; i++)
		script->order[i] = i;
	if (!script->shuffles)
		return;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = random_below(random, i + 1), position = script->order[i];
		script->order[i] = script->order[j];
		script->order[j] = position;
	}
}

static inline void random_close(
	struct random_world *random, struct world_request *request)
{
	random_count(random, request);
	world_release(&random->world, request, !random_one_in(random, 6));
}

static inline void random_open(
	struct random_world *random, uint32_t epoch, uint32_t position, uint64_t reader)
{
	bool label = random_one_in(random, 6);
	struct reader by = {.thread = reader,
		.rank = reader / 2,
		.script = reader / 2 + reader % 5 / 4};
	struct world_request *request =
		world_request_by(&random->world, epoch, position, by, label);
	request->request.done = random_one_in(random, 2);
	world_open(&random->world, request);
	if (request->answers && (label || random->eager || random_one_in(random, 2)))
		random_close(random, request);
}

/* Advances one of the scripts, which may also begin anew before the end, or open a file twice. */
static inline void random_script_step(struct random_world *random)
{
	uint32_t reader = random_below(random, RANDOM_READERS);
	struct random_script *script = &random->scripts[reader];
	if (script->next == random->world.config.set.positions ||
		random_one_in(random, 60))
		random_shuffle(random, script);
	uint32_t position = script->order[script->next];
	script->next += !random_one_in(random, 10);
	random_open(random, EPOCH_CURRENT, position, reader);
}

static inline void random_explicit_step(struct random_world *random)
{
	const struct epochs_config *config = &random->world.config;
	int running = random->twin.running;
	uint32_t epoch = running < 0 ? 0 : (uint32_t)running;
	if (random_one_in(random, 3))
		epoch++;
	else if (random_one_in(random, 4))
		epoch = random_below(random, config->limit);
	for (uint64_t script = 0; script <= RANDOM_READERS && random_one_in(random, 2);
		script++)
		epochs_script_ended(random->world.epochs, script);
	random_open(random, epoch, random_below(random, config->set.positions + 1),
		random_below(random, 3));
}

/* Returns a random request that was answered, or one that was not. NULL: there is none. */
static inline struct world_request *random_request(
	struct random_world *random, bool answered)
{
	struct world_request *request, *found = NULL;
	uint32_t n = 0;
	TAILQ_FOREACH (request, &random->world.requests, link)
		if (request->answers == answered && !request->cancelled &&
			random_one_in(random, ++n))
			found = request;
	return found;
}

static inline void random_close_step(struct random_world *random)
{
	struct world_request *request = random_request(random, true);
	if (request)
		random_close(random, request);
}

static inline void random_cancel_step(struct random_world *random)
{
	struct world_request *request = random_request(random, random_one_in(random, 4));
	if (!request)
		return;
	bool waits = request->answers == 0;
	cr_assert_eq(waits, world_cancel(&random->world, request));
	random->seen.cancelled += waits;
}

/* --- what the caller does ------------------------------------------------------------ */

/* Begins a wanted stream; now and then a stream that was never wanted, or is not wanted any
 * more. */
static inline void random_begun_step(struct random_world *random)
{
	struct epoch_world *world = &random->world;
	uint32_t epoch = random_below(random, WORLD_EPOCHS);
	const struct world_stream *stream = &world->streams[epoch];
	if (stream->left || (!stream->wanted && !random_one_in(random, 20)))
		return;
	world_begun(world, epoch, random_one_in(random, 6) ? -ENOMEM : 0);
}

static inline void random_saved_step(struct random_world *random)
{
	uint32_t epoch = random_below(random, WORLD_EPOCHS);
	if (random->world.streams[epoch].saving && random->saves)
		world_saved(&random->world, epoch);
}

/* Lets time pass, rarely so long that the job is parked. */
static inline void random_time_step(struct random_world *random)
{
	uint64_t idle = random->world.config.idle_ns;
	bool long_enough = random_one_in(random, 4);
	world_time(&random->world,
		long_enough ? idle + 1 : rng_below(&random->rng, idle / 2));
}

static inline void random_restart_step(struct random_world *random)
{
	struct epoch_world *world = &random->world;
	size_t n = world->n_records;
	if (n > 0 && random_one_in(random, 2)) {
		n -= random_below(random, n < 12 ? (uint32_t)n : 12);
		random->seen.lost += n < world->n_records;
	}
	auto_free char *before = world_print(world->epochs);
	if (world->out)
		fprintf(world->out, "\nrestart, %zu of %zu records", n, world->n_records);
	bool lost = n < world->n_records;
	world_restart(world, n);
	auto_free char *after = world_print(world->epochs);
	if (!lost && !world->keep)
		cr_assert_str_eq(before, after, "%s\n%s", before, after);
	twin_restart(&random->twin, lost || random->twin.lost);
	world_replayed(world);
	twin_check(&random->twin);
	random->seen.restarts++;
}

/* --- sequences ----------------------------------------------------------------------- */

static inline void random_step(struct random_world *random)
{
	uint32_t dice = random_below(random, 100);
	if (dice < 40)
		random_script_step(random);
	else if (dice < 52)
		random_explicit_step(random);
	else if (dice < 68)
		random_close_step(random);
	else if (dice < 78)
		world_draw_ahead(&random->world, random_below(random, WORLD_EPOCHS));
	else if (dice < 90)
		random_begun_step(random);
	else if (dice < 94)
		random_saved_step(random);
	else if (dice < 96)
		random_cancel_step(random);
	else if (dice < 99 || !random->restarts)
		random_time_step(random);
	else
		random_restart_step(random);
}

static inline struct epochs_config random_config(
	struct random_world *random, enum epochs_kind kind)
{
	static sample_id reversed[TWIN_POSITIONS];
	uint32_t most = random_one_in(random, 8) ? TWIN_POSITIONS : 16;
	struct epochs_config config = {.kind = kind,
		.set.positions = 1 + random_below(random, most),
		.limit = 1 + random_below(random, WORLD_EPOCHS),
		.lookahead = 1 + random_below(random, 5),
		.file = 1,
		.idle_ns = 1000};
	if (kind == EPOCHS_DRAWN && random_one_in(random, 4))
		config.file = 1 + random_below(random, 4);
	if (kind == EPOCHS_FIXED && random_one_in(random, 2))
		config.set.fixed = reversed;
	for (uint32_t i = 0; i < config.set.positions; i++)
		reversed[i] = 2 * (config.set.positions - 1 - i);
	return config;
}

static inline void random_begin(
	struct random_world *random, enum epochs_kind kind, uint64_t seed)
{
	*random = (struct random_world){.twin = {.running = -1, .draining = -1}};
	rng_seed(&random->rng, rng_mix(seed, kind));
	struct epochs_config config = random_config(random, kind);
	world_begin(&random->world, &config, seed);
	random->world.by_hand = random_one_in(random, 2);
	random->world.unpinned = random_one_in(random, 4) ? 3 : 0;
	random->world.keep = random_one_in(random, 3) ? 1 + random_below(random, 3) : 0;
	random->saves = true;
	random->eager = random_one_in(random, 2);
	random->world.before = random_before;
	random->world.after = random_after;
	random->world.context = random;
	random->twin.world = &random->world;
	for (uint32_t i = 0; i < RANDOM_READERS; i++)
		random_shuffle(random, &random->scripts[i]);
}

static inline void random_end(struct random_world *random, struct random_seen *sum)
{
	const struct random_seen *seen = &random->seen;
	struct epochs_status status;
	epochs_status(random->world.epochs, &status);
	sum->epochs += status.started ? status.epoch : 0;
	sum->ended += status.started && !status.running;
	sum->answers += seen->answers;
	sum->stale += seen->stale;
	sum->again += seen->again;
	sum->no_entry += seen->no_entry;
	sum->no_memory += seen->no_memory;
	sum->looked_up += seen->looked_up;
	sum->drained += seen->drained;
	sum->parked += seen->parked;
	sum->cancelled += seen->cancelled;
	sum->restarts += seen->restarts;
	sum->lost += seen->lost;
	world_end(&random->world);
}

/* Checks that each kind of event has occurred. */
static inline void random_check_seen(
	const struct random_seen *seen, enum epochs_kind kind)
{
	const unsigned few = 50;
	cr_assert_gt(seen->answers, few);
	cr_assert_gt(seen->no_entry, few);
	if (kind == EPOCHS_MIRRORED)
		return;
	cr_assert_gt(seen->stale, few);
	cr_assert_gt(seen->again, few);
	cr_assert_gt(seen->no_memory, few);
	cr_assert_gt(seen->looked_up, few);
	cr_assert_gt(seen->drained, few);
	cr_assert_gt(seen->parked, few);
	cr_assert_gt(seen->cancelled, few);
	cr_assert_gt(seen->ended, few);
	cr_assert_gt(seen->restarts, few);
	cr_assert_gt(seen->lost, few);
	cr_assert_gt(seen->epochs, few);
}
