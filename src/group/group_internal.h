// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "cluster/coord.h"
#include "cluster/coord_local.h"
#include "cluster/coord_resp.h"
#include "group/group.h"
#include "group/peers.h"

#include <stdatomic.h>
#include <sys/queue.h>

struct sched;
struct sched_job;

/* What the files of this module share: group.c is its thread, ranks.c joins jobs and
 * coordinator, peers.h samples and other nodes, print.c says how it is. */

#define GROUP_MEMBERS 1024 /* that are told of */
#define GROUP_SILENT 32

/* Positions of an epoch that the group's log has otherwise than the journal. */
struct otherwise {
	uint32_t epoch;
	roaring_bitmap_t *positions; /* NULL: none */
};

/* A job of the scheduler that is a rank of a training. */
struct group_rank {
	TAILQ_ENTRY(group_rank) link;
	struct sched_job *job;		   /* held */
	const struct job_config *config;   /* the job's */
	struct coord_job_status status;	   /* of the training; under the lock */
	struct coord_rank_status position; /* likewise */
	char unserved[COORD_TEXT];	   /* ranks that no node serves; likewise */
	uint32_t lag;	  /* samples drawn for it and not consumed; under the lock */
	bool refused;	  /* which was told */
	bool gone;	  /* scratch: the scheduler does not have it any more */
	bool lost;	  /* another node serves it, or this one was refused */
	bool lent;	  /* what this node has of its feed is not given to readers */
	bool bad;	  /* what came for it does not fit, which was told */
	uint64_t went_on; /* epoch and position that another daemon came to */
	struct otherwise otherwise[2]; /* by epoch: of two that are being read */
};

struct group {
	const struct daemon_config *config;
	struct sched *sched;
	struct coord_node self;
	struct coord *coord; /* the thread's */
	struct coord_local *local;
	struct coord_resp *resp;
	struct peers *peers; /* NULL: this node does not listen */
	int wake;	     /* an eventfd */
	atomic_bool stopping;
	bool runs;
	pthread_t thread;
	/* The thread changes these with the lock, and reads them without it. */
	struct lock lock;
	TAILQ_HEAD(, group_rank) ranks;
	struct coord_status status, was;
	roaring_bitmap_t *not_served; /* ids of jobs, which was told */
	bool gives_up; /* the engine has been away for longer than [cluster] patience */
	struct coord_node members[GROUP_MEMBERS];
	size_t n_members;
	struct coord_node silent[GROUP_SILENT];
	size_t n_silent;
	uint64_t began_ns;
	bool mistaken; /* the ini; it was said how */
};

/* --- incarnation.c ----------------------------------------------------------------------- */

/* Which incarnation had the state before; 0: not known. Errors are logged. */
uint64_t incarnation_follow(const char *state, uint64_t incarnation);

/* --- ranks.c: called by the thread ------------------------------------------------------- */

struct coord_calls group_calls(struct group *group);
/* Jobs that came or went; and group_commit. */
void group_sync(struct group *group);
/* What their readers want, and what they have consumed. */
void group_commit(struct group *group);
/* Tells the jobs whether the engine can be reached. */
void group_tell_away(struct group *group);
/* Samples drawn for all ranks here and not consumed. */
uint64_t group_lag(const struct group *group);
/* What became of the trainings. */
void group_look_at_jobs(struct group *group);
void group_forget_ranks(struct group *group);

/* --- hinders.c --------------------------------------------------------------------------- */

/* A line "hinders ..." for each thing that readers wait for, or why nodes share less. */
void group_print_hindrances_locked(const struct group *group, FILE *out);
