// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/*
 * Shares the decoders among jobs. No decoder belongs to a job: whenever one is free, share_next
 * returns the request that the decoder takes.
 *
 *  share_ask --> lanes, one per job --> share_next --> the caller decodes --> share_drop
 *                     ^          ^                           |
 *                     |          +------ share_again --------+ decoding failed
 *                     | quanta
 *  shares_window: what jobs need (demand.c) -> what they are granted (grant.c)
 *  (window.c)
 *
 * A *request* is for one sample. A *want* is the wish of one job for a request; several jobs can
 * want the same request. A *lane* has the wants of one job: *urgent* ones, for which a reader
 * waits, and *look-ahead*, for samples that will be needed later. A request that is being decoded,
 * or has to wait, is *aside*: out of all lanes. A *window* is the time between two calls of
 * shares_window.
 *
 * The lanes are served by weighted deficit round robin, in units of decode time. Here a *round*
 * adds each lane's *quantum* to the lane's *deficit*. The decode time of each sample is subtracted
 * from the deficit. A lane has its turn while its deficit is positive; a negative deficit is the
 * lane's *debt*. A lane without requests keeps no positive deficit, but pays off its debt. Rounds
 * follow one another while no lane with requests has its turn: decoders are idle only if no job
 * asks. Each lane's urgent requests come before its own look-ahead if decoders are short; otherwise
 * the urgent requests of all lanes come before any look-ahead.
 *
 *   Flow: shares_init -> share_join -> share_ask, share_next ... -> share_leave; once a second or
 *         so shares_window.
 *   Owns: the wants. Jobs and requests are the caller's.
 *   Threads, locks, clock: none. The caller serialises.   Errors: -ENOMEM.
 */

/* A policy makes one amount equal for jobs of equal weight while decoders are short: */
enum share_policy {
	SHARE_SLOWDOWN,	  /* the fraction of its demand that a job gets */
	SHARE_FAIR,	  /* decode time */
	SHARE_THROUGHPUT, /* none: as many samples per second as possible */
	SHARE_FIFO	  /* none: first come, first served */
};

/* The data of a job that share_grant uses. */
struct share_claim {
	double weight; /* more than 0 */
	/* seconds of decode time per sample; 0: other jobs' decodes give the job all its samples */
	double cost;
	double demand; /* samples per second that the job could use */
};

/*
 * Divides `capacity` seconds of decode time per second among the jobs. Computes the samples per
 * second that each job is granted:
 *
 *    maximise  sum w_i U(x_i)   where  0 <= x_i <= demand_i,  sum cost_i x_i <= capacity
 *
 * x_i is the rate of job i, w_i its weight, U the benefit of a rate. SHARE_THROUGHPUT: U(x) = x,
 * but a small part of the capacity is divided among all jobs, so that none waits for ever.
 * SHARE_FAIR: U(x) = log x. SHARE_SLOWDOWN: the smallest x_i / (w_i demand_i) is made as large as
 * possible, then the second smallest, and so on. SHARE_FIFO grants each job its demand.
 */
void share_grant(enum share_policy policy, const struct share_claim *claims, size_t n,
	double capacity, double *ret_rates);

/* --- demand.c: an estimate of what a running job could use --- */

struct share_demand {
	double rate; /* samples per second */
	/* readers waited nearly all the last window, so `rate` is a lower bound of their need */
	bool at_least;
	/* readers idled nearly all the time of the measurement, so `rate` is their whole need */
	bool shown;
};

struct share_window {
	double seconds;
	double waited;	/* seconds in which a reader waited */
	double samples; /* number of samples given to readers */
	double most;	/* samples per second that all decoders together could produce */
};

/* Updates the estimate from one window. Readers that idled for at least 15 percent of the window
 * have shown their rate without waits, samples / (seconds - waited): the estimate moves towards
 * this rate (one exception: contradicts in demand.c). Readers that idled less, and got at least
 * 95 percent of the estimated rate, raise the estimate to 1.3 times the measured rate. A window
 * without samples and waits changes nothing. The estimate is never more than window->most. */
void share_demand_update(struct share_demand *demand, const struct share_window *window);

/* --- queue.c: which request is next --- */

