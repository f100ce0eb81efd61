// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "base/rank_parts.h"
#include "group/group_internal.h"
#include "sched/datasets.h"
#include "sched/jobs.h"
#include "sched/ranks.h"

#include <errno.h>
#include <string.h>

/* Connects the coordinator with the jobs that are ranks of a training. */

struct group_rank *group_find_rank(
	const struct group *group, const char *training, uint32_t number)
{
	struct group_rank *rank;
	TAILQ_FOREACH (rank, &group->ranks, link)
		if (strcmp(rank->config->training, training) == 0 &&
			rank->config->rank == number)
			return rank;
	return NULL;
}

struct group_rank *group_find_training(const struct group *group, const char *training)
{
	struct group_rank *rank;
	TAILQ_FOREACH (rank, &group->ranks, link)
		if (strcmp(rank->config->training, training) == 0)
			return rank;
	return NULL;
}

static void lend(struct group_rank *rank, bool lent)
{
	if (rank->lent != lent)
		sched_feed_lend(rank->job, lent);
	rank->lent = lent;
}

/* --- callbacks of the coordinator -------------------------------------------------------- */

static int fed(void *context, const char *training, uint32_t number, uint32_t epoch,
	uint32_t base, const sample_id *ids, uint32_t n)
{
	struct group_rank *rank = group_find_rank(context, training, number);
	if (!rank)
		return 0;
	int err = sched_feed(rank->job, epoch, base, ids, n);
	bool bad = err == -EINVAL;
	if (bad && !rank->bad)
		log_error("job %s: the group sent samples %u to %u of epoch %u, which "
			  "are not the job's or do not follow the samples sent before; "
			  "this node takes none of them",
			rank->config->name, base, base + n - 1, epoch);
	rank->bad = bad;
	return err;
}

static void lost(void *context, const char *training, uint32_t number)
{
	struct group_rank *rank = group_find_rank(context, training, number);
	char numbers[GROUP_RANK_TEXT];
	if (!rank)
		return;
	rank->lost = true;
	lend(rank, true);
	log_warn("job %s: this node no longer serves rank %s of %s; the rank's readers "
		 "wait until this node serves the rank again",
		rank->config->name, group_rank_text(rank->config, numbers), training);
}

static uint32_t known(void *context, const char *training)
{
	const struct group *group = context;
	const struct group_rank *rank;
	uint32_t last = 0;
	TAILQ_FOREACH (rank, &group->ranks, link) {
		struct sched_feed_state state;
		if (strcmp(rank->config->training, training) != 0)
			continue;
		sched_feed_state(rank->job, &state);
		if (state.started && state.newest + 1 > last)
			last = state.newest + 1;
	}
	return last;
}

static bool is_otherwise(const struct group_rank *rank, uint32_t epoch, uint32_t position)
{
	const struct otherwise *otherwise = &rank->otherwise[epoch % 2];
	return otherwise->positions && otherwise->epoch == epoch &&
	       roaring_bitmap_contains(otherwise->positions, position);
}

/* The callback coord_calls.tail: reads the job's journal, but leaves out positions that forget()
 * has noted. */
static uint32_t tail(
	void *context, struct coord_tail *tail, sample_id *ids, uint32_t most)
{
	const struct group_rank *rank = group_find_rank(context, tail->job, tail->rank);
	uint32_t n = 0;
	if (!rank)
		return 0;
	while (is_otherwise(rank, tail->epoch, tail->base))
		tail->base++;
	uint32_t fed = sched_fed(rank->job, tail->epoch, tail->base, ids, most);
	while (n < fed && !is_otherwise(rank, tail->epoch, tail->base + n))
		n++;
	return n;
}

/* Notes positions at which the group's log has other samples than the journal, so that tail()
 * leaves them out. Readers on this node keep the samples of the journal. */
