// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "epoch/epoch_internal.h"
#include "epoch_world.h"

/*
 * Trainings that resume. A loader with workers and ranks reads ahead of the training, a checkpoint
 * is taken, more samples are read, perhaps whole epochs, and perhaps the daemon restarts. Then the
 * job goes back, and another loader with other numbers of workers and ranks reads the rest. Other
 * jobs take samples from the same random numbers. Errors are counted, so that a mutant can be
 * rejected.
 */

#define MOST 120    /* positions */
#define BATCHES 240 /* most batches of an epoch */

enum way {
	IN_ORDER, /* by the numbers of epochs, resumes by --at */
	/* by the numbers of epochs, in its own order, resumes by the state */
	SHUFFLED,
	CURRENT_IN_ORDER, /* through current/, resumes by --at */
	WAYS
};

struct training {
	struct epoch_world world;
	enum way way;
	uint32_t n, batch, workers, ranks, epoch;
	uint64_t script;
	uint32_t order[MOST]; /* the script's order of the epoch */
	/* batches of the epoch; the first one that is read */
	uint32_t n_batches, from;
	/* by worker: its batch, and the place in the batch */
	uint32_t next[MOST], within[MOST];
	sample_id truth[WORLD_EPOCHS][MOST]; /* the samples that positions have held */
	struct epoch_world others[3];
	uint32_t n_others;
	unsigned wrong;
};

static void note_wrong(struct training *training, bool right)
{
	training->wrong += !right;
}

static uint32_t below(struct training *training, uint32_t n)
{
	return (uint32_t)rng_below(&training->world.rng, n);
}

/* --- reading --------------------------------------------------------------------------- */

/* Makes a part of a permutation that depends on the epoch, but not on the loader. */
static void choose_order(struct training *training)
{
	struct rng rng;
	rng_seed(&rng, training->epoch + 1);
	for (uint32_t i = 0; i < training->n; i++)
		training->order[i] = i;
	for (uint32_t i = training->n; training->way == SHUFFLED && i > 1; i--) {
		uint32_t k = (uint32_t)rng_below(&rng, i), old = training->order[k];
		training->order[k] = training->order[i - 1];
		training->order[i - 1] = old;
	}
}

/* Begins an epoch. Batch b belongs to rank b mod ranks, and there to one worker after the other. */
static void begin_epoch(struct training *training, uint32_t epoch, uint32_t from)
{
	training->epoch = epoch;
	training->from = from;
	training->n_batches = (training->n - 1) / training->batch + 1;
	choose_order(training);
	for (uint32_t w = 0; w < training->workers * training->ranks; w++) {
		training->next[w] = from + w;
		training->within[w] = 0;
	}
}

static void read_position(struct training *training, uint32_t worker, uint32_t position)
{
	struct epoch_world *world = &training->world;
	bool current = training->way == CURRENT_IN_ORDER;
	uint32_t rank = worker % training->ranks;
	struct reader reader = {.thread = 1000 * training->script + worker + 1,
		.rank = 100 * training->script + rank,
		.script = training->script};
	struct world_request *request = world_request_by(world,
		current ? EPOCH_CURRENT : training->epoch, position, reader, false);
	world_open(world, request);
	const struct open_request *answer = &request->request;
	bool ok = request->answers == 1 && answer->status == 0 &&
		  answer->found_epoch == training->epoch;
	note_wrong(training, ok);
	if (ok) {
		sample_id *truth = &training->truth[training->epoch][position];
		note_wrong(training, *truth == SAMPLE_NONE || *truth == answer->sample);
		*truth = answer->sample;
	}
	if (request->answers == 1)
		world_release(world, request, true);
}

/* Reads a file by the worker. Returns false if the worker has no more batches in the epoch. */
static bool step_worker(struct training *training, uint32_t worker)
{
	uint32_t batch = training->next[worker];
	if (batch >= training->n_batches)
		return false;
	uint32_t i = batch * training->batch + training->within[worker]++;
	if (i < training->n)
		read_position(training, worker, training->order[i]);
	if (training->within[worker] < training->batch && i + 1 < training->n)
		return true;
	training->within[worker] = 0;
	training->next[worker] += training->workers * training->ranks;
	return true;
}

