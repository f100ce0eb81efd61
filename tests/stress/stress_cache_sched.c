// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Several jobs read one dataset through a small cache, each with several threads. Opens are
 * cancelled, undone and repeated, jobs come and go, and onlookers read all figures all the time.
 * In the end every job must have seen each sample exactly once per epoch, with the right pixels;
 * its order must say so; and no pin and no need may be left. The test runs with dsa, then with
 * exchange.
 */

#include "../sched_bind.h"
#include "../tiny_dataset.h"
#include "base/rng.h"
#include "sched/datasets.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/sched.h"
#include "stats/stats.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define CLASSES 3
#define SAMPLES 240
#define SIDE 16
#define CACHE_TENSORS 24
#define TIER_BYTES (400 << 10) /* less than half of the samples fit */
#define WORKERS 3
#define MAX_EPOCHS 2
#define MAX_THREADS 3
#define CHURNS 40
#define CHURN_OPENS 30
#define ROUNDS 4 /* rounds with each sampler */

static struct dataset *dataset;
static struct sched *sched;
static uint8_t shade[SAMPLES]; /* by sample: the shade of all its pixels */
static atomic_bool readers_done;
static atomic_uint_fast64_t some_ticket; /* ticket of an open that was parked recently */
static atomic_uint interrupted, undone;

static struct reader_job {
	struct job_config config;
	uint32_t threads;
	bool current; /* its readers use current/ */
	struct sched_job *job;
	uint32_t samples;
	/* all threads end an epoch before the next one begins */
	pthread_barrier_t barrier;
	atomic_uint next[MAX_EPOCHS];
	atomic_uint seen[MAX_EPOCHS][SAMPLES]; /* by sample */
	sample_id at[MAX_EPOCHS][SAMPLES];     /* by position */
} reader_jobs[] = {
	{.config = {.name = (char[]){"all"}, .weight = 1, .epochs = 2, .idle_s = 600},
		.threads = 3},
	/* the housekeeper parks this job at each check */
	{.config = {.name = (char[]){"part"},
		 .weight = 1,
		 .epochs = 2,
		 .where = (char[]){"label < 2"}},
		.threads = 3},
	{.config = {.name = (char[]){"sequential"},
		 .weight = 1,
		 .epochs = 1,
		 .order = ORDER_SEQUENTIAL,
		 .idle_s = 600},
		.threads = 2},
	{.config = {.name = (char[]){"small"},
		 .weight = 1,
		 .epochs = 2,
		 .idle_s = 600,
		 .preparation = {.resize_width = 8, .resize_height = 8}},
		.threads = 2},
	{.config = {.name = (char[]){"current"}, .weight = 1, .epochs = 2, .idle_s = 600},
		.threads = 3,
		.current = true},
	{.config = {.name = (char[]){"classes"},
		 .weight = 1,
		 .epochs = 2,
		 .layout = LAYOUT_CLASSES,
		 .idle_s = 600},
		.threads = 2},
	{.config = {.name = (char[]){"ordered"},
		 .weight = 1,
		 .epochs = 2,
		 .order = ORDER_SEQUENTIAL,
		 .layout = LAYOUT_CLASSES},
		.threads = 2},
};
#define N_READER_JOBS (sizeof(reader_jobs) / sizeof(reader_jobs[0]))

/* --- one open ---------------------------------------------------------------------- */

/* Waits until `opened` is called. */
struct open_wait {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool done; /* (mutex) */
	struct sched_opened opened;
	bool cancel; /* the open is cancelled as soon as it is parked */
};

