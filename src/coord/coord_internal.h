// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "coord/coord.h"
#include "coord/coord_engine.h"
#include "coord/coord_mutant.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define QUIET_NS                                                                         \
	(3600 * NS_PER_S) /* pause of a step that a beat makes due in a quiet time */
#define COMMIT_EVERY 32	  /* consumed positions after which a beat is due soon */

struct held_rank {
	bool taken;	/* coord_take_rank was called */
	bool held;	/* this node has the lease */
	bool at_cursor; /* the rank begins at the cursor, which is not known yet */
	struct coord_position head; /* next position for fed() */
	struct coord_position consumed;
	/* the last `consumed` that was sent; the engine's cursor */
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
	bool entered;	   /* the engine has it in this life */
	uint64_t enter_ns; /* time at which a refused job is tried again */
	char refused[COORD_TEXT];
	uint32_t epoch, next; /* the engine's log, at the last look */
	uint32_t wanted;      /* the last epoch that a reader wants */
	uint32_t opened;      /* last epoch that has begun, as far as is known */
	uint64_t open_ns;     /* earliest time of the next call of engine->open */
	struct held_rank *ranks;
	struct came *came; /* [ranks] */
	/* [ranks], at the last look; NULL: not known */
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
	bool streams; /* the sampler has remaining_j of this epoch */
	stream_id stream;
	bool seen;	 /* the last survey has found it */
	uint64_t met_ns; /* time at which this leader first saw the job */
	uint32_t epoch, next;
	/* feeds of epochs before this one were deleted; 0: none were */
	uint32_t forgotten;
	uint32_t ahead;	   /* samples drawn beyond the position of the fastest reader */
	uint32_t window;   /* number of samples that should be drawn ahead */
	uint32_t wants;	   /* number of samples to draw now */
	uint64_t consumed; /* samples of all ranks and epochs */
	uint64_t measured_ns;
	double rate;	  /* samples consumed per second */
	uint64_t *owners; /* [ranks]: for coord_batch.rank_node */
	sample_id *ids;	  /* samples drawn now */
	uint32_t n_ids;
};

/* The jobs of one dataset. They are drawn together. */
struct pool {
	LIST_ENTRY(pool) link;
	char dataset[COORD_NAME];
	enum sampler_kind kind;
	struct sampler *sampler;
	/* Bitmaps for the sampler `exchange`; NULL: not known yet. */
	roaring_bitmap_t *resident;	 /* owned by the sampler */
	roaring_bitmap_t *fresh, *older; /* recently drawn samples */
	/* Time when `fresh` began; time of the next question to the engine. */
	uint64_t fresh_ns, told_ns;
	/* samples that their homes lack; NULL: not known. Time of the next question. */
	roaring_bitmap_t *lacked;
	uint64_t lacked_ns;
};

struct coord {
	struct coord_node self;
	uint64_t ttl_ns;
	uint64_t pace_ns; /* unit of the intervals between looks at the engine */
	uint32_t mini_batches;
	uint64_t most_ids;
	struct coord_calls calls;
	const struct coord_engine *engine;
	struct rng rng;
	uint64_t seed;

	uint64_t now_ns, due_ns;
	/* Times at which these steps are due. */
	uint64_t beat_ns, look_ns, read_ns, draw_ns, tell_ns;
	uint64_t mend_ns;     /* earliest time of the next call of engine->mend */
	uint64_t beaten_ns;   /* the last beat */
	uint64_t moved_ns;    /* time of the last progress of readers or the log */
	uint64_t hunger_ns;   /* pause between reads of feeds while readers are waiting */
	uint64_t patience_ns; /* pause between attempts to reach the engine */

	struct coord_view view;
	bool joined; /* the view is valid */
	bool refused, compared;
	char message[COORD_TEXT];
	uint64_t away_since_ns;
	int away_errno;
	/* Holds the counters for coord_status. Its other fields are unused. */
	struct coord_status counts;
	LIST_HEAD(, held_job) jobs;
	struct coord_node *members; /* live ones come first */
	size_t n_members, n_live;
	/* Nodes that were live in earlier lives of the engine. */
	struct coord_node *expected;
	size_t n_expected;

	/* The members from here on are the state of the leader. */
	bool leads;
	struct coord_token token;
	uint64_t renewed_ns; /* the last beat or election that renewed the lease */
	/* since when steps have waited for journals; 0: they don't */
	uint64_t waits_since_ns;
	uint64_t waited_ns; /* time waited for journals */
	LIST_HEAD(, drawn_job) drawn;
	LIST_HEAD(, pool) pools;
	job_id next_id;
	stream_id next_stream;
};

static inline bool position_before(struct coord_position a, struct coord_position b)
{
	return a.epoch < b.epoch || (a.epoch == b.epoch && a.position < b.position);
}

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

