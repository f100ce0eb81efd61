// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/pool_internal.h"

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/signals.h"

#include <errno.h>
#include <string.h>

/* A file system that does not answer, such as NFS or a FUSE server, can block a reader for ever;
 * io_uring would block a kernel thread in the same way. The pool starts another thread in place of
 * a blocked one, and does not wait for the blocked thread when the pool ends. */

#define END_NS UINT64_C(2000000000)

bool readers_lack_locked(struct load_pool *pool)
{
	const struct crew *crew = &pool->crews[LOAD_READ];
	lock_assert_held(&pool->lock);
	bool lacks =
		crew->kicks > crew->asleep && pool->n_readers < crew->most && !crew->stop;
	pool->n_readers += lacks;
	return lacks;
}

/* Returns false if the pool has taken the task away: the pool ends, and the read took too long. */
static bool is_still_ours(struct reader *reader)
{
	LOCK_SCOPE(&reader->pool->lock);
	bool ours = reader->task != NULL;
	reader->task = NULL;
	return ours;
}

/* Returns false if the pool no longer waits for reads: the caller must not begin to read. */
static bool begin(struct reader *reader, struct load_task *task)
{
	LOCK_SCOPE(&reader->pool->lock);
	reader->task = task;
	return !reader->pool->time_is_up;
}

static void interrupt(struct load_task *task)
{
	task->status = -EINTR;
	task->passing = true;
	snprintf(task->message, sizeof(task->message),
		"the read was interrupted, because the daemon stops");
}

/* Reads the file of a task, and passes the task to callbacks.read. Returns false if the pool has
 * taken the task away: the thread must then end without touching the caller's data. */
static bool read_one(struct reader *reader, struct load_task *task)
{
	struct load_pool *pool = reader->pool;
	struct load_read *read = pool_take_read(pool);
	if (read && load_read_prepare(read, task) != 0)
		load_read_free(&read);
	if (!begin(reader, task)) {
		load_read_free(&read);
		interrupt(task);
	}
	if (read)
		load_read_run(read);
	if (!is_still_ours(reader)) {
		load_read_free(&read);
		return false;
	}
	task->read = read;
	task->identity =
		read && read->status == 0 ? read->identity : (struct load_identity){0};
	pool->callbacks.read(pool->callbacks.context, task);
	return true;
}

static void *reader_main(void *argument)
{
	struct reader *reader = argument;
	struct load_pool *pool = reader->pool;
	const struct load_callbacks *callbacks = &pool->callbacks;
	(void)pthread_setname_np(pthread_self(), "read");
	bool ours = true;
	while (ours && crew_wait(pool, &pool->crews[LOAD_READ])) {
		struct load_task *task;
		do {
			while (pool_do_waiting(pool))
				;
			task = callbacks->next_read(callbacks->context);
			ours = !task || read_one(reader, task);
		} while (ours && task);
	}
	LOCK_SCOPE(&pool->lock);
	pool->n_readers--;
	pthread_cond_signal(&pool->ended);
	return NULL;
}

/* Starts a reader that is already counted in pool->n_readers. If this fails, subtracts 1 from
 * pool->n_readers. -ECANCELED: the pool is ending. */
int reader_start(struct load_pool *pool)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err = reader ? 0 : -ENOMEM;
	lock_take(&pool->lock);
	if (!err) {
		reader->pool = pool;
		err = pool->crews[LOAD_READ].stop
			      ? -ECANCELED
			      : signals_thread(&reader->thread, reader_main, reader);
	}
	if (!err) {
		LIST_INSERT_HEAD(&pool->readers, reader, link);
	} else {
		pool->n_readers--;
		pthread_cond_signal(&pool->ended);
	}
	lock_release(&pool->lock);
	if (!err)
		return 0;
	free(reader);
	if (err != -ECANCELED)
		log_warn("can't start another thread that reads files: %s; the other "
			 "threads continue",
			strerror(-err));
	return err;
}

static void wait_for_readers(struct load_pool *pool)
{
	uint64_t until = clock_now_ns() + END_NS;
	LOCK_SCOPE(&pool->lock);
	while (pool->n_readers > 0 &&
		lock_wait_until(&pool->lock, &pool->ended, until) == 0)
		;
	pool->time_is_up = true;
}

/* Takes a task away from a reader; the caller must finish the task. NULL: no reader has a task. */
static struct load_task *take_away(struct load_pool *pool)
{
	struct reader *reader;
	LOCK_SCOPE(&pool->lock);
	LIST_FOREACH (reader, &pool->readers, link) {
		struct load_task *task = reader->task;
		if (!task)
			continue;
		reader->task = NULL;
		reader->left_behind = true;
		return task;
	}
	return NULL;
}

bool readers_end(struct load_pool *pool)
{
	struct reader *reader;
	struct load_task *task;
	unsigned left_behind = 0;
	wait_for_readers(pool);
	for (; (task = take_away(pool)); left_behind++) {
		interrupt(task);
		pool->callbacks.read(pool->callbacks.context, task);
	}
	while ((reader = LIST_FIRST(&pool->readers))) {
		LIST_REMOVE(reader, link);
		if (reader->left_behind) {
			pthread_detach(reader->thread);
			continue;
		}
		ensure(pthread_join(reader->thread, NULL) == 0);
		free(reader);
	}
	if (left_behind > 0)
		log_warn("%u reads have not ended; joaderfs ends without waiting for "
			 "their threads",
			left_behind);
	return left_behind == 0;
}
