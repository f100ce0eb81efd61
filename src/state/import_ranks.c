// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/rank_parts.h"
#include "epoch/questions.h"
#include "state/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* Reads the exports of all ranks of a training that continues with another number of ranks, or at
 * an earlier point. Lists the samples that the ranks had read in the epoch in which the training
 * continues, one mini-batch after the other. The log of the continued training begins with this
 * list. So no rank is given these samples again, and the rest of the epoch is drawn and divided
 * anew. */

struct one_rank {
	bool found;
	uint32_t samples;
	uint64_t orders_at; /* offset of the rank's orders in the file */
	unsigned n_orders;
	uint32_t epoch;	    /* the first epoch that the rank has not read completely */
	struct order order; /* order of the epoch in which the training continues */
};

struct reading {
	struct job *job;
	const struct adding *adding;
	struct places places;
	uint32_t n; /* number of samples that the training's epoch has, over all ranks */
	uint32_t ranks, batch;
	struct one_rank *of;
	/* The training continues in `epoch`. If `at` is true, the first `position` positions of all
	 * ranks together count as read; otherwise the positions that the ranks had read count. */
	uint32_t epoch, position;
	bool at;
};

#define REFUSE(reading, format, ...)                                                     \
	import_refuse(                                                                   \
		(reading)->adding, "%s: " format, (reading)->adding->file, __VA_ARGS__)

static int check_head(struct reading *reading, const struct import_head *head)
{
	if (head->ranks == 0)
		return REFUSE(reading,
			"job %s is not a rank, allowed: all ranks of one training",
			head->from.job);
	if (head->fingerprint != reading->places.fingerprint)
		return REFUSE(reading,
			"job %s has other samples: found fingerprint %016" PRIx64
			", allowed: %016" PRIx64
			", of the training's samples (the fingerprint covers sizes, and "
			"paths below the dataset's directory)",
			head->from.job, head->fingerprint, reading->places.fingerprint);
	bool first = !reading->of;
	if (head->batch < head->ranks || head->rank >= head->ranks ||
		head->from.samples != ranks_position(reading->n, head->batch, head->ranks,
					      head->rank) ||
		(!first &&
			(head->ranks != reading->ranks || head->batch != reading->batch)))
		return REFUSE(reading,
			"job %s is rank %" PRIu32 " of %" PRIu32
			" with global_batch = %" PRIu32
			", allowed: all ranks of one training",
			head->from.job, head->rank, head->ranks, head->batch);
	reading->ranks = head->ranks;
	reading->batch = head->batch;
	if (first)
		reading->of = calloc(head->ranks, sizeof(*reading->of));
	if (!reading->of)
		return -ENOMEM;
	if (reading->of[head->rank].found)
		return REFUSE(reading, "has rank %" PRIu32 " twice", head->rank);
	return 0;
}

static int skip_orders(struct reading *reading, struct one_rank *rank, uint64_t *offset)
{
	const struct adding *import = reading->adding;
	for (unsigned i = 0; i < rank->n_orders; i++) {
		struct order data;
		uint32_t epoch;
		int err = order_read_from(import->fd, import->file, rank->samples,
			reading->places.fingerprint, offset, &epoch, &data);
		if (err)
			return err == -EINVAL ? REFUSE(reading, "%s",
							"its orders are incomplete; the "
							"log says why")
					      : err;
		if (rank->epoch == epoch)
			rank->order = data;
		else
			order_free(&data);
	}
	return 0;
}

/* Reads the export of one rank. Keeps only the order of the epoch that the rank had reached. */
static int read_rank(struct reading *reading, uint64_t *offset)
{
	struct import_head head;
	int err = import_read_head(reading->adding, offset, &head);
	if (!err)
		err = check_head(reading, &head);
	if (err)
		return err;
	const struct epochs_place *place = &head.from.place;
	struct one_rank *rank = &reading->of[head.rank];
	*rank = (struct one_rank){.found = true,
		.samples = head.from.samples,
		.orders_at = *offset,
		.n_orders = head.n_orders,
		.epoch = place->drains ? place->draining.epoch : place->running.epoch};
	if (rank->epoch == place->running.epoch &&
		place->running.consumed == head.from.samples)
		rank->epoch++;
	return skip_orders(reading, rank, offset);
}

static int read_all(struct reading *reading)
{
	struct stat st;
	uint64_t offset = 0;
	if (fstat(reading->adding->fd, &st) != 0)
		return -errno;
	int err = st.st_size > 0 ? 0 : REFUSE(reading, "%s", "it is empty");
	while (!err && offset < (uint64_t)st.st_size)
		err = read_rank(reading, &offset);
	for (uint32_t r = 0; !err && r < reading->ranks; r++)
		if (!reading->of[r].found)
			err = REFUSE(reading,
				"has no rank %" PRIu32 ", allowed: all %" PRIu32
				" ranks of the training, one file after the other",
				r, reading->ranks);
	return err;
}

