// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/ensure.h"
#include "stats/stats.h"

#include <errno.h>
#include <string.h>

/* Pillow refuses more (twice Image.MAX_IMAGE_PIXELS); reserving for it would be in vain.
 */
#define MAX_PIXELS UINT64_C(178956970)

struct use *use_find_locked(const struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	struct {
		const struct space *space;
		uint64_t sample;
	} key = {space, sample};
	struct use *use;
	HASH_FIND(hash, space->source->sched->uses, &key, sizeof(key), use);
	return use;
}

struct use *use_get_locked(struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	struct sched *sched = space->source->sched;
	struct use *use = use_find_locked(space, sample);
	if (use)
		return use;
	use = calloc(1, sizeof(*use));
	if (!use)
		return NULL;
	use->key = (struct use_key){.space = space, .sample = sample};
	TAILQ_INIT(&use->waiters);
	HASH_ADD(hash, sched->uses, key, sizeof(use->key), use);
	if (!use->hash.tbl) {
		free(use);
		return NULL;
	}
	space->references++;
	return use;
}

void use_request_locked(struct use *use, bool urgent, struct aftermath *aftermath)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	struct sched *sched = use->key.space->source->sched;
	if (use->state == USE_LOADING || use->state == USE_URGENT)
		return;
	if (use->state == USE_QUEUED) {
		if (!urgent)
			return;
		TAILQ_REMOVE(&sched->queued, use, link);
	}
	use->state = urgent ? USE_URGENT : USE_QUEUED;
	TAILQ_INSERT_TAIL(urgent ? &sched->urgent : &sched->queued, use, link);
	aftermath->kick = true;
}

static void unqueue(struct sched *sched, struct use *use)
{
	if (use->state == USE_URGENT)
		TAILQ_REMOVE(&sched->urgent, use, link);
	else if (use->state == USE_QUEUED)
		TAILQ_REMOVE(&sched->queued, use, link);
	use->state = USE_OPEN_ONLY;
}

/* It will not be prepared, so it does not get into the cache. */
static void drop_request(struct sched *sched, struct use *use)
{
	if (use->state == USE_OPEN_ONLY)
		return;
	unqueue(sched, use);
	space_gone_locked(use->key.space, (sample_id)use->key.sample);
}

static bool queued_for_somebody(const struct use *use)
{
	return (use->state == USE_QUEUED || use->state == USE_URGENT) &&
	       cache_pins(use->key.space->cache, (sample_id)use->key.sample) > 0;
}

/* Frees it if nothing needs it any more. */
static void drop_if_unused_locked(struct use *use)
{
	struct space *space = use->key.space;
	struct sched *sched = space->source->sched;
	lock_assert_held(&sched->lock);
	if (use->opens > 0 || use->state == USE_LOADING || queued_for_somebody(use))
		return;
	ensure(TAILQ_EMPTY(&use->waiters));
	drop_request(sched, use);
	HASH_DELETE(hash, sched->uses, use);
	free(use);
	space_put_locked(space);
}

void use_unpinned_locked(struct space *space, sample_id sample)
{
	struct use *use = use_find_locked(space, sample);
	lock_assert_held(&space->source->sched->lock);
	if (use)
		drop_if_unused_locked(use);
}

/* A tensor that others have drawn but nobody holds open does not stay beyond capacity. */
static void keep_capacity_locked(struct sched *sched, struct use *use)
{
	lock_assert_held(&sched->lock);
	struct cache_space *space = use->key.space->cache;
	sample_id sample = (sample_id)use->key.sample;
	cache_trim(sched->cache);
	struct cache_usage usage = cache_usage(sched->cache);
	if (usage.live_bytes > usage.capacity && use->opens == 0 &&
		cache_state(space, sample) == CACHE_READY)
		cache_force_out(space, sample);
}

/* Its last reader gave up: it is look-ahead again, first in the line. */
static void make_less_urgent(struct sched *sched, struct use *use)
{
	if (use->state != USE_URGENT || use->opens > 0)
		return;
	unqueue(sched, use);
	use->state = USE_QUEUED;
	TAILQ_INSERT_HEAD(&sched->queued, use, link);
}

