// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/positions.h"
#include "sched/sched_internal.h"
#include "state/state.h"
#include "supply/supply.h"
#include "stats/stats.h"
#include "epoch/questions.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * Implements bad_sample = skip: epochs leave out the samples that were found bad before
 * they began.
 *
 *     skip_found_locked -> (clerk) skip_update: <state>/jobs/<job>/bad, log, plan
 *                                                                  |
 *     an epoch begins -> (clerk) stream_make -> skip_epoch <-------+
 *
 * The plan gives each bad sample a position: one of the last positions that could hold
 * it, in the epoch or within its label, or the only such position. Listings do not show
 * these positions, and the epoch counts them as read. So the names of the other positions
 * stay as they are.
 */

struct skip_plan {
	uint32_t n;
	uint32_t *position;
	sample_id *sample;
	roaring_bitmap_t *positions;
};

static void plan_free(struct skip_plan *plan)
{
	if (!plan)
		return;
	if (plan->positions)
		roaring_bitmap_free(plan->positions);
	free(plan->position);
	free(plan->sample);
	free(plan);
}

void skip_free(struct sched_job *job)
{
	struct skipping *skips = &job->skips;
	plan_free(skips->plan);
	if (skips->bad)
		roaring_bitmap_free(skips->bad);
	if (skips->damaged)
		roaring_bitmap_free(skips->damaged);
	if (skips->told)
		roaring_bitmap_free(skips->told);
}

/* --- positions of bad samples ------------------------------------------------------------ */

static void plan_add(struct skip_plan *plan, uint32_t position, sample_id sample)
{
	plan->position[plan->n] = position;
	plan->sample[plan->n++] = sample;
	roaring_bitmap_add(plan->positions, position);
}

static void place_fixed(
	const struct sched_job *job, const roaring_bitmap_t *bad, struct skip_plan *plan)
{
	for (uint32_t position = 0; position < job->is.now->set.positions; position++)
		if (roaring_bitmap_contains(bad, job->is.now->by_position[position]))
			plan_add(plan, position, job->is.now->by_position[position]);
}

static void place_last(const struct sched_job *job, const uint32_t *ids, uint32_t n,
	struct skip_plan *plan)
{
	for (uint32_t i = 0; i < n; i++)
		plan_add(plan, job->is.now->set.positions - 1 - i, ids[i]);
}

/* Places each bad sample at one of the last positions of its label. */
static int place_by_label(const struct sched_job *job, const uint32_t *ids, uint32_t n,
	struct skip_plan *plan)
{
	const struct dataset *dataset = job->is.now->is.dataset;
	auto_free uint32_t *first = calloc(dataset_classes(dataset) + 1, sizeof(*first));
	auto_free uint32_t *next = calloc(n + 1, sizeof(*next));
	if (!first || !next)
		return -ENOMEM;
	for (uint32_t i = n; i > 0; i--) { /* counted from 1 */
		uint32_t label = dataset_label(dataset, ids[i - 1]);
		next[i] = first[label];
		first[label] = i;
	}
	for (uint32_t position = job->is.now->set.positions;
		position > 0 && plan->n < n;) {
		uint32_t *i = &first[edition_label_of(job->is.now, --position)];
		if (*i == 0)
			continue;
		plan_add(plan, position, ids[*i - 1]);
		*i = next[*i];
	}
	return 0;
}

static int place(
	const struct sched_job *job, const roaring_bitmap_t *bad, struct skip_plan *plan)
{
	uint32_t n = (uint32_t)roaring_bitmap_get_cardinality(bad);
	auto_free uint32_t *ids = calloc(n + 1, sizeof(*ids));
	plan->position = calloc(n + 1, sizeof(*plan->position));
	plan->sample = calloc(n + 1, sizeof(*plan->sample));
	plan->positions = roaring_bitmap_create();
	if (!ids || !plan->position || !plan->sample || !plan->positions)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(bad, ids);
	if (job_kind(&job->is) == EPOCHS_FIXED)
		place_fixed(job, bad, plan);
	else if (job_kind(&job->is) == EPOCHS_DRAWN)
		place_last(job, ids, n, plan);
	else
		return place_by_label(job, ids, n, plan);
	return 0;
}

