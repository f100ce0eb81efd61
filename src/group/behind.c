// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "group/group_internal.h"
#include "sched/ranks.h"

#include <inttypes.h>
#include <string.h>

/* Finds ranks that are more than an epoch behind the others, and warns about them. */

#define PAUSE_NS (600 * UINT64_C(1000000000))

int group_skipped(void *context, const char *training, uint32_t number, uint32_t epoch,
	uint32_t position, uint32_t to)
{
	struct group_rank *rank = group_find_rank(context, training, number);
	char numbers[GROUP_RANK_TEXT];
	if (!rank)
		return 0;
	int err = sched_feed_go_on(rank->job, to, 0);
	if (!err)
		log_error("job %s: rank %s of %s: the group has no samples from position "
			  "%" PRIu32 " of epoch %" PRIu32 " on any more: opens of epochs "
			  "before %" PRIu32 " fail with ESTALE, and current/ continues "
			  "with epoch %" PRIu32,
			rank->config->name, group_rank_text(rank->config, numbers),
			training, position, epoch, to, to);
	return err;
}

/* Prints to `why` which ranks hold back the training's next epoch; "": no rank does. */
static void print_why(const struct group *group, const struct group_rank *rank,
	char why[SCHED_WAIT_TEXT])
{
	char behind[COORD_TEXT];
	uint32_t epoch = rank->status.epoch;
	coord_behind(group->coord, rank->config->training, behind);
	why[0] = '\0';
	if (behind[0])
		snprintf(why, SCHED_WAIT_TEXT,
			"epoch %" PRIu32 " waits for the end of epoch %" PRIu32
			" at %s %.80s",
			epoch + 1, epoch - 1, group_rank_word(rank->config), behind);
}

/* Warns once for each wait, and at most once in PAUSE_NS, because short waits are usual. */
static void tell(struct group_rank *rank)
{
	uint64_t now_ns = clock_now_ns();
	if (!rank->waits_why[0])
		rank->told = false;
	else if (!rank->told && (!rank->told_ns || now_ns - rank->told_ns >= PAUSE_NS)) {
		rank->told = true;
		rank->told_ns = now_ns;
		log_warn("job %s: training %s: %s: please " GROUP_READ_THERE,
			rank->config->name, rank->config->training, rank->waits_why);
	}
}

void group_look_behind(struct group *group, struct group_rank *rank)
{
	char why[SCHED_WAIT_TEXT];
	print_why(group, rank, why);
	if (strcmp(why, rank->waits_why) != 0) {
		lock_take(&group->lock);
		strcpy(rank->waits_why, why);
		lock_release(&group->lock);
		sched_feed_waits(rank->job, why, rank->position.behind);
	}
	if (group_find_training(group, rank->config->training) == rank)
		tell(rank);
}