static void read_others(struct training *training)
{
	for (uint32_t i = 0; i < training->n_others; i++) {
		struct epoch_world *other = &training->others[i];
		uint32_t position = below(training, other->config.set.positions);
		other->rng = training->world.rng;
		world_read(other, EPOCH_CURRENT, position, 1, false);
		training->world.rng = other->rng;
	}
}

/* Returns the number of trained batches, which are the batches before the first unfinished one. */
static uint32_t trained(const struct training *training)
{
	uint32_t least = training->n_batches;
	for (uint32_t w = 0; w < training->workers * training->ranks; w++)
		if (training->next[w] < least)
			least = training->next[w];
	return least;
}

/* Reads until this many batches are trained. Workers are at most a few batches ahead. */
static void read_until(struct training *training, uint32_t batches)
{
	uint32_t all = training->workers * training->ranks;
	while (trained(training) < batches) {
		uint32_t worker = below(training, all);
		if (training->next[worker] <= trained(training) + 2 * all)
			(void)step_worker(training, worker);
		if (below(training, 4) == 0)
			read_others(training);
	}
}

/* --- checkpoints ----------------------------------------------------------------------- */

struct saved {
	struct epochs_place place;
	uint32_t epoch, batches, bound;
	uint32_t n_runs;
	struct run runs[MOST];
	uint8_t consumed[MOST];
};

static void checkpoint(struct training *training, struct saved *ret)
{
	const struct epochs *epochs = training->world.epochs;
	const struct epoch *running = epochs->running;
	bool all;
	*ret = (struct saved){.epoch = training->epoch, .batches = trained(training)};
	epochs_place(epochs, &ret->place);
	if (!running)
		return;
	ret->bound = running->bound;
	for (uint32_t i = 0; i < training->n; i++)
		ret->consumed[i] = epoch_has_consumed(running, i);
	ret->n_runs = epochs_read_runs(epochs, running->number, ret->runs, MOST, &all);
	note_wrong(training, all);
}

/* Checks that the runs equal the consumed positions. */
static void check_runs(struct training *training, const struct saved *saved)
{
	uint8_t found[MOST] = {0};
	for (uint32_t i = 0; i < saved->n_runs; i++)
		for (uint32_t k = saved->runs[i].first; k <= saved->runs[i].last; k++)
			found[k] = 1;
	note_wrong(training, memcmp(found, saved->consumed, sizeof(found)) == 0);
}

static void check_place(
	struct training *training, const struct saved *saved, uint32_t end)
{
	const struct epochs *epochs = training->world.epochs;
	const struct epoch *running = epochs->running;
	uint32_t number = end == UINT32_MAX ? saved->place.running.epoch : saved->epoch;
	struct epochs_place now;
	epochs_place(epochs, &now);
	note_wrong(training, running->number == number);
	for (uint32_t i = 0; i < training->n; i++) {
		bool expected = end == UINT32_MAX
					? saved->consumed[i]
					: i < end && epoch_has_bound(running, i);
		note_wrong(training, expected == epoch_has_consumed(running, i));
	}
	if (end == UINT32_MAX)
		note_wrong(training, memcmp(&now.running, &saved->place.running,
					     sizeof(now.running)) == 0 &&
					     now.drains == saved->place.drains);
}

static void restore(struct training *training, const struct saved *saved)
{
	struct epochs_place place = saved->place;
	uint32_t end = UINT32_MAX;
	if (training->way != SHUFFLED) {
		end = saved->batches * training->batch;
		if (end > training->n)
			end = training->n;
		place = (struct epochs_place){
			.started = true, .running.epoch = saved->epoch};
	}
	world_restore(&training->world, &place, end);
	check_place(training, saved, end);
	epochs_validate(training->world.epochs);
}

/* --- a life ---------------------------------------------------------------------------- */

static void new_loader(struct training *training)
{
	training->workers = 1 + below(training, 4);
	training->ranks = training->way == CURRENT_IN_ORDER ? 1 : 1 + below(training, 3);
	training->script++;
}

/* Checks that the epoch had each sample once, and that the engine knows that it has ended. */
static void check_epoch(struct training *training, uint32_t epoch)
{
	roaring_bitmap_t *seen = roaring_bitmap_create();
	for (uint32_t i = 0; i < training->n; i++)
		note_wrong(training, training->truth[epoch][i] != SAMPLE_NONE &&
					     roaring_bitmap_add_checked(
						     seen, training->truth[epoch][i]));
	roaring_bitmap_free(seen);
}

