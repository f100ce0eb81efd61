// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/sim_sched.h"
#include "base/rng.h"
#include "edition/edition.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"
#include "world.h"

/*
 * A simulated order is the daemon's: the same opens and releases, one after the other,
 * through the scheduler and through its double give each position the same sample.
 *
 * With dsa and isa that is so whatever the scheduler's workers do when. What exchange
 * gives depends on what is in the cache, so there the test itself is the worker: after
 * each open and release it prepares what is asked for, until nothing is.
 */

#define N 60
#define JOBS 3
#define EPOCHS 3
#define HELD 3 /* positions that a script has open at the same time, at most */
#define BATCH 8
#define MAX_STEPS (2 * JOBS * EPOCHS * N)

/* --- what scripts do ------------------------------------------------------------------ */

struct step {
	size_t job;
	bool opens; /* else it releases what it has opened */
	uint32_t epoch, position;
};

struct steps {
	size_t n;
	struct step list[MAX_STEPS];
};

/* In an order of its own, from some step on. */
struct script {
	uint32_t size, epoch, next;
	uint32_t order[N];
	uint32_t held[HELD];
	uint32_t n_held;
	size_t start;
};

static void begin_epoch(struct script *script, struct rng *rng)
{
	script->next = 0;
	for (uint32_t i = 0; i < script->size; i++) {
		uint32_t k = (uint32_t)rng_below(rng, i + 1);
		script->order[i] = script->order[k];
		script->order[k] = i;
	}
}

static bool is_done(const struct script *script)
{
	return script->epoch == EPOCHS - 1 && script->next == script->size &&
	       script->n_held == 0;
}

/* It holds nothing open. */
static bool begins_next(const struct script *script, bool leaves_early, struct rng *rng)
{
	bool may_leave = leaves_early && script->next > script->size / 2 &&
			 script->epoch < EPOCHS - 1;
	return script->next == script->size || (may_leave && rng_below(rng, 20) == 0);
}

static struct step release_one(struct script *script, struct rng *rng)
{
	uint32_t i = (uint32_t)rng_below(rng, script->n_held);
	struct step step = {.epoch = script->epoch, .position = script->held[i]};
	script->held[i] = script->held[--script->n_held];
	return step;
}

static struct step open_next(struct script *script)
{
	uint32_t position = script->order[script->next++];
	script->held[script->n_held++] = position;
	return (struct step){.opens = true, .epoch = script->epoch, .position = position};
}

/* It is not done. */
static struct step next_step(struct script *script, bool leaves_early, struct rng *rng)
{
	if (script->n_held == 0 && begins_next(script, leaves_early, rng)) {
		script->epoch++;
		begin_epoch(script, rng);
	}
	bool must_release = script->next == script->size || script->n_held == HELD;
	bool may_release = script->n_held > 0;
	if (must_release || (may_release && rng_below(rng, 2)))
		return release_one(script, rng);
	return open_next(script);
}

/* A script that is chosen before its start, or after its end, does nothing. */
static void write_steps(const uint32_t *sizes, size_t n_jobs, bool leaves_early,
	uint64_t seed, struct steps *steps)
{
	static struct script scripts[JOBS];
	struct rng rng;
	size_t n_done = 0;
	rng_seed(&rng, seed);
	for (size_t i = 0; i < n_jobs; i++) {
		scripts[i] = (struct script){.size = sizes[i], .start = 35 * i};
		begin_epoch(&scripts[i], &rng);
	}
	steps->n = 0;
	while (n_done < n_jobs) {
		size_t job = rng_below(&rng, n_jobs);
		struct script *script = &scripts[job];
		if (steps->n < script->start || is_done(script))
			continue;
		cr_assert_lt(steps->n, MAX_STEPS);
		steps->list[steps->n] = next_step(script, leaves_early, &rng);
		steps->list[steps->n++].job = job;
		n_done += is_done(script);
	}
}

/* What the opens came to. */
struct outcome {
	int status;
	sample_id sample;
};

struct outcomes {
	size_t n;
	struct outcome list[MAX_STEPS];
};

static void add(struct outcomes *outcomes, int status, sample_id sample)
{
	outcomes->list[outcomes->n++] =
		(struct outcome){status, status ? SAMPLE_NONE : sample};
}

/* The first open that came to something else; n: none did. */
static size_t first_difference(const struct outcomes *a, const struct outcomes *b)
{
	size_t i = 0;
	cr_assert_eq(a->n, b->n);
	while (i < a->n && a->list[i].status == b->list[i].status &&
		a->list[i].sample == b->list[i].sample)
		i++;
	return i;
}

