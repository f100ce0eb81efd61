// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* joader-sim: runs the daemon's samplers and cache in scenarios, without files or a mount. */

#include "base/cleanup.h"
#include "sim/cluster.h"
#include "sim/randomness.h"
#include "sim/report.h"
#include "sim/sim.h"
#include "sim/training.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE 2
#define MOST_SCALE 100000
#define MOST_JOBS 128
#define MOST_SAMPLES 100000000

static const char help[] =
	"usage: joader-sim [OPTION]... SCENARIO...\n"
	"       joader-sim --jobs N --samples N|--dataset DIR [OPTION]...\n"
	"       joader-sim --order JOB:EPOCH [OPTION]... SCENARIO\n"
	"       joader-sim --randomness [--epochs N] [--seed N] [--csv FILE]\n"
	"       joader-sim shares [--csv FILE]\n"
	"       joader-sim cluster [--csv FILE] [--svg FILE]\n"
	"\n"
	"  Runs the samplers and the cache of joaderfs without files or a mount, and\n"
	"  prints how many samples have to be loaded. SCENARIO is the name of a "
	"built-in\n"
	"  scenario, or an ini (a path with a / or with the ending .ini).\n"
	"\n"
	"  -l, --list           list the built-in scenarios\n"
	"  -s, --show           print the inis of the scenarios\n"
	"  -c, --csv FILE       also write the figures as CSV\n"
	"  -p, --svg FILE       also draw a plot of the figures, for a browser\n"
	"      --title TEXT     the title of the plot\n"
	"      --linear         make the plot's axis of the cache size linear\n"
	"      --sampler LIST   dsa, isa, exchange, dsa-tree; replaces the scenario's "
	"value\n"
	"      --eviction LIST  refcnt, lru, fifo, random\n"
	"      --cache LIST     sizes: samples, parts of all with %, or bytes such as "
	"100G\n"
	"      --bytes-per-sample N\n"
	"                       the bytes of a prepared sample, for a cache in bytes\n"
	"      --dataset DIR    take these bytes, and the number of samples, from a\n"
	"                       mounted dataset: MOUNT/datasets/NAME\n"
	"      --jobs N         instead of SCENARIO: N jobs on one dataset, which begin\n"
	"                       one after the other within an epoch\n"
	"      --samples N      the samples of that dataset\n"
	"      --lookahead N    the samples that are drawn ahead; 0: read when drawn\n"
	"      --runs N         print the means of N runs with different seeds\n"
	"      --seed N         the seed of all random choices\n"
	"      --scale N        simulate one in N samples; the default takes seconds\n"
	"      --order JOB:EPOCH\n"
	"                       instead of figures: print positions and samples of that\n"
	"                       epoch\n"
	"      --randomness     instead of SCENARIO: measure how random orders are\n"
	"      --epochs N       with it: the epochs of each job in each setting\n"
	"      shares           instead of SCENARIO: compare the worker allocation of\n"
	"                       A-Dloader with the daemon's\n"
	"      cluster          instead of SCENARIO: simulate 4 to 256 nodes: samples "
	"that\n"
	"                       move between them, their homes, and a shared storage\n"
	"  -h, --help           print this text\n"
	"      --version        print the version\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

struct request {
	bool list, show, linear, randomness;
	const char *csv, *svg, *title, *epochs, *order, *scale;
	struct sim_plan plan; /* jobs, samples: 0 if they are not given */
	struct {
		const char *key; /* a key of the section [scenario] */
		const char *value;
	} overrides[16];
	size_t n_overrides;
};

static int fail(const char *what, int err)
{
	fprintf(stderr, "joader-sim: %s: %s\n", what, strerror(-err));
	return EXIT_FAILURE;
}

/* --- list and show ----------------------------------------------------------------- */

