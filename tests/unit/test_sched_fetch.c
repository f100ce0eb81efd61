// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/ranks.h"
#include "world.h"

#include "image/preparation.h"

/* Samples that another daemon has, and samples that another daemon asks for. */

#define N 24
#define FETCHED 0xee /* value of all bytes of a fetched tensor */

static char a_name[] = "a";

enum way { ANSWERS, BREAKS, REFUSES, LIES, LEAVES, KEEPS };

/* Another daemon, the home of odd samples. */
struct other {
	enum way way;
	pthread_mutex_t mutex;
	struct sched_fetch *kept[N];
	unsigned n_kept, asked;
};

static bool is_elsewhere(void *context, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample)
{
	(void)context;
	(void)dataset;
	(void)preparation;
	return sample % 2 == 1;
}

static void answer(struct sched_fetch *fetch)
{
	struct tensor_shape shape = {.height = WORLD_SIDE, .width = WORLD_SIDE};
	void *bytes = sched_fetch_place(fetch, shape, WORLD_TENSOR);
	cr_assert(bytes);
	memset(bytes, FETCHED, WORLD_TENSOR);
	sched_fetch_done(fetch, 0);
}

static int fetch(void *context, struct sched_fetch *fetch)
{
	struct other *other = context;
	pthread_mutex_lock(&other->mutex);
	enum way way = other->way;
	other->asked++;
	if (way == KEEPS)
		other->kept[other->n_kept++] = fetch;
	pthread_mutex_unlock(&other->mutex);
	if (way == REFUSES)
		return -EHOSTDOWN;
	if (way == ANSWERS)
		answer(fetch);
	if (way == BREAKS) {
		struct tensor_shape shape = {.height = WORLD_SIDE, .width = WORLD_SIDE};
		cr_assert(sched_fetch_place(fetch, shape, WORLD_TENSOR));
		sched_fetch_done(fetch, -ECONNRESET);
	}
	if (way == LEAVES)
		sched_fetch_done(fetch, -ENOSPC);
	if (way == LIES) {
		struct tensor_shape shape = {
			.height = WORLD_SIDE + 1, .width = WORLD_SIDE};
		cr_assert_null(sched_fetch_place(fetch, shape, WORLD_TENSOR));
		cr_assert_null(sched_fetch_place(fetch,
			(struct tensor_shape){.height = WORLD_SIDE, .width = WORLD_SIDE},
			WORLD_TENSOR + 1));
		sched_fetch_done(fetch, -EBADMSG);
	}
	return 0;
}

static void begin_small(
	struct world *world, struct other *other, enum way way, uint64_t tensors)
{
	*other = (struct other){.way = way, .mutex = PTHREAD_MUTEX_INITIALIZER};
	world_begin(world, N, tensors);
	sched_fetch_by(world->sched,
		&(struct sched_fetcher){
			.is_elsewhere = is_elsewhere, .fetch = fetch, .context = other});
}

static void begin(struct world *world, struct other *other, enum way way)
{
	begin_small(world, other, way, 2 * N);
}

/* Waits until the other daemon keeps a fetch. Returns its sample. */
static sample_id wait_for_kept(struct other *other)
{
	sample_id sample = SAMPLE_NONE;
	while (sample == SAMPLE_NONE) {
		sched_yield();
		pthread_mutex_lock(&other->mutex);
		if (other->n_kept > 0)
			sample = other->kept[0]->sample;
		pthread_mutex_unlock(&other->mutex);
	}
	return sample;
}

/* Answers all kept fetches. From now on the other daemon keeps none. */
static void answer_kept(struct other *other)
{
	pthread_mutex_lock(&other->mutex);
	other->way = ANSWERS;
	while (other->n_kept > 0) {
		struct sched_fetch *last = other->kept[--other->n_kept];
		pthread_mutex_unlock(&other->mutex);
		answer(last);
		pthread_mutex_lock(&other->mutex);
	}
	pthread_mutex_unlock(&other->mutex);
}

