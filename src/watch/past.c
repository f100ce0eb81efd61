// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "watch/past.h"
#include "watch/watch.h"

#include <errno.h>

#define HOUR_NS UINT64_C(3600000000000)

_Static_assert(HISTORY_CAUSES == WAIT_CAUSES, "all causes of waits are kept");

struct place {
	struct last_hour_job is;
	struct history_job last; /* figures of the job when it was removed */
};

struct past {
	struct lock *lock; /* the scheduler's lock */
	struct history *history;
	uint64_t due_ns;	  /* time of the next reading; only one thread uses it */
	job_id ids[HISTORY_JOBS]; /* (lock) the job of each place; 0: free */
	struct place places[HISTORY_JOBS]; /* (lock) */
};

int past_new(struct lock *lock, struct past **ret)
{
	const struct history_reading first = {.ns = clock_now_ns()};
	struct past *past = calloc(1, sizeof(*past));
	if (!past || history_new(&past->history) != 0) {
		free(past);
		return -ENOMEM;
	}
	past->lock = lock;
	history_add(past->history, &first);
	past->due_ns = first.ns + HISTORY_STEP_NS;
	*ret = past;
	return 0;
}

void past_free(struct past **past)
{
	if (!*past)
		return;
	history_free(&(*past)->history);
	free(*past);
	*past = NULL;
}

static size_t place_of(const struct past *past, job_id id)
{
	/* Begins at the place that a job with this id gets if no job was removed before. */
	for (size_t i = 0; id != 0 && i < HISTORY_JOBS; i++) {
		size_t place = (id - 1 + i) % HISTORY_JOBS;
		if (past->ids[place] == id)
			return place;
	}
	return HISTORY_JOBS;
}

/* Frees a place. The tensors that were prepared for the job of this place now count as prepared for
 * a job without a place (prepared_for). */
static void vacate(struct past *past, size_t place)
{
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		uint64_t *prepared_for = past->places[i].is.prepared_for;
		prepared_for[HISTORY_JOBS] += prepared_for[place];
		prepared_for[place] = 0;
	}
	past->ids[place] = 0;
	past->places[place] = (struct place){0};
}

/* Tells whether a new job should get `place` rather than `other`. Free places come
 * first, then the place of the job that was removed first. */
static bool is_better(const struct past *past, size_t place, size_t other)
{
	const struct last_hour_job *job = &past->places[place].is;
	const struct last_hour_job *best = &past->places[other].is;
	if (past->ids[place] == 0 || past->ids[other] == 0)
		return past->ids[other] != 0;
	return job->gone_ns != 0 && (best->gone_ns == 0 || job->gone_ns < best->gone_ns);
}

void past_join_locked(struct past *past, const struct job *job)
{
	size_t place = place_of(past, job->id); /* place of an earlier job with this id */
	lock_assert_held(past->lock);
	if (place == HISTORY_JOBS) {
		place = 0;
		for (size_t i = 1; i < HISTORY_JOBS; i++)
			if (is_better(past, i, place))
				place = i;
		if (past->ids[place] != 0 && past->places[place].is.gone_ns == 0)
			return;
	}
	struct last_hour_job *is = &past->places[place].is;
	vacate(past, place);
	past->ids[place] = job->id;
	is->added_ns = clock_now_ns();
	snprintf(is->name, sizeof(is->name), "%s", job->config.name);
	snprintf(is->dataset, sizeof(is->dataset), "%s", job->config.dataset);
}

static void read_job_locked(const struct watch *watch, struct history_job *ret)
{
	const struct job_totals *totals = &watch->totals;
	lock_assert_held(watch->job->lock);
	*ret = (struct history_job){.served = totals->served,
		.decoded = totals->decoded,
		.shared = totals->shared,
		.hit = totals->hit};
	waits_exposed_locked(watch, ret->exposed_ns);
}

void past_leave_locked(struct past *past, const struct watch *watch)
{
	size_t place = place_of(past, watch->job->id);
	lock_assert_held(past->lock);
	if (place == HISTORY_JOBS)
		return;
	past->places[place].is.gone_ns = clock_now_ns();
	read_job_locked(watch, &past->places[place].last);
}

void past_given_locked(struct past *past, job_id job, uint32_t made_for)
{
	size_t place = place_of(past, job);
	lock_assert_held(past->lock);
	if (place < HISTORY_JOBS)
		past->places[place].is.prepared_for[place_of(past, made_for)]++;
}

bool past_is_due(struct past *past, uint64_t now_ns)
{
	bool due = now_ns >= past->due_ns;
	if (due)
		past->due_ns = now_ns + HISTORY_STEP_NS;
	return due;
}

void past_begin_locked(struct past *past, struct history_reading *reading)
{
	lock_assert_held(past->lock);
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		uint64_t gone_ns = past->places[i].is.gone_ns;
		if (gone_ns != 0 && reading->ns - gone_ns > HOUR_NS)
			vacate(past, i);
		reading->jobs[i] = past->places[i].last;
	}
}

void past_read_locked(const struct past *past, const struct watch *watch,
	struct history_reading *reading)
{
	size_t place = place_of(past, watch->job->id);
	lock_assert_held(past->lock);
	if (place < HISTORY_JOBS)
		read_job_locked(watch, &reading->jobs[place]);
}

void past_add(struct past *past, const struct history_reading *reading)
{
	history_add(past->history, reading);
}

void past_copy_readings(const struct past *past, struct last_hour *ret)
{
	ret->n = history_copy(past->history, ret->readings);
}

uint32_t past_copy_places_locked(const struct past *past, struct last_hour *ret)
{
	uint32_t here = 0;
	lock_assert_held(past->lock);
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		ret->jobs[i] = past->places[i].is;
		here += ret->jobs[i].name[0] != '\0' && ret->jobs[i].gone_ns == 0;
	}
	return here;
}
