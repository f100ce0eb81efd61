// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/later.h"

#include <errno.h>

static void run(struct load_work *work)
{
	size_t offset = offsetof(struct later, work);
	struct later *later = (struct later *)((char *)work - offset);
	later->answer(later);
	session_unhold(later->session);
	free(later);
}

void later_answer(const struct later *wanted)
{
	struct later *later = malloc(sizeof(*later));
	if (!later) {
		reply_error(wanted->req, -ENOMEM);
		return;
	}
	*later = *wanted;
	later->work.run = run;
	session_hold(later->session);
	sched_run(later->session->context.sched, &later->work);
}
