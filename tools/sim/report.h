// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sim.h"

/*
 * Curves for people and programs. Where jobs run on, figures are misses per sample
 * served; otherwise misses, and misses over the union.
 */

/* Misses per sample served are what is compared. */
bool sim_per_sample(const struct sim_scenario *scenario);

/* Which curve it is among the others of its scenario, "exchange" or "dsa, lru". */
void sim_curve_name(const struct sim_curve *curve, char *ret, size_t size);

/* All of one scenario. */
void sim_print_table(FILE *out, const struct sim_curve *curves, size_t n);

/* How far the table can be trusted; nothing if the scenario was not made smaller. */
void sim_print_trust(FILE *out, const struct sim_trust *trust);

/* 0 or -errno */
must_check int sim_write_csv(const char *path, const struct sim_curve *curves, size_t n);
/*
 * A plot; log_x: the axis of the cache size is logarithmic. title NULL: that of the first
 * scenario.
 */
must_check int sim_write_svg(const char *path, const char *title,
	const struct sim_curve *curves, size_t n, bool log_x);

/*
 * An epoch of the first run of a scenario that has one curve and one size: a line for
 * each read, the position and its sample, as an epoch's order on a mount begins. which:
 * JOB:EPOCH; -EINVAL (told) if there is no such order.
 */
must_check int sim_print_order(
	FILE *out, const struct sim_scenario *scenario, const char *which);
