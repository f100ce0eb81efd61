// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/lock.h"
#include "coord/coord.h"
#include "coord/coord_local.h"
#include "coord/coord_resp.h"
#include "group/group.h"
#include "group/peers.h"
#include "sched/gauges.h"

#include <stdatomic.h>
#include <sys/queue.h>

struct sched;
struct sched_job;

#define GROUP_MEMBERS 1024 /* most live nodes that are printed */
#define GROUP_SILENT 32	   /* most silent nodes that are printed */

/* positions of an epoch at which this node's journal and the group's log differ */
struct otherwise {
	uint32_t epoch;
	roaring_bitmap_t *positions; /* NULL: none */
};

/* A job of the scheduler that is a rank of a training. The group's thread writes a field marked
 * (lock) under group->lock. Other threads read such a field under the lock. */
struct group_rank {
	TAILQ_ENTRY(group_rank) link;
	struct sched_job *job; /* a reference */
	const struct job_config *config;
	struct coord_job_status status;	   /* (lock) */
	struct coord_rank_status position; /* (lock) */
	char unserved[COORD_TEXT]; /* (lock) ranks of the training that no node serves */
	/* (lock) why the training's next epoch does not begin; "": no rank holds it back */
	char waits_why[SCHED_WAIT_TEXT];
	uint32_t lag;	  /* (lock) samples drawn for the rank, but not consumed yet */
	bool told;	  /* a warning about waits_why was logged */
	uint64_t told_ns; /* when a wait was last logged; 0: never */
	bool refused;	  /* the group refuses the job, and this was logged */
	bool gone;	  /* used in sync_jobs: the scheduler has removed the job */
	/* the rank has to be taken again: lost() was called, or the last attempt failed */
	bool lost;
	/* readers here get no new samples, because another daemon may serve the rank */
	bool lent;
	bool bad; /* the job did not accept the last samples, and this was logged */
	/* the cursor, as epoch << 32 | position, at which this node last continued the rank after
	 * another daemon had read the rank; 0: never */
	uint64_t went_on;
	struct otherwise otherwise[2]; /* index: epoch % 2 */
};

struct group {
	const struct daemon_config *config;
	struct sched *sched;
	struct coord_node self;
	struct coord *coord; /* used only by the group's thread */
	struct coord_local *local;
	struct coord_resp *resp;
	struct peers *peers; /* NULL: this node does not listen */
	int wake;	     /* an eventfd */
	atomic_bool stopping;
	bool runs;
	pthread_t thread;
	/* The group's thread writes the fields below under the lock. Other threads read them under
	 * the lock. */
	struct lock lock;
	TAILQ_HEAD(, group_rank) ranks;
	struct coord_status status, was;
	/* ids of jobs whose rank can't be served; a message about each was logged */
	roaring_bitmap_t *not_served;
	bool gives_up; /* the engine was away for longer than [cluster] patience */
	struct coord_node members[GROUP_MEMBERS];
	size_t n_members;
	struct coord_node silent[GROUP_SILENT];
	size_t n_silent;
	uint64_t began_ns;
	bool mistaken; /* group_new failed by a mistake in the ini, which was logged */
};

/* --- incarnation.c ----------------------------------------------------------------------- */

/* Stores the incarnation (coord.h) in the state directory. Returns the incarnation that the node's
 * previous daemon has stored; 0: not known. */
uint64_t incarnation_follow(const char *state, uint64_t incarnation);

/* --- rank_jobs.c: for the group's thread --------------------------------------------------- */

struct coord_calls group_calls(struct group *group);
/* Adds and removes ranks as jobs come and go, asks for lost ranks again, calls group_commit. */
void group_sync(struct group *group);
/* Tells the coordinator which epochs readers want, and the consumed positions. */
void group_commit(struct group *group);
/* Tells the jobs whether the engine can be reached, and whether opens should fail. */
void group_tell_away(struct group *group);
/* Returns the number of samples drawn for this node's ranks, but not consumed yet. */
uint64_t group_lag(const struct group *group);
/* Updates the status of trainings and ranks, and logs refusals. If another daemon has read a rank
 * further, the rank continues where that daemon stopped. */
void group_look_at_jobs(struct group *group);
/* Frees all ranks without telling the coordinator. */
void group_forget_ranks(struct group *group);

/* Returns this node's rank with this number in the training; NULL: there is none. */
struct group_rank *group_find_rank(
	const struct group *group, const char *training, uint32_t number);
/* Returns the first of this node's ranks of the training; NULL: this node has none. */
struct group_rank *group_find_training(const struct group *group, const char *training);

/* --- behind.c: for the group's thread ----------------------------------------------------- */

/* The callback coord_calls.skipped: tells the rank's readers to go on with epoch `to`. */
int group_skipped(void *context, const char *training, uint32_t number, uint32_t epoch,
	uint32_t position, uint32_t to);
/* Tells the rank's job which ranks hold back the next epoch, and warns about them. */
void group_look_behind(struct group *group, struct group_rank *rank);

/* --- print.c ----------------------------------------------------------------------------- */

#define GROUP_RANK_TEXT 24 /* bytes of the numbers of a job's ranks, including the \0 */

/* The advice about a rank that holds back the others. */
#define GROUP_READ_THERE                                                                 \
	"read it there; if the rank's node is gone, add its job on another node"

/* Returns the ini's key for the rank of a job: "rank" or "node_rank". */
const char *group_rank_word(const struct job_config *config);
/* Prints the numbers of the ranks that read the job, such as "3" or "4-7". Returns `text`. */
const char *group_rank_text(
	const struct job_config *config, char text[static GROUP_RANK_TEXT]);

/* --- hinders.c --------------------------------------------------------------------------- */

/* Prints a line "hinders ..." for each reason why readers wait, or nodes share less. */
void group_print_hindrances_locked(const struct group *group, FILE *out);