static void open_wait_init(struct open_wait *wait)
{
	*wait = (struct open_wait){
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
}

static void on_opened(void *context, const struct sched_opened *opened)
{
	struct open_wait *wait = context;
	pthread_mutex_lock(&wait->mutex);
	ensure(!wait->done); /* `opened` is called exactly once */
	wait->done = true;
	wait->opened = *opened;
	pthread_cond_signal(&wait->cond);
	pthread_mutex_unlock(&wait->mutex);
}

static void on_parking(void *context, uint64_t ticket)
{
	const struct open_wait *wait = context;
	if (wait->cancel)
		sched_cancel(sched, ticket);
	else
		atomic_store(&some_ticket, ticket);
}

static struct sched_opened wait_opened(struct open_wait *wait)
{
	pthread_mutex_lock(&wait->mutex);
	while (!wait->done)
		pthread_cond_wait(&wait->cond, &wait->mutex);
	pthread_mutex_unlock(&wait->mutex);
	ensure((wait->opened.status == 0) == (wait->opened.handle != NULL));
	return wait->opened;
}

static _Thread_local uint64_t this_reader; /* stands for the thread's number */

/* Opens a position. After three opens that it gave up, the reader waits for the fourth. */
static struct sched_handle *open_position(
	struct sched_job *job, uint32_t epoch, uint32_t position, struct rng *rng)
{
	for (int attempt = 0;; attempt++) {
		struct open_wait wait;
		open_wait_init(&wait);
		wait.cancel = rng_below(rng, 8) == 0;
		struct sched_open_callbacks callbacks = {.opened = on_opened,
			.parking = attempt < 3 ? on_parking : NULL,
			.context = &wait,
			.reader.who = {.thread = this_reader, .rank = 1, .script = 1}};
		ensure(sched_open(job, epoch, position, &callbacks) == 0);
		struct sched_opened opened = wait_opened(&wait);
		if (opened.status == 0)
			return opened.handle;
		ensure(opened.status == -EINTR && attempt < 3);
		atomic_fetch_add(&interrupted, 1);
	}
}

static sample_id check_tensor(
	const struct sched_handle *handle, const struct job_config *config)
{
	const struct tensor *tensor = sched_handle_tensor(handle);
	sample_id id = sched_handle_sample(handle);
	uint32_t side = config->preparation.resize_width ?: SIDE;
	ensure(id < SAMPLES && tensor);
	ensure(tensor->shape.width == side && tensor->shape.height == side);
	ensure(tensor->bytes == 3 * (uint64_t)side * side);
	for (uint64_t i = 0; i < tensor->bytes; i++)
		ensure(tensor->data[i] == shade[id]);
	return id;
}

/* --- readers ----------------------------------------------------------------------- */

static void check_label(struct sched_job *job, uint32_t position, sample_id id)
{
	uint32_t label = dataset_label(dataset, id);
	auto_edition *edition = sched_edition(job, 0);
	ensure(sched_job_config(job)->layout != LAYOUT_CLASSES ||
		(edition->label_begin[label] <= position &&
			position < edition->label_begin[label + 1]));
}

static sample_id read_label(const struct reader_job *reader, uint32_t asked,
	uint32_t epoch, uint32_t position)
{
	sample_id sample;
	uint32_t number;
	struct sched_reader by = {.who = {.thread = this_reader, .rank = 1, .script = 1}};
	ensure(sched_bind_for(reader->job, asked, position, &by, &sample, &number) == 0);
	ensure(number == epoch);
	return sample;
}

static void read_position(
	struct reader_job *reader, uint32_t epoch, uint32_t position, struct rng *rng)
{
	struct sched_job *job = reader->job;
	sample_id labelled = SAMPLE_NONE;
	uint32_t asked = reader->current ? SCHED_CURRENT : epoch;
	if (rng_below(rng, 8) == 0)
		labelled = read_label(reader, asked, epoch, position);
	struct sched_handle *handle = open_position(job, asked, position, rng);
	sample_id id = check_tensor(handle, &reader->config);
	check_label(job, position, id);
	ensure(sched_handle_epoch(handle) == epoch);
	ensure(labelled == SAMPLE_NONE || labelled == id);
	if (rng_below(rng, 8) == 0) {
		sched_undo(handle);
		atomic_fetch_add(&undone, 1);
		handle = open_position(job, asked, position, rng);
		ensure(sched_handle_sample(handle) == id);
	}
	if (rng_below(rng, 8) == 0) { /* two opens at the same time, and one after them */
		struct sched_handle *second = open_position(job, asked, position, rng);
		ensure(check_tensor(second, &reader->config) == id);
		sched_release(second);
	}
	ensure(sched_bound(job, epoch, position) == id);
	check_tensor(handle, &reader->config);
	atomic_fetch_add(&reader->seen[epoch][id], 1);
	reader->at[epoch][position] = id;
	sched_release(handle);
}

/* Reads positions again that were read before, in ended epochs, too. */
static void read_again(struct reader_job *reader, uint32_t epoch, struct rng *rng)
{
	uint32_t position = (uint32_t)rng_below(rng, reader->samples);
	sample_id id = sched_bound(reader->job, epoch, position);
	if (id == SAMPLE_NONE)
		return;
	struct sched_handle *handle = open_position(reader->job, epoch, position, rng);
	ensure(check_tensor(handle, &reader->config) == id);
	sched_undo(handle);
}

static void *read_all(void *context)
{
	static atomic_uint threads;
	struct reader_job *reader = context;
	struct rng rng;
	this_reader = atomic_fetch_add(&threads, 1) + 1;
	rng_seed(&rng, this_reader);
	for (uint32_t epoch = 0; epoch < reader->config.epochs; epoch++) {
		uint32_t position;
		pthread_barrier_wait(&reader->barrier);
		while ((position = atomic_fetch_add(&reader->next[epoch], 1)) <
			reader->samples) {
			read_position(reader, epoch, position, &rng);
			if (rng_below(&rng, 8) == 0)
				read_again(reader, (uint32_t)rng_below(&rng, epoch + 1),
					&rng);
		}
	}
	return NULL;
}

/* --- jobs that come and go --------------------------------------------------------- */

static void report(void *context, const char *message)
{
	(void)context;
	fprintf(stderr, "%s\n", message);
}

static struct sched_job *add_job(struct job_config *config, bool persist)
{
	static char file[] = "stress.ini", dataset_name[] = "tiny", extension[] = "raw";
	config->file = file;
	config->dataset = dataset_name;
	config->extension = extension;
	config->format = FORMAT_RAW;
	config->lookahead = 32;
	config->keep_epochs = 10;
	ensure(sched_job_add(sched, config, persist, report, NULL) == 0);
	struct sched_job *job = sched_job_find(sched, config->name);
	ensure(job);
	return job;
}

/* Files that a removed job's reader has open must stay readable. */
static void finish_churn(struct open_wait *wait, const struct job_config *config)
{
	struct sched_opened opened = wait_opened(wait);
	if (opened.status != 0) {
		ensure(opened.status == -ENODEV);
		return;
	}
	check_tensor(opened.handle, config);
	sched_release(opened.handle);
}

static void churn_once(uint32_t i, struct rng *rng)
{
	char name[] = "churn";
	static struct open_wait waits[CHURN_OPENS];
	struct job_config config = {
		.name = name, .weight = 1, .epochs = 1, .idle_s = 600};
	if (i % 3 == 0)
		config.preparation.resize_width = config.preparation.resize_height = 8;
	if (i % 5 < 2)
		config.layout = i % 5 ? LAYOUT_MIRROR : LAYOUT_CLASSES;
	struct sched_job *job = add_job(&config, i % 2 == 0);
	uint32_t n = 0, enough = (uint32_t)rng_below(rng, CHURN_OPENS);
	for (; n < enough; n++) {
		struct sched_open_callbacks callbacks = {
			.opened = on_opened, .context = &waits[n]};
		open_wait_init(&waits[n]);
		ensure(sched_open(job, 0, n, &callbacks) == 0);
	}
	for (uint32_t k = 0; k < n / 2; k++)
		finish_churn(&waits[k], &config);
	ensure(sched_job_remove(sched, name) == 0);
	ensure(sched_job_remove(sched, name) == -ENOENT);
	struct sched_open_callbacks refused = {.opened = on_opened};
	ensure(sched_open(job, 0, 0, &refused) == -ENODEV);
	for (uint32_t k = n / 2; k < n; k++)
		finish_churn(&waits[k], &config);
	sched_job_put(job);
}

static void *churn(void *context)
{
	struct rng rng;
	(void)context;
	rng_seed(&rng, 1000);
	for (uint32_t i = 0; i < CHURNS; i++)
		churn_once(i, &rng);
	return NULL;
}

/* --- onlookers --------------------------------------------------------------------- */

static void look_at(struct sched_job *job, struct rng *rng)
{
	struct sched_job_status status;
	struct binding binding;
	sched_job_status(job, &status);
	ensure(status.consumed <= status.samples && status.bound <= status.samples);
	uint32_t k = (uint32_t)rng_below(rng, SAMPLES);
	if (sched_binding(job, status.epoch, k, &binding)) {
		ensure(binding.position < status.samples);
		ensure(sched_bound(job, status.epoch, binding.position) ==
			binding.sample);
	}
}

static void *look(void *context)
{
	struct rng rng;
	(void)context;
	rng_seed(&rng, 2000);
	while (!atomic_load(&readers_done)) {
		job_id *ids;
		size_t n;
		ensure(sched_job_ids(sched, &ids, &n) == 0);
		for (size_t i = 0; i < n; i++) {
			struct sched_job *job = sched_job_find_id(sched, ids[i]);
			if (!job)
				continue;
			look_at(job, &rng);
			sched_job_put(job);
		}
		free(ids);
		sched_stats(sched);
		if (rng_below(&rng, 16) == 0)
			sched_validate(sched);
		ensure(sched_dataset_jobs(sched, dataset) >= N_READER_JOBS);
		sched_cancel(sched, atomic_load(&some_ticket));
		sched_yield();
	}
	return NULL;
}

/* --- the end ----------------------------------------------------------------------- */

static void check_epoch(struct reader_job *reader, uint32_t epoch)
{
	bool logged[SAMPLES] = {false};
	uint32_t distinct = 0;
	struct binding binding;
	for (sample_id id = 0; id < SAMPLES; id++) {
		ensure(reader->seen[epoch][id] <= 1);
		distinct += reader->seen[epoch][id];
	}
	ensure(distinct == reader->samples);
	for (uint32_t k = 0; k < reader->samples; k++) {
		ensure(sched_binding(reader->job, epoch, k, &binding));
		ensure(binding.position < reader->samples && !logged[binding.position]);
		logged[binding.position] = true;
		ensure(binding.sample == reader->at[epoch][binding.position]);
	}
	ensure(!sched_binding(reader->job, epoch, reader->samples, &binding));
}

static void nothing_is_held(void)
{
	sched_stats(sched);
	ensure(stats_get(STAT_CACHE_PINS) == 0);
	ensure(stats_get(STAT_CACHE_NEED) == 0);
	ensure(stats_get(STAT_STREAMS) == 0);
	ensure(stats_get(STAT_CACHE_BYTES) <= CACHE_TENSORS * 3 * SIDE * SIDE);
}

static void start_readers(pthread_t threads[N_READER_JOBS][MAX_THREADS])
{
	for (size_t i = 0; i < N_READER_JOBS; i++) {
		struct reader_job *reader = &reader_jobs[i];
		memset(reader->next, 0, sizeof(reader->next));
		memset(reader->seen, 0, sizeof(reader->seen));
		reader->job = add_job(&reader->config, true);
		reader->samples = sched_job_samples(reader->job, 0);
		ensure(pthread_barrier_init(&reader->barrier, NULL, reader->threads) ==
			0);
	}
	for (size_t i = 0; i < N_READER_JOBS; i++)
		for (uint32_t k = 0; k < reader_jobs[i].threads; k++)
			ensure(pthread_create(&threads[i][k], NULL, read_all,
				       &reader_jobs[i]) == 0);
}

static void finish_readers(void)
{
	for (size_t i = 0; i < N_READER_JOBS; i++) {
		struct reader_job *reader = &reader_jobs[i];
		for (uint32_t epoch = 0; epoch < reader->config.epochs; epoch++)
			check_epoch(reader, epoch);
		pthread_barrier_destroy(&reader->barrier);
		ensure(sched_job_remove(sched, reader->config.name) == 0);
		sched_job_put(reader->job);
	}
}

static void run(void)
{
	pthread_t threads[N_READER_JOBS][MAX_THREADS], churner, onlooker;
	atomic_store(&readers_done, false);
	start_readers(threads);
	ensure(pthread_create(&churner, NULL, churn, NULL) == 0);
	ensure(pthread_create(&onlooker, NULL, look, NULL) == 0);
	for (size_t i = 0; i < N_READER_JOBS; i++)
		for (uint32_t k = 0; k < reader_jobs[i].threads; k++)
			pthread_join(threads[i][k], NULL);
	pthread_join(churner, NULL);
	atomic_store(&readers_done, true);
	pthread_join(onlooker, NULL);
	sched_validate(sched);
	nothing_is_held();
	finish_readers();
	nothing_is_held();
}

/* Checks that opens that wait when the scheduler stops are answered. */
static void stop_with_waiting_opens(void)
{
	static struct open_wait waits[CHURN_OPENS];
	static char name[] = "last";
	struct job_config config = {
		.name = name, .weight = 1, .epochs = 1, .idle_s = 600};
	struct sched_job *job = add_job(&config, false);
	for (uint32_t i = 0; i < CHURN_OPENS; i++) {
		struct sched_open_callbacks callbacks = {
			.opened = on_opened, .context = &waits[i]};
		open_wait_init(&waits[i]);
		ensure(sched_open(job, 0, i, &callbacks) == 0);
	}
	sched_stop(sched);
	for (uint32_t i = 0; i < CHURN_OPENS; i++)
		finish_churn(&waits[i], &config);
	sched_job_put(job);
}

static void run_with(struct daemon_config *config, enum sampler_kind sampler)
{
	config->sampler = config->datasets->sampler = sampler;
	ensure(sched_new(config, &dataset, 1, &sched) == 0);
	for (int round = 0; round < ROUNDS; round++)
		run();
	stop_with_waiting_opens();
	sched_free(&sched);
}

/* Notes the shade of each sample: the number in its name, <class>/<number>.png. */
static void learn_shades(void)
{
	ensure(dataset_ids(dataset) == SAMPLES);
	for (sample_id id = 0; id < SAMPLES; id++) {
		struct dataset_sample sample;
		ensure(dataset_get(dataset, id, &sample) == 0);
		shade[id] = (uint8_t)strtoul(strchr(sample.relative, '/') + 1, NULL, 10);
		dataset_sample_free(&sample);
	}
}

int main(void)
{
	auto_free char *directory = tiny_directory();
	auto_free char *path = tiny_path(directory, "tiny");
	auto_free char *state = tiny_path(directory, "state");
	char name[] = "tiny", extensions[] = "png";
	auto_free char *tier = tiny_path(directory, "tier");
	struct dataset_config dataset_config = {.name = name,
		.path = path,
		.extensions = extensions,
		.tier = {.directory = tier, .bytes = TIER_BYTES}};
	struct daemon_config config = {.cache_bytes = CACHE_TENSORS * 3 * SIDE * SIDE,
		.eviction = EVICTION_REFCNT,
		.workers = WORKERS,
		.seed = 1,
		.state = state,
		.datasets = &dataset_config,
		.n_datasets = 1};
	tiny_dataset(path, CLASSES, SAMPLES, SIDE);
	ensure(mkdir(state, 0755) == 0);
	ensure(dataset_open(&dataset_config, state, NULL, &dataset) == 0);
	learn_shades();
	run_with(&config, SAMPLER_DSA);
	run_with(&config, SAMPLER_EXCHANGE);
	dataset_close(&dataset);
	tiny_remove(directory);
	ensure(stats_get(STAT_TIER_HITS) > 0 && stats_get(STAT_TIER_DAMAGED) == 0);
	printf("stress_cache_sched: %u opens interrupted, %u undone\n", interrupted,
		undone);
	return 0;
}
