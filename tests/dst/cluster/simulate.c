// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * simulate [--seconds N] [--runs N] [--seed N] [--processes N] [--mutant NAME] [-v]: simulates
 * groups of daemons. Each seed has its own schedule, jobs and harm. A run that fails prints its
 * seed, and --seed repeats the run. A mutant leaves out a part of the protocol.
 */

#include "group.h"

#include "../plan.h"
#include "base/crash.h"
#include "base/log.h"

#include <inttypes.h>

struct group group;

#define FOR_EVER_S 60 /* seconds of the real clock; a run takes milliseconds */

static uint64_t seed_now;
static bool loud;

/* coroutines.c calls this. Here no thread has data of its own. */
void threads_switch(int from, int to)
{
	(void)from, (void)to;
}

void threads_begin(int id)
{
	(void)id;
}

/* --- harm ------------------------------------------------------------------------------- */

static struct node *any_node(void)
{
	return &group.nodes[co_random(group.n_nodes)];
}

static uint64_t some_time(void)
{
	return co_random(co_one_in(3) ? 4000 : 400) * MS;
}

static void restart_engine(uint64_t ago_ns)
{
	group.engine_down = true;
	co_sleep(co_random(co_one_in(4) ? 2000 : 200) * MS);
	store_restart(ago_ns);
	group.engine_down = false;
}

static void roll_back(void)
{
	/* Nodes that die with the engine may have been told of its last data. */
	for (unsigned n = co_random(3); n > 0; n--)
		node_kill(any_node(), some_time());
	restart_engine((1 + co_random(2000)) * MS);
}

static void cut(struct node *node)
{
	node->cut = co_one_in(2);
	node->deaf = !node->cut || co_one_in(2);
	node->harmed_ns = co_now();
	group.counts.cuts++;
}

static void connect_again(struct node *node)
{
	if (node->cut || node->deaf)
		node->harmed_ns = co_now();
	node->cut = node->deaf = false;
}

static void do_harm(void)
{
	switch (co_random(9)) {
	case 0:
	case 1:
		node_kill(any_node(), some_time());
		break;
	case 2:
		any_node()->stop_ns = some_time();
		break;
	case 3:
		cut(any_node());
		break;
	case 4:
		connect_again(any_node());
		break;
	case 5:
		restart_engine(0);
		break;
	case 6:
	case 7:
		roll_back();
		break;
	case 8:
		if (co_one_in(2))
			any_node()->clock_ns += some_time();
		else
			group.engine_clock_ns += co_random(1500) * MS;
		break;
	}
}

static void heal(void)
{
	group.harm = false;
	for (unsigned i = 0; i < group.n_nodes; i++) {
		struct node *node = &group.nodes[i];
		connect_again(node);
		node->stop_ns = 0;
		if (node->down_until_ns > co_now())
			node->down_until_ns = co_now();
	}
	group.healed_ns = co_now();
	co_wake(&group.healed_ns, true);
}

/* --- one run ---------------------------------------------------------------------------- */

static void choose_job(unsigned number)
{
	static const enum sampler_kind kinds[] = {
		SAMPLER_DSA, SAMPLER_DSA, SAMPLER_EXCHANGE, SAMPLER_ISA};
	static enum sampler_kind kind;
	struct group_job *job = &group.jobs[number];
	roaring_bitmap_t *ids = roaring_bitmap_create();
	ensure(ids);
	job->n = 4 + co_random(MOST_SAMPLES - 4);
	while (roaring_bitmap_get_cardinality(ids) < job->n)
		roaring_bitmap_add(ids, co_random(50));
	if (number == 0)
		kind = kinds[co_random(4)];
	uint32_t ranks = 1 + co_random(MOST_RANKS);
	job->facts = (struct coord_job){.name = journal_name(number),
		.dataset = "photos",
		.fingerprint = number,
		.ids = ids,
		.ranks = ranks,
		.batch = ranks + co_random(6),
		.kind = kind};
	job->pace_ns = (2 + co_random(40)) * MS;
}

static void free_jobs(void)
{
	for (unsigned i = 0; i < group.n_jobs; i++) {
		struct coord_job *facts = &group.jobs[i].facts;
		roaring_bitmap_free((roaring_bitmap_t *)(uintptr_t)facts->ids);
		facts->ids = NULL;
	}
}

static void begin(void)
{
	group.engine_down = group.ending = false;
	group.harm = true;
	group.engine_clock_ns = group.healed_ns = 0;
	group.n_nodes = 1 + co_random(MOST_NODES);
	group.n_jobs = 1 + co_random(MOST_JOBS);
	for (unsigned i = 0; i < group.n_jobs; i++)
		choose_job(i);
	store_begin();
	checker_begin();
}

static void *save_often(void *unused)
{
	while (!group.ending) {
		if (!group.engine_down)
			store_save();
		co_sleep((20 + co_random(200)) * MS);
	}
	return unused;
}

static void *run(void *unused)
{
	begin();
	int server = co_start(network_server, NULL), saver = co_start(save_often, NULL);
	nodes_start();
	for (unsigned n = 2 + co_random(10); n > 0; n--) {
		co_sleep(co_random(1500) * MS);
		do_harm();
	}
	heal();
	while (!checker_is_content()) {
		co_sleep(50 * MS);
		checker_progress();
	}
	group.ending = true;
	nodes_wait();
	co_join(server);
	co_join(saver);
	checker_end();
	store_end();
	free_jobs();
	return unused;
}

/* --- all of them ------------------------------------------------------------------------ */

static void tell_seed(int number)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "FAILED: --seed %" PRIu64 "\n", seed_now);
	(void)!write(STDERR_FILENO, text, (size_t)n);
	signal(number, SIG_DFL);
	raise(number);
}

