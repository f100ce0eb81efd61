// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_facts.h"
#include "coord/coord_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The work that each node does for the ranks that it serves. */

#define READ_MOST 1024		 /* most samples of a rank per read */
#define ENTER_NS (2 * SECOND_NS) /* pause before a refused job is entered again */

/* Sets facts->fingerprint to facts->older if the group's job has this older fingerprint, which
 * means that an earlier version of joaderfs began the training. The training can then continue. */
static int take_older(const struct coord *coord, struct coord_job *facts)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_job there;
	if (!facts->older)
		return 0;
	int err = engine->facts(engine->context, facts->name, &there);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (there.fingerprint == facts->older)
		facts->fingerprint = facts->older;
	coord_facts_free(&there);
	return 0;
}

int coord_enter_jobs(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct held_job *job;
	uint64_t pause_ns = coord->ttl_ns / 2 < ENTER_NS ? coord->ttl_ns / 2 : ENTER_NS;
	LIST_FOREACH (job, &coord->jobs, link) {
		char differs[COORD_TEXT] = "";
		if (job->entered || coord->now_ns < job->enter_ns)
			continue;
		int err = take_older(coord, &job->facts);
		if (err)
			return err;
		err = engine->enter(
			engine->context, coord->self.name, &job->facts, differs);
		if (err && err != -EINVAL)
			return err;
		/* The group accepts a refused job as soon as no node runs the group's job of this
		 * name. */
		job->enter_ns = err ? coord->now_ns + pause_ns : 0;
		memcpy(job->refused, differs, sizeof(job->refused));
		job->entered = err == 0;
		coord->look_ns = coord->tell_ns = 0;
	}
	return 0;
}

static void take_lengths(struct coord *coord, const struct coord_engine_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++) {
		struct held_job *job = coord_find_job(coord, jobs->jobs[i].name);
		if (!job || !job->entered)
			continue;
		/* The group may have forgotten the job, and have another job of this name. */
		job->entered = coord_is_same_job(&job->facts, &jobs->jobs[i]);
		if (!job->entered)
			continue;
		/* `before` goes to *jobs, so the caller frees the arrays of the previous log */
		struct coord_engine_job before = job->log;
		job->log = jobs->jobs[i];
		jobs->jobs[i] = before;
	}
}

int coord_ask_lengths(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_engine_jobs jobs;
	int err = engine->jobs(engine->context, coord->view.run, &jobs);
	if (err)
		return err;
	take_lengths(coord, &jobs);
	coord_engine_jobs_free(&jobs);
	return 0;
}

/* Sets heard_ns in the new list of members. Nodes that are not live keep their old time. */
static void note_heard(
	const struct coord *coord, struct coord_node *members, size_t n, size_t live)
{
	for (size_t i = 0; i < n; i++)
		members[i].heard_ns = i < live ? coord->now_ns : 0;
	for (size_t i = live; i < n; i++)
		for (size_t k = 0; k < coord->n_members; k++)
			if (strcmp(members[i].name, coord->members[k].name) == 0)
				members[i].heard_ns = coord->members[k].heard_ns;
}

static bool has_unread(const struct held_job *job, uint32_t number)
{
	struct coord_position head = job->ranks[number].head;
	if (head.position >= rank_length(&job->facts, job->n, number))
		head = (struct coord_position){head.epoch + 1, 0};
	uint32_t drawn = head.epoch < job->log.epoch ? job->n : job->log.next;
	return job->entered && job->ranks[number].held && head.epoch <= job->log.epoch &&
	       head.position < rank_length(&job->facts, drawn, number);
}

void coord_take_look(struct coord *coord, struct coord_look *look)
{
	const struct held_job *job;
	note_heard(coord, look->members, look->n, look->live);
	free(coord->members);
	coord->members = look->members;
	coord->n_members = look->n;
	coord->n_live = look->live;
	look->members = NULL;
	take_lengths(coord, &look->jobs);
	LIST_FOREACH (job, &coord->jobs, link)
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			if (has_unread(job, r))
				coord->read_ns = 0;
	coord->look_ns =
		coord->now_ns + coord->ttl_ns * (coord_is_quiet(coord) ? 4 : 1) / 2;
}

/* Sets the time of the next engine->open after -EAGAIN. This time is near if the running epoch is
 * still being drawn. Otherwise ranks hold back the next epoch, and the pause grows. */
