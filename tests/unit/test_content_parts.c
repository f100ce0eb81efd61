// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content_parts.h"

#include <criterion/criterion.h>
#include <string.h>

#define MAX_FILE 64

static uint8_t head[MAX_FILE], body[MAX_FILE];

/* The file as the picture in content_cut.h shows it. */
static void make_plain(const struct content_parts *source, uint8_t *plain)
{
	memset(plain, 0, source->size);
	memcpy(plain, source->head, source->head_bytes);
	memcpy(plain + source->head_bytes, source->body, source->body_bytes);
}

static size_t gather(const struct iovec *iov, int n, uint8_t *out)
{
	size_t bytes = 0;
	for (int i = 0; i < n; i++) {
		cr_assert_gt(iov[i].iov_len, 0);
		memcpy(out + bytes, iov[i].iov_base, iov[i].iov_len);
		bytes += iov[i].iov_len;
	}
	return bytes;
}

static void check_every_request(const struct content_parts *source)
{
	uint8_t plain[MAX_FILE], got[MAX_FILE];
	make_plain(source, plain);
	for (uint64_t offset = 0; offset <= source->size + 2; offset++)
		for (size_t length = 0; length <= source->size + 2; length++) {
			struct iovec iov[CONTENT_IOV];
			size_t bytes, left = 0;
			if (offset < source->size)
				left = source->size - offset;
			int n = content_cut(source, offset, length, iov, &bytes);
			cr_assert_eq(bytes, length < left ? length : left);
			cr_assert_eq(gather(iov, n, got), bytes);
			cr_assert_eq(memcmp(got, plain + offset, bytes), 0);
		}
}

Test(content_parts, gives_what_a_plain_file_would_for_every_offset_and_length)
{
	for (size_t i = 0; i < MAX_FILE; i++) {
		head[i] = (uint8_t)(1 + i);
		body[i] = (uint8_t)(101 + i);
	}
	for (uint64_t h = 0; h <= 5; h++)
		for (uint64_t b = 0; b <= 7; b++)
			for (uint64_t padding = 0; padding <= 4; padding++)
				check_every_request(&(struct content_parts){.head = head,
					.head_bytes = h,
					.body = body,
					.body_bytes = b,
					.size = h + b + padding});
}

Test(content_parts, copies_nothing_but_points_into_the_parts)
{
	struct content_parts source = {
		.head = head, .head_bytes = 5, .body = body, .body_bytes = 9, .size = 14};
	struct iovec iov[CONTENT_IOV];
	size_t bytes;
	cr_assert_eq(content_cut(&source, 3, 8, iov, &bytes), 2);
	cr_assert_eq(iov[0].iov_base, (void *)(head + 3));
	cr_assert_eq(iov[1].iov_base, (void *)body);
	cr_assert_eq(iov[1].iov_len, 6);
}

Test(content_parts, the_largest_request_fits_also_when_it_is_nearly_all_zeros)
{
	struct content_parts source = {.head = head,
		.head_bytes = 1,
		.body = body,
		.body_bytes = 1,
		.size = 8 * CONTENT_MAX_READ};
	struct iovec iov[CONTENT_IOV];
	size_t bytes, sum = 0;
	int n = content_cut(&source, 0, SIZE_MAX, iov, &bytes);
	for (int i = 0; i < n; i++)
		sum += iov[i].iov_len;
	cr_assert_eq(bytes, CONTENT_MAX_READ);
	cr_assert_eq(sum, CONTENT_MAX_READ);
}
