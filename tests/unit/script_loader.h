// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"

/*
 * The opens of training scripts, in their order.
 *
 * Workers are those of torch's DataLoader: batch b goes to worker b mod W; each worker reads its
 * batches in their order, and has at most `ahead` of them; the training takes all batches in their
 * order. Workers of multiprocessing's Pool take the next batch when they have none, and the system
 * may stop a worker in the middle of a batch. A loader that fetches `beyond` the end of a pass has
 * one list of batches for all passes. A release comes some opens after its open.
 */

#define FILES 1200

struct access {
	unsigned pass;
	struct reader reader;
	uint32_t file;
	bool label, done, looks, counts;
	bool works; /* a worker opens the file, not the main process */
	bool ends;  /* the daemon sees the end of its script */
};

struct accesses {
	struct access *list;
	size_t n, room;
};

static struct rng rng;

static inline uint32_t below(uint32_t bound)
{
	return (uint32_t)rng_below(&rng, bound);
}

static inline void add(struct accesses *accesses, struct access access)
{
	if (accesses->n == accesses->room) {
		accesses->room = accesses->room ? 2 * accesses->room : 4096;
		accesses->list = reallocarray(
			accesses->list, accesses->room, sizeof(*accesses->list));
		cr_assert_not_null(accesses->list);
	}
	accesses->list[accesses->n++] = access;
}

/* --- loaders ------------------------------------------------------------------------- */

struct loader {
	uint32_t files, passes, workers, batch, ahead;
	bool beyond, drop, in_order, stays; /* stays: workers are persistent */
	bool works;			    /* the loader has workers */
	uint32_t batches;		    /* most batches of a pass; 0: all */
	uint32_t part;			    /* number of the rank in DistributedSampler */
	uint32_t parts;
	bool drop_tail; /* drop_last of DistributedSampler: parts are not padded */
	/* threads of one process, each of which takes the next file; 0: none */
	uint32_t pool;
	const uint32_t *list; /* the loader reads these n_list files; NULL: all */
	uint32_t n_list;
	uint32_t subset;     /* the loader reads the first files of an order; 0: all */
	uint32_t validation; /* this many files of the order come last, unshuffled */
	/* 0: none; 1: after the image; 2: before the image; 3: by another thread; 4: of all files,
	 * before the first pass; 5: of some files, before their images */
	unsigned labels;
	unsigned twice; /* opens of each file before the open that reads it */
	bool takes;	/* its workers belong to a Pool */
	bool mixes;	/* each item also opens another file */
	bool shows;	/* its main process opens the first file now and then */
	bool processes; /* each pass has its own process */
	bool replaces;	/* draws with replacement, as WeightedRandomSampler does */
	uint64_t script, rank;
	uint64_t threads; /* added to the numbers of the loader's threads */
	unsigned first_pass;
	uint64_t seed; /* seed of the orders */
};

struct batches {
	uint32_t *files;
	unsigned *passes;
	size_t *begin; /* begin of each batch, and the end of the last one */
	size_t n, n_files;
};

static inline void shuffle(struct rng *order, uint32_t *list, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)rng_below(order, i), file = list[i - 1];
		list[i - 1] = list[j];
		list[j] = file;
	}
}

/* Returns the files that this rank reads in a pass, in their order. */
static inline uint32_t pass_files(
	const struct loader *loader, unsigned pass, uint32_t *ret)
{
	uint32_t n = loader->files, total, own = 0;
	uint32_t parts = loader->parts ? loader->parts : 1;
	struct rng order;
	uint32_t *all = calloc(n, sizeof(*all));
	cr_assert_not_null(all);
	for (uint32_t i = 0; i < n; i++)
		all[i] = loader->list && i < loader->n_list ? loader->list[i] : i;
	if (loader->list)
		n = loader->n_list;
	if (loader->subset || loader->validation) {
		rng_seed(&order, 77);
		shuffle(&order, all, n);
	}
	if (loader->subset)
		n = loader->subset;
	rng_seed(&order, rng_mix(loader->seed, pass));
	if (!loader->in_order)
		shuffle(&order, all, n - loader->validation);
	for (uint32_t i = 0; loader->replaces && i < n; i++)
		all[i] = (uint32_t)rng_below(&order, n);
	total = (loader->drop_tail ? n : n + parts - 1) / parts * parts;
	for (uint32_t i = loader->part; i < total; i += parts)
		ret[own++] = all[i % n];
	free(all);
	return own;
}