/* --- the place where the training continues --------------------------------------------- */

static uint32_t position_of(const struct reading *reading, uint32_t global, uint32_t rank)
{
	return ranks_position(global, reading->batch, reading->ranks, rank);
}

static int choose_epoch(struct reading *reading)
{
	const char *at = reading->adding->at;
	uint32_t first = UINT32_MAX, last = 0;
	for (uint32_t r = 0; r < reading->ranks; r++) {
		first = reading->of[r].epoch < first ? reading->of[r].epoch : first;
		last = reading->of[r].epoch > last ? reading->of[r].epoch : last;
	}
	reading->epoch = first;
	reading->at = at != NULL;
	if (!at)
		return 0;
	if (checkpoint_parse_at(at, &reading->epoch, &reading->position) != 0)
		return import_refuse(reading->adding, IMPORT_AT, at);
	if (reading->epoch > last)
		return import_refuse(reading->adding,
			"--at: found epoch %" PRIu32 ", allowed: up to %" PRIu32
			", the epoch that the training has reached",
			reading->epoch, last);
	if (reading->position > reading->n ||
		(reading->position != reading->n && reading->position % reading->batch))
		return import_refuse(reading->adding,
			"--at: found position %" PRIu32
			", allowed: a multiple of %" PRIu32
			", the samples of a global mini-batch, up to %" PRIu32
			", the samples of all ranks",
			reading->position, reading->batch, reading->n);
	return 0;
}

/* Loads the rank's order of reading->epoch, unless read_rank has already kept this order. */
static int load_order(struct reading *reading, uint32_t r)
{
	struct one_rank *rank = &reading->of[r];
	uint64_t offset = rank->orders_at;
	uint32_t own = rank->epoch;
	if (own == reading->epoch)
		return 0;
	order_free(&rank->order);
	rank->epoch = reading->epoch;
	int err = skip_orders(reading, rank, &offset);
	rank->epoch = own;
	return err;
}

/* Sets ret[p] to 1 for the positions p of rank r that count as read. These are the positions that
 * the rank had read. If reading->at is true, they are instead the rank's part of the first
 * reading->position positions of all ranks. */
static int find_read(const struct reading *reading, uint32_t r, uint8_t *ret)
{
	const struct one_rank *rank = &reading->of[r];
	const struct order *order = &rank->order;
	uint32_t wanted = position_of(reading, reading->position, r);
	if (!reading->at && rank->epoch > reading->epoch &&
		order->consumed < rank->samples)
		return REFUSE(reading,
			"has no complete order of epoch %" PRIu32 " of rank %" PRIu32
			", which is in epoch %" PRIu32
			", allowed: ranks that are at most keep_epochs apart",
			reading->epoch, r, rank->epoch);
	for (uint32_t i = 0; !reading->at && i < order->consumed; i++) {
		if (order->reads[i] >= rank->samples)
			return REFUSE(reading,
				"reads of position %" PRIu32 " of %" PRIu32,
				order->reads[i], rank->samples);
		ret[order->reads[i]] = 1;
	}
	for (uint32_t i = 0; reading->at && i < wanted; i++) {
		if (!order->samples || order->samples[i] == 0)
			return import_refuse(reading->adding,
				"--at: found %" PRIu32 ":%" PRIu32 ", but rank %" PRIu32
				" has not yet read position %" PRIu32 " of its %" PRIu32
				" before this place, allowed: an earlier place",
				reading->epoch, reading->position, r, i, wanted);
		ret[i] = 1;
	}
	return 0;
}

/* --- the log ---------------------------------------------------------------------------- */

/* The samples with which the continued training's log begins, as a list and as a set (`seen`). */
struct row {
	sample_id *ids;
	uint32_t n;
	roaring_bitmap_t *seen;
};

/* Adds the sample of a rank's position, unless the list already has this sample. Two positions can
 * hold one sample if a node was away while its group repaired the log (coord.h): then the log
 * lacked samples that only this node had read, so the group drew them again. */
static int add_position(const struct reading *reading, const struct one_rank *rank,
	uint32_t position, struct row *row)
{
	uint32_t place = rank->order.samples[position];
	if (place == 0 || place > reading->places.n)
		return REFUSE(reading,
			"position %" PRIu32 " holds no sample of the training", position);
	sample_id id = reading->places.ids[place - 1];
	if (roaring_bitmap_add_checked(row->seen, id))
		row->ids[row->n++] = id;
	return 0;
}

