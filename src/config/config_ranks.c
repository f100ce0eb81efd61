// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

#define BATCH_OF_RANK 32

static void check_local_ranks(struct ini *ini, const struct job_config *job)
{
	unsigned line = ini_line(ini, SECTION_JOB, "local_ranks");
	if (job->processes.ranks % job->processes.local_ranks != 0)
		ini_mistake(ini, line, "job", "local_ranks",
			"found %u, allowed: a divisor of ranks, which is %u, since all "
			"nodes have equally many; a node with more ranks has several "
			"jobs",
			job->processes.local_ranks, job->processes.ranks);
	if (ini_line(ini, SECTION_JOB, "rank"))
		config_refuse(ini, SECTION_JOB, "rank", "rank",
			"not with local_ranks, which has node_rank instead");
	if (job->global_batch % job->processes.ranks != 0)
		ini_mistake(ini, ini_line(ini, SECTION_JOB, "global_batch"), "job",
			"global_batch",
			"found %u, allowed with local_ranks: a multiple of ranks, which "
			"is %u",
			job->global_batch, job->processes.ranks);
}

/* Sets the job's `ranks` and `rank`. With local_ranks, all processes that read this job together
 * count as one rank. */
static void find_rank(struct ini *ini, struct job_config *job)
{
	uint32_t local = job->processes.local_ranks;
	const char *key = local ? "node_rank" : "rank";
	job->ranks = local ? job->processes.ranks / local : job->processes.ranks;
	job->rank = local ? job->processes.node_rank : job->processes.rank;
	job->one_script |= local > 0;
	if (job->rank >= job->ranks)
		ini_mistake(ini, ini_line(ini, SECTION_JOB, key), "job", key,
			"found %u, allowed: less than %s, which is %u", job->rank,
			local ? "ranks / local_ranks" : "ranks", job->ranks);
	if (!local && ini_line(ini, SECTION_JOB, "node_rank"))
		config_refuse(ini, SECTION_JOB, "node_rank", "node_rank",
			"only with local_ranks");
}

void config_check_ranks(struct ini *ini, struct job_config *job)
{
	static const char *const keys[] = {
		"rank", "local_ranks", "node_rank", "training", "global_batch"};
	bool drawn = job->order == ORDER_SHUFFLED && job->layout != LAYOUT_CLASSES &&
		     job->layout != LAYOUT_MIRROR && !job->fixed_labels;
	if (job->processes.ranks == 0) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (ini_line(ini, SECTION_JOB, keys[i]))
				config_refuse(ini, SECTION_JOB, keys[i], keys[i],
					"only with ranks");
		return;
	}
	if (!drawn)
		config_refuse(ini, SECTION_JOB, "ranks", "ranks",
			"only with order = shuffled, labels = drawn, and layout = flat, "
			"tar or batch");
	find_rank(ini, job);
	if (job->global_batch == 0)
		job->global_batch = BATCH_OF_RANK * job->processes.ranks;
	if (job->global_batch < job->processes.ranks)
		ini_mistake(ini, ini_line(ini, SECTION_JOB, "global_batch"), "job",
			"global_batch",
			"found %u, allowed: at least one for each of the %u ranks",
			job->global_batch, job->processes.ranks);
	else if (job->processes.local_ranks > 0)
		check_local_ranks(ini, job);
	if (!job->training && job->name && !(job->training = strdup(job->name)))
		ini->err = -ENOMEM;
}