static void open_again(struct coord *coord, struct held_job *job)
{
	bool drawn = job->log.next == job->n;
	uint64_t in = drawn ? pause_ns(coord, coord->pace_ns) : coord->pace_ns / 64;
	job->open_ns = coord->now_ns + in;
	due_at(coord, job->open_ns);
}

int coord_open_wanted(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct held_job *job;
	LIST_FOREACH (job, &coord->jobs, link) {
		if (!job->entered || job->opened >= job->wanted)
			continue;
		if (coord->now_ns < job->open_ns) {
			due_at(coord, job->open_ns);
			continue;
		}
		/* Epochs begin one by one, each when the epoch before it is drawn. */
		uint32_t epoch =
			job->wanted <= job->log.epoch ? job->wanted : job->log.epoch + 1;
		int err = engine->open(
			engine->context, coord->view.run, job->facts.name, epoch);
		if (err == -EAGAIN) {
			open_again(coord, job);
			continue;
		}
		if (err)
			return err;
		job->opened = epoch;
		if (epoch > job->log.epoch) {
			job->log.epoch = epoch;
			job->log.next = 0;
		}
		coord->draw_ns = 0;
		due_at(coord, coord->now_ns);
	}
	return 0;
}

/* --- feeds ------------------------------------------------------------------------------ */

/* Moves the rank on from an epoch whose feed the engine has dropped. The engine drops a feed only
 * when the cursors of all ranks have passed the feed. Either another node has served this rank up
 * to rank->acked, or both the engine and this node have forgotten how far the rank had read. */
static void skip_epochs(struct coord *coord, const struct held_job *job, uint32_t number)
{
	const struct coord_calls *calls = &coord->calls;
	struct held_rank *rank = &job->ranks[number];
	if (rank->acked.epoch > rank->head.epoch) {
		rank->head = (struct coord_position){rank->acked.epoch, 0};
		return;
	}
	struct coord_position to = {job->log.epoch - 1, 0};
	if (calls->skipped && calls->skipped(calls->context, job->facts.name, number,
				      rank->head.epoch, rank->head.position, to.epoch))
		return; /* a later step tries again */
	rank->head = to;
	coord->status.skips++;
}

static void turn_epoch(struct coord *coord, const struct held_job *job, uint32_t number)
{
	struct held_rank *rank = &job->ranks[number];
	if (rank->head.position >= rank_length(&job->facts, job->n, number))
		rank->head = (struct coord_position){rank->head.epoch + 1, 0};
	if (rank->head.epoch + 1 < job->log.epoch)
		skip_epochs(coord, job, number);
}

static size_t list_reads(struct coord *coord, struct coord_read *reads, sample_id *ids)
{
	struct held_job *job;
	size_t n = 0;
	LIST_FOREACH (job, &coord->jobs, link)
		for (uint32_t r = 0; r < job->facts.ranks; r++) {
			struct held_rank *rank = &job->ranks[r];
			if (!rank->held)
				continue;
			if (reads) {
				turn_epoch(coord, job, r);
				reads[n] = (struct coord_read){.job = job->facts.name,
					.epoch = rank->head.epoch,
					.rank = r,
					.ranks = job->facts.ranks,
					.batch = job->facts.batch,
					.from = rank->head.position,
					.most = READ_MOST,
					.ids = ids + n * READ_MOST};
			}
			n++;
		}
	return n;
}

/* Returns -EBADE if the rank has already received one of the read's n samples in this epoch. Sets
 * *ret to the samples that the rank received at consecutive positions, up to the end of this read.
 * The caller frees *ret, also after an error. */
static int check_came(struct held_job *job, const struct coord_read *read, uint32_t n,
	roaring_bitmap_t **ret)
{
	struct came *came = &job->came[read->rank];
	if (came->end.epoch != read->epoch || came->end.position != read->from)
		bitmap_free(&came->ids);
	uint64_t before = came->ids ? roaring_bitmap_get_cardinality(came->ids) : 0;
	*ret = roaring_bitmap_of_ptr(n, read->ids);
	if (!*ret)
		return -ENOMEM;
	if (came->ids)
		roaring_bitmap_or_inplace(*ret, came->ids);
	return roaring_bitmap_get_cardinality(*ret) == before + n ? 0 : -EBADE;
}