/* Returns the pause before the next look for changes by other nodes. It grows as long as there is
 * no progress. coord_moved, called when a reader of this node moves on, ends it. */
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
/* Makes a beat due soon, but not at once. */
void coord_beat_soon(struct coord *coord);
/* Notes progress of readers or the log. After a quiet time all looks become due. */
void coord_moved(struct coord *coord);
/* Tells whether there was no progress for a ttl, and the node waits for no job and no rank. It then
 * calls the engine less often. */
bool coord_is_quiet(const struct coord *coord);
/* Notes that another node serves the rank, and calls lost(). */
void coord_lose_rank(struct coord *coord, struct held_job *job, uint32_t rank);

/* Notes that the epoch has begun, since a reader is in it. The engine may have forgotten this. */
static inline void coord_note_begun(struct held_job *job, struct coord_position at)
{
	if (at.position > 0 && at.epoch > job->wanted)
		job->wanted = at.epoch;
}

/* --- coord_ranks.c ---------------------------------------------------------------------- */

/* Tells whether the rank is one of coord_behind. */
bool coord_is_behind_others(const struct held_job *job, uint32_t number);

/* --- coord_step.c ----------------------------------------------------------------------- */

/* Makes all questions to the engine due again, after an unexpected answer. */
void coord_doubt(struct coord *coord);
/* Renews all leases of the node, and sends its cursors. Looks, if that is due. */
must_check int coord_beat(struct coord *coord);

/* --- coord_follow.c --------------------------------------------------------------------- */

/* Enters the jobs that are not entered yet. Stores the reasons of refusals. */
must_check int coord_enter_jobs(struct coord *coord);
/* Asks the engine for the lengths of logs and the owners of ranks. */
must_check int coord_ask_lengths(struct coord *coord);
/* Takes the members, the lengths of logs, and the owners of ranks from the look. */
void coord_take_look(struct coord *coord, struct coord_look *look);
/* Begins the epochs that readers want. */
must_check int coord_open_wanted(struct coord *coord);
/* Reads the feeds of the ranks that the node serves, and calls fed(). */
must_check int coord_read_feeds(struct coord *coord);
/* Forgets which samples the rank received, since the log may have changed. */
void coord_forget_came(struct held_job *job, uint32_t number);

/* --- coord_repair.c --------------------------------------------------------------------- */

/* Offers the parts of local journals that are beyond the log, then reports. */
must_check int coord_report(struct coord *coord);
/* Waits for reports, fills the log, and lets the group continue. Called by the leader. */
must_check int coord_repair(struct coord *coord);
/* Lets the engine check a job's log that seems to lack a part. -ESTALE: the part was lost, and will
 * be repaired. */
must_check int coord_mend(struct coord *coord, const char *job);
/* Compares the samples that readers here got with the repaired log. Calls forget() for positions
 * that differ. */
must_check int coord_compare(struct coord *coord);

/* --- coord_fill.c ----------------------------------------------------------------------- */

/* Extends the log of a job to the end of the offers. Offered samples keep their positions; the
 * holes are filled with drawn samples. */
must_check int coord_fill(struct coord *coord, const struct coord_engine_job *job,
	const struct coord_offers *offers);

/* --- coord_lead.c ----------------------------------------------------------------------- */

/* Tries to become leader. As leader, repairs the log and draws. */
must_check int coord_lead(struct coord *coord);
/* Stops leading, and drops the jobs for which this node drew. */
void coord_resign(struct coord *coord);

/* --- coord_drawn.c ---------------------------------------------------------------------- */

/* Updates the leader's jobs from the engine, with remaining_j = D_j - log_j. */
must_check int coord_survey(struct coord *coord);
/* Drops remaining_j of all jobs; the next survey rebuilds them. */
void coord_drop_streams(struct coord *coord);
/* Frees all jobs and pools of the leader. */
void coord_drop_drawn(struct coord *coord);
/* Removes the first `next` samples of an epoch's log from ids. -ESTALE: the engine's log is
 * shorter. */
must_check int coord_subtract_log(struct coord *coord, const struct coord_job *facts,
	uint32_t epoch, uint32_t next, roaring_bitmap_t *ids);

/* --- coord_draw.c ----------------------------------------------------------------------- */

/* Draws for jobs whose log is not far enough ahead of the readers, and appends the samples. */
must_check int coord_draw(struct coord *coord);

/* --- coord_resident.c ------------------------------------------------------------------- */

/* Tells the engine from time to time which samples this node holds, for the sampler `exchange`, and
 * which ones it lacks, for the placement. */
must_check int coord_tell_resident(struct coord *coord);
/* Updates the pool's sampler with the samples that any node holds. */
must_check int coord_update_resident(struct coord *coord, struct pool *pool);
/* Updates the samples that their homes lack. */
must_check int coord_update_lacked(struct coord *coord, struct pool *pool);
/* Notes samples as recently drawn, since they are on their way to a cache. */
void coord_note_drawn(struct pool *pool, const sample_id *ids, size_t n);
void coord_free_resident(struct pool *pool);