static inline void make_batches(
	const struct loader *loader, unsigned first, unsigned passes, struct batches *ret)
{
	size_t most = (size_t)passes * (loader->files + loader->parts);
	uint32_t *files = calloc(loader->files + loader->parts, sizeof(*files));
	*ret = (struct batches){.files = calloc(most, sizeof(uint32_t)),
		.passes = calloc(most, sizeof(unsigned)),
		.begin = calloc(most + 1, sizeof(size_t))};
	cr_assert(files && ret->files && ret->passes && ret->begin);
	for (unsigned pass = first; pass < first + passes; pass++) {
		uint32_t n = pass_files(loader, pass, files);
		for (uint32_t i = 0, b = 0; i < n; i += loader->batch, b++) {
			uint32_t size = n - i < loader->batch ? n - i : loader->batch;
			if ((loader->drop && size < loader->batch) ||
				(loader->batches && b >= loader->batches))
				break;
			for (uint32_t k = 0; k < size; k++)
				ret->files[ret->n_files + k] = files[i + k];
			ret->passes[ret->n] = pass;
			ret->n_files += size;
			ret->begin[++ret->n] = ret->n_files;
		}
	}
	free(files);
}

static inline void add_item(struct accesses *accesses, const struct loader *loader,
	unsigned pass, uint64_t thread, uint32_t file)
{
	if (loader->pool)
		thread += below(loader->pool);
	struct access access = {.pass = loader->first_pass + pass,
		.reader = {thread, loader->rank, loader->script},
		.file = file,
		.done = true,
		.counts = true,
		.works = loader->works};
	struct access label = access;
	label.label = true;
	if (loader->labels == 3)
		label.reader.thread += 1000;
	if (loader->labels == 2 || (loader->labels == 5 && below(8) == 0))
		add(accesses, label);
	for (unsigned i = 0; i < loader->twice; i++) {
		struct access head = access;
		head.counts = false;
		add(accesses, head);
	}
	add(accesses, access);
	if (loader->labels == 1 || loader->labels == 3)
		add(accesses, label);
	if (loader->shows && below(100) == 0) {
		struct access shown = access;
		shown.reader.thread = loader->rank;
		shown.file = 0;
		shown.looks = loader->workers > 1;
		shown.counts = false;
		add(accesses, shown);
	}
	if (loader->mixes) {
		access.file = below(loader->files);
		access.counts = false;
		add(accesses, access);
	}
}

struct queues {
	size_t next[16], file[16]; /* by worker: its batch, and the file in this batch */
	double speed[16];
	size_t sent, got;
	size_t *done; /* by batch: files that were read */
};

static inline bool has_work(
	const struct batches *batches, const struct queues *queues, uint32_t worker)
{
	return queues->next[worker] < queues->sent && queues->next[worker] < batches->n;
}

static inline uint32_t pick_worker(
	const struct loader *loader, const struct batches *batches, struct queues *queues)
{
	double sum = 0, at;
	for (uint32_t w = 0; w < loader->workers; w++)
		sum += has_work(batches, queues, w) ? queues->speed[w] : 0;
	at = sum * below(1000000) / 1e6;
	for (uint32_t w = 0; w < loader->workers; w++) {
		if (!has_work(batches, queues, w))
			continue;
		at -= queues->speed[w];
		if (at < 0)
			return w;
	}
	for (uint32_t w = 0;; w++)
		if (has_work(batches, queues, w))
			return w;
}

