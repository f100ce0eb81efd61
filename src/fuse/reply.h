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

/* Requests, and the answers that several kinds of requests have in common. Threads: any. Locks:
 * none while answering, because the kernel may release the file before the call returns. */

struct request {
	fuse_req_t req;
	struct session *session;
	struct inode inode;
	const struct open_file_ops *ops; /* of the file's kind; set by file_requests.c */
	struct fuse_file_info fi;	 /* fi.fh: handle of an open file */
	/* a read: number of wanted bytes; a listing: size of the reader's buffer */
	size_t size;
	/* a read: offset of the wanted bytes; a listing: number of the first entry to list */
	uint64_t offset;
	bool plus; /* a listing with attributes */
};

void reply_error(fuse_req_t req, int err);
/* Answers a read or a listing with n bytes. If n is negative, answers with the error n. */
void reply_bytes(fuse_req_t req, const void *bytes, ssize_t n);
/* Answers a read of a text with the part that the request wants. bytes: length of the text */
void reply_text(const struct request *request, const char *text, uint64_t bytes);
/* Answers a read of samples, and counts the read. Returns 0 or -errno, as fuse_reply_iov does. */
int reply_samples(fuse_req_t req, const struct iovec *iov, int n, size_t bytes);
/* Answers an open. backing: number of the file from which the kernel reads; 0: reads come to this
 * process. If the reader was killed, returns an error, and the file is not open. */
int reply_open(fuse_req_t req, const struct fuse_file_info *fi, int backing);
