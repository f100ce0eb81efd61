// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Requests that take long to answer, but wait for nobody: a worker answers them. No more
 * memory: -ENOMEM is the answer.
 */
struct later {
	struct load_work work;
	fuse_req_t req;
	struct session *session;
	struct inode inode;
	size_t size;
	uint64_t offset;
	void (*answer)(const struct later *later);
};

void later_answer(const struct later *wanted);
