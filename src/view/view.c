// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "view/composite_file.h"
#include "view/data.h"
#include "view/mount_options.h"
#include "view/sample.h"

#include <errno.h>
#include <fuse_log.h>
#include <stdarg.h>
#include <string.h>

#define MIN_THREADS 2
#define MAX_THREADS 8

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

static int view_new(const struct view_context *context, struct view **ret)
{
	struct view *view = calloc(1, sizeof(*view));
	if (!view)
		return -ENOMEM;
	int err = order_texts_new(&view->orders);
	if (err) {
		free(view);
		return err;
	}
	view->context = *context;
	view->uid = geteuid();
	view->gid = getegid();
	clock_gettime(CLOCK_REALTIME, &view->started);
	view->jobs_changed = view->started;
	lock_init(&view->lock, LOCK_RANK_VIEW, "view");
	SLIST_INIT(&view->padded);
	LIST_INIT(&view->open_samples);
	LIST_INIT(&view->open_composites);
	LIST_INIT(&view->open_texts);
	*ret = view;
	return 0;
}

static void forget_padded_locked(struct view *view)
{
	struct padded_size *padded;
	lock_assert_held(&view->lock);
	while ((padded = SLIST_FIRST(&view->padded))) {
		SLIST_REMOVE_HEAD(&view->padded, link);
		free(padded);
	}
	view->generation++;
}

static void view_free(struct view **view)
{
	lock_take(&(*view)->lock);
	forget_padded_locked(*view);
	lock_release(&(*view)->lock);
	lock_destroy(&(*view)->lock);
	order_texts_free(&(*view)->orders);
	free(*view);
	*view = NULL;
}

static int mount_session(struct view *view, struct fuse_args *args)
{
	view->session = fuse_session_new(args, &view_ops, sizeof(view_ops), view);
	if (!view->session)
		return -EINVAL; /* libfuse has logged why */
	errno = 0;
	if (fuse_session_mount(view->session, view->context.mountpoint) != 0) {
		int err = errno ? -errno : -EIO;
		log_error("can't mount on %s", view->context.mountpoint);
		return err;
	}
	view->mounted = true;
	return 0;
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
		err = view_new(context, &view);
	if (!err)
		err = mount_session(view, &args);
	fuse_opt_free_args(&args);
	if (err && view)
		view_unmount(&view);
	else if (!err)
		*ret = view;
	return err;
}

static unsigned n_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	if (n < MIN_THREADS)
		return MIN_THREADS;
	return n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static int loop(struct view *view)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_clone_fd(config, 0);
	fuse_loop_cfg_set_max_threads(config, n_threads());
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

void view_unmount(struct view **view_pointer)
{
	struct view *view = *view_pointer;
	if (!view)
		return;
	if (view->mounted)
		fuse_session_unmount(view->session);
	if (view->handles_signals)
		fuse_remove_signal_handlers(view->session);
	if (view->session)
		fuse_session_destroy(view->session);
	composite_files_undo_all(view);
	sample_files_undo_all(view);
	text_files_close_all(view);
	view_free(view_pointer);
}

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

void view_jobs_changed(struct view *view, const char *name, const char *path)
{
	struct inode jobs = {.kind = INODE_JOBS};
	lock_take(&view->lock);
	touch_jobs_locked(view);
	forget_padded_locked(view);
	lock_release(&view->lock);
	order_texts_forget(view->orders);
	/* Fails when the kernel does not know the name, which is as good. */
	fuse_lowlevel_notify_inval_entry(
		view->session, inode_pack(jobs), name, strlen(name));
	if (path)
		data_forget(view, path);
}
