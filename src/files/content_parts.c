// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content_parts.h"
#include "base/ensure.h"

struct cut {
	struct iovec *iov;
	int n;
	uint64_t offset; /* bytes to skip from the start of the next part */
	uint64_t left;
};

/* never overwritten, but not const, because an iovec can't point to const data */
static uint8_t zeros[CONTENT_ZEROS];

static void add(struct cut *cut, const void *data, uint64_t bytes)
{
	ensure((size_t)cut->n < CONTENT_IOV);
	cut->iov[cut->n++] = (struct iovec){
		.iov_base = (void *)(uintptr_t)data, .iov_len = (size_t)bytes};
	cut->left -= bytes;
}

static void take_part(struct cut *cut, const void *data, uint64_t bytes)
{
	if (cut->offset >= bytes) {
		cut->offset -= bytes;
		return;
	}
	uint64_t n = bytes - cut->offset;
	if (n > cut->left)
		n = cut->left;
	if (n > 0)
		add(cut, (const uint8_t *)data + cut->offset, n);
	cut->offset = 0;
}

static void take_zeros(struct cut *cut, uint64_t bytes)
{
	while (bytes > 0 && cut->left > 0) {
		uint64_t n = bytes < sizeof(zeros) ? bytes : sizeof(zeros);
		take_part(cut, zeros, n);
		bytes -= n;
	}
}

int content_cut(const struct content_parts *parts, uint64_t offset, size_t length,
	struct iovec iov[CONTENT_IOV], size_t *ret_bytes)
{
	struct cut cut = {.iov = iov, .offset = offset, .left = length};
	if (cut.left > CONTENT_MAX_READ)
		cut.left = CONTENT_MAX_READ;
	if (offset >= parts->size)
		cut.left = 0;
	else if (cut.left > parts->size - offset)
		cut.left = parts->size - offset;
	*ret_bytes = (size_t)cut.left;
	take_part(&cut, parts->head, parts->head_bytes);
	take_part(&cut, parts->body, parts->body_bytes);
	if (parts->second_at > 0) {
		take_zeros(
			&cut, parts->second_at - parts->head_bytes - parts->body_bytes);
		take_part(&cut, parts->second_header, parts->second_header_bytes);
		take_part(&cut, parts->second_head, parts->second_head_bytes);
		take_part(&cut, parts->second_body, parts->second_body_bytes);
	}
	while (cut.left > 0)
		add(&cut, zeros, cut.left < sizeof(zeros) ? cut.left : sizeof(zeros));
	return cut.n;
}
