// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/clock.h"
#include "base/rng.h"
#include "coord/coord.h"
#include "coord/coord_engine.h"
#include "coord/coord_mutant.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

/*
 * Words of the coordinator's files. coord.h explains the log, feeds, leases and cursors.
 *
 *   heartbeat   the call engine->beat, which renews the node's leases and sends its ranks' cursors
 *   look        a heartbeat whose answer also has the nodes and jobs of the group
 *   life        of the engine: from a start of its server to the next (coord_engine.h)
 *   progress    readers consumed samples, or the log changed; a node without progress for a ttl is
 *               quiet (idle), and calls the engine less often
 */

/* pause of an idle node before its next draw or read, unless a heartbeat shows work */
#define QUIET_NS (3600 * SECOND_NS)
#define COMMIT_EVERY 32 /* consumed positions after which a heartbeat is sent soon */

struct held_rank {
	bool taken;	/* coord_take_rank was called */
	bool held;	/* this node has the rank's lease */
	bool at_cursor; /* fed() begins at the engine's cursor, which is not known yet */
	struct coord_position head; /* the next position that fed() gets */
	struct coord_position consumed;
	/* sent: last sent value of `consumed`; acked: the cursor that the engine has confirmed */
	struct coord_position sent, acked;
};

/* The samples that a rank received at consecutive positions of an epoch, before `end`. A later read
 * that has one of these samples again is an error. */
struct came {
	roaring_bitmap_t *ids; /* NULL: none */
	struct coord_position end;
};

/* A job that this node runs. */
struct held_job {
	LIST_ENTRY(held_job) link;
	struct coord_job facts;
	uint32_t n;
	bool entered; /* the engine's present life knows that this node runs the job */
	uint64_t enter_ns; /* when a refused job is tried again */
	char refused[COORD_TEXT];
	struct coord_engine_job log; /* as the engine last told it; empty: not known */
	uint32_t wanted;	     /* latest epoch that a reader wants */
	uint32_t opened;	     /* latest epoch that is known to have begun */
	uint64_t open_ns;	     /* when engine->open may be called again */
	struct held_rank *ranks;
	struct came *came; /* [facts.ranks], one for each rank of the job */
};

/* A job for which the leader draws. */
struct drawn_job {
	LIST_ENTRY(drawn_job) link;
	struct coord_job facts;
	struct coord_engine_job log; /* as the last coord_survey found it */
	job_id id;
	struct pool *pool;
	bool joined;
	bool streams; /* the sampler has the samples that the job has yet to draw */
	stream_id stream;
	bool seen;	 /* the last coord_survey found the job in the group */
	uint64_t met_ns; /* when this leader first saw the job */
	/* all epochs before this one are over, and their feeds are deleted */
	uint32_t forgotten;
	uint32_t ahead;	   /* samples drawn beyond the fastest reader */
	uint32_t window;   /* samples that should be drawn ahead */
	uint32_t wants;	   /* samples to draw now */
	uint64_t consumed; /* samples consumed by all ranks in all epochs */
	uint64_t measured_ns;
	double rate;	/* samples consumed per second */
	sample_id *ids; /* samples that were drawn, but not appended yet */
	uint32_t n_ids;
};

/* The jobs of one dataset and one kind of sampler, which are drawn together. */
struct pool {
	LIST_ENTRY(pool) link;
	char dataset[COORD_NAME];
	enum sampler_kind kind;
	struct sampler *sampler;
	/* samples in any node's cache, as the sampler `exchange` was last told; NULL: not known */
	roaring_bitmap_t *resident;
	/* two sets of recently drawn samples. fresh: drawn since fresh_ns. older: drawn before
	 * fresh_ns, but since the value that fresh_ns had before. NULL: the set is not made yet */
	roaring_bitmap_t *fresh, *older;
	uint64_t fresh_ns;
	uint64_t told_ns;	  /* time at which this node next asks for `resident` */
	roaring_bitmap_t *lacked; /* samples that their homes lack; NULL: not known */
	uint64_t lacked_ns;	  /* time at which this node next asks for `lacked` */
};

struct coord {
	struct coord_node self;
	uint64_t ttl_ns;
	/* unit of the pauses between calls of the engine: ttl_ns, but at most MOST_PACE_NS */
	uint64_t pace_ns;
	uint32_t mini_batches;
	uint64_t most_ids;
	struct coord_calls calls;
	const struct coord_engine *engine;
	struct rng rng;
	uint64_t seed;

	uint64_t now_ns, due_ns;
	/* beat_ns, look_ns, read_ns and draw_ns are the times of the next heartbeat, look, read of
	 * feeds, and draw. tell_ns is the time of the last report of cached samples. */
	uint64_t beat_ns, look_ns, read_ns, draw_ns, tell_ns;
	uint64_t mend_ns;     /* when engine->mend may be called again */
	uint64_t beaten_ns;   /* time of the last answered heartbeat */
	uint64_t moved_ns;    /* time of the last progress of readers or the log */
	uint64_t hunger_ns;   /* pause between reads of feeds while readers wait */
	uint64_t patience_ns; /* pause between attempts to reach the engine */

	struct coord_view view;
	bool joined; /* the engine has answered, so `view` is valid */
	bool refused, compared;
	/* the counters, away_since_ns, away_errno and message; coord_status finds the other fields */
	struct coord_status status;
	LIST_HEAD(, held_job) jobs;
	struct coord_node *members; /* first the live nodes, then the others */
	size_t n_members, n_live;
	/* nodes that were live when an earlier life of the engine ended. The engine may have lost
	 * them, so the leader waits for their reports, too, until the log is repaired. */
	struct coord_node *expected;
	size_t n_expected;