/* --- trials --------------------------------------------------------------------------- */

struct jobs {
	const char *name;
	size_t n;
	const char *where[JOBS];
	enum view_layout layout;
};

static const struct jobs two_equal = {"two equal", 2, {NULL, NULL}, LAYOUT_FLAT};
static const struct jobs three_equal = {"three equal", 3, {NULL}, LAYOUT_FLAT};
static const struct jobs overlapping = {
	"overlapping", 3, {"id < 40", "id >= 20", "id % 3 <> 0"}, LAYOUT_FLAT};
static const struct jobs nested = {"nested", 2, {NULL, "id < 30"}, LAYOUT_FLAT};
static const struct jobs batches = {"batches", 3, {NULL, NULL, "id < 40"}, LAYOUT_BATCH};
static const struct jobs by_class = {"by class", 2, {NULL, "id < 50"}, LAYOUT_CLASSES};

struct trial {
	const struct jobs *jobs;
	enum sampler_kind sampler;
	uint32_t lookahead;
	uint64_t tensors; /* room in the cache */
	bool leaves_early;
	bool has_workers; /* the scheduler has threads that prepare samples */
	uint64_t seed;	  /* of the steps */
	bool other_seed;  /* of the sampler */
};

/* --- the daemon ----------------------------------------------------------------------- */

struct daemon {
	struct world world;
	struct sched_job *jobs[JOBS];
	uint32_t sizes[JOBS];
	struct load_context *context; /* the test's, if there are no workers */
	struct sched_handle *handles[JOBS][N];
};

static void daemon_begin(struct daemon *daemon, const struct trial *trial)
{
	static char names[JOBS][2] = {"a", "b", "c"};
	struct world *world = &daemon->world;
	*daemon = (struct daemon){0};
	world_begin(world, N, trial->tensors);
	world_stop(world);
	world->config.sampler = trial->sampler;
	world->config.share = SHARE_FIFO; /* as joader-sim prepares what jobs ask for */
	world_start(world);
	if (!trial->has_workers) {
		load_pool_free(&world->sched->pool);
		cr_assert_eq(0, load_context_new(&daemon->context));
	}
	for (size_t i = 0; i < trial->jobs->n; i++) {
		struct job_config config = world_job_config(names[i]);
		auto_free char *where =
			trial->jobs->where[i] ? strdup(trial->jobs->where[i]) : NULL;
		config.where = where;
		config.layout = trial->jobs->layout;
		config.batch = BATCH;
		config.lookahead = trial->lookahead;
		daemon->jobs[i] = world_add_config(world, &config);
		daemon->sizes[i] = sched_job_samples(daemon->jobs[i], 0);
	}
}

static void daemon_end(struct daemon *daemon)
{
	for (size_t i = 0; i < JOBS; i++)
		if (daemon->jobs[i])
			sched_job_put(daemon->jobs[i]);
	load_context_free(&daemon->context);
	world_end(&daemon->world);
}

/* Until the clerk and whoever prepares samples have nothing to do. */
static void daemon_settle(struct daemon *daemon, struct sched_job *job)
{
	const struct load_callbacks callbacks = {.next_read = sched_next_read,
		.read = sched_read,
		.next_decode = sched_next_decode,
		.done = sched_load_done,
		.context = daemon->world.sched};
	clerk_wait_for_last(job);
	while (daemon->context && load_run_one(daemon->context, &callbacks))
		;
	sched_validate(daemon->world.sched);
}

static int daemon_open(
	struct daemon *daemon, const struct step *step, struct sched_handle **ret)
{
	struct world_open open = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_open_callbacks callbacks = {
		.opened = world_opened, .context = &open};
	struct sched_job *job = daemon->jobs[step->job];
	int err = sched_open(job, step->epoch, step->position, &callbacks);
	daemon_settle(daemon, job);
	if (err)
		return err;
	pthread_mutex_lock(&open.mutex);
	cr_assert(open.done || !daemon->context);
	while (!open.done)
		pthread_cond_wait(&open.cond, &open.mutex);
	pthread_mutex_unlock(&open.mutex);
	*ret = open.result.handle;
	return open.result.status;
}

static void daemon_take(
	struct daemon *daemon, const struct step *step, struct outcomes *outcomes)
{
	struct sched_handle **handle = &daemon->handles[step->job][step->position];
	if (step->opens) {
		int err = daemon_open(daemon, step, handle);
		add(outcomes, err, err ? SAMPLE_NONE : sched_handle_sample(*handle));
		return;
	}
	if (*handle)
		sched_release(*handle);
	*handle = NULL;
	daemon_settle(daemon, daemon->jobs[step->job]);
}

