// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "state/import.h"
#include "sched/jobs.h"
#include "sched/sched_internal.h"
#include "state/state.h"

#include "base/ranks.h"
#include "epoch/questions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Writes orders for other machines, where the same files have other ids and mtimes, and reads
 * them. A file is
 *
 *   | checkpoint | orders N kind KIND paths FINGERPRINT | order | order ... |
 *
 * An order names a sample by its place among the selected samples in the byte order of
 * their paths. If the job is a rank, the line ends with `rank R of RANKS batch BATCH`,
 * and the selected samples are the samples of all ranks.
 */

#define TEXT_BYTES (CHECKPOINT_BYTES + 128)

void places_free(struct places *places)
{
	free(places->ids);
	free(places->places);
}

int places_find(const struct edition *edition, struct places *ret)
{
	uint32_t n = (uint32_t)roaring_bitmap_get_cardinality(edition->selection);
	uint32_t n_ids = dataset_ids(edition->is.dataset);
	*ret = (struct places){.n = n,
		.ids = calloc(n, sizeof(*ret->ids)),
		.places = calloc((size_t)n_ids + 1, sizeof(*ret->places))};
	int err = ret->ids && ret->places ? 0 : -ENOMEM;
	if (!err)
		err = dataset_by_path(edition->is.dataset, edition->selection, ret->ids,
			&ret->fingerprint);
	for (uint32_t i = 0; i < n && !err; i++)
		ret->places[ret->ids[i]] = i;
	if (err)
		places_free(ret);
	return err;
}

int import_refuse(const struct adding *adding, const char *format, ...)
{
	char text[600];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	adding->report(adding->context, text);
	return -EBADMSG;
}

/* --- export ---------------------------------------------------------------------------- */

static int write_text(int fd, const struct checkpoint *from, const struct sched_job *job,
	size_t n, uint64_t fingerprint, uint64_t *ret_bytes)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return -ENOMEM;
	checkpoint_print(out, from);
	fprintf(out, "orders %zu kind %u paths %016" PRIx64, n,
		(unsigned)job_kind(&job->is), fingerprint);
	if (job_is_fed(&job->is))
		fprintf(out, " rank %" PRIu32 " of %" PRIu32 " batch %" PRIu32,
			job->is.config.rank, job->is.config.ranks,
			job->is.config.global_batch);
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
	struct order_data data;
	int err = order_load(edition->job->directory, epoch, edition->set.positions,
		edition->fingerprint, &data);
	if (err)
		return err;
	for (uint32_t i = 0; i < data.positions; i++)
		if (data.samples[i] != 0)
			data.samples[i] = places->places[data.samples[i] - 1] + 1;
	struct order order = order_of(&data);
	err = order_write_to(fd, epoch, places->fingerprint, &order, offset);
	order_data_free(&data);
	return err;
}

/* Removes orders of another scan of the dataset from the list, since they have other
 * samples. Returns the number of orders that remain. */
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
	struct sched_job *job = sched_job_of(edition->job);
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

static int export_from(struct sched_job *job, int fd, const struct checkpoint *from)
{
	struct edition *edition = edition_hold(&job->is, from->place.running.epoch);
	struct places places;
	int err = places_find(edition, &places);
	if (!err) {
		err = write_all(edition, fd, from, &places);
		places_free(&places);
	}
	edition_let_go(edition);
	return err;
}

int sched_job_export(struct sched_job *job, int fd, config_report *report, void *context)
{
	struct checkpoint from = {0};
	struct restoring restoring = {.from = &from, .export = true};
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		report(context, "export: the descriptor is not of a regular file");
		return -EINVAL;
	}
	if (config_is_mixed(&job->is.config)) {
		config_report_text(report, context,
			"job %s is a mixture, whose orders can't be exported: they "
			"belong to no single dataset",
			job->is.config.name);
		return -EOPNOTSUPP;
	}
	int err = job_kind(&job->is) == EPOCHS_MIRRORED
			  ? -EOPNOTSUPP
			  : restore_by_clerk(job, &restoring);
	if (!err)
		err = export_from(job, fd, &from);
	if (err)
		config_report_text(report, context, "job %s: can't be exported: %s",
			job->is.config.name,
			restoring.message[0] ? restoring.message : strerror(-err));
	return err;
}

/* --- import ---------------------------------------------------------------------------- */

struct importing {
	struct sched_job *job;
	const struct adding *adding;
	const struct sched_import *import;
	struct import_head head;
	struct places places;
	uint64_t offset;
};

/* Parses the line of orders, and returns the text behind it; NULL: there is no such line. */
static const char *take_orders(const char *text, struct import_head *ret)
{
	int used = 0, of_rank = 0;
	if (sscanf(text, "orders %u kind %u paths %16" SCNx64 "%n", &ret->n_orders,
		    &ret->kind, &ret->fingerprint, &used) != 3)
		return NULL;
	text += used;
	ret->ranks = 0;
	if (sscanf(text, " rank %" SCNu32 " of %" SCNu32 " batch %" SCNu32 "%n",
		    &ret->rank, &ret->ranks, &ret->batch, &of_rank) == 3)
		text += of_rank;
	return *text == '\n' ? text + 1 : NULL;
}

