// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/disk_io.h"
#include "base/log.h"
#include "files/layout_mirror.h"
#include "fuse/handle.h"
#include "fuse/other_file.h"
#include "load/open_beneath.h"
#include "sched/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void answer_open(const struct request *request)
{
	struct fuse_file_info fi = request->fi;
	fi.fh = handle_new(request->inode.epoch);
	/* the bytes never change, because reads fail after the source file has changed */
	fi.keep_cache = true;
	reply_open(request->req, &fi, 0);
}

static int open_other(const struct mirror_other *other)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	if (other->boundary)
		return open_beneath(other->boundary, other->path, flags);
	int fd = open(other->path, flags);
	return fd < 0 ? -errno : fd;
}

static int check(const struct mirror_other *other, int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	int64_t mtime_ns = timespec_ns(st.st_mtim);
	return S_ISREG(st.st_mode) && (uint64_t)st.st_size == other->bytes &&
			       mtime_ns == other->mtime_ns
		       ? 0
		       : -ESTALE;
}

static ssize_t read_other(struct sched_job *job, const struct request *request, char *ret)
{
	struct mirror_other other;
	int err = mirror_other(job, request->inode, &other);
	if (err)
		return err;
	auto_close int fd = open_other(&other);
	err = fd < 0 ? fd : check(&other, fd);
	size_t n = 0;
	if (!err)
		err = disk_read(fd, ret, request->size, request->offset, &n);
	if (err)
		log_warn("job %s: %s: %s", sched_job_config(job)->name, other.path,
			err == -ESTALE ? "it has changed since the dataset was scanned"
				       : strerror(-err));
	mirror_other_free(&other);
	if (err)
		return err == -ENOMEM ? err : -EIO;
	return (ssize_t)n;
}

static void answer_read(const struct request *request)
{
	auto_job *job =
		sched_job_find_id(request->session->context.sched, request->inode.job);
	auto_free char *bytes = malloc(request->size + 1);
	ssize_t n = !job ? -ENOENT : !bytes ? -ENOMEM : read_other(job, request, bytes);
	reply_bytes(request->req, bytes, n);
}

const struct open_file_ops other_file_ops = {
	.open = answer_open, .again = answer_read, .again_takes_long = true};
