// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/machine.h"
#include "fuse/handover.h"
#include "fuse/kernel_features.h"
#include "fuse/label_file.h"
#include "fuse/mount_options.h"
#include "fuse/open_file_ops.h"
#include "fuse/passthrough.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MIN_THREADS                                                                      \
	4 /* least threads of a mount: several readers send requests at once, even on few CPUs */

int session_new(
	const struct files_context *context, struct inode root, struct session **ret)
{
	struct session *session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	int err = order_texts_new(&session->orders);
	if (!err)
		err = sizes_new(&session->sizes);
	if (err) {
		order_texts_free(&session->orders);
		free(session);
		return err;
	}
	session->context = *context;
	session->root = root;
	atomic_init(&session->gone, false);
	session->uid = geteuid();
	session->gid = getegid();
	clock_gettime(CLOCK_REALTIME, &session->mount.started);
	session->jobs_changed = session->mount.started;
	lock_init(&session->lock, LOCK_RANK_FUSE, "session");
	ensure(pthread_cond_init(&session->unheld, NULL) == 0);
	LIST_INIT(&session->job_mounts);
	LIST_INIT(&session->close_waiters);
	*ret = session;
	return 0;
}

void session_free(struct session **session)
{
	ensure(pthread_cond_destroy(&(*session)->unheld) == 0);
	lock_destroy(&(*session)->lock);
	order_texts_free(&(*session)->orders);
	sizes_free(&(*session)->sizes);
	free(*session);
	*session = NULL;
}

/* Makes the mount outlive this engine, if the supervisor has room for it. */
static void keep(struct session *session)
{
	struct kept_descriptor *place = kept_new();
	if (!place) {
		log_warn("a mount will end with this engine: the supervisor keeps at "
			 "most %u descriptors",
			KEPT_DESCRIPTORS);
		return;
	}
	session->mount.root = inode_pack(session->root);
	place->mount = session->mount;
	session->place = place;
	kept_add(place, KEPT_MOUNT, fuse_session_fd(session->fuse));
}

int session_start(struct session *session, struct fuse_args *args, const char *where)
{
	session->fuse =
		fuse_session_new(args, &session_ops, sizeof(session_ops), session);
	if (!session->fuse)
		return -EINVAL; /* libfuse has logged why */
	errno = 0;
	if (fuse_session_mount(session->fuse, where) != 0) {
		int err = errno ? -errno : -EIO;
		log_error("can't mount on %s", where);
		return err;
	}
	session->mounted = true;
	int err = kernel_features_prepare(session);
	if (!err && !session->again)
		keep(session);
	return err;
}

/* Gives the kernel's first message to libfuse again. The kernel refuses libfuse's answer, because
 * an earlier engine has answered. */
void session_go_on(struct session *session)
{
	struct kept_mount *mount = &session->mount;
	struct fuse_buf buffer = {.mem = mount->message, .size = mount->message_bytes};
	if (mount->message_bytes == 0)
		return; /* the kernel has not sent any message */
	fuse_session_process_buf(session->fuse, &buffer);
	kernel_features_resend(session);
}

void session_take_over(struct session *session, struct kept_descriptor *place)
{
	session->place = place;
	session->again = true;
	session->mount = place->mount;
	session->private &= !session->mount.foreign;
}

unsigned session_threads(void)
{
	unsigned n = machine_cpus("");
	if (n < MIN_THREADS)
		return MIN_THREADS;
	return n > SESSION_MAX_THREADS ? SESSION_MAX_THREADS : n;
}

/* Keeps libfuse from unmounting a later mount at the mount point: libfuse does not unmount if poll
 * reports POLLERR for its descriptor, as it does for a pipe without a reader. */
static void end_detached(struct session *session)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	close(ends[0]);
	if (dup3(ends[1], fuse_session_fd(session->fuse), O_CLOEXEC) >= 0)
		fuse_session_unmount(session->fuse);
	close(ends[1]);
}

static void unmount(struct session *session)
{
	bool whole = session->root.kind == INODE_ROOT;
	if (session->detached)
		end_detached(session);
	else if (session->again && !session->mount.foreign && whole)
		mount_point_unmount(
			session->context.mountpoint, fuse_session_fd(session->fuse));
	else
		fuse_session_unmount(session->fuse);
}

void session_end(struct session *session)
{
	lock_take(&session->lock);
	ensure(session->holds == 0);
	lock_release(&session->lock);
	passthrough_end(session);
	if (session->mounted)
		unmount(session);
	if (session->handles_signals)
		fuse_remove_signal_handlers(session->fuse);
	if (session->fuse)
		fuse_session_destroy(session->fuse);
	session->fuse = NULL;
	kept_drop(&session->place);
	open_files_undo_all(session);
	label_texts_free(session);
	handover_end(session);
}

/* Gives the directories that list jobs a later time at each call, even if the clock stands
 * still. */
void session_touch_jobs(struct session *session)
{
	lock_take(&session->lock);
	uint64_t now = clock_ns(CLOCK_REALTIME);
	uint64_t last = (uint64_t)timespec_ns(session->jobs_changed);
	session->jobs_changed = timespec_of_ns(now > last ? now : last + 1);
	lock_release(&session->lock);
	sizes_forget(session->sizes);
	order_texts_forget(session->orders);
}
