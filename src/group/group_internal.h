// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "coord/coord.h"
#include "coord/coord_local.h"
#include "coord/coord_resp.h"
#include "group/group.h"
#include "group/peers.h"

#include <stdatomic.h>
#include <sys/queue.h>

struct sched;
struct sched_job;

/* Internals of the group: group.c has its thread, ranks.c connects jobs with the coordinator,
 * peers.h samples with other nodes, print.c and hinders.c print the state. */

#define GROUP_MEMBERS 1024 /* live nodes that are printed, at most */
#define GROUP_SILENT 32	   /* silent nodes that are printed, at most */

/* Positions of an epoch at which the group's log has other samples than the local journal. */
struct otherwise {
	uint32_t epoch;
	roaring_bitmap_t *positions; /* NULL: none */
};

/* A job of the scheduler that is a rank of a training. */
struct group_rank {
	TAILQ_ENTRY(group_rank) link;
	struct sched_job *job;		   /* held */
	const struct job_config *config;   /* configuration of the job */
	struct coord_job_status status;	   /* (lock) status of the training */
	struct coord_rank_status position; /* (lock) */
	char unserved[COORD_TEXT]; /* (lock) ranks of the training that no node serves */
	/* (lock) samples that were drawn for the rank and not consumed yet */
	uint32_t lag;
	bool refused; /* the group refuses the job, which was logged */
	bool gone;    /* scratch of sync_jobs: the scheduler has removed the job */
	bool lost;    /* another node serves it, or taking it again failed */
	bool lent;    /* readers get no samples of the feed that is on this node */
	bool bad;     /* the last feed did not fit, which was logged */
	/* place that another daemon had reached, where the rank went on: epoch << 32 | position */
	uint64_t went_on;
	struct otherwise otherwise[2]; /* [epoch % 2] */
};

struct group {
	const struct daemon_config *config;
	struct sched *sched;
	struct coord_node self;
	struct coord *coord; /* for the group's thread only */
	struct coord_local *local;
	struct coord_resp *resp;
	struct peers *peers; /* NULL: this node does not listen */
	int wake;	     /* an eventfd */
	atomic_bool stopping;
	bool runs;
	pthread_t thread;
	/* The group's thread changes these fields with the lock, and reads them without it. */
	struct lock lock;
	TAILQ_HEAD(, group_rank) ranks;
	struct coord_status status, was;
	roaring_bitmap_t *not_served; /* ids of jobs that failed, which was logged */
	bool gives_up; /* the engine has been away for longer than [cluster] patience */
	struct coord_node members[GROUP_MEMBERS];
	size_t n_members;
	struct coord_node silent[GROUP_SILENT];
	size_t n_silent;
	uint64_t began_ns;
	bool mistaken; /* the ini is wrong, which was logged */
};

/* --- incarnation.c ----------------------------------------------------------------------- */

/* Returns the incarnation that had the state directory before, and writes this one there. 0: not
 * known. Errors are logged. */
uint64_t incarnation_follow(const char *state, uint64_t incarnation);

/* --- ranks.c: for the group's thread ------------------------------------------------------- */

/* Returns the callbacks for the coordinator. */
struct coord_calls group_calls(struct group *group);
/* Adds and removes ranks of jobs that came or went, takes lost ranks again, calls group_commit. */
void group_sync(struct group *group);
/* Tells the coordinator which epochs readers want, and what they have consumed. */
void group_commit(struct group *group);
/* Tells the jobs whether the engine can be reached, and whether opens should fail. */
void group_tell_away(struct group *group);
/* Returns how many samples were drawn for all ranks of this node and not consumed. */
uint64_t group_lag(const struct group *group);
/* Refreshes the status of trainings and ranks, logs refusals, and lets ranks go on where another
 * daemon has come to. */
void group_look_at_jobs(struct group *group);
/* Frees all ranks, without telling the coordinator. */
void group_forget_ranks(struct group *group);

/* --- print.c ----------------------------------------------------------------------------- */

#define GROUP_RANK_TEXT 24 /* bytes of the numbers of a job's ranks, with the 0 */

/* Writes the numbers of the training's ranks that read the job: "3", or "4-7"; returns text. */
const char *group_rank_text(
	const struct job_config *config, char text[static GROUP_RANK_TEXT]);

/* --- hinders.c --------------------------------------------------------------------------- */

/* Prints a line "hinders ..." for each reason why readers wait or nodes share less. */
void group_print_hindrances_locked(const struct group *group, FILE *out);
