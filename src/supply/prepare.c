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
 *            wanted_request_locked        reserve_locked           published
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

/* Reserves room in the cache, and marks the wanted sample as loading. urgent: may exceed the cache. -ENOSPC:
 * the look-ahead does not fit; -EAGAIN: too much is being read just now; -ENOMEM: too much is
 * open. */
static int reserve_locked(struct wanted *wanted, bool urgent)
{
	struct space *space = wanted->key.space;
	struct sched *sched = space->source->sched;
	sample_id sample = (sample_id)wanted->key.sample;
	uint64_t tensor = memory_size_of(sched, space, sample).tensor;
	lock_assert_held(&sched->lock);
	if (!memory_may_read_locked(sched, memory_file_bytes(sched, space, sample)))
		return -EAGAIN;
	if (urgent && !memory_has_room_locked(sched, tensor))
		return -ENOMEM;
	int err = cache_reserve(space->cache, sample, tensor, urgent);
	if (err)
		return err;
	wanted_taken_locked(wanted);
	wanted->in_file = space->in_files;
	wanted->head = space->head;
	wanted->head.label = dataset_label(space->source->dataset, sample);
	wanted->working = 0;
	wanted->also = NULL;
	return 0;
}

static bool is_queued(const struct wanted *wanted)
{
	return wanted->state == WANTED_QUEUED || wanted->state == WANTED_URGENT;
}

/* Tells whether one decode may serve this sample and others. If a refused sample took part,
 * the decode would fail for all of them. */
static bool can_share_decode(const struct wanted *wanted)
{
	const struct space *space = wanted->key.space;
	const struct preparation *preparation = &space->preparation;
	char message[IMAGE_MESSAGE];
	return !preparation->encoded && !preparation->approximate && !preparation->exif &&
	       !preparation->fills_truncated && !preparation->array &&
	       !preparation->sections && !preparation->frames &&
	       preparation->channels != CHANNELS_KEEP &&
	       !memory_refuses(space->source->sched, space, (sample_id)wanted->key.sample,
		       message);
}

/* Adds the same sample of other spaces, where it is queued, to its decode. */
static void share_decode_locked(struct wanted *wanted)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	struct space *space;
	if (!can_share_decode(wanted))
		return;
	LIST_FOREACH (space, &wanted->key.space->source->spaces, link) {
		struct wanted *other =
			wanted_find_locked(space, (sample_id)wanted->key.sample);
		if (!other || !is_queued(other) || !wanted_is_pinned(other) ||
			!can_share_decode(other) ||
			reserve_locked(other, other->state == WANTED_URGENT) != 0)
			continue;
		other->also = wanted->also;
		wanted->also = other;
		share_with(&wanted->request, &other->request);
	}
}

static void answer_waiters_locked(
	struct wanted *wanted, int status, bool bad, struct aftermath *aftermath)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	struct sched_handle *handle;
	wanted->opens++; /* keeps the wanted sample until this function ends */
	while ((handle = TAILQ_FIRST(&wanted->waiters))) {
		struct sched_job *job = handle->job;
		handle->bad = bad;
		if (status != 0 && !handle->bare)
			job->totals.errors++;
		job->sched->supply_calls->done_locked(handle, status, aftermath);
	}
	wanted->opens--;
}

/* Delays a wanted sample that a reader waits for, because memory is lacking; fails it after too
 * many tries. */
static void put_off_locked(struct wanted *wanted, int err, struct aftermath *aftermath)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	wanted_unqueue_locked(wanted);
	if (retry_later_locked(wanted, true, 0))
		return;
	share_drop(&wanted->request);
	answer_waiters_locked(wanted, err, false, aftermath);
	wanted_drop_if_unused_locked(wanted);
}

/* --- the next read ---------------------------------------------------------------------- */

/* Limits how many look-ahead requests of a storage are tried when the first ones do not
 * fit. */
#define MOST_PASSED_OVER 256

struct offers {
	struct sched *sched;
	/* the first wanted sample that a reader waits for, while readers hold too much open */
	struct wanted *put_off;
	int err;
};

static struct wanted *wanted_of(struct share_request *request)
{
	return (struct wanted *)((char *)request - offsetof(struct wanted, request));
}