int import_read_head(
	const struct adding *adding, uint64_t *offset, struct import_head *ret)
{
	const struct sched_import *import = adding->import;
	char text[TEXT_BYTES + 1], message[200] = "";
	const char *end;
	ssize_t n = pread(import->fd, text, TEXT_BYTES, (off_t)*offset);
	if (n < 0)
		return import_refuse(
			adding, "%s: can't be read: %s", import->name, strerror(errno));
	text[n] = '\0';
	if (checkpoint_parse(text, &ret->from, &end, message) != 0)
		return import_refuse(adding, "%s: not written by joaderctl export: %s",
			import->name, message);
	end = take_orders(end, ret);
	if (!end)
		return import_refuse(adding,
			"%s: has no orders: found a checkpoint, allowed: a file that "
			"joaderctl export has written",
			import->name);
	*offset += (uint64_t)(end - text);
	return 0;
}

static int check(struct importing *importing)
{
	const struct sched_job *job = importing->job;
	const struct import_head *head = &importing->head;
	const char *name = importing->import->name;
	if (head->ranks)
		return import_refuse(importing->adding,
			"job %s: the orders in %s are of a rank, allowed: those of a job "
			"without ranks",
			job->is.config.name, name);
	/* A fresh mapping may give each position the sample that a fixed one gives. */
	bool drawn_too =
		head->kind == EPOCHS_FIXED && job->is.config.layout == LAYOUT_CLASSES;
	if (head->kind != (unsigned)job_kind(&job->is) && !drawn_too)
		return import_refuse(importing->adding,
			"job %s: the orders in %s are of another layout, or order = "
			"sequential: positions of classes hold samples of their class "
			"only",
			job->is.config.name, name);
	if (head->from.samples == job->is.now->set.positions &&
		head->fingerprint == importing->places.fingerprint)
		return 0;
	return import_refuse(importing->adding,
		"job %s: the orders in %s are of other samples: found %" PRIu32
		" with fingerprint %016" PRIx64 ", allowed: the %" PRIu32
		" with %016" PRIx64 " that the job selects (paths below the dataset's "
		"directory, and sizes)",
		job->is.config.name, name, head->from.samples, head->fingerprint,
		job->is.now->set.positions, importing->places.fingerprint);
}

/* Translates places to ids. Returns false if there is no such place, or if a position has
 * another label here. */
static bool translate(const struct importing *importing, struct order_data *data)
{
	const struct sched_job *job = importing->job;
	const struct edition *edition = job->is.now;
	for (uint32_t i = 0; i < data->positions; i++) {
		if (data->samples[i] == 0)
			continue;
		if (data->samples[i] > importing->places.n)
			return false;
		sample_id id = importing->places.ids[data->samples[i] - 1];
		if (job_kind(&job->is) == EPOCHS_DRAWN_AT_OPEN &&
			dataset_label(edition->is.dataset, id) !=
				edition_label_of(edition, i))
			return false;
		data->samples[i] = id + 1;
	}
	return true;
}

/* Saves an order, and has the engine check that it is possible. */
static int save_order(
	struct importing *importing, uint32_t epoch, struct order_data *data)
{
	const struct sched_job *job = importing->job;
	const char *reason = "a sample does not belong to the job, or has another label";
	struct order order = order_of(data);
	struct epoch *tried = NULL;
	if (!translate(importing, data)) {
		order_data_free(data);
		return import_refuse(importing->adding,
			"%s: the order of epoch %" PRIu32 ": %s", importing->import->name,
			epoch, reason);
	}
	int err = order_save(job->is.directory, epoch, job->is.now->fingerprint, &order);
	uint32_t bound = data->bound, consumed = data->consumed;
	int possible = epochs_prepare(job->is.epochs, &job->is.now->set, epoch, data,
		bound, consumed, &reason, &tried);
	epoch_reaped_free(tried);
	if (possible == -EINVAL)
		return import_refuse(importing->adding,
			"%s: the order of epoch %" PRIu32 ": %s", importing->import->name,
			epoch, reason);
	return err ? err : possible;
}

static int save_orders(struct importing *importing)
{
	int err = 0;
	for (unsigned i = 0; i < importing->head.n_orders && !err; i++) {
		struct order_data data;
		uint32_t epoch;
		err = order_read_from(importing->import->fd, importing->import->name,
			importing->job->is.now->set.positions,
			importing->head.fingerprint, &importing->offset, &epoch, &data);
		if (err == -EINVAL)
			return import_refuse(importing->adding,
				"%s: its orders are incomplete; the log says why",
				importing->import->name);
		if (!err)
			err = save_order(importing, epoch, &data);
	}
	return err;
}

