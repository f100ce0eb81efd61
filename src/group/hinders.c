// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "group/group_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* The last lines of `joaderctl cluster`: hindrances, and commands that remove them. */

struct lines {
	FILE *out;
	bool any;
};

__attribute__((format(printf, 2, 3))) static void hinders(
	struct lines *lines, const char *format, ...)
{
	va_list args;
	fputs("hinders ", lines->out);
	va_start(args, format);
	vfprintf(lines->out, format, args);
	va_end(args);
	fputc('\n', lines->out);
	lines->any = true;
}

static uint64_t seconds_since(uint64_t ns)
{
	return (clock_now_ns() - ns) / UINT64_C(1000000000);
}

static void print_engine(const struct group *group, struct lines *lines)
{
	const struct coord_status *status = &group->status;
	if (status->away_since_ns)
		hinders(lines,
			"the engine can't be reached for %" PRIu64
			" s (%s): readers get the samples drawn so far, then wait",
			seconds_since(status->away_since_ns),
			status->message[0] ? status->message
					   : strerror(status->away_errno));
	else if (status->state == COORD_REFUSED)
		hinders(lines, "the group refuses this node: %s", status->message);
	else if (status->state == COORD_JOINING)
		hinders(lines, "this node has not joined the group yet");
	else if (!status->leader[0])
		hinders(lines,
			"no node leads: no samples are drawn until one leads, within "
			"%" PRIu32 " s ([cluster] ttl)",
			group->config->cluster.ttl_s);
	else if (status->repairing)
		hinders(lines,
			"the log is being repaired: node %s waits %" PRIu32 " to %" PRIu32
			" s for the nodes' journals",
			status->leader, group->config->cluster.ttl_s,
			3 * group->config->cluster.ttl_s);
}

static void print_silent(const struct group *group, struct lines *lines)
{
	for (size_t i = 0; i < group->n_silent; i++) {
		const struct coord_node *node = &group->silent[i];
		uint64_t since_ns = node->heard_ns ? node->heard_ns : group->began_ns;
		hinders(lines,
			"node %s has been silent for %" PRIu64
			" s%s: start it again, or add the jobs of its ranks on another "
			"node; if it never comes back: joaderctl cluster forget %s",
			node->name, seconds_since(since_ns),
			node->heard_ns ? "" : " or longer", node->name);
	}
}

/* Tells whether the group refuses the job because the dataset's name, the samples or the times of
 * the files differ. */
static bool is_of_dataset(const char *refused)
{
	return strncmp(refused, "dataset: ", 9) == 0 ||
	       strncmp(refused, "samples: ", 9) == 0 ||
	       strncmp(refused, "times: ", 7) == 0;
}

static void print_rank(const struct group_rank *rank, struct lines *lines)
{
	const struct job_config *config = rank->config;
	const char *refused = rank->status.refused, *owner = rank->position.owner;
	char numbers[GROUP_RANK_TEXT];
	if (refused[0])
		hinders(lines, "job %s can't join training %s: %s%s", config->name,
			config->training, refused,
			is_of_dataset(refused)
				? "; all nodes need the same files (rsync -a)"
				: "; it joins when no node runs the training with the "
				  "old settings (joaderctl rm)");
	else if (!rank->position.held && owner[0])
		hinders(lines,
			"job %s waits: node %s serves rank %s of %s (joaderctl rm there)",
			config->name, owner, group_rank_text(config, numbers),
			config->training);
}

/* Prints the training's lines if `rank` is the training's first rank on this node. So no line
 * appears twice. */
static void print_training(
	const struct group *group, const struct group_rank *rank, struct lines *lines)
{
	const char *training = rank->config->training;
	if (group_find_training(group, training) != rank || rank->status.refused[0])
		return;
	if (rank->waits_why[0])
		hinders(lines, "training %s: %s: " GROUP_READ_THERE, training,
			rank->waits_why);
	if (rank->unserved[0])
		hinders(lines,
			"training %s: no node serves %s %s of %" PRIu32
			" (0 is the first): add their jobs; the other ranks wait when no "
			"drawn sample is left",
			training, group_rank_word(rank->config), rank->unserved,
			rank->config->ranks);
}

static const char *refusal_text(int err)
{
	if (err == -ENOENT)
		return "has no job with the same preparation, or has other files in the "
		       "dataset";
	if (err == -ETIMEDOUT)
		return "did not answer in time";
	return "can't be reached, or has another secret (the log says which)";
}

static void print_peers(const struct group *group, struct lines *lines)
{
	for (size_t i = 0; group->peers && i < group->n_members; i++) {
		const char *name = group->members[i].name;
		int err = peers_refusal(group->peers, name);
		if (err)
			hinders(lines, "node %s %s: this node prepares its samples, too",
				name, refusal_text(err));
	}
}

void group_print_hindrances_locked(const struct group *group, FILE *out)
{
	struct lines lines = {.out = out};
	const struct group_rank *rank;
	lock_assert_held(&group->lock);
	print_engine(group, &lines);
	print_silent(group, &lines);
	TAILQ_FOREACH (rank, &group->ranks, link) {
		print_rank(rank, &lines);
		print_training(group, rank, &lines);
	}
	print_peers(group, &lines);
	if (!lines.any)
		fputs("hinders nothing\n", out);
}
