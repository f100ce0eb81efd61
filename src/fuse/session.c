// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/signals.h"
#include "files/data.h"
#include "fuse/composite/composite_file.h"
#include "fuse/kernel_features.h"
#include "fuse/mount_options.h"
#include "fuse/handover.h"
#include "fuse/passthrough.h"
#include "fuse/label_file.h"
#include "fuse/sample_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_log.h>
#include <stdarg.h>
#include <string.h>

#define MIN_THREADS 4 /* also with fewer CPUs, which readers keep busy */

static void log_libfuse(enum fuse_log_level level, const char *format, va_list args)
	printf_like(2, 0);

static void log_libfuse(enum fuse_log_level level, const char *format, va_list args)
{
	auto_free char *text = NULL;
	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	if (level <= FUSE_LOG_ERR)
		log_error("%s", text);
	else if (level == FUSE_LOG_WARNING)
		log_warn("%s", text);
	else
		log_info("%s", text);
}

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
	clock_gettime(CLOCK_REALTIME, &session->started);
	session->jobs_changed = session->started;
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

/* Lets the mount outlive this engine from now on. */
static void keep(struct session *session)
{
	struct kept_descriptor *place = kept_new();
	if (!place) {
		log_warn("a mount will end with this engine: there are %u already",
			KEPT_DESCRIPTORS);
		return;
	}
	place->mount.root = inode_pack(session->root);
	place->mount.other_pids = session->other_pids;
	place->mount.foreign = session->foreign;
	place->mount.untold = session->untold;
	place->mount.everybody = session->everybody;
	place->mount.started = session->started;
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

/* Gives libfuse the kernel's first message again. The kernel has its answer, and refuses this
 * one. Then it sends again the requests that the previous engine has not answered. */
void session_go_on(struct session *session)
{
	struct kept_mount *mount = &session->place->mount;
	struct fuse_buf buffer = {.mem = mount->message, .size = mount->message_bytes};
	if (mount->message_bytes == 0)
		return; /* the kernel has not said anything */
	fuse_session_process_buf(session->fuse, &buffer);
	kernel_features_resend(session);
}

void session_take_over(struct session *session, struct kept_descriptor *place)
{
	session->place = place;
	session->again = true;
	session->other_pids = place->mount.other_pids;
	session->foreign = place->mount.foreign;
	session->untold = place->mount.untold;
	session->private &= !session->foreign;
	session->everybody = place->mount.everybody;
	session->started = place->mount.started;
}

/* Finds the descriptor of the whole tree's mount that the previous engine has served; NULL:
 * none. */
static struct kept_descriptor *find_whole(void)
{
	const struct inode root = {.kind = INODE_ROOT};
	struct kept_descriptor *place = NULL;
	while ((place = kept_next(place, KEPT_MOUNT)))
		if (place->mount.root == inode_pack(root))
			return place;
	return NULL;
}

static int start_whole(
	struct session *session, struct fuse_args *args, struct kept_descriptor *place)
{
	char where[32];
	int device = place ? atomic_load(&place->fd) : session->context.device;
	if (device == 0)
		return session_start(session, args, session->context.mountpoint);
	snprintf(where, sizeof(where), "/dev/fd/%d", device);
	if (place) {
		session_take_over(session, place);
	} else {
		session->foreign = true;
		session->private = false;
		session->other_pids = true; /* perhaps */
	}
	return session_start(session, args, where);
}

int session_mount(const struct files_context *context, const char *options, bool debug,
	struct session **ret)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct session *session = NULL;
	struct kept_descriptor *place = find_whole();
	fuse_set_log_func(log_libfuse);
	int err = mount_options(options, debug, &args);
	if (!err && !place)
		err = mount_point_check(context);
	if (!err)
		err = session_new(context, (struct inode){.kind = INODE_ROOT}, &session);
	if (!err) {
		session->debug = debug;
		session->private = !mount_options_let_others_in(&args);
		err = start_whole(session, &args, place);
	}
	fuse_opt_free_args(&args);
	if (!err) {
		if (session->again) {
			session_go_on(session);
			job_mounts_go_on(session);
		}
		*ret = session;
	} else if (session) {
		session_end(session);
		session_free(&session);
	}
	return err;
}

unsigned session_threads(void)
{
	unsigned n = machine_cpus("");
	if (n < MIN_THREADS)
		return MIN_THREADS;
	return n > SESSION_MAX_THREADS ? SESSION_MAX_THREADS : n;
}

