// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/size_text.h"
#include "explain_internal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Simulates the measured world (tools/sim/timed.h), first unchanged, then with one change at a
 * time. A prediction is the simulated time multiplied by a factor, which corrects the error of the
 * simulation without changes (explain_factor). */

#define ENOUGH_SAMPLES                                                                   \
	20000. /* most samples of a simulated world; larger worlds are scaled down */
#define DISK_READ .0002 /* seconds to read a sample from a tier on a local disk */
#define SLOW_READ .001	/* a tier may help if a read takes at least this many seconds */
#define LEAST_CPU 1e-6

double explain_off(const struct explain_job *job, const struct timed_outcome *simulated)
{
	return job->seconds > 0 ? simulated->epoch / job->seconds - 1 : 0;
}

double explain_factor(
	const struct explain_job *job, const struct timed_outcome *simulated)
{
	if (simulated->epoch <= 0)
		return 0;
	return job->seconds / fmin(fmax(job->seconds, simulated->least), simulated->most);
}

static int run(const struct timed_world *world, double scale, struct timed_outcome *ret,
	double *ret_loads)
{
	int err = timed_runs(world, ret, ret_loads);
	for (size_t i = 0; i < world->n_jobs && !err; i++) {
		ret[i].epoch *= scale;
		ret[i].least *= scale;
		ret[i].most *= scale;
	}
	return err;
}

/* Returns the processor time in which the daemon serves a sample, without the decode. */
static double serving(const struct explain_facts *facts)
{
	return facts->served > 0 ? fmax(facts->cpu - facts->decode_cpu, 0) / facts->served
				 : 0;
}

static struct timed_job job_of(
	const struct explain_facts *facts, const struct explain_job *job)
{
	double readers = fmax(job->readers, 1);
	double think = (readers * job->seconds - job->waited_all) / fmax(job->samples, 1);
	double cpu = job->cpu_samples > 0 ? job->cpu / job->cpu_samples : 0;
	think = fmax(think, LEAST_CPU);
	return (struct timed_job){.readers = (unsigned)readers,
		.think = think,
		.cpu = fmin(fmax(cpu + serving(facts), LEAST_CPU), think),
		.pause = job->pause,
		.read = job->read,
		.decode = fmax(job->decode, LEAST_CPU),
		.bytes = fmax(job->bytes, 1),
		.most_reads = (unsigned)fmax(job->most_reads, 1),
		.absent = job->left_out};
}

/* Starts each job as long after the first job as in the daemon. If this time is more than an epoch
 * of the job, whole epochs are subtracted. */
static void set_starts(const struct explain_facts *facts, struct timed_world *world)
{
	double first = HUGE_VAL;
	for (size_t i = 0; i < world->n_jobs; i++)
		if (!facts->jobs[i].left_out)
			first = fmin(first, facts->jobs[i].first);
	for (size_t i = 0; i < world->n_jobs; i++) {
		const struct explain_job *job = &facts->jobs[i];
		double start = fmax(job->first - first, 0);
		if (job->left_out)
			continue;
		world->jobs[i].start = start > job->seconds
					       ? fmod(start, job->seconds + job->pause)
					       : start;
	}
}

/* Divides the numbers of samples, the cache, and the jobs' starts and pauses by `scale`. Simulated
 * epochs are then shorter; run() multiplies them by `scale`. */
static void scale_down(struct timed_world *world, double scale)
{
	for (size_t i = 0; i < world->n_parts; i++)
		world->parts[i].samples =
			(uint32_t)fmax(world->parts[i].samples / scale, 1);
	for (size_t i = 0; i < world->n_jobs; i++) {
		world->jobs[i].start /= scale;
		world->jobs[i].pause /= scale;
	}
	world->cache /= scale;
}

static void world_free(struct timed_world *world)
{
	free(world->jobs);
	free(world->parts);
}

static int world_of(
	const struct explain_facts *facts, struct timed_world *ret, double *ret_scale)
{
	double samples = 0;
	*ret = (struct timed_world){.n_jobs = facts->n_jobs,
		.n_parts = facts->n_parts,
		.eviction = (enum eviction_policy)facts->eviction,
		.share = (enum share_policy)facts->share,
		.cache = facts->cache,
		.workers = (unsigned)facts->workers,
		.reads = (unsigned)facts->reads,
		.cpus = facts->cpus,
		.seed = 1};
	ret->jobs = calloc(facts->n_jobs + 1, sizeof(*ret->jobs));
	ret->parts = calloc(facts->n_parts + 1, sizeof(*ret->parts));
	if (!ret->jobs || !ret->parts) {
		world_free(ret);
		return -ENOMEM;
	}
	memcpy(ret->parts, facts->parts, facts->n_parts * sizeof(*ret->parts));
	for (size_t i = 0; i < facts->n_jobs; i++) {
		const struct explain_job *job = &facts->jobs[i];
		ret->jobs[i] = job_of(facts, job);
		if (job->left_out)
			continue;
		samples += job->samples;
		ret->sampler = (enum sampler_kind)job->sampler;
		ret->lookahead = (uint32_t)fmax(ret->lookahead, job->lookahead);
		ret->labels = (uint32_t)fmax(ret->labels, job->labels);
	}
	if (ret->labels)
		ret->sampler = SAMPLER_EXCHANGE;
	set_starts(facts, ret);
	*ret_scale = fmax(samples / ENOUGH_SAMPLES, 1);
	if (*ret_scale > 1)
		scale_down(ret, *ret_scale);
	return 0;
}