static enum share_answer taken_locked(struct wanted *wanted)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	wanted->request.cost_ns = shares_cost(wanted->key.space);
	wanted->fetching = fetch_is_due_locked(wanted);
	if (!wanted->fetching) {
		share_decode_locked(wanted);
		wanted->tier_worth = tier_worth_of_read_locked(
			wanted->key.space->source, (sample_id)wanted->key.sample);
	}
	return SHARE_TAKE;
}

static enum share_answer offer_ahead_locked(struct wanted *wanted)
{
	struct space *space = wanted->key.space;
	struct sched *sched = space->source->sched;
	struct storage *storage = space->source->storage;
	lock_assert_held(&sched->lock);
	if (storage->offered == MOST_PASSED_OVER ||
		!cache_fits(sched->cache, storage->ahead_needs))
		return SHARE_PASS_REST;
	storage->offered++;
	uint64_t bytes =
		memory_size_of(sched, space, (sample_id)wanted->key.sample).tensor;
	if (bytes >= storage->lacked)
		return SHARE_PASS;
	int err = reserve_locked(wanted, false);
	if (err == 0)
		return taken_locked(wanted);
	if (err == -EAGAIN)
		return SHARE_PASS_REST;
	storage->lacked = bytes;
	return SHARE_PASS;
}

static enum share_answer offer_locked(void *context, struct share_request *request)
{
	struct offers *offers = context;
	struct wanted *wanted = wanted_of(request);
	lock_assert_held(&offers->sched->lock);
	if (!storage_has_room_locked(offers->sched, wanted->key.space->source->storage))
		return SHARE_PASS_REST;
	if (!program_has_room_locked(wanted))
		return SHARE_PASS_REST;
	if (wanted->state == WANTED_QUEUED)
		return offer_ahead_locked(wanted);
	int err = reserve_locked(wanted, true);
	if (err == 0)
		return taken_locked(wanted);
	if (err == -EAGAIN)
		return SHARE_PASS_REST;
	offers->put_off = wanted;
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

static struct wanted *reserve_next_locked(
	struct sched *sched, struct aftermath *aftermath)
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
	struct wanted *wanted = wanted_of(request);
	if (!wanted->fetching)
		storage_begin_locked(wanted);
	return wanted;
}

static struct load_task new_task(const struct sched *sched, struct wanted *wanted)
{
	const struct space *space = wanted->key.space;
	return (struct load_task){
		.preparation = dataset_preparation(space->source->dataset,
			&space->preparation, (sample_id)wanted->key.sample),
		.backings = wanted->in_file ? sched->backings : NULL,
		.head = wanted->head,
		.owner = wanted};
}

