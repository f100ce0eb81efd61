// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/questions.h"
#include "state/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/*
 * Writes the orders of a job to a file, and reads such files on other machines, where the same
 * images have other ids and mtimes. So the file has the place of a sample (import.h) instead of the
 * sample's id. The file has these parts:
 *
 *   | checkpoint | orders N kind KIND paths FINGERPRINT | order | order ... |
 *
 * If the job is a rank, the line `orders ...` ends with `rank R of RANKS batch BATCH`, and places
 * are counted among the samples of all ranks.
 */

/* --- export ---------------------------------------------------------------------------- */

static int write_text(int fd, const struct checkpoint *from, const struct job *job,
	size_t n, uint64_t fingerprint, uint64_t *ret_bytes)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return -ENOMEM;
	checkpoint_print(out, from);
	fprintf(out, "orders %zu kind %u paths %016" PRIx64, n, (unsigned)job_kind(job),
		fingerprint);
	if (job_is_fed(job))
		fprintf(out, " rank %" PRIu32 " of %" PRIu32 " batch %" PRIu32,
			job->config.rank, job->config.ranks, job->config.global_batch);
	fprintf(out, "\n");
	int err = fclose(out) == 0 ? 0 : -ENOMEM;
	if (!err && pwrite(fd, text, bytes, 0) != (ssize_t)bytes)
		err = -EIO;
	free(text);
	*ret_bytes = bytes;
	return err;
}

static int write_one(const struct edition *edition, int fd, uint32_t epoch,
	const struct places *places, uint64_t *offset)
{
	struct order data;
	int err = order_load(edition->job->directory, epoch, edition->set.positions,
		edition->fingerprint, &data);
	if (err)
		return err;
	for (uint32_t i = 0; i < data.positions; i++)
		if (data.samples[i] != 0)
			data.samples[i] = places->places[data.samples[i] - 1] + 1;
	err = order_write_to(fd, epoch, places->fingerprint, &data, offset);
	order_free(&data);
	return err;
}

/* Removes from the list the orders of epochs whose edition is not `edition`. Returns the list's new
 * length. */
static size_t leave_out_others(
	const struct edition *edition, struct epochs_order_file *orders, size_t n)
{
	size_t kept = 0;
	LOCK_SCOPE(edition->job->lock);
	for (size_t i = 0; i < n; i++)
		if (edition_of_locked(edition->job, orders[i].epoch) == edition)
			orders[kept++] = orders[i];
	return kept;
}

static int write_all(const struct edition *edition, int fd, const struct checkpoint *from,
	const struct places *places)
{
	struct job *job = edition->job;
	auto_free struct epochs_order_file *orders = NULL;
	uint64_t offset = 0;
	size_t n = 0;
	int err = restore_list_orders(job, &orders, &n);
	if (!err)
		n = leave_out_others(edition, orders, n);
	if (!err)
		err = write_text(fd, from, job, n, places->fingerprint, &offset);
	for (size_t i = 0; i < n && !err; i++)
		err = write_one(edition, fd, orders[i].epoch, places, &offset);
	return err;
}

int export_orders(struct job *job, int fd, const struct checkpoint *from)
{
	struct edition *edition = edition_hold(job, from->place.running.epoch);
	struct places places;
	int err = places_find(edition, &places);
	if (!err) {
		err = write_all(edition, fd, from, &places);
		places_free(&places);
	}
	edition_let_go(edition);
	return err;
}

/* --- import ---------------------------------------------------------------------------- */

struct importing {
	struct job *job;
	const struct adding *adding;
	struct import_head head;
	struct places places;
	uint64_t offset;
};