	/* the state of the leader: */
	bool leads;
	struct coord_token token;
	uint64_t renewed_ns; /* when the leader's lease was last renewed */
	/* time of the last step that waited for journals; 0: none */
	uint64_t waits_since_ns;
	uint64_t waited_ns; /* time waited for journals, in all steps together */
	LIST_HEAD(, drawn_job) drawn;
	LIST_HEAD(, pool) pools;
	job_id next_id;
	stream_id next_stream;
};

/* Returns how many of the first n positions of an epoch are the rank's. */
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

/* Returns the pause before this node asks the engine again what other nodes have changed. The pause
 * grows with the time without progress, up to most_ns. Progress ends the pause (coord_moved). */
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
/* Notes progress of readers or the log. If there was none for longer than pace_ns, the next look,
 * read of feeds, draw, and report of cached samples become due. */
void coord_moved(struct coord *coord);
/* Tells whether the node is idle: there was no progress for a ttl, the group has all jobs of the
 * node, and the node holds the leases of all ranks that it has taken. */
bool coord_is_quiet(const struct coord *coord);
/* Notes that this node no longer serves the rank, and calls lost(). */
void coord_lose_rank(struct coord *coord, struct held_job *job, uint32_t rank);

/* Counts the epoch of `at` as wanted if readers have got samples of the epoch (position > 0). This
 * node then asks the engine to begin the epoch, because the engine may have forgotten that the
 * epoch has begun. */
static inline void coord_note_begun(struct held_job *job, struct coord_position at)
{
	if (at.position > 0 && at.epoch > job->wanted)
		job->wanted = at.epoch;
}

/* --- coord_ranks.c ---------------------------------------------------------------------- */

bool coord_is_behind_others(const struct held_job *job, uint32_t number);

/* --- coord_step.c ----------------------------------------------------------------------- */

/* Makes a heartbeat, a look and a draw due: this node's view of the engine may be outdated. */
void coord_doubt(struct coord *coord);
/* Sends a heartbeat, or a look if it is due. */
must_check int coord_beat(struct coord *coord);

/* --- coord_follow.c --------------------------------------------------------------------- */

/* Enters this node's jobs into the group, and stores the reasons of refusals. */
must_check int coord_enter_jobs(struct coord *coord);
/* Asks for the lengths of logs and the owners of ranks. */
must_check int coord_ask_lengths(struct coord *coord);
/* Takes members, lengths of logs, and owners of ranks from `look`. */
void coord_take_look(struct coord *coord, struct coord_look *look);
must_check int coord_open_wanted(struct coord *coord);
/* Reads the feeds of this node's ranks, and calls fed(). */
must_check int coord_read_feeds(struct coord *coord);

/* --- coord_repair.c --------------------------------------------------------------------- */

/* Offers the samples that the local journals have at positions behind the log's end. Then reports
 * that this node has offered all samples. */
must_check int coord_report(struct coord *coord);
/* The leader's part of a repair: fills the log and lets the group continue, if all known nodes
 * have reported and one ttl has passed (waited_enough), or if 3 ttl have passed. Does not block:
 * otherwise a later step tries again. */
must_check int coord_repair(struct coord *coord);
/* Lets the engine check the job's log. -ESTALE: the log lacks samples, and has to be repaired. */
must_check int coord_mend(struct coord *coord, const char *job);
/* Compares readers' samples with the repaired log. Calls forget() where they differ. */
must_check int coord_compare(struct coord *coord);

/* --- coord_fill.c ----------------------------------------------------------------------- */

/* Repairs the job's log: extends the log by whole mini-batches until it contains all offered
 * positions. Offered samples keep their positions. The other positions get random samples that the
 * epoch's log lacks. */
must_check int coord_fill(struct coord *coord, const struct coord_engine_job *job,
	const struct coord_offers *offers);

/* --- coord_lead.c ----------------------------------------------------------------------- */

/* Tries to become leader if no other node leads. As leader, repairs the log and draws. */
must_check int coord_lead(struct coord *coord);
void coord_resign(struct coord *coord);

/* --- coord_drawn.c ---------------------------------------------------------------------- */

/* Updates the leader's jobs, and the samples that they have yet to draw (remaining_j, coord.h). */
must_check int coord_survey(struct coord *coord);
/* Forgets the samples that each job has yet to draw; coord_survey finds them again. */
void coord_drop_streams(struct coord *coord);
void coord_drop_drawn(struct coord *coord);
/* Removes the first `next` samples of an epoch's log from `ids`. -ESTALE: the log has fewer
 * samples. */
must_check int coord_subtract_log(struct coord *coord, const struct coord_job *facts,
	uint32_t epoch, uint32_t next, roaring_bitmap_t *ids);

/* --- coord_draw.c ----------------------------------------------------------------------- */

/* Draws for jobs whose log is too short for their readers, and appends the samples. */
must_check int coord_draw(struct coord *coord);

/* --- coord_resident.c ------------------------------------------------------------------- */

/* Reports two sets of samples to the engine from time to time. The sampler `exchange` uses the
 * first set, the samples in this node's cache. The assignment of samples to ranks uses the second
 * set: samples whose home is this node, but which are not in its cache. */
must_check int coord_tell_resident(struct coord *coord);
/* Tells the pool's sampler which samples are in any node's cache. */
must_check int coord_update_resident(struct coord *coord, struct pool *pool);
must_check int coord_update_lacked(struct coord *coord, struct pool *pool);
/* Notes samples as recently drawn: they are on their way to a cache. */
void coord_note_drawn(struct pool *pool, const sample_id *ids, size_t n);
