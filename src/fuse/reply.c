// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/reply.h"
#include "base/ensure.h"
#include "stats/stats.h"

struct passed_reply {
	uint64_t fh;
	uint32_t flags;
	int32_t backing_id;
};
/* The kernel accepts FOPEN_PASSTHROUGH with FOPEN_NOFLUSH, but not with, say, FOPEN_KEEP_CACHE. */
#define OPEN_NOFLUSH (UINT32_C(1) << 5)
#define OPEN_PASSTHROUGH (UINT32_C(1) << 7)

void reply_error(fuse_req_t req, int err)
{
	ensure(err < 0);
	fuse_reply_err(req, -err);
}

void reply_bytes(fuse_req_t req, const void *bytes, ssize_t n)
{
	if (n < 0)
		reply_error(req, (int)n);
	else
		fuse_reply_buf(req, bytes, (size_t)n);
}

void reply_text(const struct request *request, const char *text, uint64_t bytes)
{
	uint64_t offset = request->offset < bytes ? request->offset : bytes;
	uint64_t left = bytes - offset;
	fuse_reply_buf(request->req, text + offset,
		request->size < left ? request->size : (size_t)left);
}

int reply_samples(fuse_req_t req, const struct iovec *iov, int n, size_t bytes)
{
	stats_add(STAT_READS, 1);
	stats_add(STAT_READ_BYTES, bytes);
	return fuse_reply_iov(req, iov, n);
}

int reply_open(fuse_req_t req, const struct fuse_file_info *fi, int backing)
{
	struct passed_reply passed = {.fh = fi->fh,
		.flags = OPEN_PASSTHROUGH | OPEN_NOFLUSH,
		.backing_id = backing};
	return backing ? fuse_reply_buf(req, (const char *)&passed, sizeof(passed))
		       : fuse_reply_open(req, fi);
}