static int plan_new(
	const struct sched_job *job, const roaring_bitmap_t *bad, struct skip_plan **ret)
{
	struct skip_plan *plan = calloc(1, sizeof(*plan));
	int err = plan ? 0 : -ENOMEM;
	*ret = NULL;
	if (!err && roaring_bitmap_get_cardinality(bad) >= job->is.now->set.positions)
		log_error("job %s: all %" PRIu32 " samples are bad, so none is left out",
			job->is.config.name, job->is.now->set.positions);
	else if (!err)
		err = place(job, bad, plan);
	if (err || plan->n == 0) {
		plan_free(plan);
		return err;
	}
	*ret = plan;
	return 0;
}

/* --- samples known to be bad ---------------------------------------------------------- */

/* Tells whether the file is unchanged. A changed file counts as another image. */
static bool is_same(
	struct dataset *dataset, sample_id id, uint64_t bytes, int64_t mtime_ns)
{
	struct dataset_sample sample = {0};
	bool same = dataset_get(dataset, id, &sample) == 0 && sample.bytes == bytes &&
		    sample.mtime_ns == mtime_ns;
	dataset_sample_free(&sample);
	return same;
}

static void take_lines(struct sched_job *job, FILE *in)
{
	uint32_t id, n = 0;
	uint64_t bytes;
	int64_t mtime_ns;
	while (fscanf(in, "%" SCNu32 " %" SCNu64 " %" SCNd64 "%*[^\n]", &id, &bytes,
		       &mtime_ns) == 3) {
		if (!roaring_bitmap_contains(job->is.now->selection, id) ||
			!is_same(job->is.now->is.dataset, id, bytes, mtime_ns))
			continue;
		roaring_bitmap_add(job->skips.bad, id);
		roaring_bitmap_add(job->skips.damaged, id);
		n++;
	}
	if (n > 0)
		log_info("job %s: %" PRIu32 " samples known to be bad are left out until "
			 "their files change: %s/bad",
			job->is.config.name, n, job->is.directory);
}

static void take_refused(struct sched_job *job)
{
	uint64_t n = roaring_bitmap_andnot_cardinality(
		job->is.now->selection, job->is.now->readable);
	if (n == 0)
		return;
	roaring_bitmap_t *refused =
		roaring_bitmap_andnot(job->is.now->selection, job->is.now->readable);
	if (refused)
		roaring_bitmap_or_inplace(job->skips.bad, refused);
	if (refused)
		roaring_bitmap_free(refused);
	log_warn("job %s: %" PRIu64 " samples are left out, because they have no "
		 "readable header or are too large",
		job->is.config.name, n);
}

static void take_quarantined(struct sched_job *job)
{
	const roaring_bitmap_t *quarantined =
		sched_source_of(job->is.now->parts[0].source)->quarantined;
	if (!quarantined)
		return;
	roaring_bitmap_t *both = roaring_bitmap_and(job->is.now->selection, quarantined);
	if (both)
		roaring_bitmap_or_inplace(job->skips.bad, both);
	if (both)
		roaring_bitmap_free(both);
}

int skip_begin(struct sched_job *job)
{
	struct skipping *skips = &job->skips;
	if (!job->is.config.skips_bad)
		return 0;
	skips->bad = roaring_bitmap_create();
	skips->damaged = roaring_bitmap_create();
	if (!skips->bad || !skips->damaged)
		return -ENOMEM;
	take_refused(job);
	take_quarantined(job);
	auto_fclose FILE *in = keep_bad_open(&job->is);
	if (in)
		take_lines(job, in);
	skips->told = roaring_bitmap_copy(skips->bad);
	return skips->told ? plan_new(job, skips->bad, &skips->plan) : -ENOMEM;
}

