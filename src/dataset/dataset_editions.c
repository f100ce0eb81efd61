// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/compare.h"
#include "base/fault.h"
#include "base/log.h"
#include "dataset/dataset_map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Editions of a dataset. An edition is the result of a scan. If a scan of a dataset in use finds
 * changes, its result becomes a new edition. The old edition is kept as long as a job has an epoch
 * that began with it.
 *
 *     <name>.sqlite.next    scanned, and not in use yet
 *          | rename
 *          v
 *     <name>.sqlite         the edition that new epochs begin with
 *          | link, before the rename
 *          v
 *     <name>.sqlite.0 ...   editions that earlier epochs began with
 *
 * The map of each edition lies beside its catalogue, and moves with it.
 */

char *catalogue_file(const char *state_dir, const char *name, const char *ending)
{
	return aprintf("%s/datasets/%s.sqlite%s", state_dir, name, ending);
}

char *catalogue_kept_file(const char *state_dir, const char *name, uint32_t number)
{
	char ending[16];
	snprintf(ending, sizeof(ending), ".%" PRIu32, number);
	return catalogue_file(state_dir, name, ending);
}

int catalogue_sync_directory(const char *file)
{
	auto_free char *directory = strndup(file, (size_t)(strrchr(file, '/') - file));
	if (!directory)
		return -ENOMEM;
	auto_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

uint32_t dataset_edition(const struct dataset *dataset)
{
	return dataset->edition;
}

static bool is_kept(const char *file, const char *name, uint32_t *ret)
{
	static const char middle[] = ".sqlite.";
	size_t n = strlen(name);
	char *end;
	if (strncmp(file, name, n) != 0 ||
		strncmp(file + n, middle, sizeof(middle) - 1) != 0)
		return false;
	const char *digits = file + n + sizeof(middle) - 1;
	if (*digits < '0' || *digits > '9')
		return false;
	unsigned long number = strtoul(digits, &end, 10);
	*ret = (uint32_t)number;
	return *end == '\0' && number <= UINT32_MAX &&
	       (*digits != '0' || end == digits + 1);
}

int dataset_kept(const char *state_dir, const char *name, uint32_t **ret, size_t *ret_n)
{
	auto_free struct dirent **entries = NULL;
	*ret = NULL;
	*ret_n = 0;
	auto_free char *directory = aprintf("%s/datasets", state_dir);
	if (!directory)
		return -ENOMEM;
	int n = scandir(directory, &entries, NULL, NULL);
	if (n < 0)
		return errno == ENOENT ? 0 : -errno;
	uint32_t *numbers = calloc((size_t)n + 1, sizeof(*numbers));
	for (int i = 0; i < n; i++) {
		if (numbers && is_kept(entries[i]->d_name, name, &numbers[*ret_n]))
			(*ret_n)++;
		free(entries[i]);
	}
	if (!numbers)
		return -ENOMEM;
	qsort(numbers, *ret_n, sizeof(*numbers), compare_u32);
	*ret = numbers;
	return 0;
}

/* Stores `file`, the new name of the dataset's catalogue, in `dataset`. connection_new notices the
 * change. */
static void rename_in_use(struct dataset *dataset, char *file)
{
	size_t i = 1;
	while (dataset->files[i])
		i++;
	dataset->files[i] = file;
	dataset->file = file;
}

/* Applies `move`, which is rename or link, to the map of the catalogue `from`, so that the
 * catalogue `to` has this map. Existing mappings of the map remain valid. An error is only logged,
 * because catalogue_map_open notices a wrong map. */
static void move_map(
	const char *from, const char *to, int (*move)(const char *from, const char *to))
{
	auto_free char *from_map = catalogue_map_file(from);
	auto_free char *to_map = catalogue_map_file(to);
	if (!from_map || !to_map)
		return;
	(void)unlink(to_map);
	if (move(from_map, to_map) != 0 && errno != ENOENT)
		log_warn("%s: can't become %s: %s", from_map, to_map, strerror(errno));
}

/* Gives the catalogue of `now` the second name <name>.sqlite.<number>. The number is the first free
 * one from now->edition on. */
static int keep(const char *state_dir, struct dataset *now)
{
	int err = -EEXIST;
	for (uint32_t number = now->edition; err == -EEXIST; number++) {
		char *kept = catalogue_kept_file(state_dir, now->name, number);
		if (!kept)
			return -ENOMEM;
		err = link(now->file, kept) == 0 ? 0 : -errno;
		if (err) {
			free(kept);
		} else {
			move_map(now->file, kept, link);
			rename_in_use(now, kept);
		}
	}
	return err ? err : catalogue_sync_directory(now->file);
}

static bool was_kept(const struct dataset *dataset)
{
	uint32_t number;
	return is_kept(strrchr(dataset->file, '/') + 1, dataset->name, &number);
}

int dataset_install(const char *state_dir, struct dataset *now, struct dataset *next)
{
	char *file = catalogue_file(state_dir, now->name, "");
	int err = file ? fault_hit("dataset.install") : -ENOMEM;
	/* `now` already has a name with a number if an earlier call could not rename. */
	if (!err && !was_kept(now))
		err = keep(state_dir, now);
	if (!err)
		err = fault_hit("dataset.rename");
	if (!err && rename(next->file, file) != 0)
		err = -errno;
	if (err) {
		log_error("dataset %s: its catalogue can't be replaced: %s", now->name,
			strerror(-err));
		free(file);
		return err;
	}
	move_map(next->file, file, rename);
	next->provisional = false;
	rename_in_use(next, file);
	err = catalogue_sync_directory(file);
	if (err)
		log_warn("%s: can't be synced: %s", file, strerror(-err));
	return 0;
}

static void remove_file(const char *file)
{
	if (unlink(file) != 0 && errno != ENOENT)
		log_warn("%s: can't be removed: %s", file, strerror(errno));
}

void catalogue_remove(const char *file)
{
	auto_free char *map = catalogue_map_file(file);
	remove_file(file);
	if (map)
		remove_file(map);
}

bool dataset_is_unseen(const struct dataset *dataset)
{
	return dataset->unseen;
}

/* Removes the map, because a dataset without a map is scanned when the daemon starts. */
void dataset_look_before(const char *state_dir, const char *name)
{
	auto_free char *file = catalogue_file(state_dir, name, "");
	auto_free char *map = file ? catalogue_map_file(file) : NULL;
	if (map)
		remove_file(map);
}

void dataset_discard(struct dataset *dataset)
{
	if (dataset->provisional || was_kept(dataset))
		catalogue_remove(dataset->file);
	dataset->provisional = false;
}

void dataset_prune(const char *state_dir, const char *name,
	struct dataset *const *datasets, size_t n)
{
	auto_free uint32_t *numbers = NULL;
	size_t n_kept;
	if (dataset_kept(state_dir, name, &numbers, &n_kept) != 0)
		return;
	for (size_t i = 0; i < n_kept; i++) {
		auto_free char *file = catalogue_kept_file(state_dir, name, numbers[i]);
		bool used = !file;
		for (size_t k = 0; k < n && !used; k++)
			used = strcmp(datasets[k]->file, file) == 0;
		if (!used)
			catalogue_remove(file);
	}
}

void dataset_forget(const char *state_dir, const char *name)
{
	auto_free char *file = catalogue_file(state_dir, name, "");
	auto_free char *next = catalogue_file(state_dir, name, NEXT);
	if (file)
		catalogue_remove(file);
	if (next)
		catalogue_remove(next);
	dataset_prune(state_dir, name, NULL, 0);
}
