// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/kernel_features.h"
#include "base/fault.h"
#include "base/log.h"
#include "fuse/handover.h"
#include "fuse/passthrough.h"

#include <linux/fuse.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* bring_in brings the pages of an answer into memory. It skips parts (iovecs) of fewer bytes
 * than this: they are on a thread's stack, which is in memory anyway. */
#define LEAST_BROUGHT_IN 256

/* value of session->offered until the kernel's first message comes; only one thread handles this
 * message */
#define MESSAGE_AWAITED (-1)

#define FLAG2_HAS_RESEND (UINT32_C(1) << 7)

/* Returns true, too, if no request can wait for the next engine: the mount ends with this engine,
 * or the kernel has sent no message yet. */
bool session_is_resent(const struct session *session)
{
	const struct kept_mount *mount = &session->mount;
	const struct fuse_init_in *init;
	if (fault_hit("fuse.resend"))
		return false;
	if (!session->place || mount->message_bytes == 0)
		return true;
	if (mount->message_bytes < sizeof(struct fuse_in_header) + sizeof(*init))
		return false;
	init = (const void *)(mount->message + sizeof(struct fuse_in_header));
	return (init->flags & FUSE_INIT_EXT) && (init->flags2 & FLAG2_HAS_RESEND);
}

void kernel_features_resend(struct session *session)
{
	struct fuse_out_header message = {.len = sizeof(message), .error = NOTIFY_RESEND};
	if (fault_hit("fuse.resend"))
		return;
	ssize_t n = write(fuse_session_fd(session->fuse), &message, sizeof(message));
	if (n != sizeof(message))
		log_warn("this kernel can't send the previous engine's pending requests "
			 "to this one (Linux 6.9 and later can): readers that wait for "
			 "an answer wait until they are killed");
}

/* Saves, for later engines, the features that the kernel granted. */
static void save_features(const struct session *session)
{
	if (!session->place)
		return;
	session->place->mount.maps_direct = session->mount.maps_direct;
	session->place->mount.passes_through = session->mount.passes_through;
}

/* Writes the length last. The length stays 0, for "no message", if the process is killed before. */
static void save_message(struct kept_mount *mount, const void *message, size_t bytes)
{
	memcpy(mount->message, message, bytes);
	mount->message_bytes = (uint32_t)bytes;
}

/* Notes the number of a request. Saves the first request (FUSE_INIT), which later engines need. */
static void note_message(struct session *session, const void *message, size_t bytes)
{
	const struct fuse_in_header *header = message;
	if (bytes < sizeof(*header))
		return;
	handover_received(header->unique);
	if (header->opcode != FUSE_INIT || bytes > KEPT_MESSAGE)
		return;
	save_message(&session->mount, message, bytes);
	if (session->place)
		save_message(&session->place->mount, message, bytes);
}

/* Loads the pages of an answer before the kernel copies the answer. If the process is killed at a
 * page fault during the copy, the reader gets EIO; if it is killed here, the kernel sends the
 * request to the next engine. Reading a byte of each page is faster than MADV_POPULATE_READ if the
 * pages are in memory already. */
static void bring_in(const struct iovec *iov, int count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (int i = 1; i < count; i++) {
		const volatile uint8_t *bytes = iov[i].iov_base;
		size_t n = iov[i].iov_len;
		if (n < LEAST_BROUGHT_IN)
			continue;
		for (size_t at = 0; at < n; at += page)
			(void)bytes[at];
		(void)bytes[n - 1];
	}
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)

static ssize_t receive(int fd, void *buffer, size_t size, void *userdata)
{
	ssize_t n = read(fd, buffer, size);
	if (n > 0)
		note_message(userdata, buffer, (size_t)n);
	return n;
}

static ssize_t send_reply(int fd, struct iovec *iov, int count, void *userdata)
{
	(void)userdata;
	bring_in(iov, count);
	return writev(fd, iov, count);
}

