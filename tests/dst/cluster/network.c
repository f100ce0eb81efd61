// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "group.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The connections to the engine. At each call the node may be stopped or killed before the request
 * is sent, while the request travels, and before the reply is read. The request may be lost, or be
 * executed after its sender has given up. The reply may be lost.
 */

#define TIMEOUT_NS (TTL_NS / 4)

/* Stops the node for a while, by chance or because stop_ns says so. */
static void stop_here(struct node *node)
{
	co_pause();
	uint64_t ns = node->stop_ns;
	if (group.harm && co_one_in(2000))
		ns = TTL_NS / 2 + co_random(1000) * (3 * TTL_NS / 1000);
	if (ns && !node->killed) {
		node->stop_ns = 0;
		group.counts.stops++;
		node->harmed_ns = co_now() + ns;
		(void)co_wait_until(&group.healed_ns, co_now() + ns);
		node->harmed_ns = co_now();
	}
}

static void travel(void)
{
	if (co_one_in(3))
		co_sleep(co_random(group.harm && co_one_in(30) ? 100 : 2) * MS);
}

static int give_up(struct node *node)
{
	group.counts.lost_calls++;
	co_sleep(TIMEOUT_NS);
	node->harmed_ns = co_now();
	return node->killed ? -ECONNRESET : -ETIMEDOUT;
}

/* Returns 0 if the request has arrived. */
static int request(struct node *node, uint64_t *life)
{
	stop_here(node);
	travel();
	if (node->killed)
		return -ECONNRESET;
	if (group.engine_down)
		return -ECONNREFUSED;
	if (node->cut || (group.harm && co_one_in(1000)))
		return give_up(node);
	*life = group.life;
	return 0;
}

static int reply(struct node *node, int err, uint64_t life)
{
	bool lost = node->deaf || (group.harm && co_one_in(500));
	if (node->deaf || lost)
		return give_up(node);
	travel();
	stop_here(node);
	if (node->killed || life != group.life)
		return -ECONNRESET;
	return err;
}

#define CALL(function, ...)                                                              \
	({                                                                               \
		uint64_t life_ = 0;                                                      \
		int err_ = request(node, &life_);                                        \
		if (!err_)                                                               \
			err_ = reply(node,                                               \
				group.store->engine.function(group.store, __VA_ARGS__),  \
				life_);                                                  \
		err_;                                                                    \
	})

/* --- requests that are executed later --------------------------------------------------- */

#define MOST_DELAYED 8

struct delayed {
	uint64_t due_ns;
	uint64_t life;
	char run[COORD_RUN];
	struct coord_token token;
	struct coord_append append;
	sample_id ids[MOST_RANKS * JOURNAL_POSITIONS];
	bool opens;
};

static int do_append(const char *run, const struct coord_token *token,
	const struct coord_append *append)
{
	int err = local_append(group.store, run, token, append);
	if (!err)
		checker_appended(journal_job(append->job), token);
	return err;
}

static void do_delayed(struct delayed *delayed)
{
	if (delayed->life == group.life && !group.engine_down) {
		if (delayed->opens)
			(void)local_open(group.store, delayed->run, delayed->append.job,
				delayed->append.epoch);
		else
			(void)do_append(delayed->run, &delayed->token, &delayed->append);
	}
	free(delayed);
}

static struct delayed *queue[MOST_DELAYED];

void *network_server(void *unused)
{
	while (!group.ending) {
		uint64_t first = co_now() + TTL_NS;
		for (unsigned i = 0; i < MOST_DELAYED; i++) {
			if (queue[i] && queue[i]->due_ns <= co_now()) {
				do_delayed(queue[i]);
				queue[i] = NULL;
			} else if (queue[i] && queue[i]->due_ns < first) {
				first = queue[i]->due_ns;
			}
		}
		(void)co_wait_until(queue, first);
	}
	for (unsigned i = 0; i < MOST_DELAYED; i++) {
		free(queue[i]);
		queue[i] = NULL;
	}
	return unused;
}

static void delay(const char *run, const struct coord_token *token,
	const struct coord_append *append)
{
	unsigned free_one = 0;
	while (queue[free_one])
		if (++free_one == MOST_DELAYED)
			return;
	struct delayed *delayed = queue[free_one] = calloc(1, sizeof(*delayed));
	ensure(delayed);
	delayed->due_ns = co_now() + co_random(co_one_in(2) ? 300 : 2500) * MS;
	delayed->life = group.life;
	memcpy(delayed->run, run, strlen(run) + 1);
	delayed->append = *append;
	delayed->append.job = journal_name(journal_job(append->job));
	delayed->opens = !token;
	if (token) {
		delayed->token = *token;
		memcpy(delayed->ids, append->ids, append->count * sizeof(sample_id));
		delayed->append.ids = delayed->ids;
	}
	group.counts.delayed++;
	co_wake(queue, true);
}

static bool is_delayed(const struct node *node)
{
	return group.harm && !node->killed && !node->cut && !group.engine_down &&
	       co_one_in(30);
}

