// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/own_directory.h"
#include "epoch/disk.h"
#include "state/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/*
 * <state>/jobs/<name>/, which joaderfs-state(5) describes:
 *     id                 the job's id; kept as long as a job of this name exists
 *     mapping            the mapping that was chosen for `mapping = auto`: mapping.c
 *     job.ini            the configuration of a job that was added at run time
 *     bad                the bad samples of a job with bad_sample = skip
 *     selection          a note about the samples that the job selects: measured.c
 *     journal-NNNN       the decisions of epochs: epoch/journal.h
 *     epoch-NNNN.order   the order of an epoch that has ended: epoch/order.h
 *     training.order     what the ranks of an imported training had read: import_ranks.c
 */

static int replace_file(const char *directory, const char *name, const char *text)
{
	int err = disk_replace(directory, name, text, 0644);
	if (err)
		log_error("%s/%s: %s", directory, name, strerror(-err));
	return err;
}

int keep_ini(const struct job *job)
{
	auto_free char *text = config_job_text(&job->config);
	return text ? replace_file(job->directory, "job.ini", text) : -ENOMEM;
}

void keep_no_ini(const struct job *job)
{
	auto_free char *path = aprintf("%s/job.ini", job->directory);
	if (path && unlink(path) != 0 && errno != ENOENT)
		log_warn("%s: %s", path, strerror(errno));
}

FILE *keep_bad_open(const struct job *job)
{
	auto_free char *path = aprintf("%s/bad", job->directory);
	if (!path)
		return NULL;
	FILE *in = disk_fopen(path);
	if (!in && errno != ENOENT)
		log_error("%s: %s", path, strerror(errno));
	return in;
}

int keep_bad(const struct job *job, const char *text)
{
	return replace_file(job->directory, "bad", text);
}

static int read_id(const char *directory, uint32_t *ret)
{
	*ret = 0;
	auto_free char *path = aprintf("%s/id", directory);
	if (!path)
		return -ENOMEM;
	auto_fclose FILE *in = disk_fopen(path);
	int err = in || errno == ENOENT ? 0 : -errno;
	if (in && fscanf(in, "%" SCNu32, ret) != 1)
		err = -EINVAL;
	if (err)
		log_error("%s: %s", path,
			err == -EINVAL ? "found no number, allowed: the job's number"
				       : strerror(-err));
	return err;
}

int keep_id(const struct job *job)
{
	char text[16];
	snprintf(text, sizeof(text), "%" PRIu32 "\n", job->id);
	return replace_file(job->directory, "id", text);
}

int keep_begin(const struct job *job, uint32_t *ret_id)
{
	int err = own_directory(job->directory, false);
	return err ? err : read_id(job->directory, ret_id);
}

#define SKIPPED_AT_ONCE 64

/* Tells job->epochs which positions the epoch leaves out because of bad samples. A saved order
 * begins with these positions, so the rest of the order is not read. */
static void has_skipped(struct job *job, uint32_t epoch)
{
	struct binding bindings[SKIPPED_AT_ONCE];
	uint32_t k = 0, n, i;
	do {
		if (order_bindings(
			    job->directory, epoch, k, SKIPPED_AT_ONCE, bindings, &n) != 0)
			return;
		for (i = 0; i < n && bindings[i].served == SERVED_SKIPPED; i++)
			epochs_was_skipped(job->epochs, epoch, bindings[i].position);
		k += i;
	} while (n > 0 && i == n);
}

static int has_saved(struct job *job)
{
	struct epochs_order_file *orders;
	size_t n;
	int err = restore_list_orders(job, &orders, &n);
	for (size_t i = 0; !err && job->config.skips_bad && i < n; i++)
		has_skipped(job, orders[i].epoch);
	if (!err)
		epochs_has_orders(job->epochs, orders, n);
	return err;
}