static void forget(void *context, const char *training, uint32_t number, uint32_t epoch,
	uint32_t base, uint32_t n)
{
	struct group_rank *rank = group_find_rank(context, training, number);
	if (!rank)
		return;
	struct otherwise *otherwise = &rank->otherwise[epoch % 2];
	if (otherwise->epoch != epoch)
		bitmap_free(&otherwise->positions);
	if (!otherwise->positions)
		otherwise->positions = roaring_bitmap_create();
	otherwise->epoch = epoch;
	if (otherwise->positions)
		roaring_bitmap_add_range(otherwise->positions, base, (uint64_t)base + n);
	log_warn("job %s: while this node was away, the group drew other samples for "
		 "positions %u to %u of epoch %u; samples read here may be read twice in "
		 "this epoch",
		rank->config->name, base, base + n - 1, epoch);
}

static bool place_at_home(
	void *context, const struct coord_batch *batch, uint32_t *rank_of)
{
	const struct group *group = context;
	return group->peers && peers_place(group->peers, batch, rank_of);
}

static void resident(void *context, const char *dataset, roaring_bitmap_t *ids)
{
	const struct group *group = context;
	sched_resident(group->sched, dataset, ids);
}

static void lacked(void *context, const char *dataset, roaring_bitmap_t *ids)
{
	const struct group *group = context;
	sched_lacked(group->sched, dataset, ids);
}

static void rank_free(struct group_rank *rank)
{
	for (int i = 0; i < 2; i++)
		bitmap_free(&rank->otherwise[i].positions);
	sched_job_put(rank->job);
	free(rank);
}

struct coord_calls group_calls(struct group *group)
{
	return (struct coord_calls){.context = group,
		.fed = fed,
		.lost = lost,
		.known = known,
		.tail = tail,
		.forget = forget,
		.skipped = group_skipped,
		.place = place_at_home,
		.resident = resident,
		.lacked = lacked};
}

/* --- jobs come and go -------------------------------------------------------------------- */

static int enter_training(struct group *group, const struct group_rank *rank)
{
	/* `edition` is not NULL, because a job with a rank always has an edition. */
	auto_edition *edition = sched_edition(rank->job, 0);
	const struct job_config *config = rank->config;
	struct coord_job job = {.name = config->training,
		.dataset = config->dataset,
		.ids = edition->selection,
		.ranks = config->ranks,
		.batch = config->global_batch,
		.local_ranks = config->processes.local_ranks,
		.kind = sched_dataset_sampler(group->sched, config->dataset)};
	job.fingerprint = dataset_group_fingerprint(edition->dataset, job.ids);
	job.older = dataset_fingerprint(edition->dataset, job.ids);
	auto_free sample_id *log = NULL;
	int err = sched_job_log(rank->job, &job.epoch, &log, &job.n_log);
	job.log = log;
	if (!err)
		err = coord_add_job(group->coord, &job);
	if (err == -EALREADY)
		log_error("job %s: its import has no effect, because other ranks of %s "
			  "have begun without it; remove all their jobs (joaderctl rm), "
			  "and add this one first",
			config->name, config->training);
	/* -EEXIST and -EALREADY: another rank of this node has already added the training. */
	return err == -EEXIST || err == -EALREADY ? 0 : err;
}

static int take_rank(struct group *group, const struct group_rank *rank)
{
	struct sched_feed_state state;
	sched_feed_state(rank->job, &state);
	/* The engine in this process began with an empty log. A new life of the engine (coord.h)
	 * makes the leader repair the log from the journals. */
	if (state.started && group->local)
		coord_local_restart(group->local);
	return coord_take_rank(group->coord, rank->config->training, rank->config->rank,
		state.epoch, state.started ? state.next : COORD_AT_CURSOR);
}

static void remove_rank(struct group *group, struct group_rank *rank)
{
	const struct job_config *config = rank->config;
	{
		LOCK_SCOPE(&group->lock);
		TAILQ_REMOVE(&group->ranks, rank, link);
	}
	(void)coord_drop_rank(group->coord, config->training, config->rank);
	if (!group_find_training(group, config->training) &&
		coord_remove_job(group->coord, config->training) != 0)
		log_warn("job %s: can't tell the group that the job was removed",
			config->name);
	rank_free(rank);
}