/* Passes the samples of a read to fed(). -EAGAIN: the journal does not accept the samples now. */
static int feed(struct coord *coord, const struct coord_read *read)
{
	struct held_job *job = coord_find_job(coord, read->job);
	struct held_rank *rank = job ? &job->ranks[read->rank] : NULL;
	auto_bitmap roaring_bitmap_t *ids = NULL;
	if (!rank || !rank->held || rank->head.epoch != read->epoch ||
		rank->head.position != read->from)
		return 0;
	uint32_t left = rank_length(&job->facts, job->n, read->rank) - read->from;
	uint32_t n = read->ret_n < left ? read->ret_n : left;
	int err = check_came(job, read, n, &ids);
	if (err)
		return err;
	if (coord->calls.fed(coord->calls.context, read->job, read->rank, read->epoch,
		    read->from, read->ids, n))
		return -EAGAIN;
	rank->head.position += n;
	bitmap_free(&job->came[read->rank].ids);
	job->came[read->rank] = (struct came){ids, rank->head};
	ids = NULL;
	return 0;
}

static bool anybody_waits(const struct coord *coord)
{
	const struct held_job *job;
	LIST_FOREACH (job, &coord->jobs, link)
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			if (job->ranks[r].held && !position_before(job->ranks[r].consumed,
							  job->ranks[r].head))
				return true;
	return false;
}

static void read_again(struct coord *coord, bool any, bool more, bool failed)
{
	if (any) {
		coord_moved(coord);
		coord->hunger_ns = 0;
	}
	uint64_t most = 4 * coord->pace_ns;
	if (most > coord->ttl_ns)
		most = coord->ttl_ns;
	/* An idle node pauses long: unread samples end the pause (coord_take_look). */
	uint64_t in = coord_is_quiet(coord) ? QUIET_NS : pause_ns(coord, most);
	if (failed) {
		in = coord->pace_ns / 16;
	} else if (more) {
		in = 0;
	} else if (anybody_waits(coord)) {
		coord->hunger_ns = coord->hunger_ns * 2 + coord->pace_ns / 1024;
		if (coord->hunger_ns > coord->pace_ns / 16)
			coord->hunger_ns = coord->pace_ns / 16;
		in = coord->hunger_ns;
	}
	coord->read_ns = coord->now_ns + in;
	due_at(coord, coord->read_ns);
}

/* Tells whether the engine returned no samples, although the rank's feed has more. */
static bool is_missing(const struct coord *coord, const struct coord_read *read)
{
	const struct held_job *job = coord_find_job(coord, read->job);
	if (read->ret_n || !job || !job->entered || read->epoch > job->log.epoch)
		return false;
	uint32_t drawn = read->epoch == job->log.epoch ? job->log.next : job->n;
	return read->from < rank_length(&job->facts, drawn, read->rank);
}

static int mend_missing(struct coord *coord, const struct coord_read *reads, size_t n)
{
	if (coord->now_ns < coord->mend_ns)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (is_missing(coord, &reads[i])) {
			coord->mend_ns = coord->now_ns + coord->pace_ns;
			return coord_mend(coord, reads[i].job);
		}
	return 0;
}

static int read_batch(struct coord *coord, struct coord_read *reads, sample_id *ids)
{
	const struct coord_engine *engine = coord->engine;
	size_t n = list_reads(coord, reads, ids);
	int err = engine->read(engine->context, coord->view.run, reads, n);
	if (err)
		return err;
	bool any = false, more = false, failed = false;
	for (size_t i = 0; i < n; i++) {
		if (!reads[i].ret_n)
			continue;
		any = true;
		more |= reads[i].ret_n == READ_MOST;
		err = feed(coord, &reads[i]);
		if (err && err != -EAGAIN)
			return err;
		failed |= err != 0;
	}
	read_again(coord, any, more, failed);
	return mend_missing(coord, reads, n);
}

int coord_read_feeds(struct coord *coord)
{
	size_t n = list_reads(coord, NULL, NULL);
	if (n == 0)
		return 0;
	if (coord->now_ns < coord->read_ns) {
		due_at(coord, coord->read_ns);
		return 0;
	}
	auto_free struct coord_read *reads = calloc(n, sizeof(*reads));
	auto_free sample_id *ids = reallocarray(NULL, n * READ_MOST, sizeof(*ids));
	return reads && ids ? read_batch(coord, reads, ids) : -ENOMEM;
}