void skip_found_locked(const struct space *space, sample_id sample, bool damaged)
{
	struct sched *sched = sched_of_source(space->source);
	struct sched_job *job;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		struct skipping *skips = &job->skips;
		if (job->is.now->parts[0].space != space || !skips->bad ||
			!roaring_bitmap_contains(job->is.now->selection, sample) ||
			!roaring_bitmap_add_checked(skips->bad, sample))
			continue;
		if (damaged)
			roaring_bitmap_add(skips->damaged, sample);
		skips->found = true;
		clerk_request_locked(job);
	}
}

/* --- the clerk's part -------------------------------------------------------------------- */

/* Copies the bad samples if there are new ones; false: there are none. The caller frees both. */
static bool take_found(
	struct sched_job *job, roaring_bitmap_t **ret_bad, roaring_bitmap_t **ret_damaged)
{
	LOCK_SCOPE(&job->sched->lock);
	if (!job->skips.found)
		return false;
	job->skips.found = false;
	*ret_bad = roaring_bitmap_copy(job->skips.bad);
	*ret_damaged = roaring_bitmap_copy(job->skips.damaged);
	return true;
}

/* Logs the bad samples that were not logged yet. */
static void tell(struct sched_job *job, const roaring_bitmap_t *bad)
{
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(bad, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator)) {
		struct dataset_sample sample = {0};
		if (!roaring_bitmap_add_checked(job->skips.told, iterator.current_value))
			continue;
		if (dataset_get(job->is.now->is.dataset, iterator.current_value,
			    &sample) == 0)
			log_warn("job %s: %s is left out of later epochs (bad_sample = "
				 "skip)",
				job->is.config.name, sample.path);
		dataset_sample_free(&sample);
	}
}

static void print_damaged(
	FILE *out, struct dataset *dataset, const roaring_bitmap_t *damaged)
{
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(damaged, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator)) {
		struct dataset_sample sample = {0};
		if (dataset_get(dataset, iterator.current_value, &sample) == 0)
			fprintf(out, "%" PRIu32 " %" PRIu64 " %" PRId64 "\n",
				iterator.current_value, sample.bytes, sample.mtime_ns);
		dataset_sample_free(&sample);
	}
}

static void save(struct sched_job *job, const roaring_bitmap_t *damaged)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	print_damaged(out, job->is.now->is.dataset, damaged);
	if (fclose(out) == 0)
		/* the error is logged; a lost bad sample will be found again */
		(void)!keep_bad(&job->is, text);
	free(text);
}

static void update(struct sched_job *job, const roaring_bitmap_t *bad)
{
	struct skip_plan *plan, *old;
	if (plan_new(job, bad, &plan) != 0)
		return; /* no memory: the next bad sample causes another try */
	lock_take(&job->sched->lock);
	old = job->skips.plan;
	job->skips.plan = plan;
	lock_release(&job->sched->lock);
	plan_free(old);
}

void skip_update(struct sched_job *job)
{
	roaring_bitmap_t *bad = NULL, *damaged = NULL;
	if (!job->skips.bad || !take_found(job, &bad, &damaged))
		return;
	if (damaged)
		save(job, damaged);
	if (bad) {
		tell(job, bad);
		update(job, bad);
		roaring_bitmap_free(bad);
	}
	if (damaged)
		roaring_bitmap_free(damaged);
}

#define STEP_SAMPLES 64

/* Tells whether the epoch is beginning, and no reader has bound a position of it. */
static bool may_skip_locked(const struct sched_job *job, uint32_t epoch, uint32_t done)
{
	lock_assert_held(&job->sched->lock);
	return !job->removed && !job->sched->stopping &&
	       edition_of_locked(&job->is, epoch) == job->is.now &&
	       epochs_wants_stream_of(job->is.epochs, epoch) &&
	       epochs_order(job->is.epochs, epoch).bound ==
		       done + epochs_adopted(job->is.epochs, epoch);
}

