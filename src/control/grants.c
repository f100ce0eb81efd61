// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/log.h"
#include "control/control_internal.h"
#include "sched/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

/*
 * Modes of the files of grants:
 *
 *   <state>/grants               0700: only the daemon's user can enter
 *   <state>/grants/<job>         0755: any user can enter
 *   <state>/grants/<job>/socket  0666: any user can connect
 *
 * Any user can connect, because a job's directory may be mounted into a container, whose user can
 * have any number.
 */
static const struct listener_rights job_rights = {
	.mode = 0666, .max_clients = 16, .max_request = 4096, .max_bytes = 1u << 20};

static char *path_of(const struct control *control, const char *job, const char *file)
{
	return aprintf("%s/grants%s%s%s", control->context->config->state, job ? "/" : "",
		job ? job : "", file);
}

#define MOST_ASIDE 1000

/* Makes the directory, and sets its mode regardless of the umask. */
static int make_directory(const char *path, mode_t mode)
{
	if ((mkdir(path, mode) != 0 && errno != EEXIST) || chmod(path, mode) != 0) {
		int err = -errno;
		log_error("%s: %s", path, strerror(-err));
		return err;
	}
	return 0;
}

static int make_directories(const struct control *control, const char *job)
{
	auto_free char *all = path_of(control, NULL, "");
	auto_free char *one = path_of(control, job, "");
	if (!all || !one)
		return -ENOMEM;
	int err = make_directory(all, 0700);
	return err ? err : make_directory(one, 0755);
}

static struct listener *find(struct control *control, job_id job)
{
	struct listener *grant;
	LIST_FOREACH (grant, &control->grants, link)
		if (grant->rights.only == job)
			return grant;
	return NULL;
}

static int listen_for(
	struct control *control, struct sched_job *job, struct listener **ret)
{
	const char *name = sched_job_config(job)->name;
	struct listener_rights rights = job_rights;
	auto_free char *path = path_of(control, name, "/socket");
	if (!path)
		return -ENOMEM;
	rights.only = sched_job_id(job);
	snprintf(rights.name, sizeof(rights.name), "%s", name);
	int err = listener_new(path, &rights, ret);
	if (err)
		return err;
	err = control_watch(
		control, EPOLL_CTL_ADD, &(*ret)->watch, control->paused_ns ? 0 : EPOLLIN);
	if (err)
		listener_close(ret);
	else
		LIST_INSERT_HEAD(&control->grants, *ret, link);
	return err;
}

int grants_add(struct control *control, struct sched_job *job, const char **ret_path)
{
	struct listener *grant = find(control, sched_job_id(job));
	int err = 0;
	if (!grant)
		err = make_directories(control, sched_job_config(job)->name);
	if (!grant && !err)
		err = listen_for(control, job, &grant);
	*ret_path = err ? NULL : grant->address.sun_path;
	return err;
}

/* Renames the directory of a removed grant if clients left files in it, so that the daemon's next
 * start does not restore the grant. The new name begins with a dot, which no job's name does. */
static int put_aside(const struct control *control, const char *job)
{
	auto_free char *from = path_of(control, job, "");
	for (unsigned i = 0; from && i < MOST_ASIDE; i++) {
		auto_free char *to = aprintf(
			"%s/grants/.%s.%u", control->context->config->state, job, i);
		if (!to)
			return -ENOMEM;
		if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
			log_warn("%s: this directory of a grant was not empty; joaderfs "
				 "has moved it to %s",
				from, to);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return from ? -EEXIST : -ENOMEM;
}

static void remove_grant(struct control *control, struct listener *grant)
{
	auto_free char *job = strdup(grant->rights.name);
	auto_free char *directory = path_of(control, grant->rights.name, "");
	LIST_REMOVE(grant, link);
	listener_close(&grant);
	int err = !job || !directory ? -ENOMEM : rmdir(directory) != 0 ? -errno : 0;
	if (err == -ENOTEMPTY || err == -EEXIST)
		err = put_aside(control, job);
	if (err)
		log_warn("%s: %s", directory ? directory : "grants", strerror(-err));
}

bool grants_remove(struct control *control, job_id job)
{
	struct listener *grant = find(control, job);
	if (grant)
		remove_grant(control, grant);
	return grant != NULL;
}

void grants_prune(struct control *control)
{
	struct listener *next;
	for (struct listener *grant = LIST_FIRST(&control->grants); grant; grant = next) {
		next = LIST_NEXT(grant, link);
		auto_job *job =
			sched_job_find_id(control->context->sched, grant->rights.only);
		if (!job)
			remove_grant(control, grant);
	}
}

static void restore(struct control *control, const char *name)
{
	auto_job *job = sched_job_find(control->context->sched, name);
	struct listener *grant;
	if (!job) {
		log_warn("grants/%s: no job has this name, so the grant has no socket",
			name);
		return;
	}
	(void)!listen_for(control, job, &grant);
}

void grants_restore(struct control *control)
{
	auto_free char *directory = path_of(control, NULL, "");
	DIR *dir = directory ? opendir(directory) : NULL;
	if (!dir) {
		if (errno != ENOENT)
			log_error("%s: %s", directory ? directory : "grants",
				strerror(errno));
		return;
	}
	for (const struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			restore(control, entry->d_name);
	closedir(dir);
}

void grants_close(struct control *control)
{
	struct listener *grant;
	while ((grant = LIST_FIRST(&control->grants))) {
		LIST_REMOVE(grant, link);
		listener_close(&grant);
	}
}