/* --- the functions ---------------------------------------------------------------------- */

static int beat(void *context, const struct coord_beat *beat, struct coord_view *ret)
{
	struct node *node = context;
	return CALL(beat, beat, ret);
}

static int release(
	void *context, const struct coord_node *self, const char *job, uint32_t rank)
{
	struct node *node = context;
	return CALL(release, self, job, rank);
}

static int enter(void *context, const char *name, const struct coord_job *job,
	char differs[COORD_TEXT])
{
	struct node *node = context;
	return CALL(enter, name, job, differs);
}

static int leave(void *context, const char *name, const char *job)
{
	struct node *node = context;
	return CALL(leave, name, job);
}

static int jobs(void *context, const char *run, struct coord_engine_jobs *ret)
{
	struct node *node = context;
	*ret = (struct coord_engine_jobs){0};
	int err = CALL(jobs, run, ret);
	if (err)
		coord_engine_jobs_free(ret);
	return err;
}

static int facts(void *context, const char *job, struct coord_job *ret)
{
	struct node *node = context;
	*ret = (struct coord_job){0};
	int err = CALL(facts, job, ret);
	if (err && ret->ids)
		coord_facts_free(ret);
	return err;
}

static int elect(void *context, const struct coord_node *self, uint64_t random,
	uint32_t ttl, struct coord_token *ret)
{
	struct node *node = context;
	group.counts.elections++;
	return CALL(elect, self, random, ttl, ret);
}

static int open_epoch(void *context, const char *run, const char *job, uint32_t epoch)
{
	struct node *node = context;
	if (is_delayed(node)) {
		delay(run, NULL, &(struct coord_append){.job = job, .epoch = epoch});
		return give_up(node);
	}
	return CALL(open, run, job, epoch);
}

static int append(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *what)
{
	struct node *node = context;
	uint64_t life = 0;
	checker_appends(node, what);
	if (is_delayed(node)) {
		delay(run, token, what);
		return give_up(node);
	}
	int err = request(node, &life);
	return err ? err : reply(node, do_append(run, token, what), life);
}

static int read_feeds(void *context, const char *run, struct coord_read *reads, size_t n)
{
	struct node *node = context;
	return CALL(read, run, reads, n);
}

static int forget(
	void *context, const struct coord_token *token, const char *job, uint32_t epoch)
{
	struct node *node = context;
	return CALL(forget, token, job, epoch);
}

static int repair(void *context, const char *run, const struct coord_offer *offer)
{
	struct node *node = context;
	return CALL(repair, run, offer);
}

static int repaired(void *context, const char *run, const char *name)
{
	struct node *node = context;
	return CALL(repaired, run, name);
}

static int offers(void *context, const char *run, struct coord_offers *ret)
{
	struct node *node = context;
	uint64_t life = 0;
	*ret = (struct coord_offers){0};
	int err = request(node, &life);
	if (err)
		return err;
	node->saw = checker_reported();
	err = reply(node, local_offers(group.store, run, ret), life);
	if (err)
		coord_offers_free(ret);
	return err;
}

static int reported(void *context, const char *run, const struct coord_node *nodes,
	size_t n, bool *ret)
{
	struct node *node = context;
	return CALL(reported, run, nodes, n, ret);
}

static int tell(void *context, const char *name, const char *dataset,
	const roaring_bitmap_t *ids, uint32_t ttl)
{
	struct node *node = context;
	return CALL(tell, name, dataset, ids, ttl);
}

static int told(void *context, const char *dataset, roaring_bitmap_t *ret)
{
	struct node *node = context;
	return CALL(told, dataset, ret);
}

static int mend(void *context, const char *run, const char *job)
{
	struct node *node = context;
	return CALL(mend, run, job);
}

static int fill(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *what)
{
	struct node *node = context;
	uint64_t life = 0;
	int err = request(node, &life);
	if (err)
		return err;
	err = local_fill(group.store, run, token, what);
	if (!err)
		checker_filled(false, node->saw);
	return reply(node, err, life);
}

static int ready(void *context, const char *run, const struct coord_token *token)
{
	struct node *node = context;
	uint64_t life = 0;
	int err = request(node, &life);
	if (err)
		return err;
	if (local_token_is(group.store, token) && strcmp(group.store->run, run) == 0)
		checker_filled(true, node->saw);
	return reply(node, local_ready(group.store, run, token), life);
}

void network_connect(struct node *node)
{
	node->engine = (struct coord_engine){.context = node,
		.beat = beat,
		.release = release,
		.enter = enter,
		.leave = leave,
		.jobs = jobs,
		.facts = facts,
		.elect = elect,
		.open = open_epoch,
		.append = append,
		.read = read_feeds,
		.forget = forget,
		.repair = repair,
		.repaired = repaired,
		.offers = offers,
		.reported = reported,
		.mend = mend,
		.fill = fill,
		.ready = ready,
		.tell = tell,
		.told = told};
}