int use_attach_locked(struct sched_handle *handle)
{
	struct space *space = handle->job->space;
	sample_id sample = handle->request.sample;
	lock_assert_held(&space->source->sched->lock);
	struct use *use = use_get_locked(space, sample);
	if (!use)
		return -ENOMEM;
	if (cache_pin(space->cache, sample) != 0) {
		drop_if_unused_locked(use);
		return -ENOMEM;
	}
	use->opens++;
	handle->use = use;
	return 0;
}

void use_detach_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched *sched = handle->job->sched;
	struct use *use = handle->use;
	lock_assert_held(&sched->lock);
	use->opens--;
	handle->use = NULL;
	handle->tensor = NULL;
	cache_unpin(use->key.space->cache, handle->request.sample);
	make_less_urgent(sched, use);
	keep_capacity_locked(sched, use);
	drop_if_unused_locked(use);
	aftermath->kick = true;
}

static uint64_t bytes_to_reserve(const struct use *use)
{
	const struct space *space = use->key.space;
	sample_id sample = (sample_id)use->key.sample;
	struct tensor_shape image = dataset_image_shape(space->source->dataset, sample);
	bool encoded = space->preparation.encoded;
	if (!encoded && (uint64_t)image.width * image.height > MAX_PIXELS)
		return 0;
	if (!encoded && (image.width == 0 || image.height == 0))
		return 0;
	return preparation_bytes(&space->preparation,
		preparation_image(&space->preparation, image,
			dataset_orientation(space->source->dataset, sample)),
		dataset_file_bytes(space->source->dataset, sample));
}

static void answer_waiters_locked(
	struct use *use, int status, struct aftermath *aftermath)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	struct sched_handle *handle;
	use->opens++; /* so that the last one does not free it */
	while ((handle = TAILQ_FIRST(&use->waiters))) {
		struct sched_job *job = handle->job;
		handle_finish_locked(handle, status, aftermath);
		if (status != 0)
			job->totals.errors++;
	}
	use->opens--;
}

/* Nobody has drawn it any more and nobody waits: the job is gone, or parked. */
static struct use *first_wanted(struct sched *sched, struct use_queue *queue)
{
	struct use *use;
	while ((use = TAILQ_FIRST(queue)) && !queued_for_somebody(use)) {
		drop_request(sched, use);
		drop_if_unused_locked(use);
	}
	return use;
}

/* absent -> loading. force: beyond capacity if need be. */
static int reserve_locked(struct use *use, bool force)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	int err = cache_reserve(use->key.space->cache, (sample_id)use->key.sample,
		bytes_to_reserve(use), force);
	if (err)
		return err;
	unqueue(use->key.space->source->sched, use);
	use->state = USE_LOADING;
	use->in_file = use->key.space->in_files;
	use->head = use->key.space->head;
	use->also = NULL;
	return 0;
}

static bool can_share_decode(const struct space *space)
{
	const struct preparation *preparation = &space->preparation;
	return !preparation->encoded && !preparation->approximate && !preparation->exif;
}

/* Who wants the same sample prepared in another way gets it from the same decode. */
static void share_decode_locked(struct use *use)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	struct space *space;
	if (!can_share_decode(use->key.space))
		return;
	LIST_FOREACH (space, &use->key.space->source->spaces, link) {
		struct use *other = use_find_locked(space, (sample_id)use->key.sample);
		if (!other || !queued_for_somebody(other) || !can_share_decode(space) ||
			reserve_locked(other, other->state == USE_URGENT) != 0)
			continue;
		other->also = use->also;
		use->also = other;
	}
}