/* --- its double ----------------------------------------------------------------------- */

struct twin {
	struct sim_sched *sched;
	struct sim_sched_job *jobs[JOBS];
	uint32_t *labels_of[JOBS]; /* by position */
	uint32_t labels[N];	   /* by id */
	struct sim_open opens[JOBS][N];
};

static uint32_t *labels_of(struct sched_job *job)
{
	uint32_t n = sched_job_samples(job, 0);
	uint32_t *labels = calloc(n, sizeof(*labels));
	cr_assert(labels);
	for (uint32_t position = 0; position < n; position++)
		labels[position] = edition_label_of(job->now, position);
	return labels;
}

static void twin_begin(
	struct twin *twin, const struct daemon *daemon, const struct trial *trial)
{
	bool labelled = trial->jobs->layout == LAYOUT_CLASSES;
	uint64_t seed = daemon->world.sched->supply.sources[0].seed;
	*twin = (struct twin){0};
	for (sample_id id = 0; id < N; id++)
		twin->labels[id] = dataset_label(daemon->world.dataset, id);
	struct sim_sched_config config = {.sampler = trial->sampler,
		.capacity = trial->tensors,
		.sampler_seed = (labelled ? rng_mix(seed, 1) : seed) + trial->other_seed,
		.n_ids = N,
		.labels = labelled ? twin->labels : NULL,
		.lookahead = trial->lookahead,
		.at_once = trial->jobs->layout == LAYOUT_BATCH ? BATCH : 1};
	cr_assert_eq(0, sim_sched_new(&config, &twin->sched));
	for (size_t i = 0; i < trial->jobs->n; i++) {
		struct sched_job *job = daemon->jobs[i];
		if (labelled)
			twin->labels_of[i] = labels_of(job);
		auto_edition *edition = sched_edition(job, 0);
		cr_assert_eq(0,
			sim_sched_join(twin->sched, sched_job_id(job), edition->selection,
				twin->labels_of[i], &twin->jobs[i]));
	}
}

static void twin_end(struct twin *twin)
{
	sim_sched_free(&twin->sched);
	for (size_t i = 0; i < JOBS; i++)
		free(twin->labels_of[i]);
}

static void twin_take(
	struct twin *twin, const struct step *step, struct outcomes *outcomes)
{
	struct sim_open *open = &twin->opens[step->job][step->position];
	if (!step->opens) {
		if (open->request.status == 0)
			cr_assert_eq(0, sim_sched_release(open));
		sim_sched_validate(twin->sched);
		return;
	}
	*open = sim_open_of(twin->jobs[step->job], step->epoch, step->position);
	cr_assert_eq(0, sim_sched_open(twin->sched, &open, 1));
	if (open->request.status == 0)
		cr_assert_eq(0, sim_sched_load(open));
	add(outcomes, open->request.status, open->request.sample);
	sim_sched_validate(twin->sched);
}

/* --- both ----------------------------------------------------------------------------- */

static struct steps steps;
static struct outcomes of_daemon, of_twin;
static uint64_t decodes, loads;

/* The double may run another trial than the daemon. */
static size_t run_both(const struct trial *trial, const struct trial *of_the_double)
{
	static struct daemon daemon;
	static struct twin twin;
	of_daemon.n = of_twin.n = 0;
	daemon_begin(&daemon, trial);
	write_steps(
		daemon.sizes, trial->jobs->n, trial->leaves_early, trial->seed, &steps);
	twin_begin(&twin, &daemon, of_the_double);
	uint64_t before = stats_get(STAT_DECODES);
	for (size_t i = 0; i < steps.n; i++) {
		daemon_take(&daemon, &steps.list[i], &of_daemon);
		twin_take(&twin, &steps.list[i], &of_twin);
	}
	decodes = stats_get(STAT_DECODES) - before;
	loads = sim_sched_loads(twin.sched);
	twin_end(&twin);
	daemon_end(&daemon);
	return first_difference(&of_daemon, &of_twin);
}

static void expect_equal(const struct trial *trial)
{
	size_t i = run_both(trial, trial);
	cr_expect_eq(i, of_daemon.n,
		"%s, sampler %d, look-ahead %u, cache of %u: open %zu is of %d (%d), "
		"simulated %d (%d)",
		trial->jobs->name, (int)trial->sampler, trial->lookahead,
		(unsigned)trial->tensors, i, (int)of_daemon.list[i].sample,
		of_daemon.list[i].status, (int)of_twin.list[i].sample,
		of_twin.list[i].status);
	if (!trial->has_workers)
		cr_expect_eq(decodes, loads, "%u decodes, %u loads", (unsigned)decodes,
			(unsigned)loads);
}

