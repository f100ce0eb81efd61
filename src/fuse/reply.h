// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"

#include <fuse_lowlevel.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct open_file_ops;
struct session;

/*
 * Requests, and the answers that more than one kind of request gets.
 *
 *   Threads: any.
 *   Locks: none while answering: the kernel may release the file before the call returns.
 */

/* A request that names an inode. */
struct request {
	fuse_req_t req;
	struct session *session;
	struct inode inode;
	const struct open_file_ops *ops; /* of the inode's kind, if it is a file */
	struct fuse_file_info fi; /* the kernel's; fi.fh: the handle of an open file */
	/* bytes that a read wants; a listing's room and first entry */
	size_t size;
	uint64_t offset;
};

/* Answers with an error; err < 0. */
void reply_error(fuse_req_t req, int err);
/* Answers a read or a listing with n bytes or, if n < 0, with the error n. */
void reply_bytes(fuse_req_t req, const void *bytes, ssize_t n);
/* Answers a read of a text, whose length is `bytes`, with the part that the request wants. */
void reply_text(const struct request *request, const char *text, uint64_t bytes);
/* Answers a read of samples, and counts it. Returns what fuse_reply_iov returns. */
int reply_samples(fuse_req_t req, const struct iovec *iov, int n, size_t bytes);
/* Answers an open. backing: the file that the kernel reads it from; 0: reads come to this
 * process. Not 0: the reader has gone, and nobody has the file. */
int reply_open(fuse_req_t req, const struct fuse_file_info *fi, int backing);
