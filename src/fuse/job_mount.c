// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/signals.h"
#include "fuse/fuse_internal.h"
#include "fuse/mount_options.h"
#include "sched/jobs.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAKE_NS 50000000

/*
 * Mounts of one job. The client opens /dev/fuse, mounts it anywhere, and sends the descriptor. The
 * daemon does not know where the mount is, and can't unmount it.
 *
 *   session_mount_job
 *      -> keep: serves, in several threads, until the mount is unmounted
 *      -> waits until nobody holds the session
 *      -> session_end, which closes the descriptor -> ended
 *      -> reap frees the mount, at the next call from control
 *
 *   session_stop -> keep returns without ending the session -> job_mounts_end ends it
 *
 * libfuse's own loop returns only after a request has come, so the loop here polls, and reads
 * without blocking. A read of a device that is not the daemon's own (job_device.c) may block
 * nevertheless; then session_stop wakes the thread.
 */
struct job_mount {
	LIST_ENTRY(job_mount) link;
	struct session *session;
	/* tree_epochs of the job, also after the job was removed; 0: it was removed before this
	 * engine started */
	uint32_t epochs;
	int stop; /* eventfd that stays readable once the mount has to end */
	pthread_t keeper;
	/* ids of the threads that serve the mount; 0: the element is free */
	_Atomic pid_t threads[SESSION_MAX_THREADS];
	/* the keeper thread has ended the session, and is about to end itself; stays false after
	 * session_stop */
	atomic_bool ended;
};

static _Atomic pid_t *enter(struct job_mount *mount)
{
	for (unsigned i = 0;; i++) {
		pid_t none = 0;
		ensure(i < SESSION_MAX_THREADS);
		if (atomic_compare_exchange_strong(&mount->threads[i], &none, gettid()))
			return &mount->threads[i];
	}
}

static void *serve(void *argument)
{
	struct job_mount *mount = argument;
	_Atomic pid_t *place = enter(mount);
	struct fuse_session *fuse = mount->session->fuse;
	struct fuse_buf buffer = {.mem = NULL};
	struct pollfd fds[] = {{.fd = fuse_session_fd(fuse), .events = POLLIN},
		{.fd = mount->stop, .events = POLLIN}};
	while (!fuse_session_exited(fuse)) {
		if (poll(fds, 2, -1) < 0) {
			ensure(errno == EINTR);
			continue;
		}
		if (fds[1].revents)
			break;
		int n = fuse_session_receive_buf(fuse, &buffer);
		if (n == -EAGAIN || n == -EINTR)
			continue;
		if (n <= 0)
			break;
		fuse_session_process_buf(fuse, &buffer);
	}
	free(buffer.mem);
	atomic_store(place, 0);
	return NULL;
}

static void serve_in_threads(struct job_mount *mount)
{
	pthread_t helpers[SESSION_MAX_THREADS];
	unsigned n = 0;
	while (n + 1 < session_threads()) {
		int err = pthread_create(&helpers[n], NULL, serve, mount);
		if (err) {
			log_warn("%u threads of a job's mount can't be started: %s; the "
				 "other threads serve the mount",
				session_threads() - 1 - n, strerror(err));
			break;
		}
		n++;
	}
	serve(mount);
	/* Stops the helper threads, which may still serve if `serve` has failed. */
	ensure(eventfd_write(mount->stop, 1) == 0);
	while (n > 0)
		ensure(pthread_join(helpers[--n], NULL) == 0);
}

static void *keep(void *argument)
{
	struct job_mount *mount = argument;
	/* lets session_stop wake this thread, and the helpers, which inherit the signal mask */
	signals_wakeable();
	serve_in_threads(mount);
	if (!session_wait_unheld(mount->session))
		return NULL;
	session_end(mount->session);
	atomic_store(&mount->ended, true);
	return NULL;
}

/* Tells whether this process and `mounter` are in the same name space. If not, the pids or users
 * that the kernel reports are not valid here, because the kernel uses the mounter's name space.
 * kind: "pid" or "user". */