static double all_bytes(const struct explain_facts *facts)
{
	double sum = 0;
	for (size_t i = 0; i < facts->n_parts; i++) {
		double bytes = 0;
		for (size_t j = 0; j < facts->n_jobs; j++)
			if (facts->parts[i].jobs & UINT64_C(1) << j &&
				!facts->jobs[j].left_out)
				bytes = facts->jobs[j].bytes;
		sum += bytes * facts->parts[i].samples;
	}
	return sum;
}

struct changing {
	const struct explain_facts *facts;
	const struct timed_world *base;
	struct explain_answer *answer;
	int err;
};

printf_like(4, 5) static void add(struct changing *changing,
	const struct timed_world *world, const char *key, const char *format, ...)
{
	struct explain_answer *answer = changing->answer;
	struct timed_outcome outcomes[TIMED_JOBS];
	double loads;
	va_list args;
	if (changing->err || answer->n_changes == EXPLAIN_CHANGES)
		return;
	struct explain_change *change = &answer->changes[answer->n_changes];
	changing->err = run(world, answer->scale, outcomes, &loads);
	if (changing->err)
		return;
	snprintf(change->key, sizeof(change->key), "%s", key);
	va_start(args, format);
	vsnprintf(change->text, sizeof(change->text), format, args);
	va_end(args);
	for (size_t i = 0; i < world->n_jobs; i++) {
		change->seconds[i] = outcomes[i].epoch * answer->factor[i];
		change->least[i] = outcomes[i].least * answer->factor[i];
		change->most[i] = outcomes[i].most * answer->factor[i];
	}
	answer->n_changes++;
}

static void change_cache(struct changing *changing)
{
	double all = all_bytes(changing->facts), now = changing->facts->cache;
	const double sizes[] = {now / 2, now * 2, all};
	for (size_t i = 0; i < 3; i++) {
		struct timed_world world = *changing->base;
		if (i < 2 && sizes[i] > all && now >= all)
			/* the present and the changed cache hold all samples, so nothing changes */
			continue;
		if (i == 2 && now >= all)
			continue;
		world.cache = sizes[i] / changing->answer->scale;
		add(changing, &world,
			i == 0	 ? "cache/2"
			: i == 1 ? "cache*2"
				 : "cache=all",
			"cache = %s%s", size_text((uint64_t)sizes[i]).text,
			i == 2 ? " (for all)" : "");
	}
}

static void change_sampler(struct changing *changing)
{
	static const struct {
		enum sampler_kind kind;
		const char *name;
	} samplers[] = {{SAMPLER_DSA, "dsa"}, {SAMPLER_EXCHANGE, "exchange"}};
	for (size_t i = 0; i < 2 && !changing->base->labels; i++) {
		struct timed_world world = *changing->base;
		if (world.sampler == samplers[i].kind)
			continue;
		world.sampler = samplers[i].kind;
		add(changing, &world, samplers[i].name, "sampler = %s", samplers[i].name);
	}
}

static void change_workers(struct changing *changing)
{
	struct timed_world world = *changing->base;
	world.workers++;
	add(changing, &world, "workers+1", "workers = %u", world.workers);
	world.cpus++;
	add(changing, &world, "cpu+1", "one more CPU");
	world = *changing->base;
	if (world.workers-- > 1)
		add(changing, &world, "workers-1", "workers = %u", world.workers);
}

static void change_lookahead(struct changing *changing)
{
	struct timed_world world = *changing->base;
	world.lookahead = changing->base->lookahead * 2;
	if (world.labels)
		return;
	add(changing, &world, "lookahead*2", "lookahead = %u", world.lookahead);
	world.lookahead = changing->base->lookahead / 2;
	if (world.lookahead > 0)
		add(changing, &world, "lookahead/2", "lookahead = %u", world.lookahead);
}

static void change_tier(struct changing *changing)
{
	struct timed_world world = *changing->base;
	auto_free struct timed_job *jobs = calloc(world.n_jobs, sizeof(*jobs));
	bool slow = false;
	changing->err = jobs || changing->err ? changing->err : -ENOMEM;
	if (changing->err)
		return;
	memcpy(jobs, world.jobs, world.n_jobs * sizeof(*jobs));
	world.jobs = jobs;
	for (size_t i = 0; i < world.n_jobs; i++) {
		if (jobs[i].absent || jobs[i].read < SLOW_READ ||
			changing->facts->jobs[i].tier)
			continue;
		slow = true;
		jobs[i].read = DISK_READ;
	}
	if (slow)
		add(changing, &world, "tier", "tier = a disk here");
}