static void dump_rank(const struct node *node, unsigned j, uint32_t r, FILE *out)
{
	struct coord_rank_status status;
	if (!node->ranks[j][r].held || !node->coord ||
		coord_rank_status(node->coord, journal_name(j), r, &status))
		return;
	fprintf(out, "    job%u rank %u%s: fed %u:%u, consumed %u:%u, committed %u:%u\n",
		j, r, status.held ? " held" : "", status.epoch, status.position,
		node->ranks[j][r].consumed.epoch, node->ranks[j][r].consumed.position,
		status.committed_epoch, status.committed);
}

/* Prints the state of all nodes and jobs. */
static void dump(void *unused, FILE *out)
{
	(void)unused;
	fprintf(out,
		"%" PRIu64 " ms, healed %" PRIu64 ", engine %s%s%s, term %" PRIu64 "\n",
		co_now() / MS, group.healed_ns / MS, group.store->run,
		group.engine_down ? " down" : "",
		strcmp(group.store->run, group.store->is_ready) == 0 ? " ready" : "",
		group.store->token.term);
	for (unsigned i = 0; i < group.n_nodes; i++) {
		const struct node *node = &group.nodes[i];
		struct coord_status status = {0};
		if (node->coord)
			coord_status(node->coord, &status);
		fprintf(out, "n%u%s%s%s: state %d%s, leader %s, %s\n", i,
			node->killed ? " killed" : "", node->cut ? " cut" : "",
			node->deaf ? " deaf" : "", (int)status.state,
			status.repairing ? " repairing" : "", status.leader,
			status.message);
		for (unsigned j = 0; j < group.n_jobs; j++)
			for (uint32_t r = 0; r < group.jobs[j].facts.ranks; r++)
				dump_rank(node, j, r, out);
	}
	const struct local_job *job;
	LIST_FOREACH (job, &group.store->jobs, link) {
		fprintf(out, "%s: epoch %u, %u of %u, batch %u", job->name, job->epoch,
			job->next, job->n, job->facts.batch);
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			fprintf(out, "; rank %u: %u:%u", r, job->ranks[r].cursor.epoch,
				job->ranks[r].cursor.position);
		const struct local_feed *feed;
		LIST_FOREACH (feed, &job->feeds, link)
			fprintf(out, "; feed %u", feed->epoch);
		fprintf(out, "\n");
	}
}

static uint32_t run_once(uint64_t seed)
{
	seed_now = seed;
	alarm(FOR_EVER_S);
	uint32_t result = co_run(seed, run, NULL);
	alarm(0);
	group.counts.runs++;
	return result;
}

/* Runs the seed. Every hundredth seed runs twice, because only a seed that repeats its run helps
 * to find a bug. */
static void run_seed(uint64_t seed)
{
	uint64_t life = group.life;
	uint32_t result = run_once(seed);
	group.life = life;
	if (seed % 100 == 0)
		ensure(run_once(seed) == result);
}

static void print_counts(void)
{
	const struct group_counts *counts = &group.counts;
	printf("%" PRIu64 " runs: %" PRIu64 " samples delivered, %" PRIu64
	       " epochs, %" PRIu64 " appends, %" PRIu64 " elections, %" PRIu64
	       " fenced, %" PRIu64 " kills, %" PRIu64 " stops, %" PRIu64 " cuts, %" PRIu64
	       " calls lost, %" PRIu64 " late, %" PRIu64 " engines, %" PRIu64
	       " rolled back, %" PRIu64 " repairs, %" PRIu64 " given otherwise, %" PRIu64
	       " of %" PRIu64 " read at home\n",
		counts->runs, counts->delivered, counts->epochs, counts->appends,
		counts->elections, counts->fenced, counts->kills, counts->stops,
		counts->cuts, counts->lost_calls, counts->delayed, counts->restarts,
		counts->rollbacks, counts->repairs, counts->rebound, counts->at_home,
		counts->placed);
}

/* Plays the seeds of one process. */
static int play(const struct plan *plan, unsigned process, const char *directory)
{
	(void)directory;
	crash_install();
	crash_dump_by(dump, NULL);
	ensure(loud || log_to_file("/dev/null") == 0);
	signal(SIGABRT, tell_seed);
	signal(SIGSEGV, tell_seed);
	signal(SIGALRM, tell_seed);
	plan_play(plan, process, run_seed);
	print_counts();
	return 0;
}

static bool choose_mutant(const char *name)
{
	static const struct {
		const char *name;
		unsigned mutants;
		bool late_journal;
	} mutants[] = {{"no-token", MUTANT_NO_TOKEN, false},
		{"no-next", MUTANT_NO_NEXT, false},
		{"neither", MUTANT_NO_TOKEN | MUTANT_NO_NEXT, false},
		{"no-repair", MUTANT_NO_REPAIR, false},
		{"no-recommit", MUTANT_NO_RECOMMIT, false},
		{"no-news", MUTANT_NO_NEWS, false}, {"late-journal", 0, true}};
	for (size_t i = 0; i < sizeof(mutants) / sizeof(mutants[0]); i++)
		if (strcmp(mutants[i].name, name) == 0) {
			coord_mutants = mutants[i].mutants;
			group.late_journal = mutants[i].late_journal;
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		PLAN_OPTIONS, {"mutant", 1, NULL, 'm'}, {0}};
	struct plan plan = PLAN_ALL;
	for (int c; (c = getopt_long(argc, argv, "v", options, NULL)) != -1;)
		switch (c) {
		case 'm':
			if (choose_mutant(optarg))
				break;
			return 2;
		case 'v':
			loud = true;
			break;
		default:
			if (!plan_take(&plan, c))
				return 2;
		}
	return plan_play_all(&plan, play, NULL);
}
