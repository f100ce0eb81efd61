// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * simulate [--seconds N] [--runs N] [--seed N] [--processes N] [-v]: simulates the inside of the
 * daemon. Each seed has its own schedule, jobs, readers, failures and crashes. A run that fails
 * prints its seed, and --seed repeats the run.
 */

#include "plan.h"
#include "sched/jobs.h"
#include "sched/sched.h"
#include "simulation.h"

#include "../tiny_dataset.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct simulation simulation;

/* seconds of the real clock; a run takes milliseconds */
#define FOR_EVER_S 60

static uint64_t seed_now;
static bool loud;

/* The site that fails, or the call after which the process dies, unless chance decides. */
static struct {
	enum site kind;
	uint64_t n; /* the number of the site; 0: chance decides */
	int error;
	bool reached; /* result: the run had this many sites */
} plan_of_run;

/* Errors of readers, all of whom may wait for the same sample. */
#define MOST_ERRORS 8

/* --- one run --------------------------------------------------------------------------- */

static void unexpected(void *context, const char *message)
{
	(void)context;
	log_error("reported: %s", message);
}

static struct job_config choose_config(struct model_job *job)
{
	static char file[] = "job.ini", dataset[] = "tiny", extension[] = "ppm",
		    sequential[] = "sequential";
	static const enum view_layout layouts[] = {LAYOUT_FLAT, LAYOUT_FLAT, LAYOUT_FLAT,
		LAYOUT_CLASSES, LAYOUT_BATCH, LAYOUT_MIRROR};
	struct job_config config = {.file = file,
		.weight = 1,
		.name = job->name,
		.dataset = dataset,
		.extension = extension,
		.order = co_one_in(5) ? ORDER_SEQUENTIAL : ORDER_SHUFFLED,
		.layout = layouts[co_random(6)],
		.epochs = 1 + co_random(MOST_EPOCHS),
		.idle_s = co_one_in(3) ? 1 : 600,
		.keep_epochs = 1 + co_random(3),
		.lookahead = 1 + co_random(8),
		.batch = 1 + co_random(4)};
	if (config.order == ORDER_SEQUENTIAL)
		config.order_text = sequential;
	if (config.layout == LAYOUT_BATCH)
		config.format = FORMAT_NPY;
	if (co_one_in(3))
		config.preparation.resize_width = config.preparation.resize_height = 4;
	return config;
}

static void add(struct model_job *job)
{
	bool persist = co_one_in(2);
	int err = ONCE_MORE(
		sched_job_add(simulation.sched, &job->config, persist, unexpected, NULL));
	ensure(err == 0 || disk_is_dead());
	job->there = err == 0;
}

/* Removes a job. A crash during the removal may leave any part of the job's state. */
static void remove_job(struct model_job *job)
{
	job->there = false;
	model_forget(job);
	simulation.counts.removals++;
	ensure(sched_job_remove(simulation.sched, job->name) == 0);
	model_forget(job);
}

static void start(void)
{
	ensure(ONCE_MORE(sched_new(&simulation.daemon, &simulation.dataset, 1,
		       &simulation.sched)) == 0);
}

static void stop(void)
{
	sched_stop(simulation.sched);
	readers_wait_for_all();
	sched_free(&simulation.sched);
}

/* Starts again after a crash. Bindings in the journal stay, and the jobs come back. */
static void restart(void)
{
	simulation.ending = false;
	disk_live();
	start();
	if (co_one_in(2))
		sched_jobs_restore(simulation.sched);
	for (unsigned i = 0; i < simulation.n_jobs; i++) {
		struct model_job *job = &simulation.jobs[i];
		struct sched_job *found = sched_job_find(simulation.sched, job->name);
		if (found)
			sched_job_put(found);
		else
			add(job);
		job->there = true;
	}
}

static void recover(void)
{
	simulation.counts.crashes++;
	simulation.ending = true;
	readers_wait();
	stop();
	restart();
}

/* Crashes the machine, in half of the cases while jobs come and go. */
static void crash(void)
{
	unsigned steps = co_random(8);
	disk_die_in(1 + co_random(co_one_in(2) ? 10 : 100));
	for (; !disk_is_dead() && steps > 0; steps--) {
		struct model_job *job = &simulation.jobs[co_random(simulation.n_jobs)];
		if (job->there && co_one_in(4))
			remove_job(job);
		else if (!job->there && co_one_in(2))
			add(job);
		co_sleep(co_random(5000000));
	}
	disk_die();
	recover();
}