void kernel_features_ask(struct session *session, struct fuse_conn_info *conn)
{
	if (session->again)
		return; /* session->mount has the features that the kernel granted */
	session->mount.maps_direct =
		fuse_set_feature_flag(conn, FUSE_CAP_DIRECT_IO_ALLOW_MMAP);
	session->mount.passes_through = passthrough_possible(session) &&
					fuse_set_feature_flag(conn, FUSE_CAP_PASSTHROUGH);
	if (session->mount.passes_through)
		conn->max_backing_stack_depth = PASSTHROUGH_STACK_DEPTH;
	save_features(session);
}

#else

/* Bits of flags2 in fuse_init_in and fuse_init_out. */
#define FLAG2_DIRECT_IO_ALLOW_MMAP (UINT32_C(1) << 4)
#define FLAG2_PASSTHROUGH (UINT32_C(1) << 5)

/* Offset of max_stack_depth in fuse_init_out; older headers lack this field. */
#define STACK_DEPTH_OFFSET (offsetof(struct fuse_init_out, flags2) + sizeof(uint32_t))

static uint32_t offers(const void *message, size_t bytes)
{
	const struct fuse_in_header *header = message;
	const struct fuse_init_in *init = (const void *)(header + 1);
	if (bytes < sizeof(*header) + sizeof(*init) || header->opcode != FUSE_INIT ||
		!(init->flags & FUSE_INIT_EXT))
		return 0;
	return init->flags2 & (FLAG2_DIRECT_IO_ALLOW_MMAP | FLAG2_PASSTHROUGH);
}

static ssize_t receive(int fd, void *buffer, size_t size, void *userdata)
{
	struct session *session = userdata;
	ssize_t n = read(fd, buffer, size);
	if (n > 0)
		note_message(session, buffer, (size_t)n);
	if (n > 0 && atomic_load(&session->offered) == MESSAGE_AWAITED)
		atomic_store(&session->offered, (int)offers(buffer, (size_t)n));
	return n;
}

static void accept_offers(
	const struct session *session, const struct iovec *iov, int count)
{
	const uint32_t depth = PASSTHROUGH_STACK_DEPTH;
	const struct fuse_out_header *header = iov[0].iov_base;
	struct fuse_init_out *init = count == 2 ? iov[1].iov_base : NULL;
	if (!init || header->error || iov[1].iov_len < sizeof(*init))
		return;
	init->flags |= FUSE_INIT_EXT;
	init->flags2 |= session->mount.maps_direct ? FLAG2_DIRECT_IO_ALLOW_MMAP : 0;
	init->flags2 |= session->mount.passes_through ? FLAG2_PASSTHROUGH : 0;
	if (session->mount.passes_through)
		memcpy((char *)init + STACK_DEPTH_OFFSET, &depth, sizeof(depth));
}

static ssize_t send_reply(int fd, struct iovec *iov, int count, void *userdata)
{
	struct session *session = userdata;
	if (atomic_load(&session->offered) > 0) {
		accept_offers(session, iov, count);
		atomic_store(&session->offered, 0);
	}
	bring_in(iov, count);
	return writev(fd, iov, count);
}

void kernel_features_ask(struct session *session, struct fuse_conn_info *conn)
{
	int offered = atomic_load(&session->offered);
	(void)conn;
	if (session->again)
		return; /* session->mount has the features that the kernel granted */
	session->mount.maps_direct =
		offered > 0 && (offered & FLAG2_DIRECT_IO_ALLOW_MMAP);
	session->mount.passes_through = offered > 0 && (offered & FLAG2_PASSTHROUGH) &&
					passthrough_possible(session);
	save_features(session);
}

#endif

int kernel_features_prepare(struct session *session)
{
	static const struct fuse_custom_io io = {.read = receive, .writev = send_reply};
	atomic_store(&session->offered, MESSAGE_AWAITED);
	return fuse_session_custom_io(session->fuse, &io, fuse_session_fd(session->fuse));
}
