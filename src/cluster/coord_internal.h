// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "cluster/coord.h"
#include "cluster/coord_engine.h"
#include "cluster/coord_mutant.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define COMMIT_EVERY 32 /* positions */

struct held_rank {
	bool taken;		    /* it was asked for */
	bool held;		    /* this node has the lease */
	bool at_cursor;		    /* where it begins is not known yet */
	struct coord_position head; /* the next that it is fed */
	struct coord_position consumed;
	struct coord_position sent, acked; /* of consumed; what the engine has */
};

/* Samples of a rank that came, in a row up to `end`. None is known of before this node began
 * to read, or the log was repaired. */
struct came {
	roaring_bitmap_t *ids; /* NULL: none */
	struct coord_position end;
};

/* A job that this node runs. */
struct held_job {
	LIST_ENTRY(held_job) link;
	struct coord_job facts;
	uint32_t n;
	bool entered;	   /* in this life of the engine */
	uint64_t enter_ns; /* when it is tried again, after it was refused */
	char refused[COORD_TEXT];
	uint32_t epoch, next; /* as the engine had it lately */
	uint32_t wanted;      /* the epoch that a reader wants */
	uint32_t opened;      /* the last that is known to have begun */
	struct held_rank *ranks;
	struct came *came; /* of each rank */
	uint64_t *
		owners; /* of the ranks, as the engine had them lately; NULL: not known */
};

/* A job as the leader draws for it. */
struct drawn_job {
	LIST_ENTRY(drawn_job) link;
	struct coord_job facts;
	uint32_t n;
	job_id id;
	struct pool *pool;
	bool joined;
	bool streams; /* the sampler has remaining_j of this epoch */
	stream_id stream;
	bool seen;	 /* in the last survey */
	uint64_t met_ns; /* when this leader first saw the job */
	uint32_t epoch, next;
	uint32_t forgotten; /* feeds of epochs before this one, if not 0 */
	uint32_t ahead;	    /* drawn beyond the first reader's position */
	uint32_t window;
	uint32_t wants;	   /* samples of this draw */
	uint64_t consumed; /* by all ranks, over all epochs */
	uint64_t measured_ns;
	double rate;	  /* samples per second */
	uint64_t *owners; /* of the ranks, as coord_batch has them */
	sample_id *ids;	  /* of this draw */
	uint32_t n_ids;
};

/* Jobs of one dataset, which share draws. */
struct pool {
	LIST_ENTRY(pool) link;
	char dataset[COORD_NAME];
	enum sampler_kind kind;
	struct sampler *sampler;
	/* For exchange; NULL: nothing yet. */
	roaring_bitmap_t *resident;	 /* as the sampler has it */
	roaring_bitmap_t *fresh, *older; /* drawn of late */
	uint64_t fresh_ns, told_ns; /* when fresh began; when it is asked for again */
};

struct coord {
	struct coord_node self;
	uint64_t ttl_ns;
	uint64_t pace_ns; /* in parts of which the node looks for what others did */
	uint32_t mini_batches;
	uint64_t most_ids;
	struct coord_calls calls;
	const struct coord_engine *engine;
	struct rng rng;
	uint64_t seed;

	uint64_t now_ns, due_ns;
	uint64_t beat_ns, look_ns, read_ns, draw_ns, tell_ns; /* when each is due */
	uint64_t mend_ns;   /* when a log that ends too soon may be complained of again */
	uint64_t beaten_ns; /* the last beat */
	uint64_t moved_ns;  /* when readers or the log last went on, as far as is known */
	uint64_t hunger_ns; /* how soon feeds are read again while readers wait */
	uint64_t patience_ns; /* how soon an engine that is away is tried again */

	struct coord_view view;
	bool joined; /* the view is one */
	bool refused, compared;
	char message[COORD_TEXT];
	uint64_t away_since_ns;
	int away_errno;
	struct coord_status counts; /* the numbers of it only */
	LIST_HEAD(, held_job) jobs;
	struct coord_node *members; /* live ones first */
	size_t n_members, n_live;
	struct coord_node *expected; /* who was live before the engine's life ended */
	size_t n_expected;

