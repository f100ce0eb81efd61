// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "view/direct_map.h"

#ifdef FUSE_CAP_DIRECT_IO_ALLOW_MMAP

int direct_map_prepare(struct view *view)
{
	(void)view;
	return 0;
}

bool direct_map_wanted(struct view *view, struct fuse_conn_info *conn)
{
	(void)view;
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
	return fuse_set_feature_flag(conn, FUSE_CAP_DIRECT_IO_ALLOW_MMAP);
#else
	conn->want |= conn->capable & FUSE_CAP_DIRECT_IO_ALLOW_MMAP;
	return conn->capable & FUSE_CAP_DIRECT_IO_ALLOW_MMAP;
#endif
}

#else

#include <linux/fuse.h>
#include <stddef.h>

/* FUSE_DIRECT_IO_ALLOW_MMAP, bit 36: in the second word of flags. */
#define FLAG2_DIRECT_IO_ALLOW_MMAP (UINT32_C(1) << 4)

/* Offered until the answer is sent; the other threads begin after that. */
enum { MESSAGE_AWAITED, MESSAGE_OFFERS, MESSAGE_OTHER };

static bool offers_mapping(const void *message, size_t bytes)
{
	const struct fuse_in_header *header = message;
	const struct fuse_init_in *init = (const void *)(header + 1);
	return bytes >= sizeof(*header) + sizeof(*init) && header->opcode == FUSE_INIT &&
	       (init->flags & FUSE_INIT_EXT) &&
	       (init->flags2 & FLAG2_DIRECT_IO_ALLOW_MMAP);
}

static ssize_t receive(int fd, void *buffer, size_t size, void *userdata)
{
	struct view *view = userdata;
	ssize_t n = read(fd, buffer, size);
	if (n > 0 && atomic_load(&view->first_message) == MESSAGE_AWAITED)
		atomic_store(&view->first_message, offers_mapping(buffer, (size_t)n)
							   ? MESSAGE_OFFERS
							   : MESSAGE_OTHER);
	return n;
}

static void accept_mapping(const struct iovec *iov, int count)
{
	const struct fuse_out_header *header = iov[0].iov_base;
	struct fuse_init_out *init = count == 2 ? iov[1].iov_base : NULL;
	if (!init || header->error || iov[1].iov_len < sizeof(*init))
		return;
	init->flags |= FUSE_INIT_EXT;
	init->flags2 |= FLAG2_DIRECT_IO_ALLOW_MMAP;
}

static ssize_t send_reply(int fd, struct iovec *iov, int count, void *userdata)
{
	struct view *view = userdata;
	if (atomic_load(&view->first_message) == MESSAGE_OFFERS) {
		accept_mapping(iov, count);
		atomic_store(&view->first_message, MESSAGE_OTHER);
	}
	return writev(fd, iov, count);
}

int direct_map_prepare(struct view *view)
{
	static const struct fuse_custom_io io = {.read = receive, .writev = send_reply};
	return fuse_session_custom_io(view->session, &io, fuse_session_fd(view->session));
}

bool direct_map_wanted(struct view *view, struct fuse_conn_info *conn)
{
	(void)conn;
	return atomic_load(&view->first_message) == MESSAGE_OFFERS;
}

#endif