struct share_want;
TAILQ_HEAD(share_wants, share_want);

struct share_lane {
	struct share_wants urgent, ahead;
	int64_t deficit, quantum; /* decode time in ns */
};

/* A job. The caller writes only `samples` and `waited_ns`. */
struct share_job {
	TAILQ_ENTRY(share_job) link;
	struct shares *shares;
	struct share_lane own;
	struct share_lane *lane;  /* &own or, with SHARE_FIFO, &shares->all */
	struct share_wants aside; /* wants whose requests are aside */
	double weight;
	struct share_demand demand;
	double cost;	     /* decode time charged to the job per sample, in seconds */
	double granted;	     /* samples per second that share_grant has granted */
	double rate;	     /* samples per second in the last window */
	uint64_t charged_ns; /* decode time charged in the present window */
	/* the job has nothing more to offer in this call of offer_lanes (queue.c) */
	bool passed;
	/* value of shares->windows when the job's last probe began; 0: the job was never probed */
	uint64_t probed_at;
	/* The caller counts in `samples` and `waited_ns`; shares_window sets both to 0. */
	uint64_t samples;   /* given to readers, whether decoded or found in the cache */
	uint64_t waited_ns; /* time in which a reader waited */
};

struct share_request {
	LIST_HEAD(, share_want) wants;
	uint64_t cost_ns;	    /* the caller's estimate of the decode time */
	struct share_request *with; /* next request, decoded together with this one */
	bool aside; /* in no lane; set by share_next and share_put_aside */
};

struct shares {
	enum share_policy policy;
	TAILQ_HEAD(, share_job) jobs;
	struct share_lane all;	  /* with SHARE_FIFO: the one lane of all jobs */
	bool is_short;		  /* decoders were short in the last window */
	uint64_t windows;	  /* number of windows so far */
	struct share_job *probed; /* the job that is probed now (window.c), or NULL */
};

void shares_init(struct shares *shares, enum share_policy policy);

/* Adds a job. cost_ns: expected decode time of a sample, used until the decode time is measured. */
void share_join(
	struct shares *shares, struct share_job *job, double weight, uint64_t cost_ns);
void share_leave(struct share_job *job);

void share_request_init(struct share_request *request, uint64_t cost_ns);

/* Puts the request into the job's lane. urgent: a reader waits for the sample. If the job wants the
 * request already, only the urgency changes, without an error. A request that is no longer urgent
 * becomes the first of the look-ahead. */
must_check int share_ask(
	struct share_job *job, struct share_request *request, bool urgent);
/* Removes the wants of all jobs for the request: no job wants the request any more. */
void share_drop(struct share_request *request);
bool share_wants(const struct share_job *job, const struct share_request *request);
bool share_is_wanted(const struct share_request *request);

/* Takes the request out of all lanes until share_again; jobs still want it, and may ask for it. */
void share_put_aside(struct share_request *request);
void share_again(struct share_request *request);

/* The caller's answer when share_next offers a request. */
enum share_answer {
	SHARE_TAKE,
	SHARE_PASS,	 /* skip this request and offer the next one */
	SHARE_PASS_REST, /* skip all requests of this job with this urgency */
	SHARE_STOP	 /* nothing can be taken now */
};

/* The caller's function that decides about an offered request. It must not change a lane. */
typedef enum share_answer share_offer(void *context, struct share_request *request);

/* Makes the decoder of `first` decode `other`, too. A share_offer calls this before SHARE_TAKE. */
void share_with(struct share_request *first, struct share_request *other);

/* Returns the request that a free decoder should take, or NULL. Puts aside this request and those
 * decoded together with it. Charges the returned request's cost_ns to the jobs that want these
 * requests: one equal part for each want. */
struct share_request *share_next(
	struct shares *shares, share_offer *offer, void *context);

/* Sets the quanta of the lanes from the counts of the last `seconds` or, if decoders were not
 * short, from the weights alone. decoders: decode time available per second, in seconds; busy:
 * decode time used per second, in seconds. -ENOMEM: nothing is changed. */
must_check int shares_window(
	struct shares *shares, double seconds, double decoders, double busy);

void shares_validate(const struct shares *shares);
