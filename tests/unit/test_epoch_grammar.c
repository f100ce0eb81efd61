// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#define WORLD_EPOCHS 80
#include "effort.h"
#include "epoch/epoch_internal.h"
#include "epoch_world.h"
#include "script_loader.h"

#include <limits.h>
#include <stdarg.h>

/*
 * Random scripts that read current/: programs one after the other on one job, each with looks
 * at a file or at some batches, passes that are broken off or leave batches out, in order or
 * shuffled, by itself or by workers, each file opened once or more. A pass over different
 * files has to give different samples, unless its script is told.
 */

struct trial {
	struct accesses accesses;
	unsigned passes;
	uint32_t files;
	unsigned lookers; /* people who open files of epoch-NNNN/ meanwhile */
	char text[1024];
};

static bool chance(uint32_t percent)
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

/* Opens of single files by the main process; of no pass. */
static void add_look(struct trial *trial, const struct loader *base)
{
	uint32_t n = 1 + below(4);
	say(trial, " look(%u)", n);
	for (uint32_t i = 0; i < n; i++)
		add(&trial->accesses,
			(struct access){.pass = UINT_MAX,
				.reader = {base->rank * 10000, base->rank, base->script},
				.file = chance(50) ? 0 : below(trial->files),
				.done = true});
}

static void add_pass(struct trial *trial, struct loader loader, uint32_t passes)
{
	loader.passes = passes;
	loader.first_pass = trial->passes;
	loader.seed = below(1000000);
	say(trial, " %s(%u%s)", loader.batches ? "part" : "pass",
		loader.batches ? loader.batches : passes, loader.beyond ? " ahead" : "");
	load(&trial->accesses, loader);
	trial->passes += passes;
}

static void add_program(struct trial *trial, uint64_t script, bool beyond)
{
	static const uint32_t batches[] = {1, 4, 7, 16, 32},
			      workers[] = {0, 0, 1, 2, 3, 4, 8};
	struct loader loader = {.files = trial->files,
		.batch = batches[below(5)],
		.workers = workers[below(7)],
		.drop = chance(25),
		.in_order = chance(40),
		.stays = chance(50),
		.twice = chance(20),
		.labels = chance(20) ? 1 : 0,
		.script = script,
		.rank = script};
	uint32_t whole = (trial->files + loader.batch - 1) / loader.batch;
	if (loader.drop && loader.batch > trial->files)
		loader.drop = false;
	say(trial, "; script: batch %u, %u workers%s%s%s%s%s:", loader.batch,
		loader.workers, loader.stays ? ", persistent" : "",
		loader.drop ? ", drop_last" : "",
		loader.in_order ? ", in order" : ", shuffled",
		loader.twice ? ", twice" : "", loader.labels ? ", label" : "");
	loader.stays |= loader.workers == 0; /* the main process reads */
	if (chance(30))
		add_look(trial, &loader);
	for (uint32_t n = 1 + below(5); n > 0; n--) {
		struct loader part = loader;
		if (chance(70)) {
			add_pass(trial, loader, 1);
		} else {
			part.batches = 1 + below(whole);
			add_pass(trial, part, 1);
		}
		if (chance(15))
			add_look(trial, &loader);
		else if (chance(15)) {
			part.batches = 1;
			add_pass(trial, part, 1);
		}
	}
	uint32_t ahead = 2 * loader.batch * loader.workers;
	if (beyond && loader.stays && ahead > 0 && 2 * ahead <= trial->files) {
		loader.beyond = true;
		add_pass(trial, loader, 3);
	}
}

static void make_trial(uint64_t seed, bool beyond, struct trial *ret)
{
	static const uint32_t files[] = {30, 96, 97, 250, 485};
	rng_seed(&rng, seed);
	*ret = (struct trial){.files = files[below(5)]};
	say(ret, "seed %llu, %u files", (unsigned long long)seed, ret->files);
	for (uint64_t n = 1 + (chance(30) ? below(4) : 0), script = 1; n > 0;
		n--, script++)
		add_program(ret, script, beyond);
}

/* --- what they get ------------------------------------------------------------------- */

static unsigned noticed;

static void adopt_nothing(struct epochs *epochs)
{
	epochs->adopting.position = UINT32_MAX;
}

/* Reads what it finds in epoch-NNNN/, as grep -r does, and tries again what it can't. */
struct looker {
	uint32_t epoch, position;
	unsigned percent; /* of the script's opens, after which it opens a file */
};

static void look_on(struct epoch_world *world, struct looker *looker, uint32_t files)
{
	struct world_request *request;
	while (chance(looker->percent)) {
		request = world_request_by(world, looker->epoch, looker->position,
			(struct reader){.thread = 0}, false);
		world_open(world, request);
		int status = request->request.status;
		if (status == 0)
			world_release(world, request, true);
		cr_assert(status == 0 || status == -EAGAIN || status == -ESTALE ||
			  status == -ENOENT);
		if (status == -EAGAIN || status == -ENOENT)
			return;
		looker->position = (looker->position + 1) % files;
		looker->epoch += looker->position == 0;
	}
}

static bool is_last_of(const struct trial *trial, size_t i)
{
	return i + 1 == trial->accesses.n ||
	       trial->accesses.list[i].reader.script !=
		       trial->accesses.list[i + 1].reader.script;
}