static struct use *reserve_next_locked(struct sched *sched, struct aftermath *aftermath)
{
	lock_assert_held(&sched->lock);
	struct use *use = first_wanted(sched, &sched->urgent);
	bool force = use != NULL;
	if (!use)
		use = first_wanted(sched, &sched->queued);
	if (!use || sched->stopping)
		return NULL;
	int err = reserve_locked(use, force);
	if (!err) {
		share_decode_locked(use);
		return use;
	}
	if (force) { /* no memory: no reader waits for that */
		drop_request(sched, use);
		answer_waiters_locked(use, err, aftermath);
		drop_if_unused_locked(use);
	}
	return NULL; /* look-ahead waits until something is consumed */
}

static struct load_task new_task(const struct sched *sched, struct use *use)
{
	return (struct load_task){.preparation = &use->key.space->preparation,
		.backings = use->in_file ? sched->backings : NULL,
		.head = use->head,
		.owner = use};
}

static void fill_also(const struct sched *sched, struct use *use)
{
	for (; use->also; use = use->also) {
		struct use *also = use->also;
		also->task = new_task(sched, also);
		use->task.also = &also->task;
	}
}

static bool fill_task(const struct sched *sched, struct use *use)
{
	struct space *space = use->key.space;
	use->task = new_task(sched, use);
	use->task.max_pixels = sched->config->max_pixels;
	fill_also(sched, use);
	int err = dataset_get(
		space->source->dataset, (sample_id)use->key.sample, &use->sample);
	if (err) {
		use->task.status = err;
		snprintf(use->task.message, sizeof(use->task.message),
			"not in the catalogue: %s", strerror(-err));
		return false;
	}
	use->task.path = use->sample.path;
	use->task.expected_bytes = use->sample.bytes;
	use->task.expected_mtime_ns = use->sample.mtime_ns;
	use->task.expected_image = use->sample.image;
	use->task.orientation = use->sample.orientation;
	return true;
}

struct load_task *sched_load_next(void *context)
{
	struct sched *sched = context;
	for (;;) {
		struct aftermath aftermath;
		aftermath_init(&aftermath);
		lock_take(&sched->lock);
		struct use *use = reserve_next_locked(sched, &aftermath);
		sched_unlock(sched, &aftermath);
		if (!use)
			return NULL;
		if (fill_task(sched, use))
			return &use->task;
		sched_load_done(sched, &use->task);
	}
}

/* Once per sample, however many jobs meet it. */
static bool first_failure_locked(struct use *use)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	return roaring_bitmap_add_checked(
		use->key.space->source->bad, (uint32_t)use->key.sample);
}

/* Readers see one error for whatever is wrong with one sample. */
static int reader_status(int status)
{
	return status == 0 || status == -ENOMEM ? status : -EIO;
}

static void finish_load_locked(
	struct load_task *task, int status, struct aftermath *aftermath)
{
	struct use *use = task->owner;
	struct space *space = use->key.space;
	lock_assert_held(&space->source->sched->lock);
	use->sample = (struct dataset_sample){0};
	use->state = USE_OPEN_ONLY;
	if (status == 0)
		cache_publish(space->cache, (sample_id)use->key.sample, task->tensor);
	else
		cache_abandon(space->cache, (sample_id)use->key.sample);
	answer_waiters_locked(use, reader_status(status), aftermath);
	keep_capacity_locked(space->source->sched, use);
	drop_if_unused_locked(use);
}

void sched_load_done(void *context, struct load_task *task)
{
	struct sched *sched = context;
	struct use *use = task->owner;
	struct dataset_sample sample = use->sample;
	struct load_task first = *task;
	const char *dataset = dataset_name(use->key.space->source->dataset);
	struct aftermath aftermath;
	aftermath_init(&aftermath);

	lock_take(&sched->lock);
	bool log = first.status != 0 && first_failure_locked(use);
	/* A task is part of its use, which may be gone afterwards. */
	for (struct load_task *next; task; task = next) {
		next = task->also;
		finish_load_locked(task, first.status, &aftermath);
	}
	sched_unlock(sched, &aftermath);

	if (log)
		log_bad_sample(dataset, &sample, &first);
	dataset_sample_free(&sample);
}
