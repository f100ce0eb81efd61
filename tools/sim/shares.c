// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "training.h"

#include <errno.h>

struct row {
	const char *name;  /* name in the CSV */
	const char *title; /* title in the table */
	enum { BY_WORKERS, BY_GRANT, BY_POOL } by;
	enum worker_policy workers;
	enum share_policy share;
	bool pauses;
};

/* Indices of rows that explain() mentions. */
enum {
	ROW_REQUESTED,
	ROW_BALANCE,
	ROW_WAA = 4,
	ROW_MENDED,
	ROW_KNOWN,
	ROW_SLOWDOWN = 10
};

static const struct row rows[] = {
	{"requested", "as requested", BY_WORKERS, .workers = WORKERS_REQUESTED},
	{"balance", "balance", BY_WORKERS, .workers = WORKERS_BALANCE},
	{"proportion", "proportion", BY_WORKERS, .workers = WORKERS_PROPORTION},
	{"inverse", "inverse proportion", BY_WORKERS, .workers = WORKERS_INVERSE},
	{"waa", "WAA as printed", BY_WORKERS, .workers = WORKERS_WAA, .pauses = true},
	{"waa-no-pauses", "WAA, no pauses", BY_WORKERS, .workers = WORKERS_WAA_MENDED},
	{"known-slowdown", "equal slowdown, known", BY_GRANT, .share = SHARE_SLOWDOWN},
	{"known-throughput", "throughput, known", BY_GRANT, .share = SHARE_THROUGHPUT},
	{"fifo", "pool: fifo", BY_POOL, .share = SHARE_FIFO},
	{"fair", "pool: fair", BY_POOL, .share = SHARE_FAIR},
	{"slowdown", "pool: slowdown", BY_POOL, .share = SHARE_SLOWDOWN},
	{"throughput", "pool: throughput", BY_POOL, .share = SHARE_THROUGHPUT},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int run_row(const struct workload *workload, const struct row *row,
	struct workload_outcome *ret)
{
	*ret = (struct workload_outcome){0};
	switch (row->by) {
	case BY_WORKERS:
		fluid_workers(workload, row->workers, row->pauses, ret);
		return 0;
	case BY_GRANT:
		fluid_granted(workload, row->share, ret);
		return 0;
	case BY_POOL:
		return pool_run(workload, row->share, ret);
	}
	return -EINVAL;
}

static void print_head(const struct workload *workload)
{
	printf("%s\n\n%-22s %8s %9s %9s %9s %9s %9s\n", workload->title,
		"who gets the workers", "images/s", "against", "makespan", "mean",
		"GPU idle", "worst");
	printf("%-22s %8s %9s %9s %9s %9s %9s\n", "", "(sum)", "balance", "s",
		"latency s", "mean s", "slowdown");
}

static void print_row(const struct row *row, const struct workload_outcome *is,
	const struct workload_outcome *balance)
{
	printf("%-22s %8.0f %+8.1f%% %9.0f %9.0f %9.0f %9.2f\n", row->title, is->rates,
		100 * (is->rates / balance->rates - 1), is->makespan, is->latency,
		is->idle, is->slowdown);
}

static void write_csv(FILE *csv, const struct workload *workload, const struct row *row,
	const struct workload_outcome *is)
{
	fprintf(csv, "%s,%s,%.3f,%.3f,%.3f,%.3f,%.4f\n", workload->name, row->name,
		is->rates, is->makespan, is->latency, is->idle, is->slowdown);
}

static int print_workload(FILE *csv, const struct workload *workload,
	struct workload_outcome outcomes[static ROWS])
{
	for (size_t i = 0; i < ROWS; i++) {
		int err = run_row(workload, &rows[i], &outcomes[i]);
		if (err)
			return err;
	}
	print_head(workload);
	for (size_t i = 0; i < ROWS; i++) {
		print_row(&rows[i], &outcomes[i], &outcomes[ROW_BALANCE]);
		if (csv)
			write_csv(csv, workload, &rows[i], &outcomes[i]);
	}
	putchar('\n');
	return 0;
}

static const char explanation[] =
	"How to read this\n"
	"All rows have one machine: 18 workers, which together deliver 1660 images/s.\n"
	"In the paper's rows each training has a number of workers; in ours each\n"
	"worker takes the next image of the training that is due. 'known': the best\n"
	"division if each need were known (share_grant). 'pool': the daemon's\n"
	"allocator, image by image, which measures needs while it runs, with readers\n"
	"that prefetch as PyTorch's do. Slowdown: the time from arrival to end,\n"
	"divided by the time with all workers for this training alone.\n"
	"\n"
	"Differences from the paper, and their reasons\n"
	"- The paper prints no coefficients. The model has the fewest coefficients\n"
	"  that give the figures of its text: tools/sim/training.c lists them.\n"
	"- In Fig. 3 the sum of rates of WAA is 23.5 %% above balance (inverse\n"
	"  proportion: 14 %%). This does not follow from the paper's own model:\n"
	"  balance keeps all 18 workers busy until all trainings end at once, so\n"
	"  another division can only gain by finishing some trainings sooner: %.0f %%\n"
	"  here for WAA as printed.\n"
	"- In Table III plain balance already has the makespan for which the paper\n"
	"  praises WAA (%.0f s; %.0f s as requested). It comes from giving idle\n"
	"  workers away, and not from the algorithm. VGG13's GPUs alone need %.0f s.\n"
	"- WAA as printed takes one worker too many if a round does not end exactly\n"
	"  at C (8, 14 and 15 become 2, 7 and 8), takes equally many workers from all\n"
	"  trainings whatever they lose, waits up to 30 s before it handles an event,\n"
	"  and stops trainings for 16 s. Without the pauses and the miscount its sum\n"
	"  of rates is %.0f %% better.\n"
	"- Equal slowdown gives %.0f %% more than balance. Throughput gives even\n"
	"  more, and lets large models wait. Measuring needs while running costs %.1f\n"
	"  %% of the rate with known needs. Nothing is fitted beforehand, and no\n"
	"  training is paused.\n"
	"- The worst slowdown of a whole run also depends on how crowded the machine\n"
	"  was while a training ran. Small models run here when the machine is\n"
	"  crowded, so policies that prefer them can have a lower worst slowdown than\n"
	"  equal slowdown.\n";

static void explain(
	const struct workload_outcome *two, const struct workload_outcome *three)
{
	const struct training *vgg = &workload_dynamic.trainings[3];
	double alone =
		vgg->arrival + START_SECONDS + training_images(vgg) / training_alone(vgg);
	printf(explanation, 100 * (two[ROW_WAA].rates / two[ROW_BALANCE].rates - 1),
		three[ROW_BALANCE].makespan, three[ROW_REQUESTED].makespan, alone,
		100 * (three[ROW_MENDED].rates / three[ROW_WAA].rates - 1),
		100 * (three[ROW_SLOWDOWN].rates / three[ROW_BALANCE].rates - 1),
		100 * (1 - three[ROW_SLOWDOWN].rates / three[ROW_KNOWN].rates));
}

static int print_page(FILE *csv)
{
	if (csv)
		fputs("workload,policy,sum_of_rates,makespan,latency,gpu_idle,"
		      "worst_slowdown\n",
			csv);
	struct workload_outcome two[ROWS], three[ROWS];
	int err = print_workload(csv, &workload_static, two);
	if (!err)
		err = print_workload(csv, &workload_dynamic, three);
	if (!err)
		explain(two, three);
	return err;
}

int shares_print(const char *path)
{
	FILE *csv = path ? fopen(path, "we") : NULL;
	if (path && !csv)
		return -errno;
	int err = print_page(csv);
	if (csv && fclose(csv) && !err)
		err = -errno;
	return err ? err : fflush(stdout) ? -errno : 0;
}