static int loop(struct session *session)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_clone_fd(config, 0);
	fuse_loop_cfg_set_max_threads(config, session_threads());
	int result = fuse_session_loop_mt(session->fuse, config);
	fuse_loop_cfg_destroy(config);
	if (result < 0)
		log_error("the mount's session failed: %s", strerror(-result));
	return result < 0 ? result : 0; /* a positive result is the signal that came */
}

int session_run(struct session *session)
{
	int err = fault_hit("session.run");
	if (err)
		return err;
	if (fuse_set_signal_handlers(session->fuse) != 0)
		return -EIO;
	session->handles_signals = true;
	signals_release();
	return loop(session);
}

/* Keeps libfuse from unmounting whatever is at the mount point by now. It does not unmount if
 * the descriptor tells by POLLERR that its mount has gone, as that of a pipe without a reader
 * does. */
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
	else if (session->again && !session->foreign && whole)
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
	composite_files_undo_all(session);
	sample_files_undo_all(session);
	label_files_close_all(session);
	text_files_close_all(session);
	handover_end(session);
}

static int check_unmounted(const char *mountpoint)
{
	struct stat st;
	int err;
	/* The supervisor may close the device meanwhile, which aborts the stat. */
	do
		err = stat(mountpoint, &st) == 0 ? 0 : errno;
	while (err == ECONNABORTED);
	if (err != ENOTCONN)
		return 0;
	log_error(
		"%s: can't be unmounted; \"umount %s\" as root", mountpoint, mountpoint);
	return -EBUSY;
}

void session_detach(struct session *session)
{
	if (!session->mounted || session->foreign)
		return;
	mount_point_unmount(session->context.mountpoint, fuse_session_fd(session->fuse));
	session->detached = true;
	if (session->place) /* a later engine unmounts nothing below it */
		session->place->mount.foreign = true;
}

void session_stop(struct session *session)
{
	job_mounts_stop(session);
}

int session_unmount(struct session **session_pointer)
{
	struct session *session = *session_pointer;
	if (!session)
		return 0;
	bool ours = session->mounted && !session->foreign;
	job_mounts_end(session);
	session_end(session);
	int err = ours ? check_unmounted(session->context.mountpoint) : 0;
	session_free(session_pointer);
	return err;
}

/* --- holding the session ------------------------------------------------------------ */

void session_hold(struct session *session)
{
	lock_take(&session->lock);
	ensure(!session->ending);
	session->holds++;
	lock_release(&session->lock);
}

bool session_try_hold(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	if (session->ending)
		return false;
	session->holds++;
	return true;
}

void session_unhold(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	ensure(session->holds > 0);
	if (--session->holds == 0)
		pthread_cond_broadcast(&session->unheld);
}

bool session_wait_unheld(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	session->ending = true;
	while (session->holds > 0 && !session->stopping)
		lock_wait(&session->lock, &session->unheld);
	return !session->stopping;
}

void session_stop_waiting(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	session->stopping = true;
	pthread_cond_broadcast(&session->unheld);
}

/* --- news of jobs ------------------------------------------------------------------- */

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* Moves the time on; it always changes: see set_in_job in attributes.c. */
static void touch_jobs_locked(struct session *session)
{
	struct timespec now;
	lock_assert_held(&session->lock);
	clock_gettime(CLOCK_REALTIME, &now);
	if (!is_later(now, session->jobs_changed)) {
		now = session->jobs_changed;
		now.tv_nsec = (now.tv_nsec + 1) % 1000000000;
		now.tv_sec += now.tv_nsec == 0;
	}
	session->jobs_changed = now;
}

void session_touch_jobs(struct session *session)
{
	lock_take(&session->lock);
	touch_jobs_locked(session);
	lock_release(&session->lock);
	sizes_forget(session->sizes);
	order_texts_forget(session->orders);
}

/* Makes the kernel forget a name. If it does not know the name this fails, which is as good. */
static void forget_name(
	struct session *session, struct inode directory, const char *name, size_t bytes)
{
	fuse_lowlevel_notify_inval_entry(
		session->fuse, inode_pack(directory), name, bytes);
}

static void forget_path(struct session *session, const char *path)
{
	struct data_step step = data_first_step(path);
	do
		forget_name(session, data_step_directory(&step), step.name, step.bytes);
	while (data_next_step(&step));
}

void session_jobs_changed(struct session *session, const char *name, const char *path)
{
	struct inode jobs = {.kind = INODE_JOBS};
	session_touch_jobs(session);
	forget_name(session, jobs, name, strlen(name));
	if (path)
		forget_path(session, path);
	job_mounts_changed(session);
}

void session_dataset_moved(struct session *session, const char *name)
{
	listings_forget(session, name);
	job_mounts_moved(session, name);
}
