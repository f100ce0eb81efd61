// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "epoch/questions.h"
#include "stats/stats.h"
#include "watch/watch.h"

#include <inttypes.h>

/* A notice warns of a script that probably does not do what its author means. Each notice is given
 * once for each job. */

static const char *const texts[NOTICES] = {
	[NOTICE_EARLY] =
		"an epoch was opened by its number (epoch-NNNN/) before more than half "
		"of the previous epoch was read, or before a script that reads current/ "
		"began this epoch: the open failed with EAGAIN; please read current/, or "
		"give each script a job of its own",
	[NOTICE_LAST] = "all epochs were read: current/ gives the last epoch again, in "
			"the same order; please raise `epochs` in the job's ini",
	[NOTICE_SCRIPTS] =
		"two scripts read current/ more than an epoch apart: one of the scripts "
		"reads an epoch twice, or only a part of an epoch; please give each "
		"script a job of its own, or set `script = one` if they are ranks of one "
		"training",
	[NOTICE_PARTS] =
		"files are divided by their positions (random_split, Subset, k-fold): a "
		"position holds another sample in each epoch, so the training gets "
		"samples of the validation; please divide by samples (where = hash(path) "
		"% 5 != 0 and where = hash(path) % 5 = 0), or use layout = mirror",
	[NOTICE_LABELS] =
		"the labels of all positions were read first, and then images without "
		"their labels: labels differ from epoch to epoch; please read each label "
		"with its image, or use labels = fixed or layout = classes",
	[NOTICE_HANDLES] = "half of all files or more stay open: an open file keeps its "
			   "sample, so each epoch has the same order; please open each "
			   "file when its sample is read",
	[NOTICE_READERS] =
		"the daemon has its own name space of processes, so scripts that read "
		"current/ can't be told apart; please share the name space of the "
		"readers: docker run --pid, shareProcessNamespace in Kubernetes",
	[NOTICE_MACHINES] =
		"ranks of the training also run on other machines, where files hold "
		"other samples: some samples would be read twice, and others never; "
		"please give each rank a job with the keys ranks, rank and training, or "
		"give each machine a job with ranks, local_ranks and training, or use "
		"layout = mirror, or classes with mapping = fixed",
};

const char *notice_text(enum notice notice)
{
	return texts[notice];
}

bool notice_count_locked(struct watch *watch, enum notice notice)
{
	lock_assert_held(watch->job->lock);
	if (watch->totals.notices & 1u << notice)
		return false;
	watch->totals.notices |= 1u << notice;
	stats_add(STAT_NOTICES, 1);
	return true;
}

void notice_say(const struct job *job, enum notice notice, uint32_t epoch)
{
	struct epochs_status status;
	lock_take(job->lock);
	epochs_status(job->epochs, &status);
	uint32_t samples = epochs_set(job->epochs, status.epoch)->positions;
	lock_release(job->lock);
	log_warn("job %s: epoch %" PRIu32 ": %s (%" PRIu32 " of %" PRIu32
		 " samples of epoch %" PRIu32 " were given out)",
		job->config.name, epoch, texts[notice], status.bound, samples,
		status.epoch);
}