	/* as the leader */
	bool leads;
	struct coord_token token;
	uint64_t renewed_ns;
	bool renew;		 /* now */
	uint64_t waits_since_ns; /* for journals, the last step that did; 0: not yet */
	uint64_t waited_ns;
	LIST_HEAD(, drawn_job) drawn;
	LIST_HEAD(, pool) pools;
	job_id next_id;
	stream_id next_stream;
};

static inline bool position_before(struct coord_position a, struct coord_position b)
{
	return a.epoch < b.epoch || (a.epoch == b.epoch && a.position < b.position);
}

/* Positions of a rank in a whole epoch. */
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

/* How soon it is looked again for what others may have done: the later the longer nothing has
 * gone on. What a reader of this node does is looked at in any case (coord_moved). */
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
void coord_beat_soon(struct coord *coord);
/* Readers or the log went on. */
void coord_moved(struct coord *coord);
/* Nothing has gone on for a ttl, and the node waits for no job and no rank: it calls more
 * rarely. */
bool coord_is_quiet(const struct coord *coord);
void coord_lose_rank(struct coord *coord, struct held_job *job, uint32_t rank);

/* A reader is there, so the epoch has begun, also if the engine has forgotten that. */
static inline void coord_note_begun(struct held_job *job, struct coord_position at)
{
	if (at.position > 0 && at.epoch > job->wanted)
		job->wanted = at.epoch;
}

/* --- coord_step.c ----------------------------------------------------------------------- */

/* Something is not as it was thought to be: all is asked for again. */
void coord_doubt(struct coord *coord);
/* Renews all leases of the node, and sends its cursors. */
must_check int coord_beat(struct coord *coord);

/* --- coord_follow.c --------------------------------------------------------------------- */

must_check int coord_enter_jobs(struct coord *coord);
must_check int coord_look(struct coord *coord); /* members and lengths of logs */
must_check int coord_open_wanted(struct coord *coord);
must_check int coord_read_feeds(struct coord *coord);
/* The log may be another one now. */
void coord_forget_came(struct held_job *job, uint32_t number);

/* --- coord_repair.c --------------------------------------------------------------------- */

/* Offers what the local journals know beyond the log. */
must_check int coord_report(struct coord *coord);
/* The leader: waits for reports, fills the log, and lets the group go on. */
must_check int coord_repair(struct coord *coord);
/* A part of the job's log is not in the engine. -ESTALE: it was lost, and will be repaired. */
must_check int coord_mend(struct coord *coord, const char *job);
/* What readers here had, beside what the repaired log has. */
must_check int coord_compare(struct coord *coord);

/* --- coord_fill.c ----------------------------------------------------------------------- */

/* Makes the log of a job as long as what was offered, with what was offered in its place. */
must_check int coord_fill(struct coord *coord, const struct coord_engine_job *job,
	const struct coord_offers *offers);

/* --- coord_lead.c ----------------------------------------------------------------------- */

must_check int coord_lead(struct coord *coord);
void coord_resign(struct coord *coord);

/* --- coord_drawn.c ---------------------------------------------------------------------- */

/* Brings what is drawn for up to date with the engine; remaining_j = D_j - log_j. */
must_check int coord_survey(struct coord *coord);
void coord_drop_streams(struct coord *coord);
void coord_drop_drawn(struct coord *coord);
/* What the engine has of an epoch's log, of all ranks, removed from ids. */
must_check int coord_subtract_log(struct coord *coord, const struct coord_job *facts,
	uint32_t epoch, uint32_t next, roaring_bitmap_t *ids);

/* --- coord_draw.c ----------------------------------------------------------------------- */

must_check int coord_draw(struct coord *coord);

/* --- coord_resident.c ------------------------------------------------------------------- */

/* What this node has, for exchange. */
must_check int coord_tell_resident(struct coord *coord);
/* The leader's sampler gets to know what all have. */
must_check int coord_update_resident(struct coord *coord, struct pool *pool);
void coord_note_drawn(struct pool *pool, const sample_id *ids, size_t n);
void coord_free_resident(struct pool *pool);