static void fill_also(const struct sched *sched, struct wanted *wanted)
{
	for (; wanted->also; wanted = wanted->also) {
		struct wanted *also = wanted->also;
		also->task = new_task(sched, also);
		wanted->task.also = &also->task;
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

static int add_second(struct wanted *wanted, sample_id sample, struct wanted_second **ret)
{
	const struct space *space = wanted->key.space;
	struct wanted_second *second = calloc(1, sizeof(*second));
	if (!second)
		return -ENOMEM;
	int err = dataset_get(space->source->dataset, sample, &second->sample);
	if (err) {
		free(second);
		return err;
	}
	second->preparation = dataset_preparation_behind(space->source->dataset,
		&space->preparation, (sample_id)wanted->key.sample);
	second->task.preparation = &second->preparation;
	second->task.max_pixels = wanted->task.max_pixels;
	fill_file(space, sample, &second->sample, &second->task);
	second->task.tier_worth = wanted->tier_worth;
	*ret = second;
	return 0;
}

/* Makes tasks for the sample's further files (a pair's second, later frames), as a
 * chain. */
static int fill_second(struct wanted *wanted)
{
	const struct space *space = wanted->key.space;
	struct wanted_second **end = &wanted->second;
	struct load_task *task = &wanted->task;
	int err = 0;
	wanted->second = NULL;
	for (uint32_t i = 0; !err; i++) {
		sample_id next = dataset_behind(space->source->dataset,
			&space->preparation, (sample_id)wanted->key.sample, i);
		if (next == SAMPLE_NONE)
			break;
		err = add_second(wanted, next, end);
		if (err)
			break;
		task = task->second = &(*end)->task;
		end = &(*end)->next;
	}
	return err;
}

static void free_second(struct wanted_second *second)
{
	while (second) {
		struct wanted_second *next = second->next;
		dataset_sample_free(&second->sample);
		free(second);
		second = next;
	}
}

static void fail_catalogue(struct wanted *wanted, int err)
{
	wanted->task.status = err;
	wanted->task.passing = err != -ENOENT;
	snprintf(wanted->task.message, sizeof(wanted->task.message),
		"not in the catalogue: %s", strerror(-err));
}

/* Fills the wanted sample's task. Returns false if the task has failed. A sample that SQLite can't
 * read is not bad: the error may be transient. */
static bool fill_task(const struct sched *sched, struct wanted *wanted)
{
	struct space *space = wanted->key.space;
	sample_id sample = (sample_id)wanted->key.sample;
	wanted->task = new_task(sched, wanted);
	wanted->task.max_pixels = sched->config->max_pixels;
	wanted->task.by_content = space->source->config.same_content;
	fill_also(sched, wanted);
	int err = dataset_get(space->source->dataset, sample, &wanted->sample);
	if (err) {
		fail_catalogue(wanted, err);
		return false;
	}
	if (space->source->quarantined &&
		roaring_bitmap_contains(space->source->quarantined, sample)) {
		wanted->task.status = -EIO;
		snprintf(wanted->task.message, sizeof(wanted->task.message),
			"its preparation has ended the engine twice");
		return false;
	}
	if (memory_refuses(sched, space, sample, wanted->task.message)) {
		wanted->task.status = -EIO;
		return false;
	}
	fill_file(space, sample, &wanted->sample, &wanted->task);
	wanted->task.tier_worth = wanted->tier_worth;
	err = fill_second(wanted);
	if (err)
		fail_catalogue(wanted, err);
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
		struct wanted *wanted = reserve_next_locked(sched, &aftermath);
		aftermath.kick = wanted != NULL;
		bool fetching = wanted && wanted->fetching;
		sched_unlock(sched, &aftermath);
		if (!wanted)
			return NULL;
		if (fetching) {
			fetch_begin(wanted);
			continue;
		}
		if (fill_task(sched, wanted))
			return &wanted->task;
		sched_read(sched, &wanted->task);
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

/* Tells whether a reader waits for the wanted sample, whose job has asked for `first`, too; with SHARE_FIFO,
 * a reader of any job. */
static bool goes_before(const struct wanted *wanted, const struct wanted *first)
{
	const struct sched_handle *handle;
	bool any_job = first->key.space->source->sched->config->share == SHARE_FIFO;
	TAILQ_FOREACH (handle, &wanted->waiters, link)
		if (any_job || share_wants(&handle->job->share, &first->request))
			return true;
	return false;
}

/* Returns the wanted sample to decode next: the first that was read, which is the order of the
 * shares. But wanted samples that a reader waits for pass look-ahead of the same job, and all pass
 * a wanted sample whose image is being decoded for another dataset. */
static struct wanted *first_read_locked(const struct sched *sched, bool of_program)
{
	struct wanted *wanted, *first = NULL;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (wanted, &sched->read, link) {
		bool may_run = program_may_run_locked(wanted);
		if (of_program ? !may_run : wanted->key.space->preparation.array != NULL)
			continue;
		if (same_is_under_way_locked(wanted))
			continue;
		if (!first)
			first = wanted;
		if (goes_before(wanted, first))
			return wanted;
	}
	return first;
}

static uint64_t working_of_locked(const struct wanted *wanted)
{
	const struct sched *sched = wanted->key.space->source->sched;
	lock_assert_held(&sched->lock);
	return memory_size_of(sched, wanted->key.space, (sample_id)wanted->key.sample)
		.working;
}

/* Begins the decode if there is memory for it. If not, no smaller decode takes its
 * turn. */
static bool begin_decode_locked(struct sched *sched, struct wanted *first)
{
	uint64_t working = 0;
	lock_assert_held(&sched->lock);
	for (const struct wanted *wanted = first; wanted; wanted = wanted->also)
		working += working_of_locked(wanted);
	if (!memory_may_decode_locked(sched, working))
		return false;
	for (struct wanted *wanted = first; wanted; wanted = wanted->also)
		wanted->working = working_of_locked(wanted);
	memory_change_working_locked(sched, (int64_t)working);
	storage_decodes_locked(first);
	program_begin_locked(first);
	same_begin_locked(first);
	return true;
}

static struct wanted *next_read(struct sched *sched, bool of_program)
{
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	struct wanted *wanted = first_read_locked(sched, of_program);
	if (wanted && !begin_decode_locked(sched, wanted))
		wanted = NULL;
	aftermath.kick = wanted != NULL;
	aftermath.kick_decoders = wanted && !TAILQ_EMPTY(&sched->read);
	sched_unlock(sched, &aftermath);
	return wanted;
}

/* Returns the next task of a program. No note is made for the quarantine: the program
 * decodes the sample, so a crash of the daemon is not the sample's fault. */
struct load_task *sched_next_run(void *context)
{
	struct wanted *wanted = next_read(context, true);
	return wanted ? &wanted->task : NULL;
}

struct load_task *sched_next_decode(void *context)
{
	struct wanted *wanted = next_read(context, false);
	if (!wanted)
		return NULL;
	kept_note_begin(dataset_name(wanted->key.space->source->dataset),
		(sample_id)wanted->key.sample);
	return &wanted->task;
}

/* Returns true for the first failure of a sample, whichever job it is; for a sample that
 * programs prepare, for the first failure with each program. */
static bool first_failure_locked(struct wanted *wanted)
{
	struct space *space = wanted->key.space;
	roaring_bitmap_t *bad = space->source->bad;
	lock_assert_held(&space->source->sched->lock);
	if (space->preparation.array) {
		if (!space->bad)
			space->bad = roaring_bitmap_create();
		bad = space->bad;
	}
	return !bad || roaring_bitmap_add_checked(bad, (uint32_t)wanted->key.sample);
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
	struct wanted *wanted = task->owner;
	struct space *space = wanted->key.space;
	struct sched *sched = space->source->sched;
	int status = result->status;
	lock_assert_held(&sched->lock);
	wanted->sample = (struct dataset_sample){0};
	wanted->second = NULL;
	wanted_unqueue_locked(wanted);
	memory_change_working_locked(sched, -(int64_t)wanted->working);
	if (status == 0) {
		if (!task->same)
			task->tensor->made_for = wanted->asked_by;
		cache_publish(space->cache, (sample_id)wanted->key.sample, task->tensor);
	} else {
		cache_abandon(space->cache, (sample_id)wanted->key.sample);
	}
	if (status != 0 && status != -ENOMEM && !result->passing)
		sched->supply_calls->bad_locked(
			space, (sample_id)wanted->key.sample, result->damaged);
	if (status == 0 || !result->passing ||
		!retry_later_locked(wanted, false, result->retry_ns)) {
		share_drop(&wanted->request);
		answer_waiters_locked(wanted, reader_status(status),
			status != 0 && !result->passing, aftermath);
	}
	wanted_keep_capacity_locked(wanted);
	wanted_drop_if_unused_locked(wanted);
}

void load_publish_locked(
	struct wanted *wanted, struct tensor *tensor, struct aftermath *aftermath)
{
	const struct load_task result = {.status = 0};
	lock_assert_held(&wanted->key.space->source->sched->lock);
	wanted->task = (struct load_task){.tensor = tensor, .owner = wanted};
	finish_load_locked(&wanted->task, &result, aftermath);
}

/* Tells whether the failure is logged here. A transient error is logged only when a
 * reader gets it. */
static bool is_worth_a_line_locked(struct wanted *wanted, const struct load_task *result)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	if (result->status == 0)
		return false;
	if (result->passing)
		return !result->told && !TAILQ_EMPTY(&wanted->waiters) &&
		       !retry_is_left(wanted);
	return first_failure_locked(wanted);
}

void sched_load_done(void *context, struct load_task *task)
{
	struct sched *sched = context;
	struct wanted *wanted = task->owner;
	struct dataset_sample sample = wanted->sample;
	struct wanted_second *second = wanted->second;
	struct load_task first = *task;
	const char *dataset = dataset_name(wanted->key.space->source->dataset);
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	kept_note_end();

	lock_take(&sched->lock);
	bool log = is_worth_a_line_locked(wanted, &first);
	program_end_locked(wanted, &aftermath);
	if (first.status == 0 && !first.same) {
		shares_note_cost_locked(wanted->key.space, first.decode_ns);
		histogram_add_alone(&wanted->key.space->source->decodes, first.decode_ns);
		atomic_fetch_add_explicit(&wanted->key.space->source->cpu_ns,
			first.cpu_ns, memory_order_relaxed);
	}
	aftermath.kick_decoders = !TAILQ_EMPTY(&sched->read); /* there is more memory */
	/* The call may free the wanted sample, and the task with it. */
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