static void begin_open(struct sched_job *job, struct world_open *open)
{
	*open = (struct world_open){
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_open_callbacks callbacks = {
		.opened = world_opened, .parking = world_parking, .context = open};
	cr_assert_eq(0, sched_open(job, 0, 0, &callbacks));
}

static struct sched_opened wait_for(struct world_open *open)
{
	pthread_mutex_lock(&open->mutex);
	while (!open->done)
		pthread_cond_wait(&open->cond, &open->mutex);
	pthread_mutex_unlock(&open->mutex);
	return open->result;
}

/* Reads an epoch. Returns the number of fetched samples. */
static unsigned read_all(struct sched_job *job)
{
	unsigned fetched = 0;
	for (uint32_t k = 0; k < N; k++) {
		struct sched_handle *handle = NULL;
		cr_assert_eq(0, world_open(job, 0, k, &handle));
		const struct tensor *tensor = sched_handle_tensor(handle);
		bool is = tensor->data[1] == FETCHED;
		cr_expect(!is || sched_handle_sample(handle) % 2 == 1);
		fetched += is;
		sched_validate(world_of);
		sched_release(handle);
	}
	return fetched;
}

Test(sched_fetch, what_is_elsewhere_comes_from_there)
{
	struct world world;
	struct other other;
	begin(&world, &other, ANSWERS);
	struct sched_job *job = world_add(&world, a_name);
	cr_expect_eq(N / 2, read_all(job));
	cr_expect_eq(N / 2, other.asked);
	cr_expect_eq(N / 2, stats_get(STAT_DECODES));
	cr_expect_eq(N / 2, stats_get(STAT_FETCHED));
	cr_expect_eq(N / 2 * WORLD_TENSOR, stats_get(STAT_FETCHED_BYTES));
	sched_job_put(job);
	world_end(&world);
}

static void expect_all_here(enum way way)
{
	struct world world;
	struct other other;
	begin(&world, &other, way);
	struct sched_job *job = world_add(&world, a_name);
	cr_expect_eq(0, read_all(job));
	cr_expect_eq(N / 2, other.asked, "each once");
	cr_expect_eq(N, stats_get(STAT_DECODES));
	cr_expect_eq(N / 2, stats_get(STAT_FETCH_FAILURES));
	sched_job_put(job);
	world_end(&world);
}

Test(sched_fetch, what_breaks_is_prepared_here)
{
	expect_all_here(BREAKS);
}

Test(sched_fetch, what_is_refused_is_prepared_here)
{
	expect_all_here(REFUSES);
}

Test(sched_fetch, what_has_another_size_is_prepared_here)
{
	expect_all_here(LIES);
}

static int open_sample(const struct world *world, const struct preparation *preparation,
	sample_id sample, struct sched_opened *ret);

/* If the cache is full, it evicts copies of odd samples before the even ones. */
Test(sched_fetch, what_is_left_to_this_daemon_is_prepared_here_and_is_a_copy)
{
	struct world world;
	struct other other;
	struct sched_opened opened;
	const struct preparation as_it_is = {0};
	begin_small(&world, &other, LEAVES, N / 2 + 4);
	struct sched_job *job = world_add(&world, a_name);
	cr_expect_eq(0, read_all(job));
	cr_expect_eq(N / 2, other.asked, "each once");
	cr_expect_eq(N, stats_get(STAT_DECODES));
	cr_expect_eq(0, stats_get(STAT_FETCH_FAILURES), "the other daemon is well");
	for (sample_id id = 0; id < N; id += 2) {
		cr_assert_eq(0, open_sample(&world, &as_it_is, id, &opened));
		sched_undo(opened.handle);
	}
	cr_expect_eq(N, stats_get(STAT_DECODES), "the samples at home are in the cache");
	sched_job_put(job);
	world_end(&world);
}

/* Look-ahead is being fetched without an answer when the job leaves. */
Test(sched_fetch, a_job_leaves_while_its_samples_are_fetched)
{
	struct world world;
	struct other other;
	struct world_open open;
	begin(&world, &other, KEEPS);
	struct sched_job *job = world_add(&world, a_name);
	begin_open(job, &open);
	wait_for_kept(&other);
	sched_validate(world.sched);
	cr_expect_eq(0, sched_job_remove(world.sched, "a"));
	struct sched_opened opened = wait_for(&open);
	if (opened.status == 0)
		sched_release(opened.handle);
	else
		cr_expect_eq(-ENODEV, opened.status);
	answer_kept(&other);
	sched_validate(world.sched);
	sched_job_put(job);
	world_end(&world);
}

/* --- what another daemon asks for -------------------------------------------------------- */

static int open_sample(const struct world *world, const struct preparation *preparation,
	sample_id sample, struct sched_opened *ret)
{
	struct world_open open = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_open_callbacks callbacks = {
		.opened = world_opened, .context = &open};
	char text[PREPARATION_TEXT];
	preparation_print(preparation, text);
	int err =
		sched_open_sample(world->sched, world->dataset, text, sample, &callbacks);
	if (err)
		return err;
	*ret = wait_for(&open);
	return 0;
}

Test(sched_fetch, a_sample_is_opened_without_a_position)
{
	struct world world;
	struct other other;
	struct sched_opened opened, again;
	struct sched_job_status status;
	const struct preparation as_it_is = {0};
	begin(&world, &other, ANSWERS);
	struct sched_job *job = world_add(&world, a_name);
	for (sample_id id = 0; id < N; id++) {
		cr_assert_eq(0, open_sample(&world, &as_it_is, id, &opened));
		cr_assert_eq(0, opened.status);
		cr_expect_eq(id, sched_handle_sample(opened.handle));
		cr_expect_neq(FETCHED, sched_handle_tensor(opened.handle)->data[1]);
		cr_assert_eq(0, open_sample(&world, &as_it_is, id, &again));
		sched_validate(world.sched);
		sched_undo(opened.handle);
		sched_undo(again.handle);
		sched_validate(world.sched);
	}
	sched_job_status(job, &status);
	cr_expect_not(status.started);
	cr_expect_eq(0, status.served + status.waits + status.consumed);
	cr_expect_eq(0, other.asked, "it is prepared here");
	cr_expect_eq(N, stats_get(STAT_DECODES));
	cr_expect_eq(0, read_all(job), "all of them are here");
	sched_job_put(job);
	world_end(&world);
}

Test(sched_fetch, what_can_not_be_opened_is_refused)
{
	struct world world;
	struct other other;
	struct sched_opened opened;
	struct world_open open;
	const struct preparation as_it_is = {0}, smaller = {.resize_short = 4};
	begin(&world, &other, KEEPS);
	cr_expect_eq(-ENOENT, open_sample(&world, &as_it_is, 0, &opened), "no job");
	struct sched_job *job = world_add(&world, a_name);
	cr_expect_eq(-ENOENT, open_sample(&world, &smaller, 0, &opened));
	cr_expect_eq(-EINVAL, open_sample(&world, &as_it_is, N, &opened));
	begin_open(job, &open);
	sample_id under_way = wait_for_kept(&other);
	cr_expect_eq(-EAGAIN, open_sample(&world, &as_it_is, under_way, &opened),
		"two daemons would wait for each other");
	answer_kept(&other);
	cr_expect_eq(0, open_sample(&world, &as_it_is, under_way, &opened));
	sched_undo(opened.handle);
	sched_release(wait_for(&open).handle);
	sched_job_put(job);
	world_end(&world);
}

/* --- what a training still asks for ------------------------------------------------------ */

static struct sched_job *begin_rank_of(struct world *world, char *training, char *name,
	uint32_t rank, const sample_id *ids, uint32_t n)
{
	struct job_config config = world_job_config(name);
	struct sched_feed_state state = {0};
	struct world_open open;
	config.training = training;
	config.ranks = 2;
	config.rank = rank;
	config.global_batch = 4;
	struct sched_job *job = world_add_config(world, &config);
	begin_open(job, &open);
	while (!state.started || sched_feed(job, 0, 0, ids, n) == -EAGAIN) {
		sched_yield();
		sched_feed_state(job, &state);
	}
	sched_release(wait_for(&open).handle);
	return job;
}

static struct sched_job *begin_rank(
	struct world *world, char *name, uint32_t rank, const sample_id *ids, uint32_t n)
{
	return begin_rank_of(world, a_name, name, rank, ids, n);
}

static uint64_t need_of(struct world *world)
{
	sched_validate(world->sched);
	sched_stats(world->sched);
	return stats_get(STAT_CACHE_NEED);
}

static void give(struct world *world, struct sched_job *job, sample_id sample)
{
	struct sched_opened opened;
	const struct preparation *preparation = &sched_job_config(job)->preparation;
	cr_assert_eq(0, open_sample(world, preparation, sample, &opened));
	sched_undo(opened.handle);
}

/* Even samples are at home on this daemon. */
Test(sched_fetch, samples_at_home_are_needed_until_a_rank_or_another_daemon_asks)
{
	static const sample_id first[] = {3, 1, 4, 15}, second[] = {0, 7, 2};
	static char names[2][3] = {"r0", "r1"};
	struct world world;
	struct other other;
	begin(&world, &other, ANSWERS);
	struct sched_job *one = begin_rank(&world, names[0], 0, first, 4);
	cr_expect_eq(need_of(&world), N / 2 - 1);
	struct sched_job *two = begin_rank(&world, names[1], 1, second, 3);
	cr_expect_eq(need_of(&world), N / 2 - 3);
	for (unsigned i = 0; i < 2; i++)
		give(&world, one, 6);
	give(&world, one, 4);
	cr_expect_eq(need_of(&world), N / 2 - 4);
	sched_job_put(one);
	cr_assert_eq(0, sched_job_remove(world.sched, names[0]));
	cr_expect_eq(need_of(&world), N / 2 - 4, "the other rank asks for them");
	give(&world, two, 8);
	cr_expect_eq(need_of(&world), N / 2 - 5);
	sched_job_put(two);
	world_stop(&world);
	world_start(&world);
	sched_fetch_by(world.sched,
		&(struct sched_fetcher){
			.is_elsewhere = is_elsewhere, .fetch = fetch, .context = &other});
	two = begin_rank(&world, names[1], 1, second, 3);
	cr_expect_eq(world_read(two, 0, 1), second[1]);
	cr_expect_eq(need_of(&world), N / 2 - 2, "as far as the journal knows");
	sched_job_put(two);
	cr_assert_eq(0, sched_job_remove(world.sched, names[1]));
	world_check_nothing_held(&world);
	world_end(&world);
}

Test(sched_fetch, a_full_cache_leaves_samples_to_the_only_daemon_that_needs_them)
{
	static const sample_id first = 4;
	static char names[2][3] = {"r0", "s0"}, other_training[] = "b";
	struct world world;
	struct other other;
	struct sched_opened opened, again;
	begin_small(&world, &other, ANSWERS, 4);
	struct sched_job *one = begin_rank(&world, names[0], 0, &first, 1);
	for (sample_id id = 6; id <= 10; id += 2)
		give(&world, one, id);
	uint64_t need = need_of(&world), decodes = stats_get(STAT_DECODES);
	cr_assert_eq(decodes, 4, "the cache is full");
	const struct preparation *preparation = &sched_job_config(one)->preparation;
	cr_expect_eq(-ENOSPC, open_sample(&world, preparation, 12, &opened));
	cr_expect_eq(need_of(&world), need - 1, "the training has asked for it");
	cr_expect_eq(stats_get(STAT_DECODES), decodes);
	cr_assert_eq(0, open_sample(&world, preparation, 12, &opened));
	cr_expect_eq(stats_get(STAT_DECODES), ++decodes, "no training has asked");
	struct sched_job *two =
		begin_rank_of(&world, other_training, names[1], 0, &first, 1);
	decodes = stats_get(STAT_DECODES);
	cr_assert_eq(0, open_sample(&world, preparation, 12, &again));
	cr_expect_eq(stats_get(STAT_DECODES), decodes, "it is in the cache");
	give(&world, one, 14);
	cr_expect_eq(stats_get(STAT_DECODES), decodes + 1, "the other training needs it");
	sched_undo(opened.handle);
	sched_undo(again.handle);
	sched_job_put(one);
	sched_job_put(two);
	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(0, sched_job_remove(world.sched, names[i]));
	world_end(&world);
}