static int check(struct importing *importing)
{
	const struct job *job = importing->job;
	const struct import_head *head = &importing->head;
	const char *name = importing->adding->file;
	if (head->ranks)
		return import_refuse(importing->adding,
			"job %s: the orders in %s belong to a rank, allowed: orders of a "
			"job without ranks",
			job->config.name, name);
	/* A job with mapping = fresh can also import orders of mapping = fixed. */
	bool drawn_too =
		head->kind == EPOCHS_FIXED && job->config.layout == LAYOUT_CLASSES;
	if (head->kind != (unsigned)job_kind(job) && !drawn_too)
		return import_refuse(importing->adding,
			"job %s: the orders in %s belong to another layout or to order = "
			"sequential; with layout = classes a position holds only samples "
			"of its class",
			job->config.name, name);
	if (head->from.samples == job->now->set.positions &&
		head->fingerprint == importing->places.fingerprint)
		return 0;
	return import_refuse(importing->adding,
		"job %s: the orders in %s belong to other samples: found %" PRIu32
		" with fingerprint %016" PRIx64 ", allowed: the %" PRIu32
		" with %016" PRIx64 " that the job selects (the fingerprint covers "
		"sizes, and paths below the dataset's directory)",
		job->config.name, name, head->from.samples, head->fingerprint,
		job->now->set.positions, importing->places.fingerprint);
}

/* Replaces the places (import.h) of samples in an imported order by ids. Returns false if no sample
 * has such a place, or if positions have fixed labels and a sample has another label than its
 * position. */
static bool translate(const struct importing *importing, struct order *data)
{
	const struct job *job = importing->job;
	const struct edition *edition = job->now;
	for (uint32_t i = 0; i < data->positions; i++) {
		if (data->samples[i] == 0)
			continue;
		if (data->samples[i] > importing->places.n)
			return false;
		sample_id id = importing->places.ids[data->samples[i] - 1];
		if (job_kind(job) == EPOCHS_DRAWN_AT_OPEN &&
			dataset_label(edition->is.dataset, id) !=
				edition_label_of(edition, i))
			return false;
		data->samples[i] = id + 1;
	}
	return true;
}

/* Saves an order, and checks that the job can read an epoch in this order. Takes over `data`. */
static int save_order(struct importing *importing, uint32_t epoch, struct order *data)
{
	const struct job *job = importing->job;
	const char *reason = "a sample does not belong to the job, or has another label";
	struct epoch *tried = NULL;
	if (!translate(importing, data)) {
		order_free(data);
		return import_refuse(importing->adding,
			"%s: the order of epoch %" PRIu32 ": %s", importing->adding->file,
			epoch, reason);
	}
	int err = order_save(job->directory, epoch, job->now->fingerprint, data);
	uint32_t bound = data->bound, consumed = data->consumed;
	int possible = epochs_prepare(job->epochs, &job->now->set, epoch, data, bound,
		consumed, &reason, &tried);
	epoch_reaped_free(tried);
	if (possible == -EINVAL)
		return import_refuse(importing->adding,
			"%s: the order of epoch %" PRIu32 ": %s", importing->adding->file,
			epoch, reason);
	return err ? err : possible;
}

static int save_orders(struct importing *importing)
{
	int err = 0;
	for (unsigned i = 0; i < importing->head.n_orders && !err; i++) {
		struct order data;
		uint32_t epoch;
		err = order_read_from(importing->adding->fd, importing->adding->file,
			importing->job->now->set.positions, importing->head.fingerprint,
			&importing->offset, &epoch, &data);
		if (err == -EINVAL)
			return import_refuse(importing->adding,
				"%s: its orders are incomplete; the log says why",
				importing->adding->file);
		if (!err)
			err = save_order(importing, epoch, &data);
	}
	return err;
}

static int tell_engine(struct job *job)
{
	struct epochs_order_file *orders;
	size_t n;
	int err = restore_list_orders(job, &orders, &n);
	if (!err)
		epochs_has_orders(job->epochs, orders, n);
	return err;
}

static int check_replay(const struct importing *importing)
{
	const struct job *job = importing->job;
	for (uint32_t epoch = 0; epoch < config_job_epochs(&job->config); epoch++) {
		uint32_t bound;
		int err = order_bound(job->directory, epoch, &bound);
		if (err == -ENOENT)
			return import_refuse(importing->adding,
				"%s:[job]:epochs: found %" PRIu32
				"%s, but %s has no order of epoch %" PRIu32
				", allowed: the epochs in the file (a run keeps "
				"keep_epochs of them)",
				job->config.file, config_job_epochs(&job->config),
				job->config.epochs ? "" : ", the default",
				importing->adding->file, epoch);
		if (err)
			return err;
	}
	return 0;
}

