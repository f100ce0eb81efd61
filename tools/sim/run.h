// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sim.h"
#include "sim_sched.h"

/* run.c advances the time, reader.c reads, world.c makes and frees a run. */

/* A script opens each position of an epoch once, at its speed, and releases it after the read. */
struct script {
	size_t number; /* index in the scenario */
	roaring_bitmap_t *selection;
	uint32_t size;
	double speed;	/* samples per tick, at most 1 */
	uint64_t start; /* tick at which the script begins */
	uint64_t n_all; /* positions in all epochs of the script; UINT64_MAX: no limit */
	uint64_t n_read;
	uint32_t *labels; /* label of each position; NULL: none */
	uint32_t *opens;  /* positions in the order of opens; used only with labels */
	struct sim_sched_job *job; /* exists from the script's start to its end */
	struct sim_open open;
	bool reads; /* the script has a position open */
};

struct sim_run {
	const struct sim_scenario *scenario;
	const struct sim_setup *setup;
	struct sim_sched *sched;
	struct rng rng;	  /* for random choices of scripts */
	uint32_t *labels; /* label of each id; NULL: none */
	struct script *scripts;
	struct script **readers; /* scripts that read in this tick */
	struct sim_open **opens; /* opens of these scripts */
	size_t n_waiting;	 /* number of scripts that have not begun */
	size_t n_running;
	uint64_t tick;
	uint64_t count_from;   /* tick at which the warm-up ends */
	uint64_t loads_before; /* loads in the warm-up */
	uint64_t end; /* the run ends before this tick; 0: when all jobs have finished */
	struct sim_result result;
};

must_check int sim_run_new(const struct sim_scenario *scenario,
	const struct sim_setup *setup, struct sim_run **ret);
void sim_run_free(struct sim_run **run);

/* Opens the positions that the scripts read in this tick, all together, and reads them. */
must_check int sim_read_together(
	struct sim_run *run, struct script *const *readers, size_t n);
/* Opens and reads the positions of this tick one after another. */
must_check int sim_read_in_turn(
	struct sim_run *run, struct script *const *readers, size_t n);
