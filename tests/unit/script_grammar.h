// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "script_loader.h"

#include <limits.h>
#include <stdarg.h>

/*
 * Random training programs that read current/: one to four programs, one after the other or beside
 * each other. A program looks at single files, and makes passes that are whole, broken off or
 * limited, in order or shuffled. It reads by itself, or by threads, workers or ranks. It may open
 * a file several times, and read labels. It may be killed. The daemon may restart, or the job go
 * back.
 */

#define STEPS_MOST 16
#define RANKS_MOST 8
#define PROGRAMS_MOST 4
#define PASSES_MOST (PROGRAMS_MOST * (STEPS_MOST + 2))

struct step {
	/* single files that the main process opens; n_look 0: passes */
	uint32_t look[4], n_look;
	uint32_t batches, passes;
	bool in_order, beyond;
	unsigned first_pass;
	uint64_t seed;
};

struct program {
	struct loader loader;
	uint32_t ranks, apart; /* opens that a rank may be ahead of another one */
	struct step steps[STEPS_MOST];
	uint32_t n_steps;
};

enum trial_kind {
	TRIAL_ANY,
	/* some workers begin the next pass long before others end the present one */
	TRIAL_AHEAD,
	TRIAL_POOLS, /* all workers belong to a Pool, and no pass is broken off */
	/* two loaders divide the files of a pass, in folds or by a fixed split */
	TRIAL_FOLDS,
};

struct trial {
	struct accesses accesses;
	uint32_t files;
	unsigned passes, programs;
	enum trial_kind kind;
	bool beside, ranks;
	size_t restart; /* the daemon restarts before this access; 0: never */
	/* by pass: it is the first one of its thread, in order, beside other programs */
	bool looks[PASSES_MOST];
	unsigned lookers; /* people who open files of epoch-NNNN/ at the same time */
	char text[1024];
};

static inline bool chance(uint32_t percent)
{
	return below(100) < percent;
}

static void say(struct trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct trial *trial, const char *format, ...)
{
	size_t n = strlen(trial->text);
	va_list args;
	va_start(args, format);
	vsnprintf(trial->text + n, sizeof(trial->text) - n, format, args);
	va_end(args);
}

/* --- what a program does ------------------------------------------------------------- */

static inline struct step *new_step(struct program *program)
{
	struct step *step = &program->steps[program->n_steps++];
	cr_assert_leq(program->n_steps, STEPS_MOST);
	*step = (struct step){.passes = 1, .in_order = program->loader.in_order};
	return step;
}

static inline void plan_look(struct trial *trial, struct program *program)
{
	struct step *step = new_step(program);
	step->n_look = 1 + below(4);
	say(trial, " look(");
	for (uint32_t i = 0; i < step->n_look; i++) {
		step->look[i] = chance(50)   ? 0
				: chance(10) ? trial->files - 1
					     : below(trial->files);
		say(trial, "%s%u", i ? " " : "", step->look[i]);
	}
	say(trial, ")");
}

static inline struct step *plan_pass(
	struct trial *trial, struct program *program, uint32_t batches, uint32_t passes)
{
	struct step *step = new_step(program);
	step->batches = batches;
	step->passes = passes;
	step->first_pass = trial->passes;
	step->seed = below(1000000);
	trial->passes += passes;
	say(trial, " %s(%u)", batches ? "part" : "pass", batches ? batches : passes);
	return step;
}

static inline void plan_steps(struct trial *trial, struct program *program)
{
	const struct loader *loader = &program->loader;
	bool pools = trial->kind == TRIAL_POOLS;
	uint32_t part = (trial->files - 1) / program->ranks + 1;
	uint32_t whole = (part - 1) / loader->batch + 1;
	uint32_t limit = !pools && chance(12) ? 1 + below(whole) : 0;
	if (chance(30))
		plan_look(trial, program);
	if (!pools && chance(10)) {
		struct step *step =
			plan_pass(trial, program, chance(50) ? 1 + below(2) : 0, 1);
		step->in_order = true;
		say(trial, "in order");
	}
	for (uint32_t n = 1 + below(5); n > 0; n--) {
		if (limit || pools || chance(70))
			plan_pass(trial, program, limit, 1);
		else
			plan_pass(trial, program, 1 + below(whole), 1);
		if (program->ranks > 1)
			continue;
		if (chance(15))
			plan_look(trial, program);
		else if (!pools && chance(15))
			plan_pass(trial, program, 1, 1);
	}
	uint32_t ahead = 2 * loader->batch * loader->workers;
	if (trial->kind == TRIAL_AHEAD && loader->stays && ahead > 0 &&
		2 * ahead <= part) {
		plan_pass(trial, program, 0, 3)->beyond = true;
		say(trial, "ahead");
	}
}