static uint32_t skip_locked(
	struct sched_job *job, uint32_t epoch, struct aftermath *aftermath)
{
	const struct skip_plan *plan = job->skips.plan;
	uint32_t done = 0;
	lock_assert_held(&job->sched->lock);
	for (uint32_t i = 0; plan && i < plan->n && may_skip_locked(job, epoch, done);
		i++) {
		struct effects effects;
		effects_init(&effects);
		int err = epochs_skip(job->is.epochs, epoch, plan->position[i],
			plan->sample[i], &effects);
		if (err == -EEXIST)
			continue;
		if (err)
			break;
		done++;
		effects_execute_locked(job, &effects, aftermath);
		if (i % STEP_SAMPLES == STEP_SAMPLES - 1)
			lock_yield(&job->sched->lock);
	}
	return done;
}

void skip_epoch(struct sched_job *job, uint32_t epoch)
{
	struct aftermath aftermath;
	if (!job->skips.bad)
		return;
	skip_update(job);
	aftermath_init(&aftermath);
	lock_take(&job->sched->lock);
	uint32_t n = skip_locked(job, epoch, &aftermath);
	sched_unlock(job->sched, &aftermath);
	stats_add(STAT_SKIPPED, n);
	if (n > 0)
		log_info("job %s: epoch %" PRIu32 " has %" PRIu32 " of %" PRIu32
			 " samples; %" PRIu32 " are bad",
			job->is.config.name, epoch, job->is.now->set.positions - n,
			job->is.now->set.positions, n);
}

/* --- positions that an epoch leaves out ------------------------------------------------- */

/* Returns the epoch that a script which begins now would read in current/. */
static uint32_t current_locked(const struct sched_job *job)
{
	struct epochs_status status;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->is.epochs, &status);
	bool read = status.started &&
		    status.bound >= job->is.now->set.positions - status.bound &&
		    status.epoch + 1 < config_job_epochs(&job->is.config);
	return status.epoch + read;
}

/* Returns the positions that the epoch leaves out, or would leave out if it began now. */
static const roaring_bitmap_t *skipped_locked(const struct sched_job *job, uint32_t epoch)
{
	const struct skip_plan *plan = job->skips.plan;
	lock_assert_held(&job->sched->lock);
	if (epoch == SCHED_CURRENT)
		epoch = current_locked(job);
	if (epochs_state(job->is.epochs, epoch) == EPOCH_UNKNOWN ||
		may_skip_locked(job, epoch, 0))
		return plan ? plan->positions : NULL;
	return epochs_skipped(job->is.epochs, epoch);
}

uint32_t sched_skipped(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n)
{
	if (!job->skips.bad)
		return 0;
	LOCK_SCOPE(&job->sched->lock);
	const roaring_bitmap_t *positions = skipped_locked(job, epoch);
	return positions ? (uint32_t)roaring_bitmap_range_cardinality(
				   positions, position, (uint64_t)position + n)
			 : 0;
}

bool sched_skips(const struct sched_job *job)
{
	return job->skips.bad != NULL;
}

uint64_t sched_skipped_mark(struct sched_job *job, uint32_t epoch)
{
	uint64_t mark = 0;
	LOCK_SCOPE(&job->sched->lock);
	const roaring_bitmap_t *positions = skipped_locked(job, epoch);
	if (!positions)
		return 0;
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(positions, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator))
		mark += (uint64_t)iterator.current_value + 1;
	return mark;
}

roaring_bitmap_t *sched_job_bad(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	return job->skips.bad ? roaring_bitmap_copy(job->skips.bad) : NULL;
}

void skip_status_locked(const struct sched_job *job, struct sched_job_status *ret)
{
	const roaring_bitmap_t *skipped = epochs_skipped(job->is.epochs, ret->epoch);
	lock_assert_held(&job->sched->lock);
	ret->skipped = skipped ? (uint32_t)roaring_bitmap_get_cardinality(skipped) : 0;
	ret->bad = job->skips.plan ? job->skips.plan->n : 0;
}
