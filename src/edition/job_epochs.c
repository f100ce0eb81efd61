// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/rank_parts.h"
#include "base/rng.h"
#include "edition/edition_internal.h"

#include <errno.h>

int feed_divide(struct edition *edition, config_report *report, void *context)
{
	const struct job_config *config = &edition->job->config;
	uint32_t all = edition->set.positions;
	uint64_t rank = (uint64_t)config->ranks << 32 | config->rank;
	edition->set.positions =
		ranks_position(all, config->global_batch, config->ranks, config->rank);
	edition->fingerprint = rng_mix(edition->fingerprint, rank);
	edition->fingerprint = rng_mix(edition->fingerprint, config->global_batch);
	if (edition->set.positions > 0)
		return 0;
	config_report_text(report, context,
		"%s:[job]:ranks: found %u, allowed: at most the %u samples of the job",
		config->file, config->ranks, all);
	return -EINVAL;
}

uint32_t job_binds_at_once(const struct job_config *config)
{
	return config->layout == LAYOUT_BATCH ? config_file_samples(config) : 1;
}

/* Returns the most samples that may be drawn ahead for the job. A `lookahead` in the job's ini is
 * the limit. Otherwise the look-ahead can grow to twice the largest number of reads in flight. */
static uint32_t most_ahead(const struct job_config *config)
{
	const uint32_t grown = 2 * STORAGE_MOST_READS;
	uint32_t least = config_lookahead(config);
	return config->lookahead == 0 && grown > least ? grown : least;
}

int job_make_epochs(struct job *job, const struct epoch_set *first)
{
	const struct job_config *config = &job->config;
	struct epochs_config epochs = {.kind = job_kind(job),
		.set = *first,
		.limit = config_job_epochs(config),
		.lookahead = config_lookahead(config),
		.most_ahead = most_ahead(config),
		.file = config_file_samples(config),
		.replays = config_replay(config) != NULL,
		.fed = job_is_fed(job),
		.refuses_second = config->refuses_second,
		.idle_ns = (uint64_t)config->idle_s * SECOND_NS};
	return epochs_new(&epochs, &job->epochs);
}
