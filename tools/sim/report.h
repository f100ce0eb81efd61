// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sim.h"

/* Tells whether the figures are misses per served sample. This is so if the scenario has a length.
 * Otherwise each figure is printed twice: as the number of misses, and as this number divided by
 * the number of different samples in all datasets. */
bool sim_per_sample(const struct sim_scenario *scenario);

/* Names the curve by its sampler, its policy or both, whichever differ in the scenario. */
void sim_curve_name(const struct sim_curve *curve, char *ret, size_t size);

void sim_print_table(const struct sim_curve *curves, size_t n);

/* Prints the estimated error of a scaled-down scenario; for another scenario prints nothing. */
void sim_print_trust(const struct sim_trust *trust);

must_check int sim_write_csv(const char *path, const struct sim_curve *curves, size_t n);
/* log_x: the axis of the cache size is logarithmic; title NULL: that of the first scenario */
must_check int sim_write_svg(const char *path, const char *title,
	const struct sim_curve *curves, size_t n, bool log_x);

/* Prints an epoch of a job: for each read a line with the position and its sample, like the first
 * columns of an order file. which: JOB:EPOCH. -EINVAL (reported): there is no such job or epoch, or
 * the scenario has several samplers, policies or cache sizes. */
must_check int sim_print_order(const struct sim_scenario *scenario, const char *which);