static int add_rank(struct group *group, struct sched_job *job, job_id id)
{
	const struct job_config *config = sched_job_config(job);
	struct group_rank *rank = calloc(1, sizeof(*rank));
	if (!rank)
		return -ENOMEM;
	rank->job = sched_job_hold(job);
	rank->config = config;
	lend(rank, true);
	int err = enter_training(group, rank);
	if (!err)
		err = take_rank(group, rank);
	{
		LOCK_SCOPE(&group->lock);
		TAILQ_INSERT_TAIL(&group->ranks, rank, link);
	}
	if (!err) {
		roaring_bitmap_remove(group->not_served, id);
		return 0;
	}
	char numbers[GROUP_RANK_TEXT];
	if (roaring_bitmap_add_checked(group->not_served, id))
		log_error("job %s: rank %s of %s can't be served: %s; joaderfs will try "
			  "again",
			config->name, group_rank_text(config, numbers), config->training,
			strerror(-err));
	remove_rank(group, rank);
	return err;
}

static struct group_rank *find_job(const struct group *group, const struct sched_job *job)
{
	struct group_rank *rank;
	TAILQ_FOREACH (rank, &group->ranks, link)
		if (rank->job == job)
			return rank;
	return NULL;
}

/* Returns a reference to the job. NULL: the job was removed, or has no rank. */
static struct sched_job *find_job_of_rank(const struct group *group, job_id id)
{
	struct sched_job *job = sched_job_find_id(group->sched, id);
	if (job && sched_job_config(job)->ranks == 0) {
		sched_job_put(job);
		return NULL;
	}
	return job;
}

static void keep_job(const struct group *group, job_id id)
{
	auto_job *job = find_job_of_rank(group, id);
	struct group_rank *rank = job ? find_job(group, job) : NULL;
	if (rank)
		rank->gone = false;
}

static void take_job(struct group *group, job_id id)
{
	auto_job *job = find_job_of_rank(group, id);
	if (job && !find_job(group, job))
		(void)add_rank(group, job, id); /* the next group_sync tries again */
}

/* Adds and removes ranks as jobs come and go. Removes ranks first, because a new training may have
 * the name of a removed training. */
static void sync_jobs(struct group *group)
{
	struct group_rank *rank, *next;
	auto_free job_id *ids = NULL;
	size_t n = 0;
	if (sched_job_ids(group->sched, &ids, &n) != 0)
		return; /* no memory: the next group_sync tries again */
	TAILQ_FOREACH (rank, &group->ranks, link)
		rank->gone = true;
	for (size_t i = 0; i < n; i++)
		keep_job(group, ids[i]);
	for (rank = TAILQ_FIRST(&group->ranks); rank; rank = next) {
		next = TAILQ_NEXT(rank, link);
		if (rank->gone)
			remove_rank(group, rank);
	}
	for (size_t i = 0; i < n; i++)
		take_job(group, ids[i]);
}

void group_commit(struct group *group)
{
	const struct group_rank *rank;
	TAILQ_FOREACH (rank, &group->ranks, link) {
		const struct job_config *config = rank->config;
		struct sched_feed_state state;
		sched_feed_state(rank->job, &state);
		if (!state.started)
			continue;
		(void)coord_want(group->coord, config->training, state.newest);
		(void)coord_commit(group->coord, config->training, config->rank,
			state.epoch, state.consumed);
	}
}

void group_sync(struct group *group)
{
	struct group_rank *rank;
	sync_jobs(group);
	TAILQ_FOREACH (rank, &group->ranks, link)
		if (rank->lost) {
			/* This node gets the rank as soon as no other node serves it. */
			int err = take_rank(group, rank);
			rank->lost = err && err != -EALREADY;
		}
	group_commit(group);
}

void group_tell_away(struct group *group)
{
	const struct group_rank *rank;
	TAILQ_FOREACH (rank, &group->ranks, link)
		sched_feed_away(rank->job, group->status.away_since_ns, group->gives_up);
}

static uint64_t place(uint32_t epoch, uint32_t position)
{
	return (uint64_t)epoch << 32 | position;
}

/* Sets *ret_epoch and *ret to the rank's cursor in the engine. If the cursor is at the end of an
 * epoch, sets both to the start of the next epoch, because the engine deletes an epoch that all
 * ranks have read. */
