// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/disk.h"
#include "epoch/journal_internal.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

static int copy_tail(int from, uint64_t offset, int to)
{
	uint8_t block[64 * 1024];
	struct stat st;
	size_t n, done;
	if (fstat(to, &st) != 0)
		return -errno;
	uint64_t end = (uint64_t)st.st_size;
	do {
		int err = disk_read(from, block, sizeof(block), offset, &n);
		if (!err)
			err = disk_write(to, block, n, end, "journal.write", &done);
		if (err)
			return err;
		offset += n;
		end += n;
	} while (n == sizeof(block));
	return disk_sync(to, "journal.sync");
}

static int save_tail(const char *directory, int fd, uint64_t offset,
	const struct journal_path *damaged)
{
	auto_close int to =
		open(damaged->text, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	int err = to < 0 ? -errno : copy_tail(fd, offset, to);
	if (!err)
		err = disk_sync_directory(directory, "journal.sync");
	return err ? disk_cant(damaged->text, "written", err) : 0;
}

/* Ends the file at the offset, or removes the file if no record is left. Then syncs it: otherwise a
 * power failure could bring the removed bytes back, behind new records in their place. */
static int end_at(const char *directory, const char *path, int fd, uint64_t offset)
{
	if (offset <= sizeof(struct disk_head))
		return unlink(path) == 0 ? disk_sync_directory(directory, "journal.sync")
					 : -errno;
	if (ftruncate(fd, (off_t)offset) != 0)
		return -errno;
	return disk_sync(fd, "journal.sync");
}

int journal_cut(const char *directory, uint32_t epoch, uint64_t offset)
{
	auto_close int fd = -1;
	struct journal_path path, damaged;
	struct stat st;
	bool whole = offset <= sizeof(struct disk_head);
	int err = journal_open_segment(directory, epoch, O_RDWR, &path, &fd);
	if (!err)
		err = journal_path(directory, epoch, ".damaged", &damaged);
	if (!err && fstat(fd, &st) != 0)
		err = disk_cant(path.text, "read", -errno);
	if (!err && st.st_size > 0)
		err = save_tail(directory, fd, whole ? 0 : offset, &damaged);
	if (err)
		return err;
	err = end_at(directory, path.text, fd, offset);
	if (err)
		return disk_cant(path.text, "cut off", err);
	log_warn(
		"%s: byte %" PRIu64 ": incomplete or damaged: the last %" PRIu64
		" bytes are cut off and kept in %s; their part of epoch %u is drawn anew",
		path.text, offset, (uint64_t)st.st_size - offset, damaged.text, epoch);
	return 0;
}