static bool same_names(pid_t mounter, const char *kind)
{
	char here[64], there[64];
	struct stat ours, theirs;
	snprintf(here, sizeof(here), "/proc/self/ns/%s", kind);
	snprintf(there, sizeof(there), "/proc/%ld/ns/%s", (long)mounter, kind);
	return stat(here, &ours) == 0 && stat(there, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static int start_session(struct session *session, bool debug, int device)
{
	struct fuse_args args;
	char path[32];
	snprintf(path, sizeof(path), "/dev/fd/%d", device);
	int err = mount_options(NULL, debug, &args);
	if (err)
		return err;
	err = session_start(session, &args, path);
	fuse_opt_free_args(&args);
	return err;
}

static void job_mount_free(struct job_mount *mount)
{
	if (mount->session)
		session_free(&mount->session);
	if (mount->stop >= 0)
		close(mount->stop);
	free(mount);
}

static int job_mount_new(struct session *everything, struct inode root, uint32_t epochs,
	struct job_mount **ret)
{
	struct job_mount *mount = calloc(1, sizeof(*mount));
	if (!mount)
		return -ENOMEM;
	mount->epochs = epochs;
	atomic_init(&mount->ended, false);
	mount->stop = eventfd(0, EFD_CLOEXEC);
	int err = mount->stop < 0 ? -errno : 0;
	if (!err)
		err = session_new(&everything->context, root, &mount->session);
	if (err) {
		job_mount_free(mount);
		return err;
	}
	*ret = mount;
	return 0;
}

static void remove_ended(struct job_mount *mount)
{
	LIST_REMOVE(mount, link);
	job_mount_free(mount);
}

static void reap(struct session *everything)
{
	struct job_mount *next;
	for (struct job_mount *mount = LIST_FIRST(&everything->job_mounts); mount;
		mount = next) {
		next = LIST_NEXT(mount, link);
		if (!atomic_load(&mount->ended))
			continue;
		ensure(pthread_join(mount->keeper, NULL) == 0);
		remove_ended(mount);
	}
}

static unsigned count_mounts(const struct session *everything, job_id job)
{
	const struct job_mount *mount;
	unsigned n = 0;
	LIST_FOREACH (mount, &everything->job_mounts, link)
		n += mount->session->root.job == job;
	return n;
}

/* Serves the mount in new threads. Takes over `mount`, also on failure. *device becomes -1 if
 * libfuse will close the device. */
static int serve_mount(struct session *everything, struct job_mount *mount, int *device)
{
	int err = start_session(mount->session, everything->debug, *device);
	if (mount->session->fuse)
		*device = -1;
	if (!err && mount->session->again)
		session_go_on(mount->session);
	if (!err)
		err = signals_thread(&mount->keeper, keep, mount);
	if (err) {
		session_end(mount->session);
		job_mount_free(mount);
		return err;
	}
	LIST_INSERT_HEAD(&everything->job_mounts, mount, link);
	return 0;
}

static int mount_device(struct session *everything, struct sched_job *job, pid_t mounter,
	bool granted, int *device)
{
	struct inode root = {.kind = INODE_JOB, .job = sched_job_id(job)};
	struct job_mount *mount = NULL;
	int err = mount_device_check(*device);
	if (!err)
		err = job_device_own(device);
	if (!err && count_mounts(everything, sched_job_id(job)) >= SESSION_JOB_MOUNTS)
		err = -EUSERS;
	if (!err)
		err = job_mount_new(everything, root, tree_epochs(job), &mount);
	if (err)
		return err;
	mount->session->mount.other_pids = !same_names(mounter, "pid");
	mount->session->mount.untold = granted;
	mount->session->mount.everybody = granted || !same_names(mounter, "user");
	return serve_mount(everything, mount, device);
}

int session_mount_job(struct session *session, const char *name, pid_t mounter,
	bool granted, int device)
{
	auto_job *job = sched_job_find(session->context.sched, name);
	reap(session);
	int err = job ? mount_device(session, job, mounter, granted, &device) : -ENOENT;
	if (device >= 0)
		close(device);
	return err;
}

/* Waits until the keeper thread has ended. Wakes the serving threads again every WAKE_NS, because a
 * thread may begin a blocking read just after it was woken. */
static void join_keeper(struct job_mount *mount)
{
	for (;;) {
		struct timespec until = timespec_of_ns(clock_now_ns() + WAKE_NS);
		int err = pthread_clockjoin_np(
			mount->keeper, NULL, CLOCK_MONOTONIC, &until);
		if (!err)
			return;
		ensure(err == ETIMEDOUT);
		for (unsigned i = 0; i < SESSION_MAX_THREADS; i++) {
			pid_t thread = atomic_load(&mount->threads[i]);
			if (thread)
				signals_wake(thread);
		}
	}
}

void session_stop(struct session *session)
{
	struct job_mount *mount;
	LIST_FOREACH (mount, &session->job_mounts, link) {
		session_stop_waiting(mount->session);
		ensure(eventfd_write(mount->stop, 1) == 0);
	}
	LIST_FOREACH (mount, &session->job_mounts, link)
		join_keeper(mount);
}

void job_mounts_end(struct session *everything)
{
	struct job_mount *mount;
	while ((mount = LIST_FIRST(&everything->job_mounts))) {
		if (!atomic_load(&mount->ended))
			session_end(mount->session);
		remove_ended(mount);
	}
}

static int go_on(struct session *everything, struct kept_descriptor *place)
{
	struct job_mount *mount;
	struct inode root;
	int device = atomic_load(&place->fd);
	if (!inode_unpack(place->mount.root, &root) || root.kind != INODE_JOB)
		return 0;
	auto_job *job = sched_job_find_id(everything->context.sched, root.job);
	int err = job_mount_new(everything, root, job ? tree_epochs(job) : 0, &mount);
	if (!err) {
		session_take_over(mount->session, place);
		atomic_store(&mount->session->gone, job == NULL);
		err = serve_mount(everything, mount, &device);
	}
	return err;
}

void job_mounts_go_on(struct session *everything)
{
	struct kept_descriptor *place = NULL;
	while ((place = kept_next(place, KEPT_MOUNT))) {
		int err = go_on(everything, place);
		if (err)
			log_error("a mount by joaderctl mount is no longer served after "
				  "the start of this engine: %s; mount the job again",
				strerror(-err));
	}
}

static bool job_is_there(const struct session *session)
{
	auto_job *job = sched_job_find_id(session->context.sched, session->root.job);
	return job != NULL;
}

static void forget_name(struct session *session, const char *name)
{
	session_forget_name(session, session->root, name, strlen(name));
}

static void forget_names(const struct job_mount *mount)
{
	char name[TREE_NAME];
	for (size_t i = 0; i < tree_n_entries; i++)
		if (tree_entries[i].parent == INODE_JOB)
			forget_name(mount->session, tree_entries[i].name);
	forget_name(mount->session, TREE_CURRENT);
	for (uint32_t epoch = 0; epoch < mount->epochs; epoch++) {
		snprintf(name, sizeof(name), "epoch-%04u", epoch);
		forget_name(mount->session, name);
	}
}

void job_mounts_changed(struct session *everything)
{
	struct job_mount *mount;
	reap(everything);
	LIST_FOREACH (mount, &everything->job_mounts, link) {
		if (!session_try_hold(mount->session))
			continue;
		session_touch_jobs(mount->session);
		if (!atomic_load(&mount->session->gone) &&
			!job_is_there(mount->session)) {
			atomic_store(&mount->session->gone, true);
			if (!mount->session->mount.untold)
				forget_names(mount);
		}
		session_unhold(mount->session);
	}
}

void job_mounts_moved(struct session *everything, const char *dataset)
{
	struct job_mount *mount;
	reap(everything);
	LIST_FOREACH (mount, &everything->job_mounts, link) {
		if (!session_try_hold(mount->session))
			continue;
		if (!mount->session->mount.untold)
			listings_forget(mount->session, dataset);
		session_unhold(mount->session);
	}
}
