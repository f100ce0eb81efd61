// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/clock.h"
#include "base/rng.h"
#include "coord/coord.h"
#include "coord/coord_engine.h"
#include "coord/coord_mutant.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

/*
 * Shared by the coordinator's files. coord.h explains the log, feeds, leases and cursors.
 *
 *   heartbeat   the call engine->beat, which renews the node's leases and sends its ranks' cursors
 *   look        a heartbeat whose answer also has the nodes and jobs of the group
 *   life        of the engine: from a start of its server to the next (coord_engine.h)
 *   progress    readers consumed samples, or the log changed; a node without progress for a ttl is
 *               quiet, and calls the engine less often
 */

#define NS_PER_MS UINT64_C(1000000)
/* pause of an idle node before its next draw or read; news in a heartbeat's answer end the pause */
#define QUIET_NS (3600 * SECOND_NS)
/* number of consumed positions after which a heartbeat is sent soon */
#define COMMIT_EVERY 32

struct held_rank {
	bool taken; /* coord_take_rank was called */
	bool held;  /* this node has the rank's lease */
	/* the rank will begin at the engine's cursor, which is not known yet */
	bool at_cursor;
	struct coord_position head; /* position of the next sample that fed() gets */
	struct coord_position consumed;
	/* sent: the value of `consumed` that was sent last; acked: the cursor that the engine has
	 * confirmed */
	struct coord_position sent, acked;
};

/* The samples that a rank received at consecutive positions up to `end`. The positions begin where
 * this node began to read, or where the log was repaired. */
struct came {
	roaring_bitmap_t *ids; /* NULL: none */
	struct coord_position end;
};

/* A job that this node runs. */
struct held_job {
	LIST_ENTRY(held_job) link;
	struct coord_job facts;
	uint32_t n;
	/* the engine knows in its present life that this node runs the job */
	bool entered;
	uint64_t enter_ns; /* time at which a refused job is tried again */
	char refused[COORD_TEXT];
	/* epoch and length of the engine's log when it was last asked */
	uint32_t epoch, next;
	uint32_t wanted;  /* latest epoch that a reader wants */
	uint32_t opened;  /* latest epoch that is known to have begun */
	uint64_t open_ns; /* earliest time of the next call of engine->open */
	struct held_rank *ranks;
	struct came *came; /* [ranks] */
	/* [ranks]: incarnations of the nodes that serve the ranks, and cursors, as the engine last
	 * told; NULL: not known */
	uint64_t *owners;
	struct coord_position *cursors;
};

/* A job for which the leader draws. */
struct drawn_job {
	LIST_ENTRY(drawn_job) link;
	struct coord_job facts;
	uint32_t n;
	job_id id;
	struct pool *pool;
	bool joined;
	/* the sampler has the samples that remain in this epoch (remaining_j) */
	bool streams;
	stream_id stream;
	bool seen;	 /* the last coord_survey found the job in the group */
	uint64_t met_ns; /* time at which this leader first saw the job */
	uint32_t epoch, next;
	/* all epochs before this one are over, and their feeds were deleted */
	uint32_t forgotten;
	uint32_t ahead;	   /* samples drawn beyond the position of the fastest reader */
	uint32_t window;   /* number of samples that should be drawn ahead */
	uint32_t wants;	   /* number of samples to draw now */
	uint64_t consumed; /* samples that all ranks consumed in all epochs */
	uint64_t measured_ns;
	double rate; /* samples consumed per second */
	/* [ranks]: incarnation of the node that serves the rank; 0: none */
	uint64_t *owners;
	sample_id *ids; /* samples that were drawn, but not appended yet */
	uint32_t n_ids;
};

/* The jobs of one dataset and one kind of sampler. They are drawn together. */
struct pool {
	LIST_ENTRY(pool) link;
	char dataset[COORD_NAME];
	enum sampler_kind kind;
	struct sampler *sampler;
	/* samples that were in the cache of any node when the sampler `exchange` was last told;
	 * NULL: not known yet */
	roaring_bitmap_t *resident;
	/* fresh: samples drawn since fresh_ns; older: samples drawn in the interval that ended at
	 * fresh_ns. NULL: the set was not made yet. */
	roaring_bitmap_t *fresh, *older;
	/* told_ns: time at which the engine is next asked for `resident` */
	uint64_t fresh_ns, told_ns;
	roaring_bitmap_t *lacked; /* samples that their homes lack; NULL: not known */
	uint64_t lacked_ns; /* time at which the engine is next asked for `lacked` */
};

