// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/log.h"
#include "base/signals.h"
#include "files/data.h"
#include "fuse/fuse_internal.h"
#include "fuse/mount_options.h"

#include <errno.h>
#include <fuse_log.h>
#include <stdarg.h>
#include <string.h>

static printf_like(2, 0) void log_libfuse(
	enum fuse_log_level level, const char *format, va_list args)
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

/* Returns the entry of the whole tree's mount, if the previous engine left one; otherwise NULL. */
static struct kept_descriptor *find_whole(void)
{
	struct kept_descriptor *place = NULL;
	while ((place = kept_next(place, KEPT_MOUNT)))
		if (place->mount.root == FUSE_ROOT_ID)
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
		session->mount.foreign = true;
		session->private = false;
		/* the pids' name space is not known, so no pid is trusted */
		session->mount.other_pids = true;
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
	return result < 0 ? result : 0; /* a positive result is the number of a signal */
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

static int check_unmounted(const char *mountpoint)
{
	struct stat st;
	int err;
	/* The supervisor may close the device during the stat, which aborts the stat. */
	do
		err = stat(mountpoint, &st) == 0 ? 0 : errno;
	while (err == ECONNABORTED);
	if (err != ENOTCONN)
		return 0;
	log_error("mount point %s: can't be unmounted; run \"umount %s\" as root",
		mountpoint, mountpoint);
	return -EBUSY;
}

void session_detach(struct session *session)
{
	if (!session->mounted || session->mount.foreign)
		return;
	mount_point_unmount(session->context.mountpoint, fuse_session_fd(session->fuse));
	session->detached = true;
	/* the mount point is free, so the next engine process must not unmount it */
	if (session->place)
		session->place->mount.foreign = true;
}

int session_unmount(struct session **session_pointer)
{
	struct session *session = *session_pointer;
	bool ours = session->mounted && !session->mount.foreign;
	job_mounts_end(session);
	session_end(session);
	int err = ours ? check_unmounted(session->context.mountpoint) : 0;
	session_free(session_pointer);
	return err;
}

static void forget_path(struct session *session, const char *path)
{
	struct data_step step = data_first_step(path);
	do
		session_forget_name(
			session, data_step_directory(&step), step.name, step.bytes);
	while (data_next_step(&step));
}

void session_jobs_changed(struct session *session, const char *name, const char *path)
{
	struct inode jobs = {.kind = INODE_JOBS};
	session_touch_jobs(session);
	session_forget_name(session, jobs, name, strlen(name));
	if (path)
		forget_path(session, path);
	job_mounts_changed(session);
}

void session_dataset_moved(struct session *session, const char *name)
{
	listings_forget(session, name);
	job_mounts_moved(session, name);
}