static inline void say_program(struct trial *trial, const struct program *program)
{
	static const char *const labels[] = {"", ", label after", ", label before",
		", label by another thread", "", ", some labels before"};
	const struct loader *loader = &program->loader;
	say(trial, "; script: batch %u, %u workers%s%s%s%s", loader->batch,
		loader->workers,
		loader->takes	? " of a Pool"
		: loader->stays ? ", persistent"
				: "",
		loader->drop ? ", drop_last" : "", loader->drop_tail ? ", drop_tail" : "",
		loader->in_order ? ", in order" : ", shuffled");
	if (loader->pool)
		say(trial, ", %u threads", loader->pool);
	if (loader->twice)
		say(trial, ", %u opens", 1 + loader->twice);
	if (program->ranks > 1)
		say(trial, ", %u ranks %u apart", program->ranks, program->apart);
	say(trial, "%s:", labels[loader->labels]);
}

static inline struct program plan_program(struct trial *trial, uint64_t script)
{
	static const uint32_t batches[] = {1, 4, 7, 16, 32},
			      workers[] = {0, 0, 1, 2, 3, 4, 8}, ranks[] = {2, 3, 4, 8},
			      labels[] = {1, 1, 2, 3, 5};
	struct program program = {.ranks = chance(15) ? ranks[below(4)] : 1,
		.loader = {.files = trial->files,
			.batch = batches[below(5)],
			.workers = workers[below(7)],
			.drop = chance(25),
			.in_order = chance(40),
			.stays = chance(50),
			.twice = chance(20) ? 1 + below(2) : 0,
			.labels = chance(20) ? labels[below(5)] : 0,
			.script = script}};
	struct loader *loader = &program.loader;
	uint32_t part = (trial->files - 1) / program.ranks + 1;
	if (loader->batch > part / 2)
		loader->batch = 1 + part / 4;
	trial->ranks |= program.ranks > 1;
	if (program.ranks > 1) {
		uint32_t most = 2 * loader->batch * (1 + loader->workers);
		loader->drop_tail = chance(30);
		program.apart =
			chance(30) ? 1 : 1 + below(most < part / 3 ? most : part / 3);
	}
	if (loader->workers == 0 && chance(15))
		loader->pool = 2 + below(3);
	if (trial->kind == TRIAL_POOLS && loader->workers > 1)
		loader->takes = loader->stays = true;
	say_program(trial, &program);
	loader->stays |= loader->workers == 0; /* the main process reads, and stays */
	uint32_t first = trial->passes;
	plan_steps(trial, &program);
	const struct step *step = &program.steps[program.steps[0].n_look > 0];
	trial->looks[first] = trial->beside && step->in_order && program.ranks == 1 &&
			      loader->workers <= 1 && !loader->pool;
	return program;
}

/* --- its opens ----------------------------------------------------------------------- */

static inline void load_steps(
	struct accesses *accesses, const struct program *program, uint32_t rank)
{
	for (uint32_t i = 0; i < program->n_steps; i++) {
		const struct step *step = &program->steps[i];
		struct loader loader = program->loader;
		loader.rank = loader.script * 100 + rank;
		uint64_t main_thread =
			loader.rank * 10000 + (loader.workers > 0 ? 5000 : 0);
		if (program->ranks > 1) {
			loader.part = rank;
			loader.parts = program->ranks;
		}
		for (uint32_t k = 0; k < step->n_look; k++)
			add(accesses, (struct access){.pass = UINT_MAX,
					      .reader = {main_thread, loader.rank,
						      loader.script},
					      .file = step->look[k],
					      .done = true});
		if (step->n_look > 0)
			continue;
		loader.passes = step->passes;
		loader.batches = step->batches;
		loader.in_order = step->in_order;
		loader.beyond = step->beyond;
		loader.first_pass = step->first_pass;
		loader.seed = step->seed;
		load(accesses, loader);
	}
}

static inline void load_program(
	struct trial *trial, const struct program *program, struct accesses *ret)
{
	struct accesses ranks[RANKS_MOST] = {{0}};
	for (uint32_t i = 0; i < program->ranks; i++)
		load_steps(&ranks[i], program, i);
	if (program->ranks > 1)
		merge(ret, ranks, program->ranks, program->apart, 100);
	else
		*ret = ranks[0];
	if (ret->n > 0 && chance(10)) {
		ret->n = 1 + below((uint32_t)ret->n);
		say(trial, " killed at %zu", ret->n);
	}
	if (ret->n > 0)
		ret->list[ret->n - 1].ends = true;
}

/* --- folds --------------------------------------------------------------------------- */