struct coord {
	struct coord_node self;
	uint64_t ttl_ns;
	/* unit of the pauses between calls of the engine: ttl_ns or MOST_PACE_NS, the smaller
	 * one */
	uint64_t pace_ns;
	uint32_t mini_batches;
	uint64_t most_ids;
	struct coord_calls calls;
	const struct coord_engine *engine;
	struct rng rng;
	uint64_t seed;

	uint64_t now_ns, due_ns;
	/* Times at which a heartbeat, a look (a heartbeat that also asks for nodes and jobs), a
	 * read of feeds and a draw are due. tell_ns: time of the last report of cached samples. */
	uint64_t beat_ns, look_ns, read_ns, draw_ns, tell_ns;
	uint64_t mend_ns;     /* earliest time of the next call of engine->mend */
	uint64_t beaten_ns;   /* time of the last answered heartbeat */
	uint64_t moved_ns;    /* time of the last progress of readers or the log */
	uint64_t hunger_ns;   /* pause between reads of feeds while readers are waiting */
	uint64_t patience_ns; /* pause between attempts to reach the engine */

	struct coord_view view;
	bool joined; /* the engine has answered, so `view` is valid */
	bool refused, compared;
	char message[COORD_TEXT];
	uint64_t away_since_ns;
	int away_errno;
	/* coord_status copies the counters from here; the other fields are unused. */
	struct coord_status counts;
	LIST_HEAD(, held_job) jobs;
	struct coord_node *members; /* first the live nodes, then the others */
	size_t n_members, n_live;
	/* Nodes that were live in earlier lives of the engine. A repair waits for their reports. */
	struct coord_node *expected;
	size_t n_expected;

	/* The members from here on are the state of the leader. */
	bool leads;
	struct coord_token token;
	/* time of the last heartbeat or election that renewed the leader's lease */
	uint64_t renewed_ns;
	/* time of the last step in which the leader waited for journals; 0: it does not wait */
	uint64_t waits_since_ns;
	/* how long the leader has waited for journals, all steps together */
	uint64_t waited_ns;
	LIST_HEAD(, drawn_job) drawn;
	LIST_HEAD(, pool) pools;
	job_id next_id;
	stream_id next_stream;
};

/* Returns the number of positions that a rank has in an epoch. */
static inline uint32_t rank_length(
	const struct coord_job *facts, uint32_t n, uint32_t rank)
{
	return ranks_position(n, facts->batch, facts->ranks, rank);
}

static inline void due_at(struct coord *coord, uint64_t ns)
{
	if (ns < coord->due_ns)
		coord->due_ns = ns;
}

static inline uint64_t quiet_ns(const struct coord *coord)
{
	return coord->now_ns - coord->moved_ns;
}

/* Returns the pause before the engine is next asked for changes by other nodes. The longer there
 * was no progress, the longer is the pause, up to most_ns. The next progress ends the pause
 * (coord_moved). */
static inline uint64_t pause_ns(const struct coord *coord, uint64_t most_ns)
{
	uint64_t in = quiet_ns(coord) / 4, least_ns = coord->pace_ns / 32;
	if (in < least_ns)
		return least_ns;
	return in < most_ns ? in : most_ns;
}

static inline uint32_t ttl_ms(const struct coord *coord)
{
	return (uint32_t)(coord->ttl_ns / NS_PER_MS);
}

/* --- coord.c ---------------------------------------------------------------------------- */

struct held_job *coord_find_job(const struct coord *coord, const char *name);
/* Notes progress of readers or of the log. If there was none for pace_ns, all calls of the engine
 * become due. */
void coord_moved(struct coord *coord);
/* Tells whether the node is idle: there was no progress for a ttl, the group has accepted all jobs
 * of the node, and the node has the leases of all its ranks. An idle node calls the engine less
 * often. */
bool coord_is_quiet(const struct coord *coord);
/* Notes that this node no longer serves the rank, and calls lost(). */
void coord_lose_rank(struct coord *coord, struct held_job *job, uint32_t rank);

/* Notes that the epoch of `at` has begun, if a reader has read samples of this epoch. This is
 * needed after a repair: the engine may have forgotten that the epoch has begun. */
static inline void coord_note_begun(struct held_job *job, struct coord_position at)
{
	if (at.position > 0 && at.epoch > job->wanted)
		job->wanted = at.epoch;
}

/* --- coord_ranks.c ---------------------------------------------------------------------- */

