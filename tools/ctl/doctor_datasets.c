// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/clock.h"
#include "dataset/dataset.h"
#include "doctor.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define CIFS_MAGIC 0xff534d42
#define LUSTRE_MAGIC 0x0bd00bd0
#define FUSE_MAGIC 0x65735546
#define BEEGFS_MAGIC 0x19830326

static const struct file_system {
	uint32_t magic;
	const char *name;
} remote[] = {
	{NFS_SUPER_MAGIC, "NFS"},
	{CIFS_MAGIC, "CIFS"},
	{SMB2_SUPER_MAGIC, "SMB"},
	{CEPH_SUPER_MAGIC, "Ceph"},
	{LUSTRE_MAGIC, "Lustre"},
	{BEEGFS_MAGIC, "BeeGFS"},
	{AFS_SUPER_MAGIC, "AFS"},
	{V9FS_MAGIC, "9P"},
	{FUSE_MAGIC, "FUSE"},
};

/* Returns the name of the path's file system if its files are on other machines, otherwise NULL. */
static const char *remote_name(const char *path)
{
	struct statfs info;
	if (statfs(path, &info) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((uint32_t)info.f_type == remote[i].magic)
			return remote[i].name;
	return NULL;
}

static bool is_later(const struct stat *a, const struct stat *b)
{
	return timespec_ns(a->st_mtim) > timespec_ns(b->st_mtim);
}

/* Tells whether the path, or an entry directly in it, is newer than the catalogue. */
static bool is_newer(const char *path, const struct stat *catalogue)
{
	struct stat info;
	if (stat(path, &info) != 0)
		return false;
	if (is_later(&info, catalogue))
		return true;
	DIR *directory = S_ISDIR(info.st_mode) ? opendir(path) : NULL;
	bool newer = false;
	for (struct dirent *entry; directory && !newer && (entry = readdir(directory));)
		newer = entry->d_name[0] != '.' &&
			fstatat(dirfd(directory), entry->d_name, &info, 0) == 0 &&
			is_later(&info, catalogue);
	if (directory)
		closedir(directory);
	return newer;
}

static void check_catalogue(
	struct findings *findings, const struct dataset_config *dataset)
{
	struct stat catalogue;
	auto_free char *file =
		aprintf("%s/datasets/%s.sqlite", findings->config->state, dataset->name);
	if (!file)
		return;
	if (stat(file, &catalogue) != 0)
		found(findings, FINE, NULL,
			"dataset %s: not scanned yet, so the first start takes longer",
			dataset->name);
	else if (is_newer(dataset->path, &catalogue))
		found(findings, COSTS, "restart joaderfs",
			"dataset %s: %s has changed since it was scanned", dataset->name,
			dataset->path);
	else
		found(findings, FINE, NULL, "dataset %s: unchanged since it was scanned",
			dataset->name);
}

/* Prints how many images have unusual pixels, because users easily overlook how such
 * images are prepared. */
static void check_pixels(struct findings *findings, const struct dataset_config *dataset)
{
	struct dataset_pixels pixels;
	char text[DATASET_PIXELS_TEXT];
	if (dataset_pixels_known(dataset, findings->config->state, &pixels) == 0 &&
		dataset_pixels_print(&pixels, text))
		found(findings, FINE, NULL, "dataset %s: has images %s", dataset->name,
			text);
}

static void check_dataset(struct findings *findings, const struct dataset_config *dataset)
{
	const char *name = remote_name(dataset->path);
	bool is_pattern = strpbrk(dataset->path, "{") || strstr(dataset->path, "://");
	if (!is_pattern && access(dataset->path, R_OK) != 0) {
		found(findings, BREAKS, "another path in the ini", "dataset %s: %s: %s",
			dataset->name, dataset->path, strerror(errno));
		return;
	}
	if (name)
		found(findings, COSTS,
			"a copy on a disk of this machine, or tar shards of it",
			"dataset %s: %s is on %s, whose speed limits an epoch",
			dataset->name, dataset->path, name);
	check_catalogue(findings, dataset);
	check_pixels(findings, dataset);
}

void check_datasets(struct findings *findings)
{
	const struct daemon_config *config = findings->config;
	for (size_t i = 0; config && i < config->n_datasets; i++)
		check_dataset(findings, &config->datasets[i]);
}