static void run(const struct trial *trial, bool mutant, sample_id *ret)
{
	struct looker lookers[3] = {0};
	for (unsigned i = 0; i < trial->lookers; i++)
		lookers[i].percent = 10 + below(90);
	struct epoch_world world;
	struct epochs_config config = {.kind = EPOCHS_DRAWN,
		.set.positions = trial->files,
		.limit = WORLD_EPOCHS,
		.lookahead = 8,
		.file = 1,
		.idle_ns = UINT64_C(600000000000)};
	world_begin(&world, &config, 1);
	world.keep = 3;
	world.mutant = mutant ? adopt_nothing : NULL;
	uint32_t first = NO_FILE;
	bool reads = false;
	for (size_t i = 0; i < trial->accesses.n; i++) {
		const struct access *access = &trial->accesses.list[i];
		struct world_request *request = world_request_by(&world, EPOCH_CURRENT,
			access->file, access->reader, access->label);
		request->request.done = access->done;
		world_open(&world, request);
		cr_assert_eq(request->request.status, 0);
		ret[i] = request->request.sample;
		world_release(&world, request, true);
		bool last = is_last_of(trial, i);
		if (last)
			epochs_script_ended(world.epochs, access->reader.script);
		/* A script that has opened one file may be somebody who looks. */
		first = first == NO_FILE ? access->file : first;
		reads = last || reads || access->file != first;
		for (unsigned k = 0; reads && k < trial->lookers; k++)
			look_on(&world, &lookers[k], trial->files);
		first = last ? NO_FILE : first;
		reads = reads && !last;
	}
	noticed = 0;
	for (int i = 0; i < NOTICES; i++)
		noticed += i == NOTICE_LAST || i == NOTICE_EARLY ? 0 : world.noticed[i];
	world_end(&world);
}

static unsigned count_inexact(const struct trial *trial, const sample_id *samples)
{
	unsigned inexact = 0;
	uint32_t *by_sample = calloc(2 * trial->files + 1, sizeof(*by_sample));
	uint32_t *by_file = calloc(2 * trial->files + 1, sizeof(*by_file));
	cr_assert(by_sample && by_file);
	for (unsigned pass = 0; pass < trial->passes; pass++) {
		bool exact = true;
		memset(by_sample, 0, (2 * trial->files + 1) * sizeof(*by_sample));
		memset(by_file, 0, (2 * trial->files + 1) * sizeof(*by_file));
		for (size_t i = 0; i < trial->accesses.n; i++) {
			const struct access *access = &trial->accesses.list[i];
			uint32_t file = access->file, sample = samples[i];
			if (access->pass != pass)
				continue;
			exact = exact &&
				(!by_sample[sample] || by_sample[sample] == file + 1) &&
				(!by_file[file] || by_file[file] == sample + 1);
			by_sample[sample] = file + 1;
			by_file[file] = sample + 1;
		}
		inexact += !exact;
	}
	free(by_sample);
	free(by_file);
	return inexact;
}

/* Counts the scripts that have a pass which is not exact, and are not told; with looks also
 * those that are told. */
static unsigned count_silent(uint64_t seeds, bool beyond, bool looks, bool mutant)
{
	unsigned silent = 0;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct trial trial;
		make_trial(seed, beyond, &trial);
		trial.lookers = looks ? 1 + below(3) : 0;
		sample_id *samples = calloc(trial.accesses.n, sizeof(*samples));
		cr_assert_not_null(samples);
		run(&trial, mutant, samples);
		unsigned inexact = count_inexact(&trial, samples);
		silent += inexact > 0 && (looks || noticed == 0);
		if (inexact > 0 && (looks || noticed == 0) && !mutant)
			fprintf(stderr, "%u of %u passes: %s\n", inexact, trial.passes,
				trial.text);
		free(samples);
		free(trial.accesses.list);
	}
	return silent;
}

/* One of 10,000 is let through: small sets of which a worker reads a few files. */
Test(epoch_grammar, one_script_after_the_other, .timeout = 3600)
{
	unsigned n = effort(4000, 1000000), silent = count_silent(n, false, false, false);
	cr_assert_leq(silent, 1 + n / 10000, "%u of %u scripts are not exact", silent, n);
}

/* Workers that begin the next pass while others are in this, by up to half of the
 * files. */
Test(epoch_grammar, workers_that_run_ahead, .timeout = 3600)
{
	unsigned n = effort(2000, 100000), silent = count_silent(n, true, false, false);
	cr_assert_leq(silent, 10 + n / 100, "%u of %u scripts are not exact", silent, n);
}

/* Samples that lookers bind are the script's when its turn comes. */
Test(epoch_grammar, looks_by_number_beside_a_script, .timeout = 3600)
{
	unsigned n = effort(1000, 100000), silent = count_silent(n, false, true, false);
	cr_assert_leq(silent, 1 + n / 10000, "%u of %u scripts are not exact", silent, n);
}

/* It begins an epoch and keeps nothing of the one before. */
Test(epoch_grammar, what_adopts_nothing_is_rejected)
{
	cr_assert_gt(count_silent(1000, false, false, true), 10);
}