static inline struct loader plan_half(struct trial *trial, uint64_t script)
{
	static const uint32_t workers[] = {0, 0, 1, 2, 3};
	struct loader loader = {.files = trial->files,
		.batch = 3 + below(7),
		.workers = workers[below(5)],
		.ahead = 1 + below(4),
		.stays = chance(30),
		.script = script,
		.rank = script * 100};
	say(trial, " %u workers%s, batch %u x %u;", loader.workers,
		loader.stays ? " that stay" : "", loader.batch, loader.ahead);
	return loader;
}

/* Makes one of several passes over the files with the same loader. own: the first number of its
 * workers. */
static inline void load_half(struct trial *trial, struct accesses *ret,
	struct loader loader, unsigned first, uint32_t own)
{
	loader.threads = loader.workers == 0 ? 0
			 : loader.stays	     ? 5000 + 20 * first + own
					     : 20 + own;
	loader.stays |= loader.workers == 0;
	loader.passes = 1;
	loader.first_pass = trial->passes;
	loader.seed = below(1000000);
	load(ret, loader);
}

/* Reads one batch; meanwhile the workers fetch as many batches as they may. */
static inline void check_sanity(
	struct trial *trial, struct accesses *ret, struct loader loader)
{
	size_t before = ret->n;
	say(trial, " sanity check;");
	loader.batches = loader.workers > 0 ? loader.workers * loader.ahead : 1;
	load_half(trial, ret, loader, trial->passes, 10);
	for (size_t i = before; i < ret->n; i++)
		ret->list[i].pass = UINT_MAX;
}

/* Makes the opens of a script that trains on some files and validates on the others, in order: K
 * folds, each with its own loaders, or one split. */
static inline void load_folds(struct trial *trial, uint64_t script, struct accesses *ret)
{
	uint32_t folds = 2 + below(4), n = trial->files, n_epochs = 1 + below(4);
	bool fixed = chance(30), dealt = chance(50), validates_first = chance(25);
	uint32_t *order = calloc(3 * (size_t)n, sizeof(*order));
	uint32_t *train = order + n, *validate = order + 2 * (size_t)n;
	cr_assert_not_null(order);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (chance(50))
		shuffle(&rng, order, n);
	say(trial, "; %u %s%s,", folds, fixed ? "parts, one to validate" : "folds",
		validates_first ? ", validates first" : "");
	for (uint32_t fold = 0; fold < (fixed ? 1 : folds); fold++) {
		uint32_t n_train = 0, n_validate = 0;
		unsigned first = trial->passes;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t of = dealt ? i % folds : i * folds / n;
			if (of == fold)
				validate[n_validate++] = order[i];
			else
				train[n_train++] = order[i];
		}
		struct loader trains = plan_half(trial, script),
			      validates = plan_half(trial, script);
		trains.list = train;
		trains.n_list = n_train;
		validates.list = validate;
		validates.n_list = n_validate;
		validates.in_order = true;
		if (chance(30))
			check_sanity(trial, ret, validates);
		for (uint32_t i = fixed ? n_epochs : 1 + below(2); i > 0; i--) {
			if (validates_first)
				load_half(trial, ret, validates, first, 10);
			load_half(trial, ret, trains, first, 0);
			if (!validates_first)
				load_half(trial, ret, validates, first, 10);
			trial->passes++;
		}
	}
	free(order);
	ret->list[ret->n - 1].ends = true;
}

/* --- a trial ------------------------------------------------------------------------- */

static inline void make_trial(uint64_t seed, enum trial_kind kind, struct trial *ret)
{
	static const uint32_t files[] = {30, 30, 96, 96, 97, 97, 250, 485};
	struct accesses streams[PROGRAMS_MOST] = {{0}};
	rng_seed(&rng, seed);
	*ret = (struct trial){.files = files[below(8)], .kind = kind};
	ret->programs = 1 + (chance(30) ? below(PROGRAMS_MOST) : 0);
	ret->beside = ret->programs > 1 && chance(30);
	say(ret, "seed %llu, %u files", (unsigned long long)seed, ret->files);
	for (unsigned i = 0; i < ret->programs && kind == TRIAL_FOLDS; i++)
		load_folds(ret, i + 1, &streams[i]);
	for (unsigned i = 0; i < ret->programs && kind != TRIAL_FOLDS; i++) {
		struct program program = plan_program(ret, i + 1);
		load_program(ret, &program, &streams[i]);
	}
	if (ret->beside) {
		merge(&ret->accesses, streams, ret->programs, 0, 50 + below(100));
		say(ret, "; beside each other");
	}
	for (unsigned i = 0; i < ret->programs && !ret->beside; i++) {
		for (size_t k = 0; k < streams[i].n; k++)
			add(&ret->accesses, streams[i].list[k]);
		free(streams[i].list);
	}
	if (chance(10) && ret->accesses.n > 0) {
		ret->restart = 1 + below((uint32_t)ret->accesses.n);
		say(ret, "; restart at %zu", ret->restart);
	}
}