/* Gives batches to workers, and takes them in their order. */
static inline void work(struct accesses *accesses, const struct loader *loader,
	const struct batches *batches, uint64_t threads)
{
	struct queues queues = {.sent = 0};
	uint32_t workers = loader->workers;
	size_t most = (size_t)workers * loader->ahead;
	queues.done = calloc(batches->n + 1, sizeof(*queues.done));
	for (uint32_t w = 0; w < workers; w++) {
		queues.next[w] = w;
		queues.file[w] = w < batches->n ? batches->begin[w] : 0;
		queues.speed[w] = 0.5 + below(1000) / 1000.0;
	}
	while (queues.got < batches->n) {
		while (queues.sent < batches->n && queues.sent < queues.got + most)
			queues.sent++;
		uint32_t w = pick_worker(loader, batches, &queues);
		size_t b = queues.next[w];
		add_item(accesses, loader, batches->passes[b], threads + w,
			batches->files[queues.file[w]++]);
		queues.done[b]++;
		if (queues.file[w] == batches->begin[b + 1]) {
			queues.next[w] += workers;
			if (queues.next[w] < batches->n)
				queues.file[w] = batches->begin[queues.next[w]];
		}
		while (queues.got < batches->n &&
			queues.done[queues.got] == batches->begin[queues.got + 1] -
							   batches->begin[queues.got])
			queues.got++;
	}
	free(queues.done);
}

/* Gives batches to the workers of a Pool. */
static inline void work_by_pool(struct accesses *accesses, const struct loader *loader,
	const struct batches *batches, uint64_t threads)
{
	size_t at[16] = {0}, batch[16], sent = 0, left = batches->n_files;
	uint32_t speed[16] = {0}; /* 0: the worker has no batch */
	while (left > 0) {
		uint32_t w = below(loader->workers);
		if (speed[w] == 0 && sent < batches->n) {
			batch[w] = sent++;
			at[w] = batches->begin[batch[w]];
			speed[w] = below(6) ? 50 + below(50) : 1;
		}
		if (speed[w] == 0 || below(100) >= speed[w])
			continue;
		add_item(accesses, loader, batches->passes[batch[w]], threads + w,
			batches->files[at[w]++]);
		left--;
		if (at[w] == batches->begin[batch[w] + 1])
			speed[w] = 0;
	}
}

static inline void load(struct accesses *accesses, struct loader loader)
{
	loader.works = loader.workers > 0;
	loader.workers = loader.workers ? loader.workers : 1;
	loader.batch = loader.batch ? loader.batch : 16;
	loader.ahead = loader.ahead ? loader.ahead : 2;
	loader.files = loader.files ? loader.files : FILES;
	loader.script = loader.script ? loader.script : 1;
	loader.rank = loader.rank ? loader.rank : loader.script;
	unsigned step = loader.beyond ? loader.passes : 1;
	for (uint32_t i = 0; loader.labels == 4 && i < loader.files; i++)
		add(accesses, (struct access){.reader = {7, loader.rank, loader.script},
				      .file = i,
				      .label = true,
				      .done = true});
	for (unsigned pass = 0; pass < loader.passes; pass += step) {
		struct batches batches;
		if (loader.processes)
			loader.rank = loader.script = 100 + pass;
		uint64_t base = loader.rank * 10000;
		uint64_t threads =
			loader.threads +
			(loader.stays ? base : base + 20 * (loader.first_pass + pass));
		make_batches(&loader, pass, step, &batches);
		(loader.takes ? work_by_pool : work)(
			accesses, &loader, &batches, threads);
		free(batches.files);
		free(batches.passes);
		free(batches.begin);
	}
}

/* Mixes the streams at random; no stream is more than `apart` opens ahead of another (0: no
 * limit). speed: of the first stream, in percent of the others' speed. */
static inline void merge(struct accesses *accesses, struct accesses *streams, size_t n,
	size_t apart, uint32_t speed)
{
	size_t next[16] = {0};
	for (;;) {
		size_t least = SIZE_MAX, choices[16];
		uint32_t weight[16], sum = 0;
		size_t k = 0;
		for (size_t i = 0; i < n; i++)
			if (next[i] < streams[i].n && next[i] < least)
				least = next[i];
		for (size_t i = 0; i < n; i++)
			if (next[i] < streams[i].n &&
				(!apart || next[i] <= least + apart)) {
				choices[k] = i;
				weight[k++] = i == 0 ? speed : 100;
				sum += weight[k - 1];
			}
		if (k == 0)
			break;
		uint32_t at = below(sum);
		size_t i = 0;
		while (at >= weight[i])
			at -= weight[i++];
		size_t s = choices[i];
		add(accesses, streams[s].list[next[s]++]);
	}
	for (size_t i = 0; i < n; i++)
		free(streams[i].list);
}