static void run_alone(struct changing *changing)
{
	struct timed_world world = *changing->base;
	struct timed_outcome outcomes[TIMED_JOBS];
	auto_free struct timed_job *jobs = calloc(world.n_jobs, sizeof(*jobs));
	double loads;
	changing->err = jobs || changing->err ? changing->err : -ENOMEM;
	for (size_t i = 0; i < world.n_jobs && !changing->err; i++) {
		if (changing->base->jobs[i].absent)
			continue;
		memcpy(jobs, changing->base->jobs, world.n_jobs * sizeof(*jobs));
		for (size_t k = 0; k < world.n_jobs; k++)
			jobs[k].absent |= k != i;
		world.jobs = jobs;
		changing->err = run(&world, changing->answer->scale, outcomes, &loads);
		changing->answer->alone[i] =
			outcomes[i].epoch * changing->answer->factor[i];
	}
}

int explain_simulate(const struct explain_facts *facts, struct explain_answer *ret)
{
	struct timed_world world;
	*ret = (struct explain_answer){.n_changes = 0};
	int err = world_of(facts, &world, &ret->scale);
	if (err)
		return err;
	memcpy(ret->jobs, world.jobs, world.n_jobs * sizeof(*world.jobs));
	err = run(&world, ret->scale, ret->simulated, &ret->loads);
	for (size_t i = 0; i < world.n_jobs && !err; i++)
		ret->factor[i] = explain_factor(&facts->jobs[i], &ret->simulated[i]);
	struct changing changing = {facts, &world, ret, err};
	if (!err) {
		change_cache(&changing);
		change_sampler(&changing);
		change_workers(&changing);
		change_lookahead(&changing);
		change_tier(&changing);
		run_alone(&changing);
	}
	world_free(&world);
	return changing.err;
}

static int plan_world(const struct explain_facts *facts, size_t job, unsigned n,
	struct timed_world *ret, double *ret_scale)
{
	double scale;
	int err = world_of(facts, ret, &scale);
	if (err)
		return err;
	const struct explain_job *like = &facts->jobs[job];
	struct timed_job *jobs = calloc(n, sizeof(*jobs));
	if (!jobs) {
		world_free(ret);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < n; i++) {
		jobs[i] = job_of(facts, like);
		jobs[i].start = like->seconds * i / n;
	}
	free(ret->jobs);
	ret->jobs = jobs;
	ret->n_jobs = n;
	ret->n_parts = 1;
	ret->parts[0] = (struct timed_part){
		.jobs = n == TIMED_JOBS ? UINT64_MAX : (UINT64_C(1) << n) - 1,
		.samples = (uint32_t)like->samples};
	*ret_scale = fmax(like->samples * n / ENOUGH_SAMPLES, 1);
	scale_down(ret, *ret_scale);
	return 0;
}

static int run_plan(const struct timed_world *world, struct explain_plan *ret,
	double cache, double part, double scale)
{
	struct timed_outcome outcomes[TIMED_JOBS];
	double sum = 0, loads;
	int err = run(world, scale, outcomes, &loads);
	if (err)
		return err;
	for (size_t i = 0; i < world->n_jobs; i++)
		sum += outcomes[i].epoch;
	ret->rows[ret->n_rows].cache = cache;
	ret->rows[ret->n_rows].part = part;
	ret->rows[ret->n_rows].loads = loads;
	ret->rows[ret->n_rows].sampler = world->sampler;
	ret->rows[ret->n_rows++].seconds = sum / (double)world->n_jobs;
	return 0;
}

/* The plan recommends the smallest cache with which an epoch takes at most this multiple of the
 * shortest time of all rows. */
#define AS_GOOD 1.05

static void recommend(struct explain_plan *plan)
{
	double least = HUGE_VAL;
	for (size_t i = 0; i < plan->n_rows; i++)
		least = fmin(least, plan->rows[i].seconds);
	plan->best = 0;
	while (plan->rows[plan->best].seconds > least * AS_GOOD)
		plan->best++;
}

int explain_plan(const struct explain_facts *facts, size_t job, unsigned n,
	struct explain_plan *ret)
{
	static const double parts[] = {.05, .1, .25, .5, 1};
	static const enum sampler_kind samplers[] = {SAMPLER_DSA, SAMPLER_EXCHANGE};
	struct timed_world world;
	double scale;
	*ret = (struct explain_plan){.jobs = n};
	int err = plan_world(facts, job, n, &world, &scale);
	if (err)
		return err;
	double all = facts->jobs[job].bytes * facts->jobs[job].samples;
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 2 && !err; k++) {
			if (world.labels && samplers[k] != SAMPLER_EXCHANGE)
				continue;
			world.cache = all * parts[i] / scale;
			world.sampler = samplers[k];
			err = run_plan(&world, ret, all * parts[i], parts[i], scale);
		}
	if (!err)
		recommend(ret);
	world_free(&world);
	return err;
}
