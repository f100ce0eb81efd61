// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "stats/stats.h"

#include <stdbool.h>
#include <stdio.h>

struct sched;

/*
 * The daemon as a node of its group: joins the coordinator (src/cluster), which decides in
 * which order the ranks of a training read, and the scheduler, whose jobs are these ranks.
 *
 *     coordinator --fed--> sched_feed -> journal, look-ahead -> readers
 *     coordinator <--want, commit-- sched_feed_state <- readers
 *
 *   Flow: group_new before there are jobs -> group_start when those of the start are there
 *         -> group_free after sched_stop and before sched_free.
 *   Threads: one of its own, which alone calls the coordinator, and waits for its engine.
 *   Errors: -errno, logged. An engine that can't be reached is none.
 */

struct group;
struct daemon_config;
struct dataset;

#define GROUP_TEXT 400 /* bytes of a message */

/* datasets: those of the configuration; they outlive the group. */
must_check int group_new(const struct daemon_config *config, struct dataset **datasets,
	struct sched *sched, struct group **ret);
must_check int group_start(struct group *group);
/* Gives back what the node has in the group, as far as the engine can be reached. */
void group_free(struct group **group);

/* The group as this node sees it: joaderctl(1), cluster. */
void group_print(struct group *group, FILE *out);
/* Operators change the group by a connection of its own; the caller waits for the engine.
 * false: text says why. */
bool group_forget(struct group *group, const char *name, char text[GROUP_TEXT]);
bool group_resize(
	struct group *group, const char *training, uint32_t ranks, char text[GROUP_TEXT]);
/* What Prometheus is told of ranks and nodes, beside stats.h. */
void group_print_metrics(struct group *group, enum stats_form form, FILE *out);
