// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "base/kept.h"
#include "base/log.h"
#include "dataset/dataset_pairs.h"
#include "image/sections.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

/*
 * Gives readers and decoders their tasks, and publishes the results.
 *
 *            use_request_locked        reserve_locked           published
 *   open only ---------------> queued ---------------> loading -----------> open only
 *                              urgent <-- delayed <-------+ an error that passes
 *
 *   loading: the file is read, waits for a decoder, is decoded (storage.c); or the tensor
 *            comes from another daemon (fetch.c).
 *
 * share.h decides whose request is next. Samples that readers wait for may exceed the cache
 * (memory.c says how far). Samples that are only drawn ahead have to fit into the cache; those
 * that do not are passed over for others that do.
 */

/* Reserves room in the cache, and marks the use as loading. urgent: may exceed the cache. -ENOSPC:
 * the look-ahead does not fit; -EAGAIN: too much is being read just now; -ENOMEM: too much is
 * open. */
static int reserve_locked(struct use *use, bool urgent)
{
	struct space *space = use->key.space;
	struct sched *sched = space->source->sched;
	sample_id sample = (sample_id)use->key.sample;
	uint64_t tensor = memory_size_of(sched, space, sample).tensor;
	lock_assert_held(&sched->lock);
	if (!memory_may_read_locked(sched, memory_file_bytes(sched, space, sample)))
		return -EAGAIN;
	if (urgent && !memory_has_room_locked(sched, tensor))
		return -ENOMEM;
	int err = cache_reserve(space->cache, sample, tensor, urgent);
	if (err)
		return err;
	use_taken_locked(use);
	use->in_file = space->in_files;
	use->head = space->head;
	use->head.label = dataset_label(space->source->dataset, sample);
	use->working = 0;
	use->also = NULL;
	return 0;
}

static bool is_queued(const struct use *use)
{
	return use->state == USE_QUEUED || use->state == USE_URGENT;
}

/* Tells whether one decode may serve this use and others. If a refused sample took part,
 * the decode would fail for all of them. */
static bool can_share_decode(const struct use *use)
{
	const struct space *space = use->key.space;
	const struct preparation *preparation = &space->preparation;
	char message[IMAGE_MESSAGE];
	return !preparation->encoded && !preparation->approximate && !preparation->exif &&
	       !preparation->fills_truncated && !preparation->array &&
	       !preparation->sections && !preparation->frames &&
	       preparation->channels != CHANNELS_KEEP &&
	       !memory_refuses(
		       space->source->sched, space, (sample_id)use->key.sample, message);
}

/* Adds queued uses of this sample in other spaces to its decode. */
static void share_decode_locked(struct use *use)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	struct space *space;
	if (!can_share_decode(use))
		return;
	LIST_FOREACH (space, &use->key.space->source->spaces, link) {
		struct use *other = use_find_locked(space, (sample_id)use->key.sample);
		if (!other || !is_queued(other) || !use_is_wanted(other) ||
			!can_share_decode(other) ||
			reserve_locked(other, other->state == USE_URGENT) != 0)
			continue;
		other->also = use->also;
		use->also = other;
		share_with(&use->request, &other->request);
	}
}

static void answer_waiters_locked(
	struct use *use, int status, bool bad, struct aftermath *aftermath)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	struct sched_handle *handle;
	use->opens++; /* keeps the use until this function ends */
	while ((handle = TAILQ_FIRST(&use->waiters))) {
		struct sched_job *job = handle->job;
		handle->bad = bad;
		if (status != 0 && !handle->bare)
			job->totals.errors++;
		job->sched->supply_calls->done_locked(handle, status, aftermath);
	}
	use->opens--;
}

/* Delays a use that a reader waits for, because memory is lacking; fails it after too
 * many tries. */
static void put_off_locked(struct use *use, int err, struct aftermath *aftermath)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	use_unqueue_locked(use);
	if (retry_later_locked(use, true, 0))
		return;
	share_drop(&use->request);
	answer_waiters_locked(use, err, false, aftermath);
	use_drop_if_unused_locked(use);
}