static void do_something(void)
{
	struct model_job *job = &simulation.jobs[co_random(simulation.n_jobs)];
	co_sleep(co_random(co_one_in(10) ? 2000000000 : 5000000));
	if (co_one_in(2))
		model_validate();
	else if (co_one_in(6) && job->there)
		remove_job(job);
	else if (!job->there)
		add(job);
}

static void read_for_a_while(void)
{
	readers_start();
	while (simulation.n_readers > 0 && !disk_is_dead() && !co_one_in(30))
		do_something();
	if (disk_is_dead())
		recover();
	else if (simulation.n_readers > 0 && !plan_of_run.n && co_one_in(2))
		crash();
	else
		readers_wait_for_all();
}

static void end_jobs(void)
{
	simulation.passing_in = 0;
	for (unsigned i = 0; i < simulation.n_jobs; i++)
		if (simulation.jobs[i].there)
			model_check_epoch(&simulation.jobs[i]);
	model_validate();
	for (unsigned i = 0; i < simulation.n_jobs; i++)
		if (simulation.jobs[i].there)
			remove_job(&simulation.jobs[i]);
	model_check_nothing_held();
}

static void choose_daemon(void)
{
	static const enum sampler_kind samplers[] = {
		SAMPLER_DSA, SAMPLER_DSA, SAMPLER_EXCHANGE, SAMPLER_ISA};
	struct daemon_config *daemon = &simulation.daemon;
	daemon->cache_bytes = (1 + co_random(2 * SAMPLES)) * SIDE * SIDE * 3;
	daemon->eviction = (enum eviction_policy)co_random(4);
	if (!co_one_in(3))
		daemon->eviction = EVICTION_REFCNT;
	daemon->sampler = samplers[co_random(4)];
	daemon->workers = 1 + co_random(3);
	daemon->reads = 1 + co_random(4);
	daemon->share = (enum share_policy)co_random(4);
	daemon->seed = 1 + co_random(1000);
	simulation.bad =
		co_one_in(4) ? co_random(1 << SAMPLES) & co_random(1 << SAMPLES) : 0;
	simulation.passing_in = co_one_in(4) ? 2 + co_random(10) : 0;
	if (plan_of_run.n && plan_of_run.kind != SITE_NONE)
		simulation.bad = simulation.passing_in = 0;
}

static void *run(void *unused)
{
	(void)unused;
	uint64_t errors = simulation.counts.errors, crashes = simulation.counts.crashes;
	simulation.ending = false;
	choose_daemon();
	sites_begin(plan_of_run.kind, plan_of_run.n, plan_of_run.error);
	start();
	disk_die_in(plan_of_run.kind == SITE_NONE ? (unsigned)plan_of_run.n : 0);
	simulation.n_jobs = 1 + co_random(MOST_JOBS);
	for (unsigned i = 0; i < simulation.n_jobs; i++) {
		struct model_job *job = &simulation.jobs[i];
		snprintf(job->name, sizeof(job->name), "job%u", i);
		job->config = choose_config(job);
		model_forget(job);
		add(job);
	}
	for (unsigned i = 1 + co_random(3); i > 0; i--)
		read_for_a_while();
	disk_die_in(0);
	if (disk_is_dead())
		recover();
	plan_of_run.reached = simulation.counts.crashes > crashes;
	end_jobs();
	stop();
	plan_of_run.reached |= sites_have_failed();
	ensure(!sites_have_failed() || simulation.counts.errors - errors <= MOST_ERRORS);
	return NULL;
}

/* --- all of them ------------------------------------------------------------------------ */

static void tell_seed(int number)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "FAILED: --seed %" PRIu64, seed_now);
	if (plan_of_run.n)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			" --site %d:%d:%" PRIu64, (int)plan_of_run.kind,
			plan_of_run.error, plan_of_run.n);
	text[n++] = '\n';
	(void)!write(STDERR_FILENO, text, (size_t)n);
	signal(number, SIG_DFL);
	raise(number);
}

static void find_numbers(void)
{
	for (sample_id id = 0; id < SAMPLES; id++) {
		struct dataset_sample sample;
		ensure(dataset_get(simulation.dataset, id, &sample) == 0);
		simulation.number_of[id] =
			(unsigned)strtoul(strrchr(sample.path, '/') + 1, NULL, 10);
		dataset_sample_free(&sample);
	}
}

static char *make_directory(void)
{
	char *path = strdup("/dev/shm/joaderfs-dst.XXXXXX");
	ensure(path);
	if (mkdtemp(path))
		return path;
	free(path);
	return tiny_directory();
}