static int tell_engine(struct sched_job *job)
{
	struct epochs_order_file *orders;
	size_t n;
	int err = restore_list_orders(job, &orders, &n);
	if (!err)
		epochs_has_orders(job->is.epochs, orders, n);
	return err;
}

/* Checks that each epoch that a replay may come to has an order. */
static int check_replay(const struct importing *importing)
{
	const struct sched_job *job = importing->job;
	for (uint32_t epoch = 0; epoch < config_job_epochs(&job->is.config); epoch++) {
		uint32_t bound;
		int err = order_bound(job->is.directory, epoch, &bound);
		if (err == -ENOENT)
			return import_refuse(importing->adding,
				"%s:[job]:epochs: found %" PRIu32
				"%s, but %s has no order of "
				"epoch %" PRIu32
				", allowed: the epochs that it has (keep_epochs says how "
				"many a run keeps)",
				job->is.config.file, config_job_epochs(&job->is.config),
				job->is.config.epochs ? "" : ", the default",
				importing->import->name, epoch);
		if (err)
			return err;
	}
	return 0;
}

/* Moves the job to where the exported job was, or to `at`. */
static int go_there(struct importing *importing)
{
	const char *at = importing->import->at;
	struct restoring restoring = {.from = &importing->head.from, .at = at != NULL};
	int err = 0;
	if (at &&
		checkpoint_parse_at(at, &restoring.at_epoch, &restoring.at_position) != 0)
		return import_refuse(importing->adding, IMPORT_AT, at);
	if (!importing->head.from.has_journal)
		return 0;
	if (at)
		err = restore_check_target(importing->job, &restoring);
	if (!err)
		err = restore_new(importing->job, &restoring);
	return err ? import_refuse(importing->adding, "job %s: %s",
			     importing->job->is.config.name, restoring.message)
		   : 0;
}

static int import_orders(struct importing *importing, bool place)
{
	int err =
		import_read_head(importing->adding, &importing->offset, &importing->head);
	if (!err)
		err = places_find(importing->job->is.now, &importing->places);
	if (err)
		return err;
	err = check(importing);
	if (!err)
		err = save_orders(importing);
	if (!err && !place)
		err = check_replay(importing);
	if (!err)
		err = tell_engine(importing->job);
	if (!err && place)
		err = go_there(importing);
	places_free(&importing->places);
	return err;
}

/* Imports the orders. place: also moves the job to where the exported job was. After a
 * failure a job that has not begun loses the orders again, since it had none before. */
static int import(struct sched_job *job, const struct adding *adding, bool place)
{
	struct epochs_status status;
	struct importing importing = {
		.job = job, .adding = adding, .import = adding->import};
	int err = import_orders(&importing, place);
	epochs_status(job->is.epochs, &status);
	if (err && !status.started)
		order_prune(job->is.directory, UINT32_MAX);
	return err;
}

/* --- jobs that are added ---------------------------------------------------------------- */

/* Tells whether the job has epochs; true also if its orders can't be listed. No other thread knows
 * the job yet. */
static bool has_epochs(struct sched_job *job)
{
	auto_free struct epochs_order_file *orders = NULL;
	struct epochs_status status;
	size_t n = 0;
	epochs_status(job->is.epochs, &status);
	return restore_list_orders(job, &orders, &n) != 0 || status.started || n > 0;
}

/* Imports the orders of order = replay:FILE. FILE is not needed afterwards. */
static int import_replay(
	struct sched_job *job, const char *file, const struct adding *adding)
{
	auto_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct sched_import from = {.fd = fd, .name = file};
	struct adding of_file = {&from, adding->report, adding->context};
	if (fd >= 0)
		return import(job, &of_file, false);
	return import_refuse(adding,
		"%s:[job]:order: found \"%s\", which can't be read: %s",
		job->is.config.file, job->is.config.order_text, strerror(errno));
}

int import_for_job(struct sched_job *job, const struct adding *adding)
{
	const char *replay = config_replay(&job->is.config);
	if (!adding->import && !replay)
		return 0;
	bool has = has_epochs(job);
	if (!adding->import)
		return has ? 0 : import_replay(job, replay, adding);
	if (has)
		return import_refuse(adding,
			"job %s has epochs here already, allowed: a job that has none",
			job->is.config.name);
	if (replay)
		return import_refuse(adding,
			"job %s: order = replay:FILE has the orders already, allowed: "
			"another order, or no --import",
			job->is.config.name);
	if (config_is_mixed(&job->is.config))
		return import_refuse(adding,
			"job %s is a mixture, for which no orders can be imported",
			job->is.config.name);
	if (job_is_fed(&job->is))
		return import_ranks(job, adding);
	if (job_kind(&job->is) == EPOCHS_MIRRORED)
		return import_refuse(adding,
			"job %s has layout = mirror, for which no orders can be imported",
			job->is.config.name);
	return import(job, adding, true);
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
