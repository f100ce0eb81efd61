// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/signals.h"
#include "control/control_request.h"

#include <errno.h>
#include <sys/eventfd.h>

/* Returns the next client with a request to carry out, or NULL if the worker stops. */
static struct client *wait_for_next(struct worker *worker)
{
	LOCK_SCOPE(&worker->lock);
	while (!worker->stopping && STAILQ_EMPTY(&worker->queue))
		lock_wait(&worker->lock, &worker->changed);
	if (worker->stopping)
		return NULL;
	struct client *client = STAILQ_FIRST(&worker->queue);
	STAILQ_REMOVE_HEAD(&worker->queue, queued);
	return client;
}

static void put_back(struct worker *worker, struct client *client)
{
	LOCK_SCOPE(&worker->lock);
	STAILQ_INSERT_TAIL(&worker->done, client, queued);
	ensure(eventfd_write(worker->watch.fd, 1) == 0);
}

static void *run(void *argument)
{
	struct worker *worker = argument;
	struct client *client;
	if (worker == &worker->control->scanner)
		control_look_for_changes(worker->control);
	while ((client = wait_for_next(worker))) {
		client_execute(client, worker->control);
		put_back(worker, client);
	}
	return NULL;
}

int worker_start(struct worker *worker, struct control *control)
{
	worker->control = control;
	lock_init(&worker->lock, LOCK_RANK_CONTROL, "control");
	ensure(pthread_cond_init(&worker->changed, NULL) == 0);
	STAILQ_INIT(&worker->queue);
	STAILQ_INIT(&worker->done);
	worker->watch = (struct watch){
		.kind = WATCH_WORKER, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	int err = worker->watch.fd < 0 ? -errno
				       : signals_thread(&worker->thread, run, worker);
	worker->running = err == 0;
	return err;
}

static void take_back(struct client_queue *queue)
{
	struct client *client;
	STAILQ_FOREACH (client, queue, queued)
		client->at_worker = false;
}

void worker_stop(struct worker *worker)
{
	if (worker->running) {
		lock_take(&worker->lock);
		worker->stopping = true;
		ensure(pthread_cond_signal(&worker->changed) == 0);
		lock_release(&worker->lock);
		ensure(pthread_join(worker->thread, NULL) == 0);
	}
	if (!worker->control)
		return;
	take_back(&worker->queue);
	take_back(&worker->done);
	if (worker->watch.fd >= 0)
		close(worker->watch.fd);
	ensure(pthread_cond_destroy(&worker->changed) == 0);
	lock_destroy(&worker->lock);
}

void worker_give(struct worker *worker, struct client *client)
{
	LOCK_SCOPE(&worker->lock);
	STAILQ_INSERT_TAIL(&worker->queue, client, queued);
	ensure(pthread_cond_signal(&worker->changed) == 0);
}

struct client *worker_take(struct worker *worker)
{
	LOCK_SCOPE(&worker->lock);
	struct client *client = STAILQ_FIRST(&worker->done);
	if (client)
		STAILQ_REMOVE_HEAD(&worker->done, queued);
	return client;
}