/* Tells whether the rank holds back the next epoch (coord_behind). */
bool coord_is_behind_others(const struct held_job *job, uint32_t number);

/* --- coord_step.c ----------------------------------------------------------------------- */

/* Makes a heartbeat, a look and a draw due, because the engine gave an unexpected answer. (A look
 * is a heartbeat that also asks for nodes and jobs.) */
void coord_doubt(struct coord *coord);
/* Sends a heartbeat: renews all leases of the node, and sends its cursors. If a look is due, the
 * answer also has the nodes and jobs of the group. */
must_check int coord_beat(struct coord *coord);

/* --- coord_follow.c --------------------------------------------------------------------- */

/* Enters the jobs of this node that are not entered yet into the group. Stores the reasons of
 * refusals. */
must_check int coord_enter_jobs(struct coord *coord);
/* Asks the engine for the lengths of logs and the owners of ranks. */
must_check int coord_ask_lengths(struct coord *coord);
/* Takes the members, the lengths of logs, and the owners of ranks from `look`. */
void coord_take_look(struct coord *coord, struct coord_look *look);
/* Begins the epochs that readers want. */
must_check int coord_open_wanted(struct coord *coord);
/* Reads the feeds of the ranks that the node serves, and calls fed(). */
must_check int coord_read_feeds(struct coord *coord);
/* Forgets which samples the rank received, since the log may have changed. */
void coord_forget_came(struct held_job *job, uint32_t number);

/* --- coord_repair.c --------------------------------------------------------------------- */

/* Offers the samples of local journals that are beyond the log, then reports that all are
 * offered. */
must_check int coord_report(struct coord *coord);
/* Waits for reports, fills the log, and lets the group continue. Called by the leader. */
must_check int coord_repair(struct coord *coord);
/* Lets the engine check a job's log that seems to lack a part. -ESTALE: the part was lost, and will
 * be repaired. */
must_check int coord_mend(struct coord *coord, const char *job);
/* Compares the samples that readers of this node got with the repaired log. Calls forget() for
 * positions that differ. */
must_check int coord_compare(struct coord *coord);

/* --- coord_fill.c ----------------------------------------------------------------------- */

/* Extends the log of a job by whole mini-batches, until it contains all offered positions. Offered
 * samples keep their positions. All other positions get samples of the epoch that the log does not
 * have yet, chosen at random. */
must_check int coord_fill(struct coord *coord, const struct coord_engine_job *job,
	const struct coord_offers *offers);

/* --- coord_lead.c ----------------------------------------------------------------------- */

/* Tries to become leader if no other node leads. As leader, repairs the log and draws. */
must_check int coord_lead(struct coord *coord);
/* Stops leading, and drops the jobs for which this node drew. */
void coord_resign(struct coord *coord);

/* --- coord_drawn.c ---------------------------------------------------------------------- */

/* Updates the leader's list of jobs from the engine. Rebuilds the samples that each job has yet to
 * draw, remaining_j = D_j - log_j, where they are not known. */
must_check int coord_survey(struct coord *coord);
/* Forgets which samples each job has yet to draw (remaining_j). The next coord_survey finds this
 * out again. */
void coord_drop_streams(struct coord *coord);
/* Frees all jobs and pools of the leader. */
void coord_drop_drawn(struct coord *coord);
/* Removes the first `next` samples of an epoch's log from `ids`. -ESTALE: the engine's log is
 * shorter. */
must_check int coord_subtract_log(struct coord *coord, const struct coord_job *facts,
	uint32_t epoch, uint32_t next, roaring_bitmap_t *ids);

/* --- coord_draw.c ----------------------------------------------------------------------- */

/* Draws for jobs whose log is not far enough ahead of the readers, and appends the samples. */
must_check int coord_draw(struct coord *coord);

/* --- coord_resident.c ------------------------------------------------------------------- */

/* Reports this node's samples to the engine from time to time. For the sampler `exchange`: the
 * samples in the cache. For the assignment of samples to ranks: the samples that have their home
 * here, but are not in the cache. */
must_check int coord_tell_resident(struct coord *coord);
/* Tells the pool's sampler which samples are in the cache of any node. */
must_check int coord_update_resident(struct coord *coord, struct pool *pool);
/* Updates pool->lacked, the samples that are not in the caches of their homes. */
must_check int coord_update_lacked(struct coord *coord, struct pool *pool);
/* Notes samples as recently drawn, since they are on their way to a cache. */
void coord_note_drawn(struct pool *pool, const sample_id *ids, size_t n);
void coord_free_resident(struct pool *pool);
