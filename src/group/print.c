// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "group/group_internal.h"
#include "stats/stats.h"

#include <inttypes.h>
#include <string.h>

static const char *const state_words[] = {[COORD_JOINING] = "joining",
	[COORD_REFUSED] = "refused",
	[COORD_FOLLOWS] = "follows",
	[COORD_LEADS] = "leads",
	[COORD_AWAY] = "away"};

static void print_member(
	const struct group *group, const struct coord_node *member, FILE *out)
{
	uint64_t in, out_bytes;
	fprintf(out, "member %s %s", member->name,
		member->address[0] ? member->address : "-");
	if (group->peers && peers_bytes(group->peers, member->name, &in, &out_bytes))
		fprintf(out, " in %" PRIu64 " out %" PRIu64, in, out_bytes);
	fputs("\n", out);
}

static void print_node(const struct group *group, FILE *out)
{
	const struct coord_status *status = &group->status;
	const struct cluster_config *config = &group->config->cluster;
	fprintf(out, "node %s\nstate %s\n", group->self.name, state_words[status->state]);
	if (!config->engine)
		fputs("engine in this daemon\n", out);
	else if (status->away_since_ns)
		fprintf(out, "engine can't be reached for %.0f s: %s\n",
			(double)(clock_now_ns() - status->away_since_ns) / 1e9,
			strerror(status->away_errno));
	else
		fputs("engine reached\n", out);
	if (status->message[0])
		fprintf(out, "message %s\n", status->message);
	fprintf(out, "leader %s\nterm %" PRIu64 "\nrepairing %s\n",
		status->leader[0] ? status->leader : "-", status->term,
		status->repairing ? "yes" : "no");
	for (size_t i = 0; i < group->n_members; i++)
		print_member(group, &group->members[i], out);
}

static double part(uint64_t n, uint64_t of)
{
	return of ? 100.0 * (double)n / (double)of : 0;
}

static void print_samples(FILE *out)
{
	uint64_t decoded = stats_get(STAT_DECODES), fetched = stats_get(STAT_FETCHED),
		 cached = stats_get(STAT_DRAWN_HIT) + stats_get(STAT_DRAWN_SHARED);
	uint64_t all = decoded + fetched + cached;
	fprintf(out,
		"samples decoded %" PRIu64 " (%.0f%%) fetched %" PRIu64
		" (%.0f%%) cached %" PRIu64 " (%.0f%%) given %" PRIu64 "\n",
		decoded, part(decoded, all), fetched, part(fetched, all), cached,
		part(cached, all), stats_get(STAT_GIVEN));
}

const char *group_rank_word(const struct job_config *config)
{
	return config->processes.local_ranks ? "node_rank" : "rank";
}

const char *group_rank_text(
	const struct job_config *config, char text[static GROUP_RANK_TEXT])
{
	uint32_t local = config->processes.local_ranks,
		 first = config->rank * (local ? local : 1);
	if (local > 1)
		snprintf(text, GROUP_RANK_TEXT, "%" PRIu32 "-%" PRIu32, first,
			first + local - 1);
	else
		snprintf(text, GROUP_RANK_TEXT, "%" PRIu32, first);
	return text;
}

static void print_rank(const struct group_rank *rank, FILE *out)
{
	const struct job_config *config = rank->config;
	char numbers[GROUP_RANK_TEXT];
	fprintf(out, "rank %s %s/%" PRIu32 " job %s ", config->training,
		group_rank_text(config, numbers), config->processes.ranks, config->name);
	if (rank->status.refused[0])
		fprintf(out, "refused: %s\n", rank->status.refused);
	else
		fprintf(out,
			"%s epoch %" PRIu32 " drawn %" PRIu32 "/%" PRIu32 " fed %" PRIu32
			":%" PRIu32 " lag %" PRIu32 " committed %" PRIu32 ":%" PRIu32
			"\n",
			rank->position.held ? "held" : "waits", rank->status.epoch,
			rank->status.next, rank->status.n, rank->position.epoch,
			rank->position.position, rank->lag,
			rank->position.committed_epoch, rank->position.committed);
}

void group_print(struct group *group, FILE *out)
{
	LOCK_SCOPE(&group->lock);
	const struct group_rank *rank;
	print_node(group, out);
	print_samples(out);
	TAILQ_FOREACH (rank, &group->ranks, link)
		print_rank(rank, out);
	if (group->config->cluster.engine)
		group_print_hindrances_locked(group, out);
}

/* --- for Prometheus ---------------------------------------------------------------------- */

static void print_bytes(const struct group *group, enum stats_form form, bool sent,
	const char *name, const char *help, FILE *out)
{
	stats_print_head(out, form, name, STATS_COUNTER, help);
	for (size_t i = 0; i < group->n_members; i++) {
		const char *member = group->members[i].name;
		uint64_t bytes_in, bytes_out;
		if (peers_bytes(group->peers, member, &bytes_in, &bytes_out))
			fprintf(out, "joaderfs_%s{node=\"%s\"} %" PRIu64 "\n", name,
				member, sent ? bytes_out : bytes_in);
	}
}

void group_print_metrics(struct group *group, enum stats_form form, FILE *out)
{
	LOCK_SCOPE(&group->lock);
	const struct group_rank *rank;
	if (!TAILQ_EMPTY(&group->ranks))
		stats_print_head(out, form, "job_lag", STATS_GAUGE,
			"Samples drawn for the rank and not consumed yet");
	TAILQ_FOREACH (rank, &group->ranks, link) {
		char numbers[GROUP_RANK_TEXT];
		fprintf(out,
			"joaderfs_job_lag{job=\"%s\",training=\"%s\",rank=\"%s\"} "
			"%" PRIu32 "\n",
			rank->config->name, rank->config->training,
			group_rank_text(rank->config, numbers), rank->lag);
	}
	if (!group->peers)
		return;
	print_bytes(group, form, false, "peer_received_bytes_total",
		"Bytes of samples from the node", out);
	print_bytes(group, form, true, "peer_sent_bytes_total",
		"Bytes of samples to the node", out);
}
