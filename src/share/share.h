// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/*
 * Who gets the decoders. No decoder belongs to a job: there is one pool, and whenever a
 * decoder is free, share_next says which request goes to it.
 *
 *     share_ask --> lanes, one per job --> share_next --> the caller decodes --> share_drop
 *                        ^          ^                           |
 *                        |          +------ share_again --------+ it did not succeed
 *                        | quanta
 *     shares_window: what jobs need (demand.c) -> what they are granted (grant.c)
 *     (window.c)
 *
 * The lanes are served by weighted deficit round robin, in units of decode time. In each
 * round a lane is given its quantum, and it is served while its deficit is positive. A
 * lane without requests has no deficit to keep, though it pays off what it owes, and a lane
 * that has no turn yet is given rounds until it has one: decoders are idle only if nobody
 * asks. Where decoders are short, each lane's urgent requests come before its own look-ahead;
 * where they idle, all lanes' do.
 *
 *   Flow: shares_init -> share_join -> share_ask, share_next ... -> share_leave; once a
 *         second or so shares_window.
 *   Owns: the wants between requests and jobs. Jobs and requests are the caller's.
 *   Threads, locks, clock: none. The caller serialises.
 *   Errors: -ENOMEM.
 */

/* What is equal for jobs of one weight while decoders are short. */
enum share_policy {
	SHARE_SLOWDOWN,	  /* the part that a job gets of what it could use */
	SHARE_FAIR,	  /* decode time */
	SHARE_THROUGHPUT, /* nothing: as many samples per second as possible */
	SHARE_FIFO	  /* nothing: who asks first is served first */
};

/* --- grant.c: the optimum --- */

/* One job's. */
struct share_claim {
	double weight; /* more than 0 */
	double cost;   /* seconds of decode time per sample; 0: it rides on others' */
	double demand; /* samples per second that it could use */
};

/*
 * The samples per second that each job is granted, of `capacity` seconds of decode time
 * per second:
 *
 *     maximise  sum w_i U(x_i)   where  0 <= x_i <= demand_i,  sum cost_i x_i <= capacity
 *
 * SHARE_THROUGHPUT, U(x) = x: each job has a small part for certain, so that none waits for
 * ever. SHARE_FAIR, U(x) = log x. SHARE_SLOWDOWN: the smallest x_i / (w_i demand_i) is as
 * large as it can be, then the next. SHARE_FIFO grants whatever is asked for.
 */
void share_grant(enum share_policy policy, const struct share_claim *claims, size_t n,
	double capacity, double *ret_rates);

/* --- demand.c: what a job could use, found while it runs --- */

struct share_demand {
	double rate;   /* samples per second */
	bool at_least; /* its readers never idled: it may be more */
	bool shown;    /* by readers that idled nearly all the time */
};

/* What was seen of a job for a while. */
struct share_window {
	double seconds;
	double waited;	/* seconds of it in which a reader of the job waited */
	double samples; /* that were given to readers */
	double most;	/* samples per second that all decoders together could give */
};

/*
 * A job whose readers idle needs what it gets: without the waits it would have taken
 * samples / (seconds - waited). A job that never idles, although it gets what it was
 * taken to need, is taken to need three tenths more. A window without reads says nothing.
 */
void share_demand_update(struct share_demand *demand, const struct share_window *window);

/* --- queue.c: who is next --- */

struct share_want;
TAILQ_HEAD(share_wants, share_want);

struct share_lane {
	struct share_wants urgent, ahead;
	int64_t deficit, quantum; /* ns of decode time */
};

/* Fields are the module's, but for those that the caller counts. */
struct share_job {
	TAILQ_ENTRY(share_job) link;
	struct shares *shares;
	struct share_lane own;
	struct share_lane *lane; /* its own, or the one of all jobs */
	struct share_wants aside;
	double weight;
	struct share_demand demand;
	double cost;	     /* seconds that it is charged per sample */
	double granted;	     /* samples per second */
	double rate;	     /* samples per second in the last window */
	uint64_t charged_ns; /* since the last window */
	bool passed;	     /* by share_next: nothing of it could be taken */
	uint64_t probed_at;  /* window; 0: never */
	/* counted by the caller, since the last window */
	uint64_t samples;   /* given to readers, however they came about */
	uint64_t waited_ns; /* in which a reader waited */
};

/* Something to be decoded, for one job or several. */
struct share_request {
	LIST_HEAD(, share_want) wants;
	uint64_t cost_ns;	    /* the caller's estimate of its decode time */
	struct share_request *with; /* the next one that share_with has added */
	bool aside;		    /* in no lane: it was taken, or put aside */
};

struct shares {
	enum share_policy policy;
	TAILQ_HEAD(, share_job) jobs;
	struct share_lane all;	  /* SHARE_FIFO's */
	bool is_short;		  /* of decoders, in the last window */
	uint64_t windows;	  /* that there were */
	struct share_job *probed; /* NULL: none is */
};

void shares_init(struct shares *shares, enum share_policy policy);

/* cost_ns: what its samples are expected to cost, until that is measured. */
void share_join(
	struct shares *shares, struct share_job *job, double weight, uint64_t cost_ns);
/* Its wants are taken back. */
void share_leave(struct share_job *job);

void share_request_init(struct share_request *request, uint64_t cost_ns);

/*
 * The job wants the request: urgent if a reader waits. Asked again, the request becomes
 * urgent, or look-ahead again, first in the line. -ENOMEM: only when it is new.
 */
must_check int share_ask(
	struct share_job *job, struct share_request *request, bool urgent);
/* The job does not want it any more, or nobody does. */
void share_take_back(struct share_job *job, struct share_request *request);
void share_drop(struct share_request *request);
/* Whether the job wants it, or any job does. */
bool share_wants(const struct share_job *job, const struct share_request *request);
bool share_is_wanted(const struct share_request *request);

/* Out of the lanes, for a while, and into them again. Those who ask meanwhile wait with
 * the others. */
void share_put_aside(struct share_request *request);
void share_again(struct share_request *request);

/* What the caller says of a request that it is offered. */
enum share_answer {
	SHARE_TAKE,
	SHARE_PASS,	 /* not now: another one, also of the same job */
	SHARE_PASS_REST, /* nor what the job asks as urgently as this */
	SHARE_STOP	 /* nothing now */
};

/* Changes no lane. */
typedef enum share_answer share_offer(void *context, struct share_request *request);

/* For an offer that is about to answer SHARE_TAKE: the other is decoded with the first. */
void share_with(struct share_request *first, struct share_request *other);

/*
 * The request that a free decoder gets, or NULL. It is aside, as are those that are decoded
 * with it. All jobs that wanted one of them are charged, in equal parts.
 */
struct share_request *share_next(
	struct shares *shares, share_offer *offer, void *context);

/*
 * What jobs counted in the last `seconds` is looked at, and each lane gets its quantum for
 * the time to come. decoders: seconds of decode time per second; busy: of these, so many were
 * used. If some were not, jobs wait for something else, and have turns by their weights.
 * -ENOMEM: all is as it was.
 */
must_check int shares_window(
	struct shares *shares, double seconds, double decoders, double busy);

/* Aborts if a deficit is out of its bounds, or a want is in the wrong place. */
void shares_validate(const struct shares *shares);