static int add_batch(const struct reading *reading, uint8_t *const *is_read,
	uint32_t from, struct row *row)
{
	uint32_t left = reading->n - from, to;
	int err = 0;
	to = from + (left < reading->batch ? left : reading->batch);
	for (uint32_t r = 0; r < reading->ranks; r++) {
		uint32_t end = position_of(reading, to, r);
		for (uint32_t p = position_of(reading, from, r); p < end && !err; p++)
			if (is_read[r][p])
				err = add_position(reading, &reading->of[r], p, row);
	}
	return err;
}

static int fill_row(const struct reading *reading, uint8_t **is_read, struct row *row)
{
	int err = 0;
	for (uint32_t r = 0; r < reading->ranks && !err; r++) {
		is_read[r] = calloc(reading->of[r].samples + 1, 1);
		err = is_read[r] ? find_read(reading, r, is_read[r]) : -ENOMEM;
	}
	for (uint32_t at = 0; at < reading->n && !err; at += reading->batch)
		err = add_batch(reading, is_read, at, row);
	return err;
}

static int make_row(const struct reading *reading, struct row *ret)
{
	uint8_t **is_read = calloc(reading->ranks, sizeof(*is_read));
	*ret = (struct row){.ids = calloc(reading->n, sizeof(*ret->ids)),
		.seen = roaring_bitmap_create()};
	int err = is_read && ret->ids && ret->seen ? fill_row(reading, is_read, ret)
						   : -ENOMEM;
	for (uint32_t r = 0; is_read && r < reading->ranks; r++)
		free(is_read[r]);
	free(is_read);
	bitmap_free(&ret->seen);
	return err;
}

static char *name_log(const struct job *job)
{
	return aprintf("%s/training.order", job->directory);
}

/* Saves the samples in training.order, which has the form of an order of all ranks: position i has
 * sample i of `row`. If `row` has all samples of the epoch, the training continues with the next
 * epoch, so the file is an order of that epoch in which no position has a sample. */
static int save(const struct reading *reading, const struct row *row)
{
	const struct job *job = reading->job;
	bool over = row->n == reading->n;
	auto_free uint32_t *samples = calloc(reading->n, sizeof(*samples));
	auto_free uint32_t *log = calloc(reading->n, sizeof(*log));
	auto_free char *path = name_log(job);
	struct order order = {.positions = reading->n,
		.bound = over ? 0 : row->n,
		.samples = samples,
		.log = log};
	if (!samples || !log || !path)
		return -ENOMEM;
	for (uint32_t i = 0; i < order.bound; i++) {
		samples[i] = row->ids[i] + 1;
		log[i] = order_log_entry(i, (enum served)0);
	}
	int err =
		order_save_at(path, reading->epoch + over, job->now->fingerprint, &order);
	return err ? import_refuse(reading->adding, "%s: can't be written: %s", path,
			     strerror(-err))
		   : 0;
}

static int take(struct reading *reading)
{
	struct row row = {0};
	int err = read_all(reading);
	if (!err)
		err = choose_epoch(reading);
	for (uint32_t r = 0; !err && r < reading->ranks; r++)
		err = load_order(reading, r);
	if (!err)
		err = make_row(reading, &row);
	if (!err)
		err = save(reading, &row);
	free(row.ids);
	for (uint32_t r = 0; reading->of && r < reading->ranks; r++)
		order_free(&reading->of[r].order);
	free(reading->of);
	return err;
}

int import_ranks(struct job *job, const struct adding *adding)
{
	struct reading reading = {.job = job, .adding = adding};
	int err = places_find(job->now, &reading.places);
	if (err)
		return err;
	reading.n = reading.places.n;
	err = take(&reading);
	places_free(&reading.places);
	return err;
}

int import_log(
	const struct job *job, uint32_t *ret_epoch, sample_id **ret, uint32_t *ret_n)
{
	uint32_t n = (uint32_t)roaring_bitmap_get_cardinality(job->now->selection);
	auto_free char *path = name_log(job);
	struct order data;
	uint64_t offset = 0;
	*ret = NULL;
	*ret_epoch = *ret_n = 0;
	auto_close int fd = path ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (fd < 0)
		return path && errno == ENOENT ? 0 : -errno;
	int err = order_read_from(
		fd, path, n, job->now->fingerprint, &offset, ret_epoch, &data);
	/* -EINVAL: the file belongs to another training, and is ignored. */
	if (err)
		return err == -EINVAL ? 0 : err;
	*ret_n = data.bound;
	for (uint32_t i = 0; i < data.bound; i++)
		data.samples[i]--;
	*ret = data.samples;
	data.samples = NULL;
	order_free(&data);
	return 0;
}
