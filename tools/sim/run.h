// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sim.h"
#include "sim_sched.h"

/*
 * What the files of one run share: run.c lets time pass, reader.c reads, world.c makes
 * and frees all of it.
 */

/* Opens each position of an epoch once, at its speed, and releases it when it is read. */
struct script {
	size_t number; /* in the scenario */
	roaring_bitmap_t *selection;
	uint32_t size;
	double speed;	/* samples per tick, at most 1 */
	uint64_t start; /* tick */
	uint64_t n_all; /* positions of all its epochs */
	uint64_t n_read;
	uint32_t *labels; /* of each position; NULL: none */
	uint32_t *opens;  /* labels: the positions in the order in which it opens them */
	struct sim_sched_job *job; /* from its start to its end */
	struct sim_open open;
	bool reads; /* the position is not released */
};

struct sim_run {
	const struct sim_scenario *scenario;
	const struct sim_setup *setup;
	struct sim_sched *sched;
	struct rng rng;	  /* the scripts' */
	uint32_t *labels; /* by id; NULL: none */
	struct script *scripts;
	struct script **readers; /* of a tick */
	struct sim_open **opens; /* theirs */
	size_t n_waiting;	 /* scripts that have not begun */
	size_t n_running;
	uint64_t tick;
	uint64_t count_from;   /* the warm-up is over */
	uint64_t loads_before; /* in the warm-up */
	uint64_t end;	       /* 0: until all are through */
	struct sim_result result;
};

must_check int sim_run_new(const struct sim_scenario *scenario,
	const struct sim_setup *setup, struct sim_run **ret);
void sim_run_free(struct sim_run **run);

/* The scripts open what they read in this tick together, and read it. */
must_check int sim_read_together(
	struct sim_run *run, struct script *const *readers, size_t n);
/* One after the other. */
must_check int sim_read_in_turn(
	struct sim_run *run, struct script *const *readers, size_t n);