static void maybe_restart(struct training *training)
{
	struct epoch_world *world = &training->world;
	if (below(training, 3) > 0)
		return;
	auto_free char *before = world_print(world->epochs);
	world_restart(world, world->n_records);
	world_replayed(world);
	auto_free char *after = world_print(world->epochs);
	/* The replay knows less about scripts if the journal has forgotten epochs. */
	note_wrong(training, world->keep || strcmp(before, after) == 0);
}

/* Reads on, perhaps into later epochs, before the job goes back. */
static void read_in_vain(struct training *training)
{
	uint32_t epochs = below(training, 3);
	for (uint32_t i = 0; i < epochs; i++) {
		read_until(training, training->n_batches);
		begin_epoch(training, training->epoch + 1, 0);
	}
	uint32_t left = training->n_batches - trained(training);
	read_until(training, trained(training) + below(training, left + 1));
}

static void live(struct training *training, bool mutant)
{
	struct saved saved;
	uint32_t first = below(training, 2);
	new_loader(training);
	begin_epoch(training, 0, 0);
	for (uint32_t epoch = 0; epoch < first; epoch++) {
		read_until(training, training->n_batches);
		begin_epoch(training, epoch + 1, 0);
	}
	for (int resumes = 0; resumes < 2; resumes++) {
		uint32_t left = training->n_batches - trained(training);
		read_until(training, trained(training) + below(training, left + 1));
		checkpoint(training, &saved);
		check_runs(training, &saved);
		read_in_vain(training);
		maybe_restart(training);
		if (mutant)
			training->world.bound_at_most = saved.bound;
		restore(training, &saved);
		maybe_restart(training);
		new_loader(training);
		begin_epoch(training, saved.epoch, saved.batches);
	}
	for (uint32_t epoch = saved.epoch; epoch < saved.epoch + 3; epoch++) {
		read_until(training, training->n_batches);
		check_epoch(training, epoch);
		begin_epoch(training, epoch + 1, 0);
	}
}

static unsigned count_wrong(uint64_t seed, enum way way, bool mutant)
{
	auto_free struct training *training = calloc(1, sizeof(*training));
	cr_assert_not_null(training);
	struct rng rng;
	rng_seed(&rng, seed);
	struct epochs_config config = {
		.set.positions = 20 + (uint32_t)rng_below(&rng, 100),
		.limit = WORLD_EPOCHS,
		.lookahead = 8,
		.file = 1,
		.idle_ns = UINT64_C(1) << 40};
	if (way != CURRENT_IN_ORDER && rng_below(&rng, 3) == 0)
		config.kind = EPOCHS_DRAWN_AT_OPEN;
	training->way = way;
	training->n = config.set.positions;
	training->batch = 1 + (uint32_t)rng_below(&rng, 6);
	training->n_others = (uint32_t)rng_below(&rng, 4);
	memset(training->truth, 0xff, sizeof(training->truth));
	world_begin(&training->world, &config, seed);
	training->world.keep = rng_below(&rng, 2) ? WORLD_EPOCHS : 0;
	config.kind = EPOCHS_DRAWN;
	config.limit = 1;
	for (uint32_t i = 0; i < training->n_others; i++)
		world_begin(&training->others[i], &config, seed + i);
	live(training, mutant);
	for (uint32_t i = 0; i < training->n_others; i++)
		world_end(&training->others[i]);
	world_end(&training->world);
	return training->wrong;
}

Test(epoch_restore, the_rest_of_the_epoch_is_exact, .timeout = 600)
{
	for (uint64_t seed = 0; seed < effort(1000, 20000); seed++) {
		unsigned wrong = count_wrong(seed, (enum way)(seed % WAYS), false);
		cr_assert_eq(0, wrong, "seed %u: %u are wrong", (unsigned)seed, wrong);
	}
}

/* The mutant forgets which samples were bound after the checkpoint, and gives others. */
Test(epoch_restore, what_forgets_bindings_is_rejected)
{
	unsigned rejected = 0;
	for (uint64_t seed = 0; seed < 30; seed++)
		rejected += count_wrong(seed, (enum way)(seed % WAYS), true) > 0;
	cr_assert_gt(rejected, 20, "only %u of 30 lives", rejected);
}