/* --- the next read ---------------------------------------------------------------------- */

/* Limits how many look-ahead requests of a storage are tried when the first ones do not
 * fit. */
#define MOST_PASSED_OVER 256

struct offers {
	struct sched *sched;
	/* the first use that a reader waits for, while readers hold too much open */
	struct use *put_off;
	int err;
};

static struct use *use_of(struct share_request *request)
{
	return (struct use *)((char *)request - offsetof(struct use, request));
}

static enum share_answer taken_locked(struct use *use)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	use->request.cost_ns = shares_cost(use->key.space);
	use->fetching = fetch_is_due_locked(use);
	if (!use->fetching) {
		share_decode_locked(use);
		use->tier_worth = tier_worth_of_read_locked(
			use->key.space->source, (sample_id)use->key.sample);
	}
	return SHARE_TAKE;
}

static enum share_answer offer_ahead_locked(struct use *use)
{
	struct space *space = use->key.space;
	struct sched *sched = space->source->sched;
	struct storage *storage = space->source->storage;
	lock_assert_held(&sched->lock);
	if (storage->offered == MOST_PASSED_OVER ||
		!cache_fits(sched->cache, storage->ahead_needs))
		return SHARE_PASS_REST;
	storage->offered++;
	uint64_t bytes = memory_size_of(sched, space, (sample_id)use->key.sample).tensor;
	if (bytes >= storage->lacked)
		return SHARE_PASS;
	int err = reserve_locked(use, false);
	if (err == 0)
		return taken_locked(use);
	if (err == -EAGAIN)
		return SHARE_PASS_REST;
	storage->lacked = bytes;
	return SHARE_PASS;
}

static enum share_answer offer_locked(void *context, struct share_request *request)
{
	struct offers *offers = context;
	struct use *use = use_of(request);
	lock_assert_held(&offers->sched->lock);
	if (!storage_has_room_locked(offers->sched, use->key.space->source->storage))
		return SHARE_PASS_REST;
	if (!program_has_room_locked(use))
		return SHARE_PASS_REST;
	if (use->state == USE_QUEUED)
		return offer_ahead_locked(use);
	int err = reserve_locked(use, true);
	if (err == 0)
		return taken_locked(use);
	if (err == -EAGAIN)
		return SHARE_PASS_REST;
	offers->put_off = use;
	offers->err = err;
	return SHARE_STOP;
}

static void begin_offers_locked(struct sched *sched)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->n_storages; i++) {
		sched->storages[i].lacked = UINT64_MAX;
		sched->storages[i].offered = 0;
	}
}

/* Notes how much room the smallest look-ahead lacks. Called after all requests were
 * offered. */
static void note_needs_locked(struct sched *sched)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->n_storages; i++) {
		struct storage *storage = &sched->storages[i];
		if (storage->offered > 0 && storage->lacked < UINT64_MAX)
			storage->ahead_needs = storage->lacked;
	}
}

bool prepare_waits_locked(const struct sched *sched)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->n_storages; i++)
		if (storage_has_requests_locked(sched, &sched->storages[i]))
			return true;
	return false;
}

bool prepare_wakes_locked(const struct sched *sched)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->n_storages; i++)
		if (storage_wakes_reader_locked(sched, &sched->storages[i]))
			return true;
	return false;
}

static struct use *reserve_next_locked(struct sched *sched, struct aftermath *aftermath)
{
	struct share_request *request = NULL;
	struct offers offers;
	lock_assert_held(&sched->lock);
	if (sched->stopping || !prepare_waits_locked(sched))
		return NULL;
	do {
		offers = (struct offers){.sched = sched};
		begin_offers_locked(sched);
		request = share_next(&sched->shares, offer_locked, &offers);
		if (offers.put_off)
			put_off_locked(offers.put_off, offers.err, aftermath);
	} while (offers.put_off);
	if (!request) {
		note_needs_locked(sched);
		return NULL;
	}
	struct use *use = use_of(request);
	if (!use->fetching)
		storage_begin_locked(use);
	return use;
}