static const uint32_t lookaheads[] = {1, 4, 16};
static const uint64_t caches[] = {2 * N, 24, 5, 1};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect_equal_orders(enum sampler_kind sampler, const struct jobs *jobs)
{
	for (size_t i = 0; i < COUNT(lookaheads); i++)
		for (size_t k = 0; k < COUNT(caches); k++)
			expect_equal(&(struct trial){.jobs = jobs,
				.sampler = sampler,
				.lookahead = lookaheads[i],
				.tensors = caches[k],
				.leaves_early = k % 2,
				.seed = 10 * i + k});
}

Test(sim_order, of_equal_jobs)
{
	expect_equal_orders(SAMPLER_DSA, &two_equal);
	expect_equal_orders(SAMPLER_ISA, &two_equal);
	expect_equal_orders(SAMPLER_EXCHANGE, &two_equal);
}

Test(sim_order, of_three_equal_jobs)
{
	expect_equal_orders(SAMPLER_DSA, &three_equal);
	expect_equal_orders(SAMPLER_EXCHANGE, &three_equal);
}

Test(sim_order, of_jobs_that_overlap)
{
	expect_equal_orders(SAMPLER_DSA, &overlapping);
	expect_equal_orders(SAMPLER_ISA, &overlapping);
	expect_equal_orders(SAMPLER_EXCHANGE, &overlapping);
}

Test(sim_order, of_a_job_and_one_with_a_part_of_its_samples)
{
	expect_equal_orders(SAMPLER_DSA, &nested);
	expect_equal_orders(SAMPLER_EXCHANGE, &nested);
}

Test(sim_order, of_scripts_that_read_batches)
{
	expect_equal_orders(SAMPLER_DSA, &batches);
	expect_equal_orders(SAMPLER_EXCHANGE, &batches);
}

Test(sim_order, of_scripts_that_shuffle_a_tree_of_classes)
{
	expect_equal_orders(SAMPLER_EXCHANGE, &by_class);
}

/* Whatever these do when, the order is the same; if everything fits into the cache, with
 * exchange too. */
Test(sim_order, with_threads_that_prepare_samples)
{
	for (size_t i = 0; i < COUNT(lookaheads); i++) {
		struct trial trial = {.jobs = &overlapping,
			.sampler = SAMPLER_DSA,
			.lookahead = lookaheads[i],
			.tensors = 10,
			.leaves_early = true,
			.has_workers = true,
			.seed = i};
		expect_equal(&trial);
		trial.sampler = SAMPLER_ISA;
		expect_equal(&trial);
		trial.sampler = SAMPLER_EXCHANGE;
		trial.tensors = 2 * N;
		trial.leaves_early = false;
		expect_equal(&trial);
	}
}

/* --- mutants: orders that are not the daemon's ---------------------------------------- */

static void expect_other(const struct trial *trial, const struct trial *mutant)
{
	cr_expect_lt(run_both(trial, mutant), of_daemon.n);
}

Test(sim_order_mutants, with_another_seed_orders_are_others)
{
	static const enum sampler_kind kinds[] = {
		SAMPLER_DSA, SAMPLER_ISA, SAMPLER_EXCHANGE};
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct trial trial = {.jobs = &overlapping,
			.sampler = kinds[i],
			.lookahead = 4,
			.tensors = 24};
		struct trial mutant = trial;
		mutant.other_seed = true;
		expect_other(&trial, &mutant);
	}
}

Test(sim_order_mutants, with_another_look_ahead_they_are)
{
	struct trial trial = {.jobs = &overlapping, .lookahead = 4, .tensors = 2 * N};
	struct trial mutant = trial;
	mutant.lookahead = 5;
	expect_other(&trial, &mutant);
}

Test(sim_order_mutants, with_another_cache_they_are)
{
	struct trial trial = {.jobs = &two_equal,
		.sampler = SAMPLER_EXCHANGE,
		.lookahead = 4,
		.tensors = 24};
	struct trial mutant = trial;
	mutant.tensors = 23;
	expect_other(&trial, &mutant);
}

Test(sim_order_mutants, with_another_sampler_they_are)
{
	struct trial trial = {.jobs = &two_equal,
		.sampler = SAMPLER_DSA,
		.lookahead = 4,
		.tensors = 24};
	struct trial mutant = trial;
	mutant.sampler = SAMPLER_ISA;
	expect_other(&trial, &mutant);
}