static void committed(const struct group_rank *rank, uint32_t *ret_epoch, uint32_t *ret)
{
	const struct job_config *config = rank->config;
	uint32_t length = ranks_position(
		rank->status.n, config->global_batch, config->ranks, config->rank);
	bool ended = rank->position.committed >= length;
	*ret_epoch = rank->position.committed_epoch + ended;
	*ret = ended ? 0 : rank->position.committed;
}

static bool is_left_behind(const struct group_rank *rank)
{
	const struct coord_rank_status *position = &rank->position;
	uint64_t there = place(position->committed_epoch, position->committed);
	struct sched_feed_state state;
	sched_feed_state(rank->job, &state);
	uint64_t here = state.started ? place(state.epoch, state.consumed) : 0;
	return there > here && there > rank->went_on;
}

static void go_on(struct group *group, struct group_rank *rank)
{
	const struct job_config *config = rank->config;
	const struct coord_rank_status *position = &rank->position;
	uint32_t epoch, consumed;
	committed(rank, &epoch, &consumed);
	int err = sched_feed_go_on(rank->job, epoch, consumed);
	if (!err) {
		rank->went_on = place(position->committed_epoch, position->committed);
		(void)coord_drop_rank(group->coord, config->training, config->rank);
		err = take_rank(group, rank);
	}
	if (err)
		log_error("job %s: can't continue at position %u of epoch %u: %s",
			config->name, consumed, epoch, strerror(-err));
	else
		log_info(
			"job %s: continues at position %u of epoch %u, which another "
			"daemon has reached; for a new run set another name in training, "
			"or first remove the jobs of the training on all nodes "
			"(joaderctl rm; if a node is gone, joaderctl cluster forget %s)",
			config->name, consumed, epoch, config->training);
}

/* Counts samples that are drawn, but not consumed, in the epoch being read and the next one. */
static uint32_t find_lag(const struct group_rank *rank)
{
	const struct job_config *config = rank->config;
	const struct coord_job_status *log = &rank->status;
	struct sched_feed_state state;
	sched_feed_state(rank->job, &state);
	uint32_t drawn = ranks_position(
		log->next, config->global_batch, config->ranks, config->rank);
	uint32_t whole =
		ranks_position(log->n, config->global_batch, config->ranks, config->rank);
	if (!log->entered || state.epoch > log->epoch)
		return 0;
	if (state.epoch < log->epoch)
		return drawn + whole - state.consumed;
	return drawn > state.consumed ? drawn - state.consumed : 0;
}

uint64_t group_lag(const struct group *group)
{
	const struct group_rank *rank;
	uint64_t lag = 0;
	TAILQ_FOREACH (rank, &group->ranks, link)
		lag += rank->lag;
	return lag;
}

void group_look_at_jobs(struct group *group)
{
	struct group_rank *rank;
	TAILQ_FOREACH (rank, &group->ranks, link) {
		const struct job_config *config = rank->config;
		lock_take(&group->lock);
		int err = coord_job_status(group->coord, config->training, &rank->status);
		if (!err)
			err = coord_rank_status(group->coord, config->training,
				config->rank, &rank->position);
		if (err)
			rank->position.held = false;
		coord_unserved(group->coord, config->training, rank->unserved);
		rank->lag = find_lag(rank);
		lock_release(&group->lock);
		group_look_behind(group, rank);
		bool refused = !err && rank->status.refused[0];
		if (refused && !rank->refused)
			log_error("job %s: %s; it begins when no node runs the training "
				  "with the old settings (joaderctl rm)",
				config->name, rank->status.refused);
		rank->refused = refused;
		if (rank->position.held && is_left_behind(rank))
			go_on(group, rank);
		else if (rank->position.held)
			lend(rank, false);
	}
}

void group_forget_ranks(struct group *group)
{
	struct group_rank *rank;
	while ((rank = TAILQ_FIRST(&group->ranks))) {
		TAILQ_REMOVE(&group->ranks, rank, link);
		rank_free(rank);
	}
}
