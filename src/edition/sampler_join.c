// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "edition/edition_internal.h"
#include "epoch/questions.h"

#include <errno.h>

/* A job is added to a sampler in three steps: join_begin, sampler_joining_prepare,
 * join_finish_locked. The second step takes long, and needs no lock. */

static struct sampler *sampler_of(const struct part *part)
{
	const struct job *job = part->edition->job;
	enum epochs_kind kind = job_kind(job);
	if (job_is_fed(job) || (kind != EPOCHS_DRAWN && kind != EPOCHS_DRAWN_AT_OPEN))
		return NULL;
	return kind == EPOCHS_DRAWN ? part->source->shuffled : part->source->labelled;
}

/* Changes the sampler's random state by the job's progress. Otherwise the sampler of a restarted
 * daemon would begin with the random numbers that it has already used. */
static void stir_locked(const struct part *part)
{
	const struct job *job = part->edition->job;
	struct epochs_status epochs;
	lock_assert_held(job->lock);
	epochs_status(job->epochs, &epochs);
	if (!epochs.started)
		return;
	uint64_t progress = (uint64_t)epochs.bound << 32 | epochs.consumed;
	uint64_t where = rng_mix(epochs.epoch, progress);
	sampler_stir(part->sampler, rng_mix(job->id, where));
}

int join_finish_locked(struct part *part, struct sampler_joining *joining)
{
	const struct job *job = part->edition->job;
	struct sampler *sampler = sampler_of(part);
	lock_assert_held(job->lock);
	if (!sampler)
		return 0;
	int err = sampler_join_prepared(sampler, job->id, part->space->number, joining);
	if (err)
		return err;
	part->sampler = sampler;
	part->joined = true;
	stir_locked(part);
	return 0;
}

static int get_space(struct part *part)
{
	const struct job *job = part->edition->job;
	struct space *spare = NULL;
	int err = space_make(part->source, &job->config.preparation, &spare);
	if (err)
		return err;
	lock_take(job->lock);
	part->space = space_get(&spare);
	lock_release(job->lock);
	space_free(spare);
	return 0;
}

static int join_begin(struct part *part, struct sampler_joining **ret)
{
	const struct sampler *sampler = sampler_of(part);
	int err = part->space ? 0 : get_space(part);
	if (err)
		return err;
	LOCK_SCOPE(part->edition->job->lock);
	return sampler ? sampler_joining_new(
				 sampler, part->space->number, part->selection, ret)
		       : 0;
}

static int join_finish_alone(struct part *part, struct sampler_joining *joining)
{
	LOCK_SCOPE(part->edition->job->lock);
	return join_finish_locked(part, joining);
}

/* Repeats all steps if other jobs have joined or left the sampler meanwhile. */
int join_part(struct part *part, join_finish *finish)
{
	int err;
	do {
		struct sampler_joining *joining = NULL;
		err = join_begin(part, &joining);
		if (!err && joining)
			err = sampler_joining_prepare(joining);
		if (!err)
			err = finish(part, joining);
		sampler_joining_free(&joining);
	} while (err == -EAGAIN);
	return err;
}

int join(struct edition *edition, size_t from)
{
	int err = 0;
	for (size_t i = from; i < edition->n_parts && !err; i++)
		err = join_part(&edition->parts[i], join_finish_alone);
	return err;
}

static int make_labelled(const struct source *source, struct sampler **ret)
{
	uint32_t n = dataset_ids(source->dataset);
	auto_free uint32_t *labels = calloc(n + 1, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	for (sample_id id = 0; id < n; id++)
		labels[id] = dataset_label(source->dataset, id);
	return sampler_new_labelled(rng_mix(source->seed, 1), labels, n, ret);
}

int join_label(const struct edition *edition)
{
	struct source *source = edition->parts[0].source;
	struct lock *lock = edition->job->lock;
	struct sampler *labelled = NULL;
	lock_take(lock);
	bool there = source->labelled != NULL;
	lock_release(lock);
	int err = there ? 0 : make_labelled(source, &labelled);
	if (err || there)
		return err;
	lock_take(lock);
	if (!source->labelled) {
		source->labelled = labelled;
		labelled = NULL;
	}
	lock_release(lock);
	sampler_free(&labelled);
	return 0;
}