static struct load_task new_task(const struct sched *sched, struct use *use)
{
	const struct space *space = use->key.space;
	return (struct load_task){
		.preparation = dataset_preparation(space->source->dataset,
			&space->preparation, (sample_id)use->key.sample),
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

static void fill_file(const struct space *space, sample_id sample,
	const struct dataset_sample *file, struct load_task *task)
{
	task->path = file->path;
	task->name = file->relative;
	task->container = file->container;
	task->part = file->part;
	task->plain = file->plain;
	task->root = file->container ? NULL : space->source->root;
	task->expected_bytes = file->bytes;
	task->expected_mtime_ns = file->mtime_ns;
	task->expected_image = file->image;
	task->orientation = file->orientation;
	task->tier = tier_sample_of(space->source, sample, file);
}

static int add_second(struct use *use, sample_id sample, struct use_second **ret)
{
	const struct space *space = use->key.space;
	struct use_second *second = calloc(1, sizeof(*second));
	if (!second)
		return -ENOMEM;
	int err = dataset_get(space->source->dataset, sample, &second->sample);
	if (err) {
		free(second);
		return err;
	}
	second->preparation = dataset_preparation_behind(
		space->source->dataset, &space->preparation, (sample_id)use->key.sample);
	second->task.preparation = &second->preparation;
	second->task.max_pixels = use->task.max_pixels;
	fill_file(space, sample, &second->sample, &second->task);
	second->task.tier_worth = use->tier_worth;
	*ret = second;
	return 0;
}

/* Makes tasks for the sample's further files (a pair's second, later frames), as a
 * chain. */
static int fill_second(struct use *use)
{
	const struct space *space = use->key.space;
	struct use_second **end = &use->second;
	struct load_task *task = &use->task;
	int err = 0;
	use->second = NULL;
	for (uint32_t i = 0; !err; i++) {
		sample_id next = dataset_behind(space->source->dataset,
			&space->preparation, (sample_id)use->key.sample, i);
		if (next == SAMPLE_NONE)
			break;
		err = add_second(use, next, end);
		if (err)
			break;
		task = task->second = &(*end)->task;
		end = &(*end)->next;
	}
	return err;
}

static void free_second(struct use_second *second)
{
	while (second) {
		struct use_second *next = second->next;
		dataset_sample_free(&second->sample);
		free(second);
		second = next;
	}
}

static void fail_catalogue(struct use *use, int err)
{
	use->task.status = err;
	use->task.passing = err != -ENOENT;
	snprintf(use->task.message, sizeof(use->task.message), "not in the catalogue: %s",
		strerror(-err));
}

/* Fills the use's task. Returns false if the task has failed. A sample that SQLite can't
 * read is not bad: the error may be transient. */
static bool fill_task(const struct sched *sched, struct use *use)
{
	struct space *space = use->key.space;
	sample_id sample = (sample_id)use->key.sample;
	use->task = new_task(sched, use);
	use->task.max_pixels = sched->config->max_pixels;
	use->task.by_content = space->source->config.same_content;
	fill_also(sched, use);
	int err = dataset_get(space->source->dataset, sample, &use->sample);
	if (err) {
		fail_catalogue(use, err);
		return false;
	}
	if (space->source->quarantined &&
		roaring_bitmap_contains(space->source->quarantined, sample)) {
		use->task.status = -EIO;
		snprintf(use->task.message, sizeof(use->task.message),
			"its preparation has ended the engine twice");
		return false;
	}
	if (memory_refuses(sched, space, sample, use->task.message)) {
		use->task.status = -EIO;
		return false;
	}
	fill_file(space, sample, &use->sample, &use->task);
	use->task.tier_worth = use->tier_worth;
	err = fill_second(use);
	if (err)
		fail_catalogue(use, err);
	return !err;
}

/* Returns the next task. The reader thread that takes it wakes another one, if there are
 * more tasks. */
struct load_task *sched_next_read(void *context)
{
	struct sched *sched = context;
	for (;;) {
		struct aftermath aftermath;
		aftermath_init(&aftermath);
		lock_take(&sched->lock);
		struct use *use = reserve_next_locked(sched, &aftermath);
		aftermath.kick = use != NULL;
		bool fetching = use && use->fetching;
		sched_unlock(sched, &aftermath);
		if (!use)
			return NULL;
		if (fetching) {
			fetch_begin(use);
			continue;
		}
		if (fill_task(sched, use))
			return &use->task;
		sched_read(sched, &use->task);
	}
}

void sched_read(void *context, struct load_task *task)
{
	struct sched *sched = context;
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	storage_end_locked(task->owner);
	aftermath.kick_decoders = true;
	sched_unlock(sched, &aftermath);
}

/* --- decoders --------------------------------------------------------------------------- */

/* Tells whether a reader waits for the use, whose job has asked for `first`, too; with SHARE_FIFO,
 * a reader of any job. */
static bool goes_before(const struct use *use, const struct use *first)
{
	const struct sched_handle *handle;
	bool any_job = first->key.space->source->sched->config->share == SHARE_FIFO;
	TAILQ_FOREACH (handle, &use->waiters, link)
		if (any_job || share_wants(&handle->job->share, &first->request))
			return true;
	return false;
}

/* Returns the use to decode next: the first that was read, which is the order of the
 * shares. But uses that a reader waits for pass look-ahead of the same job, and all pass
 * a use whose image is being decoded for another dataset. */
static struct use *first_read_locked(const struct sched *sched, bool of_program)
{
	struct use *use, *first = NULL;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (use, &sched->read, link) {
		bool may_run = program_may_run_locked(use);
		if (of_program ? !may_run : use->key.space->preparation.array != NULL)
			continue;
		if (same_is_under_way_locked(use))
			continue;
		if (!first)
			first = use;
		if (goes_before(use, first))
			return use;
	}
	return first;
}

static uint64_t working_of_locked(const struct use *use)
{
	const struct sched *sched = use->key.space->source->sched;
	lock_assert_held(&sched->lock);
	return memory_size_of(sched, use->key.space, (sample_id)use->key.sample).working;
}

/* Begins the decode if there is memory for it. If not, no smaller decode takes its
 * turn. */
static bool begin_decode_locked(struct sched *sched, struct use *first)
{
	uint64_t working = 0;
	lock_assert_held(&sched->lock);
	for (const struct use *use = first; use; use = use->also)
		working += working_of_locked(use);
	if (!memory_may_decode_locked(sched, working))
		return false;
	for (struct use *use = first; use; use = use->also)
		use->working = working_of_locked(use);
	memory_change_working_locked(sched, (int64_t)working);
	storage_decodes_locked(first);
	program_begin_locked(first);
	same_begin_locked(first);
	return true;
}

static struct use *next_read(struct sched *sched, bool of_program)
{
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	struct use *use = first_read_locked(sched, of_program);
	if (use && !begin_decode_locked(sched, use))
		use = NULL;
	aftermath.kick = use != NULL;
	aftermath.kick_decoders = use && !TAILQ_EMPTY(&sched->read);
	sched_unlock(sched, &aftermath);
	return use;
}

/* Returns the next task of a program. No note is made for the quarantine: the program
 * decodes the sample, so a crash of the daemon is not the sample's fault. */
struct load_task *sched_next_run(void *context)
{
	struct use *use = next_read(context, true);
	return use ? &use->task : NULL;
}

struct load_task *sched_next_decode(void *context)
{
	struct use *use = next_read(context, false);
	if (!use)
		return NULL;
	kept_note_begin(dataset_name(use->key.space->source->dataset),
		(sample_id)use->key.sample);
	return &use->task;
}

/* Returns true for the first failure of a sample, whichever job it is; for a sample that
 * programs prepare, for the first failure with each program. */
static bool first_failure_locked(struct use *use)
{
	struct space *space = use->key.space;
	roaring_bitmap_t *bad = space->source->bad;
	lock_assert_held(&space->source->sched->lock);
	if (space->preparation.array) {
		if (!space->bad)
			space->bad = roaring_bitmap_create();
		bad = space->bad;
	}
	return !bad || roaring_bitmap_add_checked(bad, (uint32_t)use->key.sample);
}

/* Readers get EIO for every error but -ENOMEM. */
static int reader_status(int status)
{
	return status == 0 || status == -ENOMEM ? status : -EIO;
}

/* Ends the load of a task. result: the first task of its chain. */
static void finish_load_locked(struct load_task *task, const struct load_task *result,
	struct aftermath *aftermath)
{
	struct use *use = task->owner;
	struct space *space = use->key.space;
	struct sched *sched = space->source->sched;
	int status = result->status;
	lock_assert_held(&sched->lock);
	use->sample = (struct dataset_sample){0};
	use->second = NULL;
	use_unqueue_locked(use);
	memory_change_working_locked(sched, -(int64_t)use->working);
	if (status == 0) {
		if (!task->same)
			task->tensor->made_for = use->asked_by;
		cache_publish(space->cache, (sample_id)use->key.sample, task->tensor);
	} else {
		cache_abandon(space->cache, (sample_id)use->key.sample);
	}
	if (status != 0 && status != -ENOMEM && !result->passing)
		sched->supply_calls->bad_locked(
			space, (sample_id)use->key.sample, result->damaged);
	if (status == 0 || !result->passing ||
		!retry_later_locked(use, false, result->retry_ns)) {
		share_drop(&use->request);
		answer_waiters_locked(use, reader_status(status),
			status != 0 && !result->passing, aftermath);
	}
	use_keep_capacity_locked(use);
	use_drop_if_unused_locked(use);
}

void load_publish_locked(
	struct use *use, struct tensor *tensor, struct aftermath *aftermath)
{
	const struct load_task result = {.status = 0};
	lock_assert_held(&use->key.space->source->sched->lock);
	use->task = (struct load_task){.tensor = tensor, .owner = use};
	finish_load_locked(&use->task, &result, aftermath);
}

/* Tells whether the failure is logged here. A transient error is logged only when a
 * reader gets it. */
static bool is_worth_a_line_locked(struct use *use, const struct load_task *result)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	if (result->status == 0)
		return false;
	if (result->passing)
		return !result->told && !TAILQ_EMPTY(&use->waiters) &&
		       !retry_is_left(use);
	return first_failure_locked(use);
}

void sched_load_done(void *context, struct load_task *task)
{
	struct sched *sched = context;
	struct use *use = task->owner;
	struct dataset_sample sample = use->sample;
	struct use_second *second = use->second;
	struct load_task first = *task;
	const char *dataset = dataset_name(use->key.space->source->dataset);
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	kept_note_end();

	lock_take(&sched->lock);
	bool log = is_worth_a_line_locked(use, &first);
	program_end_locked(use, &aftermath);
	if (first.status == 0 && !first.same) {
		shares_note_cost_locked(use->key.space, first.decode_ns);
		histogram_add_alone(&use->key.space->source->decodes, first.decode_ns);
		atomic_fetch_add_explicit(&use->key.space->source->cpu_ns, first.cpu_ns,
			memory_order_relaxed);
	}
	aftermath.kick_decoders = !TAILQ_EMPTY(&sched->read); /* there is more memory */
	/* A task is part of its use, which may be gone afterwards. */
	for (struct load_task *next; task; task = next) {
		next = task->also;
		finish_load_locked(task, &first, &aftermath);
	}
	sched_unlock(sched, &aftermath);

	if (log)
		log_bad_sample(dataset, &sample, &first);
	dataset_sample_free(&sample);
	free_second(second);
}
