// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "randomness.h"
#include "sim.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Sizes of sets are in units. A unit is one sample for SMALL, so that sets have 3 to 5 samples, and
 * LARGE_UNIT samples for LARGE. */
enum unit { SMALL, LARGE };
enum about {
	ONE_EPOCH,
	SOME_EPOCHS, /* several epochs of a job */
	SEVERAL_JOBS,
};

#define SMALL_EPOCHS 3
#define LARGE_EPOCHS 4
#define LARGE_UNIT 60

static const uint32_t units[] = {[SMALL] = 1, [LARGE] = LARGE_UNIT};
static const uint32_t epochs[] = {[SMALL] = SMALL_EPOCHS, [LARGE] = LARGE_EPOCHS};

struct kind {
	const char *name; /* column of the CSV */
	const char *title;
	enum unit unit;
	enum about about;
	/* One of these functions is set. of_epochs and of_gaps get `number`, too. */
	struct figure (*of_epochs)(const struct places *places, uint32_t number);
	struct figure (*of_gaps)(const struct places *places, double number);
	struct figure (*of_jobs)(const struct places *a, const struct places *b);
	double number;
};

static const struct kind kinds[] = {
	{"orders-first", "whole orders, first epoch", SMALL, ONE_EPOCH,
		.of_epochs = figure_orders, .number = 0},
	{"orders-last", "whole orders, last epoch", SMALL, ONE_EPOCH,
		.of_epochs = figure_orders, .number = SMALL_EPOCHS - 1},
	{"positions-first", "position x sample, first epoch", LARGE, ONE_EPOCH,
		.of_epochs = figure_positions, .number = 0},
	{"positions-last", "position x sample, last epoch", LARGE, ONE_EPOCH,
		.of_epochs = figure_positions, .number = LARGE_EPOCHS - 1},
	{"neighbours-first", "neighbours' ids, first epoch", LARGE, ONE_EPOCH,
		.of_epochs = figure_neighbours, .number = 0},
	{"neighbours-last", "neighbours' ids, last epoch", LARGE, ONE_EPOCH,
		.of_epochs = figure_neighbours, .number = LARGE_EPOCHS - 1},
	{"two-orders", "pairs of whole orders", SMALL, SOME_EPOCHS,
		.of_epochs = figure_two_orders, .number = SMALL_EPOCHS - 2},
	{"epochs-1", "positions, next epoch", LARGE, SOME_EPOCHS,
		.of_epochs = figure_epochs, .number = 1},
	{"epochs-2", "positions, next but one", LARGE, SOME_EPOCHS,
		.of_epochs = figure_epochs, .number = 2},
	{"gaps-0.5", "again within 0.5 epochs", LARGE, SOME_EPOCHS,
		.of_gaps = figure_gaps, .number = .5},
	{"gaps-1", "again within 1 epoch", LARGE, SOME_EPOCHS, .of_gaps = figure_gaps,
		.number = 1},
	{"gaps-1.5", "again within 1.5 epochs", LARGE, SOME_EPOCHS,
		.of_gaps = figure_gaps, .number = 1.5},
	{"jobs", "positions, another job", LARGE, SEVERAL_JOBS, .of_jobs = figure_jobs},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const enum sampler_kind samplers[] = {SAMPLER_ISA, SAMPLER_DSA, SAMPLER_EXCHANGE};

#define SAMPLERS (sizeof(samplers) / sizeof(samplers[0]))

/* Tells whether the sampler promises that this figure is as for uniform and independent orders. All
 * samplers promise it for a job that runs alone. isa promises all figures, dsa those about one job,
 * exchange those about one epoch. */
static bool claimed(
	const struct setting *setting, enum sampler_kind sampler, enum about about)
{
	return setting->n_jobs == 1 || sampler == SAMPLER_ISA || about == ONE_EPOCH ||
	       (sampler == SAMPLER_DSA && about == SOME_EPOCHS);
}

enum verdict { EXACT, WITHIN, GIVEN_UP, WRONG };

static const char *const verdicts[] = {[EXACT] = "exact",
	[WITHIN] = "within",
	[GIVEN_UP] = "given up",
	[WRONG] = "WRONG"};

static enum verdict judge(const struct figure *figure, bool claim)
{
	if (figure->p >= RANDOMNESS_P)
		return claim ? EXACT : WITHIN;
	return claim ? WRONG : GIVEN_UP;
}

struct laboratory {
	const struct randomness_options *options;
	size_t n_claims;
	size_t n_wrong;
	double least; /* smallest p of the promised figures */
};

/* The figures of one setting for each sampler. `worst` has the least probable figure of all jobs
 * or, for a figure about two jobs, of all pairs of jobs. */
struct columns {
	const struct setting *setting;
	struct figure worst[KINDS][SAMPLERS];
	double deciles[SAMPLERS][GAP_DECILES]; /* of the first job's gaps, in epochs */
};

static struct figure measure(
	const struct kind *kind, const struct places *places, const struct places *other)
{
	if (kind->of_epochs)
		return kind->of_epochs(places, (uint32_t)kind->number);
	return kind->of_gaps ? kind->of_gaps(places, kind->number)
			     : kind->of_jobs(places, other);
}

static void write_csv(struct laboratory *laboratory, const struct setting *setting,
	enum sampler_kind sampler, const struct kind *kind, size_t a, size_t b,
	const struct figure *figure, bool claim)
{
	FILE *csv = laboratory->options->csv;
	if (!csv)
		return;
	fprintf(csv, "%s,%s,%s,%zu,", setting->name, sim_sampler_name(sampler),
		kind->name, a);
	if (kind->of_jobs)
		fprintf(csv, "%zu", b);
	fprintf(csv, ",%.6f,%.6f,%.6f,%.3g,%s,%s\n", figure->value, figure->expected,
		figure->bound, figure->p, claim ? "yes" : "no",
		verdicts[judge(figure, claim)]);
}

/* Computes the figure of kind k for the sampler s, about the jobs number a and b (a equals b if the
 * figure is about one job). Judges the figure if the sampler promises it, keeps it in `columns` if
 * it is the worst so far, and writes it to the CSV. */
static void take(struct laboratory *laboratory, struct columns *columns, size_t s,
	size_t k, const struct places *places, size_t a, size_t b)
{
	const struct kind *kind = &kinds[k];
	struct figure figure = measure(kind, &places[a], &places[b]);
	struct figure *worst = &columns->worst[k][s];
	if (!figure.measured)
		return;
	bool claim = claimed(columns->setting, samplers[s], kind->about);
	if (claim) {
		laboratory->n_claims++;
		laboratory->n_wrong += judge(&figure, claim) == WRONG;
		laboratory->least = fmin(laboratory->least, figure.p);
	}
	if (!worst->measured || figure.p < worst->p)
		*worst = figure;
	write_csv(laboratory, columns->setting, samplers[s], kind, a, b, &figure, claim);
}

static void take_all(struct laboratory *laboratory, struct columns *columns, size_t s,
	enum unit unit, const struct places *places)
{
	size_t n = columns->setting->n_jobs;
	for (size_t k = 0; k < KINDS; k++) {
		if (kinds[k].unit != unit)
			continue;
		for (size_t a = 0; a < n; a++) {
			size_t end = kinds[k].of_jobs ? n : a + 1;
			for (size_t b = kinds[k].of_jobs ? a + 1 : a; b < end; b++)
				take(laboratory, columns, s, k, places, a, b);
		}
	}
}

#define USUAL_EPOCHS 1600

/* Returns the number of runs. Small sets need more runs: their figures compare how often each
 * possible order occurs, and an epoch of a run adds only one order to these counts. */
static uint32_t runs_of(const struct laboratory *laboratory, enum unit unit)
{
	uint32_t n = laboratory->options->epochs;
	n = n ? n : USUAL_EPOCHS;
	return unit == SMALL ? 4 * n : n / LARGE_EPOCHS;
}

static int run_sampler(struct laboratory *laboratory, struct columns *columns, size_t s)
{
	for (enum unit unit = SMALL; unit <= LARGE; unit++) {
		struct places places[RANDOMNESS_JOBS];
		const struct setting_run run = {
			.setting = columns->setting,
			.sampler = samplers[s],
			.unit = units[unit],
			.runs = runs_of(laboratory, unit),
			.epochs = epochs[unit],
			.seed = laboratory->options->seed,
		};
		int err = setting_places(&run, places);
		if (err)
			return err;
		take_all(laboratory, columns, s, unit, places);
		if (unit == LARGE && !gap_deciles(&places[0], columns->deciles[s]))
			err = -ENOMEM;
		for (size_t j = 0; j < columns->setting->n_jobs; j++)
			free(places[j].at);
		if (err)
			return err;
	}
	return 0;
}

static void print_cell(const struct figure *figure, bool claim, bool last)
{
	printf("  %8.4f %s%.4f %-*s", figure->value, figure->one_sided ? "+" : "Â±",
		figure->bound, last ? 0 : 9, verdicts[judge(figure, claim)]);
}

static void print_row(const struct columns *columns, size_t k)
{
	if (!columns->worst[k][0].measured)
		return;
	printf("%-31s%8.4f", kinds[k].title, columns->worst[k][0].expected);
	for (size_t s = 0; s < SAMPLERS; s++)
		print_cell(&columns->worst[k][s],
			claimed(columns->setting, samplers[s], kinds[k].about),
			s == SAMPLERS - 1);
	putchar('\n');
}

static void print_deciles(const char *name, const double deciles[GAP_DECILES])
{
	printf("  %-29s", name);
	for (size_t d = 0; d < GAP_DECILES; d++)
		printf("%6.2f", deciles[d]);
	putchar('\n');
}

static void print_columns(const struct columns *columns)
{
	double deciles[GAP_DECILES];
	printf("%s: %s\n%31s%8s", columns->setting->name, columns->setting->what, "",
		"expected");
	for (size_t s = 0; s < SAMPLERS; s++)
		printf("  %-*s", s == SAMPLERS - 1 ? 0 : 26,
			sim_sampler_name(samplers[s]));
	putchar('\n');
	for (size_t k = 0; k < KINDS; k++)
		print_row(columns, k);
	puts("gap between two reads of a sample by the first job, deciles in epochs");
	gap_deciles_expected(deciles);
	print_deciles("expected", deciles);
	for (size_t s = 0; s < SAMPLERS; s++)
		print_deciles(sim_sampler_name(samplers[s]), columns->deciles[s]);
	putchar('\n');
}

static void print_head(const struct laboratory *laboratory)
{
	uint32_t n = runs_of(laboratory, LARGE);
	printf("Orders of %" PRIu32 " epochs of each job (%" PRIu32 " of sets of 3 to 5 "
	       "samples), and the bounds of uniform and\nindependent orders. "
	       "joader-sim(1) explains the figures.\n\n",
		n * LARGE_EPOCHS, runs_of(laboratory, SMALL) * SMALL_EPOCHS);
}

static void print_summary(const struct laboratory *laboratory)
{
	double p = fmin(1, (double)laboratory->n_claims * laboratory->least);
	printf("%zu figures are claimed to be exact, %zu are not within their bounds.\n"
	       "By chance the least likely of them is as far off with p = %.2g, and at "
	       "least one\nof so many figures with p = %.2g.\n",
		laboratory->n_claims, laboratory->n_wrong, laboratory->least, p);
}

static int run_setting(struct laboratory *laboratory, const struct setting *setting)
{
	struct columns columns = {.setting = setting};
	for (size_t s = 0; s < SAMPLERS; s++) {
		int err = run_sampler(laboratory, &columns, s);
		if (err)
			return err;
	}
	print_columns(&columns);
	return fflush(stdout) ? -EIO : 0;
}

int randomness_run(const struct randomness_options *options, bool *ret_as_claimed)
{
	struct laboratory laboratory = {.options = options, .least = 1};
	if (options->csv)
		fputs("setting,sampler,figure,job,other,value,expected,bound,p,claimed,"
		      "verdict\n",
			options->csv);
	print_head(&laboratory);
	for (const struct setting *setting = settings; setting->name; setting++) {
		int err = run_setting(&laboratory, setting);
		if (err)
			return err;
	}
	print_summary(&laboratory);
	*ret_as_claimed = laboratory.n_wrong == 0;
	return 0;
}
