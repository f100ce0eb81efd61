// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/jobs.h"
#include "sched/drawing.h"
#include "sched/skipping.h"
#include "state/state.h"
#include "epoch/questions.h"

#include <errno.h>
#include <string.h>

/* The clerk is a thread for work that takes long: beginning an epoch of a million samples takes
 * tens of milliseconds, and saving an order writes megabytes. The few threads that answer readers
 * must not wait for this. The clerk asks the engine of each queued job what has to be done. Opens
 * that need this work wait in the engine. */

/* Tells the engine that the epoch's stream was made (status 0) or could not be made, so that the
 * opens which wait for the epoch go on. Tells nothing if the stream was made, but has ended since
 * then. */
static void tell_begun(struct sched_job *job, uint32_t epoch, int status)
{
	struct aftermath aftermath;
	sched_lock(job->sched, &aftermath);
	struct stream *stream = draw_find(&job->sched->draw, job->is.id, epoch);
	if (stream)
		draw_ready(stream, true);
	aftermath.news = job_is_fed(&job->is);
	if (stream || status)
		epochs_begun(job->is.epochs, epoch, status, clock_now_ns());
	effects_resume_locked(job, &aftermath);
	sched_unlock(&aftermath);
	if (!status)
		streams_fill(job);
}

static bool wants_stream(struct sched_job *job, uint32_t *ret_epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	return !job->removed && !job->sched->stopping &&
	       epochs_wants(job->is.epochs, EFFECT_BEGIN, ret_epoch);
}

/* Finds an order to save. *ret needs no lock: the order of an ended epoch does not change. */
static bool wants_save(struct sched_job *job, uint32_t *ret_epoch, struct order *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	if (job->removed || !epochs_wants(job->is.epochs, EFFECT_SAVE, ret_epoch))
		return false;
	*ret = epochs_order(job->is.epochs, *ret_epoch);
	return true;
}

/* Tells the engine that the order of the epoch was saved. Returns the first epoch whose records the
 * journal must keep. */
static uint32_t tell_saved(struct sched_job *job, uint32_t epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	epochs_saved(job->is.epochs, epoch);
	epochs_forget_before(job->is.epochs, keep_from(&job->is, epoch));
	return epochs_first_unsaved(job->is.epochs);
}

static struct epoch *take_dead(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	return epochs_reap(job->is.epochs);
}

static void free_dead(struct sched_job *job)
{
	struct epoch *epoch;
	while ((epoch = take_dead(job)))
		epoch_reaped_free(epoch);
}

/* The longest pause between two tries to save an order. A disk may stay full for hours, and each
 * try may write megabytes, so the pauses grow. */
#define MAX_SAVE_PAUSE_S 64

static void note_save(struct sched_job *job, uint32_t epoch, int err)
{
	lock_take(&job->sched->lock);
	uint32_t before = job->save_pause;
	job->save_pause = 0;
	if (err)
		job->save_pause = before ? 2 * before : 1;
	if (job->save_pause > MAX_SAVE_PAUSE_S)
		job->save_pause = MAX_SAVE_PAUSE_S;
	job->save_in = job->save_pause;
	lock_release(&job->sched->lock);
	if (err && !before)
		log_error("job %s: the order of epoch %u can't be saved in %s: %s; "
			  "memory and the journal keep it and later orders until they "
			  "can be saved",
			job->is.config.name, epoch, job->is.directory, strerror(-err));
	if (!err && before)
		log_info("job %s: orders can be saved again", job->is.config.name);
}

void clerk_second_locked(struct sched_job *job)
{
	lock_assert_held(&job->sched->lock);
	bool due = job->save_in > 0 && --job->save_in == 0;
	if (due && !job->sched->stopping)
		clerk_request_locked(job);
}

/* Frees editions that belong to no epoch any more, and the tensors that only they used. */
static void free_editions(struct sched_job *job)
{
	if (editions_sweep(&job->is))
		sched_after(job->sched);
}

static void save_orders(struct sched_job *job)
{
	struct order order;
	uint32_t epoch;
	while (wants_save(job, &epoch, &order)) {
		int err = keep_order(&job->is, epoch, &order);
		note_save(job, epoch, err);
		if (err)
			return;
		journal_forget(job->is.journal, tell_saved(job, epoch));
		free_dead(job);
		free_editions(job);
	}
}

static bool wants_load(struct sched_job *job, uint32_t *ret_epoch, uint32_t *ret_bound)
{
	LOCK_SCOPE(&job->sched->lock);
	bool wants = !job->removed && !job->sched->stopping &&
		     epochs_wants(job->is.epochs, EFFECT_LOAD, ret_epoch);
	if (wants)
		*ret_bound = epochs_known_bound(job->is.epochs, *ret_epoch);
	return wants;
}

static void tell_loaded(
	struct sched_job *job, uint32_t epoch, struct epoch *loaded, int status)
{
	SECTION_SCOPE(job->sched, aftermath);
	epochs_loaded(job->is.epochs, epoch, loaded, status);
	effects_resume_locked(job, &aftermath);
}

/* Loads the order of an ended epoch that a script reads again. An error goes to the readers of this
 * epoch. */
static void load(struct sched_job *job, uint32_t epoch, uint32_t bound)
{
	const char *reason = "";
	struct epoch *loaded = NULL;
	journal_flush(job->is.journal);
	int err = restore_load(&job->is, NULL, epoch, bound, 0, &reason, &loaded);
	if (err)
		log_error("job %s: the order of epoch %u in %s can't be used: %s",
			job->is.config.name, epoch, job->is.directory, reason);
	tell_loaded(job, epoch, loaded, err == -EINVAL ? -EIO : err);
}

static void work_for(struct sched_job *job)
{
	uint32_t epoch, bound;
	restore_if_wanted(job);
	skip_update(job);
	while (wants_load(job, &epoch, &bound))
		load(job, epoch, bound);
	while (wants_stream(job, &epoch)) {
		skip_epoch(job, epoch);
		/* The journal's records must not wait for stream_make, which may take long. */
		journal_flush(job->is.journal);
		tell_begun(job, epoch, stream_make(job, epoch));
	}
	save_orders(job);
	free_dead(job);
	free_editions(job);
}

/* Returns false if the job has new work for the clerk. Otherwise notes that the clerk has done all
 * work for the job, and returns true. */
static bool leave(struct sched_job *job)
{
	uint32_t epoch;
	LOCK_SCOPE(&job->sched->lock);
	bool gone = job->removed || job->sched->stopping;
	if (job->restoring || (job->skips.found && !gone) ||
		(!gone && (epochs_wants(job->is.epochs, EFFECT_BEGIN, &epoch) ||
				  epochs_wants(job->is.epochs, EFFECT_LOAD, &epoch))))
		return false;
	job->clerk_wanted = false;
	pthread_cond_broadcast(&job->sched->clerk_done_cond);
	return true;
}

void *sched_clerk(void *context)
{
	struct sched *sched = context;
	struct sched_job *job;
	for (;;) {
		lock_take(&sched->lock);
		while (!(job = TAILQ_FIRST(&sched->for_clerk)) && !sched->stopping)
			lock_wait(&sched->lock, &sched->clerk_cond);
		if (job)
			TAILQ_REMOVE(&sched->for_clerk, job, clerk_link);
		lock_release(&sched->lock);
		if (!job)
			return NULL;
		do
			work_for(job);
		while (!leave(job));
		sched_job_put(job);
	}
}