static void begin(const char *directory)
{
	static char name[] = "tiny", extensions[] = "png";
	simulation.daemon.state = tiny_path(directory, "state");
	simulation.dataset_config = (struct dataset_config){.name = name,
		.path = tiny_path(directory, "data"),
		.extensions = extensions};
	ensure(mkdir(simulation.daemon.state, 0700) == 0);
	tiny_dataset(simulation.dataset_config.path, CLASSES, SAMPLES, SIDE);
	ensure(dataset_open(&simulation.dataset_config, simulation.daemon.state, NULL,
		       &simulation.dataset) == 0);
	find_numbers();
}

static void end(void)
{
	dataset_close(&simulation.dataset);
	free(simulation.daemon.state);
	free(simulation.dataset_config.path);
}

static uint32_t run_once(uint64_t seed)
{
	seed_now = seed;
	alarm(FOR_EVER_S);
	uint32_t result = co_run(seed, run, NULL);
	alarm(0);
	simulation.counts.runs++;
	auto_free char *jobs = tiny_path(simulation.daemon.state, "jobs");
	tiny_remove(jobs);
	return result;
}

/* Runs the seed. Every hundredth seed runs twice, because only a seed that repeats its run helps
 * to find a bug. */
static void run_seed(uint64_t seed)
{
	uint32_t result = run_once(seed);
	if (seed % 100 == 0)
		ensure(run_once(seed) == result);
}

static uint32_t stride; /* of the sites that fail */

/* Runs the seed again and again. In each run another site fails, or the process dies there, until
 * a run has no such site. On average one of every `stride` sites is tried. */
static void run_sites(uint64_t seed, enum site kind, int error)
{
	struct rng rng;
	rng_seed(&rng, seed);
	plan_of_run.kind = kind;
	plan_of_run.error = error;
	do {
		plan_of_run.n += 1 + rng_below(&rng, 2 * stride - 1);
		run_once(seed);
	} while (plan_of_run.reached);
	plan_of_run.n = 0;
}

static void run_all_sites(uint64_t seed)
{
	run_sites(seed, SITE_MEMORY, ENOMEM);
	run_sites(seed, SITE_FILE, EIO);
	run_sites(seed, SITE_FILE, ENOSPC);
	run_sites(seed, SITE_NONE, 0);
}

static void print_counts(void)
{
	const struct counts *counts = &simulation.counts;
	printf("%" PRIu64 " runs: %" PRIu64 " opens, %" PRIu64 " answered, %" PRIu64
	       " cancelled, %" PRIu64 " refused, %" PRIu64 " failed, %" PRIu64
	       " crashes, %" PRIu64 " removals, %" PRIu64 " epochs, %" PRIu64
	       " parked, %" PRIu64 " waits, %" PRIu64 " hits\n",
		counts->runs, counts->opens, counts->answers, counts->cancelled,
		counts->refused, counts->errors, counts->crashes, counts->removals,
		counts->epochs, counts->parked, counts->waits, counts->hits);
}

/* Plays the seeds of one process. */
static int play(const struct plan *plan, unsigned process, const char *directory)
{
	char name[16];
	snprintf(name, sizeof(name), "%u", process);
	auto_free char *own = tiny_path(directory, name);
	ensure(mkdir(own, 0700) == 0);
	crash_install();
	signal(SIGABRT, tell_seed);
	signal(SIGSEGV, tell_seed);
	signal(SIGALRM, tell_seed);
	ensure(loud || log_to_file("/dev/null") == 0);
	begin(own);
	stride = plan->stride;
	plan_play(plan, process, stride ? run_all_sites : run_seed);
	print_counts();
	end();
	return 0;
}

/* Parses KIND:ERROR:N, as a failure prints it. */
static bool parse_site(const char *text)
{
	unsigned kind;
	if (sscanf(text, "%u:%d:%" SCNu64, &kind, &plan_of_run.error, &plan_of_run.n) !=
		3)
		return false;
	plan_of_run.kind = (enum site)kind;
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		PLAN_OPTIONS, {"sites", 1, NULL, 'f'}, {"site", 1, NULL, 'o'}, {0}};
	struct plan plan = PLAN_ALL;
	for (int c; (c = getopt_long(argc, argv, "v", options, NULL)) != -1;)
		switch (c) {
		case 'f':
			plan.stride = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'o':
			if (!parse_site(optarg))
				return 2;
			break;
		case 'v':
			loud = true;
			break;
		default:
			if (!plan_take(&plan, c))
				return 2;
		}
	auto_free char *directory = make_directory();
	int failed = plan_play_all(&plan, play, directory);
	tiny_remove(directory);
	return failed;
}