static int list(void)
{
	for (const struct sim_builtin *b = sim_builtins; b->name; b++) {
		struct sim_scenario scenario;
		if (sim_load(b->name, &scenario))
			return EXIT_FAILURE;
		printf("%-18s %s\n", scenario.name, scenario.title);
		sim_scenario_free(&scenario);
	}
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int show(char **names, int n)
{
	for (int i = 0; i < n; i++) {
		const struct sim_builtin *b = sim_builtins;
		while (b->name && strcmp(b->name, names[i]) != 0)
			b++;
		if (!b->name) {
			fprintf(stderr, "joader-sim: no built-in scenario \"%s\"\n",
				names[i]);
			return EXIT_FAILURE;
		}
		fputs(b->text, stdout);
	}
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* --- run --------------------------------------------------------------------------- */

struct outcome {
	struct sim_scenario *scenarios;
	size_t n_scenarios;
	struct sim_curve *curves;
	size_t n_curves;
};

/* Loads the scenario `name`; NULL: the scenario that request->plan describes. */
static int load(const struct request *request, const char *name, struct sim_scenario *ret)
{
	int err = name ? sim_load(name, ret) : sim_load_plan(&request->plan, ret);
	if (!err && request->plan.sample_bytes > 0)
		ret->sample_bytes = request->plan.sample_bytes;
	if (err)
		return err;
	for (size_t i = 0; i < request->n_overrides && !err; i++)
		err = sim_override(
			ret, request->overrides[i].key, request->overrides[i].value);
	if (!err)
		err = sim_check(ret);
	if (err)
		sim_scenario_free(ret);
	return err;
}

static int add_curves(struct outcome *outcome, const struct sim_curve *curves, size_t n)
{
	struct sim_curve *all =
		reallocarray(outcome->curves, outcome->n_curves + n, sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all + outcome->n_curves, curves, n * sizeof(*all));
	outcome->curves = all;
	outcome->n_curves += n;
	return 0;
}

static bool parse_u32(const char *text, uint32_t most, uint32_t *ret)
{
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	*ret = (uint32_t)value;
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && value >= 1 &&
	       value <= most;
}

static int run_scenario(const struct request *request, struct outcome *outcome,
	const struct sim_scenario *scenario)
{
	struct sim_curve *curves;
	struct sim_trust trust;
	size_t n;
	uint32_t scale = sim_scale_choose(scenario);
	if (request->scale && !parse_u32(request->scale, MOST_SCALE, &scale)) {
		fprintf(stderr, "joader-sim: --scale: found \"%s\", allowed: 1 to %d\n",
			request->scale, MOST_SCALE);
		return -EINVAL;
	}
	int err = sim_sweep_scaled(scenario, scale, isatty(STDERR_FILENO) ? stderr : NULL,
		&curves, &n, &trust);
	if (err)
		return err;
	sim_print_table(curves, n);
	sim_print_trust(&trust);
	fflush(stdout);
	err = add_curves(outcome, curves, n);
	if (err)
		sim_curves_free(curves, n);
	else
		free(curves); /* the outcome owns the points of the curves now */
	return err;
}

static int write_files(const struct request *request, const struct outcome *outcome)
{
	int err = 0;
	if (request->csv)
		err = sim_write_csv(request->csv, outcome->curves, outcome->n_curves);
	if (err)
		return fail(request->csv, err);
	if (request->svg)
		err = sim_write_svg(request->svg, request->title, outcome->curves,
			outcome->n_curves, !request->linear);
	return err ? fail(request->svg, err) : EXIT_SUCCESS;
}

/* Loads all scenarios before the first one runs, so that mistakes are reported at once. */
static int run(
	const struct request *request, char **names, size_t n, struct outcome *outcome)
{
	outcome->scenarios = calloc(n, sizeof(*outcome->scenarios));
	if (!outcome->scenarios)
		return fail("scenarios", -ENOMEM);
	for (size_t i = 0; i < n; i++) {
		if (load(request, names[i], &outcome->scenarios[i]))
			return EXIT_FAILURE;
		outcome->n_scenarios++;
	}
	for (size_t i = 0; i < n; i++) {
		int err = run_scenario(request, outcome, &outcome->scenarios[i]);
		if (err)
			return err == -EINVAL ? EXIT_USAGE
					      : fail(outcome->scenarios[i].name, err);
	}
	return write_files(request, outcome);
}

static int print_order(const struct request *request, char **names, size_t n)
{
	struct sim_scenario scenario;
	if (n != 1 || request->csv || request->svg) {
		fputs("joader-sim: --order: allowed with it: one scenario, --sampler, "
		      "--eviction, --cache, --lookahead, --seed\n",
			stderr);
		return EXIT_USAGE;
	}
	if (load(request, names[0], &scenario))
		return EXIT_FAILURE;
	int err = sim_print_order(&scenario, request->order);
	sim_scenario_free(&scenario);
	if (err && err != -EINVAL)
		return fail("--order", err);
	return err || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void outcome_free(struct outcome *outcome)
{
	sim_curves_free(outcome->curves, outcome->n_curves);
	for (size_t i = 0; i < outcome->n_scenarios; i++)
		sim_scenario_free(&outcome->scenarios[i]);
	free(outcome->scenarios);
}

/* --- randomness -------------------------------------------------------------------- */

static int write_randomness(const char *path, struct randomness_options *options)
{
	bool as_claimed = false;
	if (path)
		options->csv = fopen(path, "we");
	if (path && !options->csv)
		return fail(path, -errno);
	int err = randomness_run(options, &as_claimed);
	if (options->csv && fclose(options->csv) && !err)
		return fail(path, -errno);
	if (err)
		return fail("--randomness", err);
	return as_claimed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int randomness(const struct request *request, int n_names)
{
	struct randomness_options options = {0};
	struct sim_scenario defaults = {.seed = 1};
	bool allowed = n_names == 0 && !request->list && !request->show &&
		       !request->svg && !request->order;
	for (size_t i = 0; i < request->n_overrides; i++)
		if (strcmp(request->overrides[i].key, "seed") != 0)
			allowed = false;
		else if (sim_override(&defaults, "seed", request->overrides[i].value))
			return EXIT_USAGE;
	if (!allowed) {
		fputs("joader-sim: --randomness: allowed with it: --epochs, --seed, "
		      "--csv\n",
			stderr);
		return EXIT_USAGE;
	}
	if (request->epochs &&
		(!parse_u32(request->epochs, RANDOMNESS_MAX_EPOCHS, &options.epochs) ||
			options.epochs < RANDOMNESS_MIN_EPOCHS)) {
		fprintf(stderr, "joader-sim: --epochs: found \"%s\", allowed: %d to %d\n",
			request->epochs, RANDOMNESS_MIN_EPOCHS, RANDOMNESS_MAX_EPOCHS);
		return EXIT_USAGE;
	}
	options.seed = defaults.seed;
	return write_randomness(request->csv, &options);
}

/* --- pages ------------------------------------------------------------------------- */

static int print_shares(const char *csv, const char *svg)
{
	(void)svg;
	return shares_print(csv);
}

/* Words of the command line that stand in place of scenarios. Each prints a page. */
static const struct page {
	const char *name;
	int (*print)(const char *csv, const char *svg);
	bool has_plots;
} pages[] = {{"shares", print_shares, false}, {"cluster", cluster_print, true}};

static const struct page *find_page(const char *name)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(pages[i].name, name) == 0)
			return &pages[i];
	return NULL;
}

static int print_page(const struct page *page, const struct request *request, int n_names)
{
	if (n_names != 1 || request->n_overrides || (request->svg && !page->has_plots) ||
		request->order || request->show || request->epochs || request->scale ||
		request->plan.jobs || request->plan.samples) {
		fprintf(stderr, "joader-sim: %s: allowed with it: --csv%s\n", page->name,
			page->has_plots ? ", --svg" : "");
		return EXIT_USAGE;
	}
	int err = page->print(request->csv, request->svg);
	return err ? fail(request->csv ? request->csv : page->name, err) : EXIT_SUCCESS;
}

/* --- options ----------------------------------------------------------------------- */

enum {
	OPTION_LINEAR = 256,
	OPTION_TITLE,
	OPTION_VERSION,
	OPTION_SCENARIO,
	OPTION_ORDER,
	OPTION_SCALE,
	OPTION_PLAN,
	OPTION_RANDOMNESS,
	OPTION_EPOCHS
};

static const struct option options[] = {{"list", no_argument, NULL, 'l'},
	{"show", no_argument, NULL, 's'}, {"csv", required_argument, NULL, 'c'},
	{"svg", required_argument, NULL, 'p'},
	{"linear", no_argument, NULL, OPTION_LINEAR},
	{"title", required_argument, NULL, OPTION_TITLE},
	{"sampler", required_argument, NULL, OPTION_SCENARIO},
	{"eviction", required_argument, NULL, OPTION_SCENARIO},
	{"cache", required_argument, NULL, OPTION_SCENARIO},
	{"lookahead", required_argument, NULL, OPTION_SCENARIO},
	{"runs", required_argument, NULL, OPTION_SCENARIO},
	{"seed", required_argument, NULL, OPTION_SCENARIO},
	{"bytes-per-sample", required_argument, NULL, OPTION_SCENARIO},
	{"dataset", required_argument, NULL, OPTION_PLAN},
	{"jobs", required_argument, NULL, OPTION_PLAN},
	{"samples", required_argument, NULL, OPTION_PLAN},
	{"scale", required_argument, NULL, OPTION_SCALE},
	{"order", required_argument, NULL, OPTION_ORDER},
	{"randomness", no_argument, NULL, OPTION_RANDOMNESS},
	{"epochs", required_argument, NULL, OPTION_EPOCHS},
	{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0}};

static void override(struct request *request, const char *key, const char *value)
{
	const size_t max = sizeof(request->overrides) / sizeof(request->overrides[0]);
	if (request->n_overrides == max)
		return;
	request->overrides[request->n_overrides].key = key;
	request->overrides[request->n_overrides++].value = value;
}

static int take_plan(struct sim_plan *plan, const char *name, const char *value)
{
	bool jobs = strcmp(name, "jobs") == 0;
	uint32_t most = jobs ? MOST_JOBS : MOST_SAMPLES;
	if (strcmp(name, "dataset") == 0)
		return sim_plan_dataset(value, plan) ? EXIT_FAILURE : -1;
	if (parse_u32(value, most, jobs ? &plan->jobs : &plan->samples))
		return -1;
	fprintf(stderr, "joader-sim: --%s: found \"%s\", allowed: 1 to %" PRIu32 "\n",
		name, value, most);
	return EXIT_USAGE;
}

/* Returns an exit status if the program ends here, otherwise -1. */
static int take_option(struct request *request, int option, int index)
{
	switch (option) {
	case 'l':
		request->list = true;
		return -1;
	case 's':
		request->show = true;
		return -1;
	case 'c':
		request->csv = optarg;
		return -1;
	case 'p':
		request->svg = optarg;
		return -1;
	case OPTION_LINEAR:
		request->linear = true;
		return -1;
	case OPTION_TITLE:
		request->title = optarg;
		return -1;
	case OPTION_SCENARIO:
		override(request, options[index].name, optarg);
		return -1;
	case OPTION_ORDER:
		request->order = optarg;
		return -1;
	case OPTION_SCALE:
		request->scale = optarg;
		return -1;
	case OPTION_PLAN:
		return take_plan(&request->plan, options[index].name, optarg);
	case OPTION_RANDOMNESS:
		request->randomness = true;
		return -1;
	case OPTION_EPOCHS:
		request->epochs = optarg;
		return -1;
	case 'h':
		return fputs(help, stdout) < 0 || fflush(stdout) != 0;
	case OPTION_VERSION:
		return printf("joader-sim %s\n", JOADERFS_VERSION) < 0 ||
		       fflush(stdout) != 0;
	default:
		return EXIT_USAGE;
	}
}

int main(int argc, char **argv)
{
	struct request request = {0};
	struct outcome outcome = {0};
	int option, index = 0;
	while ((option = getopt_long(argc, argv, "lsc:p:h", options, &index)) != -1) {
		int status = take_option(&request, option, index);
		if (status >= 0)
			return status;
	}
	if (request.randomness)
		return randomness(&request, argc - optind);
	if (request.list)
		return list();
	bool plans = optind == argc && request.plan.jobs && request.plan.samples;
	if (optind == argc && !plans) {
		fputs(help, stderr);
		return EXIT_USAGE;
	}
	const struct page *page = plans ? NULL : find_page(argv[optind]);
	if (page)
		return print_page(page, &request, argc - optind);
	if (request.show)
		return show(argv + optind, argc - optind);
	if (request.order)
		return print_order(&request, argv + optind, (size_t)(argc - optind));
	char *planned[] = {NULL};
	int status =
		plans ? run(&request, planned, 1, &outcome)
		      : run(&request, argv + optind, (size_t)(argc - optind), &outcome);
	outcome_free(&outcome);
	return status;
}
