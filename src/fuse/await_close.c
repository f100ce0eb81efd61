// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "fuse/await_close.h"
#include "sched/sched.h"

/* A wait ends at the latest this long after the open of the awaited file. */
#define KEPT_NS UINT64_C(2000000000)

bool await_close_locked(struct close_waiter *waiter, const struct open_file *file)
{
	struct session *session = file->session;
	uint64_t now_ns = clock_now_ns();
	lock_assert_held(&session->lock);
	if (waiter->until_ns == 0)
		waiter->until_ns = file->since_ns + KEPT_NS;
	if (waiter->until_ns <= now_ns)
		return false;
	waiter->number = file->number;
	waiter->listed = true;
	LIST_INSERT_HEAD(&session->close_waiters, waiter, link);
	sched_run_later(session->context.sched, &waiter->work, waiter->until_ns - now_ns);
	return true;
}

static void take_off_locked(struct session *session, struct close_waiter *waiter)
{
	lock_assert_held(&session->lock);
	LIST_REMOVE(waiter, link);
	waiter->listed = false;
}

void await_close_end(struct session *session, struct close_waiter *waiter)
{
	LOCK_SCOPE(&session->lock);
	if (waiter->listed)
		take_off_locked(session, waiter);
}

/* Takes off the list a waiter of the inode `number` whose work no worker has begun. Returns the
 * waiter; NULL: there is none. */
static struct close_waiter *take_one(struct session *session, uint64_t number)
{
	struct close_waiter *waiter;
	LOCK_SCOPE(&session->lock);
	LIST_FOREACH (waiter, &session->close_waiters, link)
		if (waiter->number == number &&
			sched_take_back(session->context.sched, &waiter->work))
			break;
	if (waiter)
		take_off_locked(session, waiter);
	return waiter;
}

void await_close_tell(struct session *session, uint64_t number)
{
	struct close_waiter *waiter;
	while ((waiter = take_one(session, number)))
		sched_run(session->context.sched, &waiter->work);
}
