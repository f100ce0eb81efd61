// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "fuse/composite_file.h"
#include "fuse/data.h"
#include "fuse/kernel_features.h"
#include "fuse/mount_options.h"
#include "fuse/passthrough.h"
#include "fuse/sample.h"

#include <errno.h>
#include <fuse_log.h>
#include <stdarg.h>
#include <string.h>

#define MIN_THREADS 4 /* beside busy readers, more than CPUs */

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

int view_new(const struct view_context *context, struct inode root, struct view **ret)
{
	struct view *view = calloc(1, sizeof(*view));
	if (!view)
		return -ENOMEM;
	int err = order_texts_new(&view->orders);
	if (!err)
		err = sizes_new(&view->sizes);
	if (err) {
		order_texts_free(&view->orders);
		free(view);
		return err;
	}
	view->context = *context;
	view->root = root;
	atomic_init(&view->gone, false);
	view->uid = geteuid();
	view->gid = getegid();
	clock_gettime(CLOCK_REALTIME, &view->started);
	view->jobs_changed = view->started;
	lock_init(&view->lock, LOCK_RANK_VIEW, "view");
	ensure(pthread_cond_init(&view->unheld, NULL) == 0);
	LIST_INIT(&view->job_mounts);
	LIST_INIT(&view->open_samples);
	LIST_INIT(&view->open_labels);
	LIST_INIT(&view->open_composites);
	LIST_INIT(&view->open_texts);
	*ret = view;
	return 0;
}

void view_free(struct view **view)
{
	ensure(pthread_cond_destroy(&(*view)->unheld) == 0);
	lock_destroy(&(*view)->lock);
	order_texts_free(&(*view)->orders);
	sizes_free(&(*view)->sizes);
	free(*view);
	*view = NULL;
}

int view_start_session(struct view *view, struct fuse_args *args, const char *where)
{
	view->session = fuse_session_new(args, &view_ops, sizeof(view_ops), view);
	if (!view->session)
		return -EINVAL; /* libfuse has logged why */
	errno = 0;
	if (fuse_session_mount(view->session, where) != 0) {
		int err = errno ? -errno : -EIO;
		log_error("can't mount on %s", where);
		return err;
	}
	view->mounted = true;
	return kernel_features_prepare(view);
}

int view_mount(const struct view_context *context, const char *options, bool debug,
	struct view **ret)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct view *view = NULL;
	fuse_set_log_func(log_libfuse);
	int err = mount_options(options, debug, &args);
	if (!err)
		err = mount_point_check(context);
	if (!err)
		err = view_new(context, (struct inode){.kind = INODE_ROOT}, &view);
	if (!err) {
		view->debug = debug;
		err = view_start_session(view, &args, context->mountpoint);
	}
	fuse_opt_free_args(&args);
	if (!err) {
		*ret = view;
	} else if (view) {
		view_end_session(view);
		view_free(&view);
	}
	return err;
}

unsigned view_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	if (n < MIN_THREADS)
		return MIN_THREADS;
	return n > VIEW_MAX_THREADS ? VIEW_MAX_THREADS : (unsigned)n;
}

static int loop(struct view *view)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_clone_fd(config, 0);
	fuse_loop_cfg_set_max_threads(config, view_threads());
	int result = fuse_session_loop_mt(view->session, config);
	fuse_loop_cfg_destroy(config);
	if (result < 0)
		log_error("the mount's session failed: %s", strerror(-result));
	return result < 0 ? result : 0; /* a positive one is the signal that came */
}

int view_run(struct view *view)
{
	if (fuse_set_signal_handlers(view->session) != 0)
		return -EIO;
	view->handles_signals = true;
	return loop(view);
}

void view_end_session(struct view *view)
{
	lock_take(&view->lock);
	ensure(view->holds == 0);
	lock_release(&view->lock);
	passthrough_end(view);
	if (view->mounted)
		fuse_session_unmount(view->session);
	if (view->handles_signals)
		fuse_remove_signal_handlers(view->session);
	if (view->session)
		fuse_session_destroy(view->session);
	view->session = NULL;
	composite_files_undo_all(view);
	sample_files_undo_all(view);
	labels_close_all(view);
	text_files_close_all(view);
}

static int check_unmounted(const char *mountpoint)
{
	struct stat st;
	if (stat(mountpoint, &st) == 0 || errno != ENOTCONN)
		return 0;
	log_error(
		"%s: can't be unmounted; \"umount %s\" as root", mountpoint, mountpoint);
	return -EBUSY;
}

void view_stop(struct view *view)
{
	job_mounts_stop(view);
}

int view_unmount(struct view **view_pointer)
{
	struct view *view = *view_pointer;
	if (!view)
		return 0;
	bool mounted = view->mounted;
	job_mounts_end(view);
	view_end_session(view);
	int err = mounted ? check_unmounted(view->context.mountpoint) : 0;
	view_free(view_pointer);
	return err;
}

/* --- who uses the session ----------------------------------------------------------- */

void view_hold(struct view *view)
{
	lock_take(&view->lock);
	ensure(!view->ending);
	view->holds++;
	lock_release(&view->lock);
}

bool view_hold_session(struct view *view)
{
	LOCK_SCOPE(&view->lock);
	if (view->ending)
		return false;
	view->holds++;
	return true;
}

void view_unhold(struct view *view)
{
	LOCK_SCOPE(&view->lock);
	ensure(view->holds > 0);
	if (--view->holds == 0)
		pthread_cond_broadcast(&view->unheld);
}

bool view_wait_unheld(struct view *view)
{
	LOCK_SCOPE(&view->lock);
	view->ending = true;
	while (view->holds > 0 && !view->stopping)
		lock_wait(&view->lock, &view->unheld);
	return !view->stopping;
}

void view_stop_waiting(struct view *view)
{
	LOCK_SCOPE(&view->lock);
	view->stopping = true;
	pthread_cond_broadcast(&view->unheld);
}

/* --- news of jobs ------------------------------------------------------------------- */

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* Always another time than before: see job_changed in tree.c. */
static void touch_jobs_locked(struct view *view)
{
	struct timespec now;
	lock_assert_held(&view->lock);
	clock_gettime(CLOCK_REALTIME, &now);
	if (!is_later(now, view->jobs_changed)) {
		now = view->jobs_changed;
		now.tv_nsec = (now.tv_nsec + 1) % 1000000000;
		now.tv_sec += now.tv_nsec == 0;
	}
	view->jobs_changed = now;
}

void view_touch_jobs(struct view *view)
{
	lock_take(&view->lock);
	touch_jobs_locked(view);
	lock_release(&view->lock);
	sizes_forget(view->sizes);
	order_texts_forget(view->orders);
}

void view_jobs_changed(struct view *view, const char *name, const char *path)
{
	struct inode jobs = {.kind = INODE_JOBS};
	view_touch_jobs(view);
	/* Fails when the kernel does not know the name, which is as good. */
	fuse_lowlevel_notify_inval_entry(
		view->session, inode_pack(jobs), name, strlen(name));
	if (path)
		data_forget(view, path);
	job_mounts_changed(view);
}