/* Sets *ret to the point where the job continues: adding->at, or the point of the exported job. */
static int find_place(struct importing *importing, struct restoring *ret)
{
	const char *at = importing->adding->at;
	int err = 0;
	*ret->from = importing->head.from;
	ret->at = at != NULL;
	if (at && checkpoint_parse_at(at, &ret->at_epoch, &ret->at_position) != 0)
		return import_refuse(importing->adding, IMPORT_AT, at);
	if (at && ret->from->has_journal)
		err = restore_check_target(importing->job, ret);
	return err ? import_refuse(importing->adding, "job %s: %s",
			     importing->job->config.name, ret->message)
		   : 0;
}

static int import_orders(struct importing *importing, struct restoring *ret)
{
	int err =
		import_read_head(importing->adding, &importing->offset, &importing->head);
	if (!err)
		err = places_find(importing->job->now, &importing->places);
	if (err)
		return err;
	err = check(importing);
	if (!err)
		err = save_orders(importing);
	if (!err && !ret)
		err = check_replay(importing);
	if (!err)
		err = tell_engine(importing->job);
	if (!err && ret)
		err = find_place(importing, ret);
	places_free(&importing->places);
	return err;
}

void import_undo(struct job *job)
{
	struct epochs_status status;
	epochs_status(job->epochs, &status);
	if (!status.started)
		order_prune(job->directory, UINT32_MAX);
}

/* Imports all orders of the file. After an error, removes the orders that were saved. *ret: the
 * point to which the caller has to restore the job. If ret is NULL, the job replays the orders. */
static int import(struct job *job, const struct adding *adding, struct restoring *ret)
{
	struct importing importing = {.job = job, .adding = adding};
	int err = import_orders(&importing, ret);
	if (err)
		import_undo(job);
	return err;
}

/* --- jobs that are added ---------------------------------------------------------------- */

/* Tells whether the job has begun an epoch, or has saved orders. Returns true if the orders can't
 * be listed. Reads job->epochs without the lock, because no other thread knows the job yet. */
static bool has_epochs(struct job *job)
{
	auto_free struct epochs_order_file *orders = NULL;
	struct epochs_status status;
	size_t n = 0;
	epochs_status(job->epochs, &status);
	return restore_list_orders(job, &orders, &n) != 0 || status.started || n > 0;
}

static int import_replay(struct job *job, const char *file, const struct adding *adding)
{
	auto_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct adding of_file = {.fd = fd,
		.file = file,
		.report = adding->report,
		.context = adding->context};
	if (fd >= 0)
		return import(job, &of_file, NULL);
	return import_refuse(adding,
		"%s:[job]:order: found \"%s\", which can't be read: %s", job->config.file,
		job->config.order_text, strerror(errno));
}

int import_for_job(struct job *job, const struct adding *adding, struct restoring *ret)
{
	const char *replay = config_replay(&job->config);
	if (!adding->file && !replay)
		return 0;
	bool has = has_epochs(job);
	if (!adding->file)
		return has ? 0 : import_replay(job, replay, adding);
	if (has)
		return import_refuse(adding,
			"job %s already has epochs here, allowed: a job without epochs",
			job->config.name);
	if (replay)
		return import_refuse(adding,
			"job %s: its orders come from order = replay:FILE, allowed: "
			"another order, or no --import",
			job->config.name);
	if (config_is_mixed(&job->config))
		return import_refuse(adding,
			"job %s is a mixture, which can't import orders",
			job->config.name);
	if (job_is_fed(job))
		return import_ranks(job, adding);
	if (job_kind(job) == EPOCHS_MIRRORED)
		return import_refuse(adding,
			"job %s has layout = mirror, which can't import orders",
			job->config.name);
	return import(job, adding, ret);
}

int mapping_of_import(const struct adding *adding, enum view_mapping *mapping)
{
	struct import_head head;
	uint64_t offset = 0;
	if (*mapping != MAPPING_AUTO)
		return 0;
	int err = import_read_head(adding, &offset, &head);
	if (!err && (head.kind == EPOCHS_FIXED || head.kind == EPOCHS_DRAWN_AT_OPEN))
		*mapping = head.kind == EPOCHS_FIXED ? MAPPING_FIXED : MAPPING_FRESH;
	return err;
}