static int replay(void *context, const struct record *record, const char **ret_reason)
{
	struct job *job = context;
	struct epoch *loaded;
	auto_free char *path = NULL;
	bool restored = record->kind == RECORD_RESTORED;
	if (fault_hit("journal.replay"))
		return 0;
	if (!restored && (record->kind != RECORD_BEGUN || record->bound == 0))
		return epochs_replay(job->epochs, record, ret_reason);
	if (restored)
		path = journal_order_of(job->directory, record->segment, record->drains);
	if (restored && !path)
		return -ENOMEM;
	int err = restore_load(job, path, record->epoch, record->bound, record->consumed,
		ret_reason, &loaded);
	return err ? err : epochs_replay_loaded(job->epochs, record, loaded, ret_reason);
}

static int open_journal(struct job *job, enum journal_found *ret_found)
{
	size_t n_sets;
	auto_free struct order_set *sets = edition_order_sets(job, &n_sets);
	if (!sets)
		return -ENOMEM;
	struct journal_identity identity = {.job = job->config.name,
		.id = job->id,
		.positions = job->now->set.positions,
		.samples = dataset_ids(job->now->is.dataset),
		.fingerprint = job->now->fingerprint,
		.others = sets,
		.n_others = n_sets};
	return journal_open(
		job->directory, &identity, replay, job, ret_found, &job->journal);
}

/* Appends to the journal the records that the last daemon did not write before it ended. Ignores
 * other effects: no reader is connected, and no file is open yet. */
static void make_up(struct job *job)
{
	struct effects effects;
	do {
		effects_init(&effects);
		epochs_replayed(job->epochs, &effects);
		for (unsigned i = 0; i < effects.n; i++)
			if (effects.list[i].kind == EFFECT_RECORD)
				journal_append(job->journal, &effects.list[i].record);
	} while (effects.n > 0);
}

int keep_restore(struct job *job)
{
	enum journal_found found;
	int err = open_journal(job, &found);
	if (!err && found == JOURNAL_OTHER) {
		log_warn("job %s: its dataset, layout or selection (where) has changed "
			 "since its epochs began, so epochs begin again; the old files "
			 "are now in %s/before",
			job->config.name, job->directory);
		err = journal_set_aside(job->directory);
		if (!err)
			err = open_journal(job, &found);
	}
	if (!err)
		err = has_saved(job);
	if (!err)
		make_up(job);
	return err;
}

uint32_t keep_from(const struct job *job, uint32_t epoch)
{
	uint32_t keep = job->config.keep_epochs;
	return epoch < keep ? 0 : epoch - keep + 1;
}

int keep_order(struct job *job, uint32_t epoch, const struct order *order)
{
	uint32_t first = keep_from(job, epoch);
	const struct edition *edition = restore_edition(job, epoch);
	int err = order_save(job->directory, epoch, edition->fingerprint, order);
	if (err)
		return err;
	if (first > 0)
		order_prune(job->directory, first);
	return 0;
}

/* Removes job.ini first: without this file, a restart does not add the job again. */
static int remove_own_files(int directory)
{
	static const char *const names[] = {"job.ini", "job.ini.new", "id", "id.new",
		"bad", "bad.new", "mapping", "mapping.new", "training.order",
		"training.order.new", MEASURED_FILE, MEASURED_FILE ".new"};
	int err = unlinkat(directory, names[0], 0) == 0 || errno == ENOENT ? 0 : -errno;
	if (!err)
		err = journal_remove_all(directory);
	for (size_t i = 0; !err && i < sizeof(names) / sizeof(*names); i++)
		if (unlinkat(directory, names[i], 0) != 0 && errno != ENOENT)
			err = -errno;
	return err;
}

void keep_nothing(const struct job *job)
{
	const char *path = job->directory;
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	auto_close int fd = open(path, flags);
	int err = fd < 0 ? -errno : remove_own_files(fd);
	if (!err && rmdir(path) != 0)
		err = -errno;
	if (err == -ENOTEMPTY || err == -EEXIST)
		log_warn("%s: is not removed, because it has other files", path);
	else if (err && err != -ENOENT)
		log_warn("%s: can't be removed: %s", path, strerror(-err));
}
