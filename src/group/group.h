// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "stats/stats.h"

#include <stdbool.h>
#include <stdio.h>

struct sched;

/*
 * Makes the daemon a node of its group: several daemons that serve the ranks of the same trainings.
 * The group connects the coordinator (src/coord) with the scheduler. The coordinator decides in
 * which order the ranks read samples. A job of the scheduler serves one rank of the coordinator: a
 * process of the training, or local_ranks processes that read the job together (coord_job).
 *
 *     coordinator --fed--> sched_feed -> journal, look-ahead -> readers
 *     coordinator <--want, commit-- sched_feed_state <- readers
 *
 *   Flow: group_new before there are jobs -> group_start after the configured jobs were added ->
 *         group_free after sched_stop and before sched_free.
 *   Threads: one thread, the group's, calls the coordinator, and waits for the engine, the server
 *         with the group's state. Other threads wait for the engine only in group_forget and
 *         group_resize.
 *   Errors: -errno, logged. An engine that can't be reached is no error.
 */

struct group;
struct daemon_config;
struct dataset;

#define GROUP_TEXT 400 /* bytes of a message, including the \0 */

/* The datasets of the configuration must outlive the group. */
must_check int group_new(const struct daemon_config *config, struct dataset **datasets,
	struct sched *sched, struct group **ret);
must_check int group_start(struct group *group);
/* Reports the consumed positions a last time and gives back the node's leases (coord.h), if the
 * engine can be reached. *group may be NULL. */
void group_free(struct group **group);

/* Shares the samples of a new dataset, or of a new edition, with other nodes. Errors are logged;
 * this node then prepares all samples of the dataset. group may be NULL. */
void group_add_dataset(struct group *group, struct dataset *dataset);
void group_remove_dataset(struct group *group, const char *name);

/* Prints the group as this node sees it, for `joaderctl cluster`. */
void group_print(struct group *group, FILE *out);
/* Makes the group forget a dead node, or a training that no live node runs. Connects to the engine
 * for this request, and waits for the answer. Returns true, with a report in `text`, or false, with
 * the reason. */
bool group_forget(struct group *group, const char *name, char text[GROUP_TEXT]);
/* Lets the training continue with `ranks` processes; connects and reports as group_forget does.
 * local_ranks: number of these processes that read one job together; 0: as many as before. */
bool group_resize(struct group *group, const char *training, uint32_t ranks,
	uint32_t local_ranks, char text[GROUP_TEXT]);
/* Prints the metrics of ranks and nodes for Prometheus; stats.h has the other metrics. */
void group_print_metrics(struct group *group, enum stats_form form, FILE *out);
