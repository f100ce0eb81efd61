// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/mount_options.h"
#include "base/aprintf.h"
#include "base/kept.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <paths.h>
#include <poll.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Options that are passed on to libfuse. An option that ends with "=" has a value. */
static const char *const passed_on[] = {"allow_other", "allow_root", "auto_unmount",
	"default_permissions", "fsname=", "subtype=", "context=", "fscontext=",
	"defcontext=", "rootcontext=", "ro", "suid", "nosuid", "dev", "nodev", "exec",
	"noexec", "noatime", "debug"};

static const char *const left_out[] = {"rw", "defaults", "auto", "noauto", "user",
	"nouser", "users", "owner", "group", "nofail", "_netdev", "async", "sync",
	"dirsync", "atime", "diratime", "nodiratime", "relatime", "norelatime",
	"strictatime", "lazytime", "nolazytime"};

/* most mounts of dead daemons, one over another, that are detached */
#define DEAD_MOST 16
#define N_PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))
#define N_LEFT_OUT (sizeof(left_out) / sizeof(left_out[0]))

static bool matches(const char *option, const char *known)
{
	size_t n = strlen(known);
	return known[n - 1] == '=' ? strncmp(option, known, n) == 0
				   : strcmp(option, known) == 0;
}

static bool is_one_of(const char *option, const char *const *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (matches(option, known[i]))
			return true;
	return false;
}

static int unknown(const char *option)
{
	const char *nearest = config_nearest(option, passed_on, N_PASSED_ON);
	if (nearest)
		log_error("unknown mount option \"%s\", did you mean \"%s\"?", option,
			nearest);
	else
		log_error("unknown mount option \"%s\"", option);
	return -EINVAL;
}

static int add(struct fuse_args *args, const char *option)
{
	if (fuse_opt_add_arg(args, "-o") != 0 || fuse_opt_add_arg(args, option) != 0)
		return -ENOMEM;
	return 0;
}

static int add_option(struct fuse_args *args, const char *option)
{
	if (*option == '\0' || strncmp(option, "x-", 2) == 0 ||
		is_one_of(option, left_out, N_LEFT_OUT))
		return 0;
	/* auto_unmount would unmount when an engine dies, before the next one starts. */
	if (strcmp(option, "auto_unmount") == 0 && kept_is_supervised())
		return 0;
	if (!is_one_of(option, passed_on, N_PASSED_ON))
		return unknown(option);
	return add(args, option);
}

static bool given(const struct fuse_args *args, const char *known)
{
	for (int i = 1; i < args->argc; i++)
		if (matches(args->argv[i], known))
			return true;
	return false;
}

bool mount_options_let_others_in(const struct fuse_args *args)
{
	return given(args, "allow_other");
}

static int add_ours(struct fuse_args *args, bool debug)
{
	int err = add(args, "ro");
	if (!err && !given(args, "fsname="))
		err = add(args, "fsname=joaderfs");
	if (!err && !given(args, "subtype="))
		err = add(args, "subtype=joaderfs");
	if (!err && debug)
		err = add(args, "debug");
	return err;
}

int mount_options(const char *options, bool debug, struct fuse_args *ret)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	auto_free char *copy = strdup(options ? options : "");
	char *rest = copy, *option;
	int err = copy && fuse_opt_add_arg(&args, "joaderfs") == 0 ? 0 : -ENOMEM;
	while (!err && (option = strsep(&rest, ",")))
		err = add_option(&args, option);
	if (!err)
		err = add_ours(&args, debug);
	if (err)
		fuse_opt_free_args(&args);
	else
		*ret = args;
	return err;
}

int mount_directory_check(const char *path, char **ret_why)
{
	struct statx st;
	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_FORCE_SYNC, STATX_TYPE,
		    &st) != 0) {
		int err = -errno;
		*ret_why = err == -ENOTCONN
				   ? aprintf("%s: the daemon of this mount is gone; run "
					     "\"fusermount3 -u %s\" first",
					     path, path)
				   : aprintf("mount point %s: %s", path, strerror(-err));
		return err;
	}
	if (!S_ISDIR(st.stx_mode)) {
		*ret_why = aprintf("mount point %s: not a directory", path);
		return -ENOTDIR;
	}
	if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) {
		*ret_why = aprintf("mount point %s: is already a mount point", path);
		return -EBUSY;
	}
	return 0;
}

const char *mount_device_advice(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return "; run \"modprobe fuse\" as root, or give the container the "
		       "device: docker run --device /dev/fuse --cap-add SYS_ADMIN";
	case -EPERM:
		return "; a container needs the device: docker run --device /dev/fuse "
		       "--cap-add SYS_ADMIN";
	default:
		return "";
	}
}

/* Checks that the device can be opened. EACCES is no error for an ordinary user, because
 * fusermount3 opens the device as root. */
static int check_device(void)
{
	auto_close int fd = open(MOUNT_DEVICE, O_RDWR | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	if (!err || (err == -EACCES && geteuid() != 0))
		return 0;
	log_error("%s: %s%s", MOUNT_DEVICE, strerror(-err), mount_device_advice(err));
	return err;
}

static void warn_of_content(const char *path)
{
	DIR *directory = opendir(path);
	unsigned n = 0;
	while (directory && n <= 2 && readdir(directory))
		n++;
	if (n > 2) /* more entries than "." and ".." */
		log_warn("mount point %s: is not empty; its files can't be seen "
			 "until joaderfs is unmounted",
			path);
	if (directory)
		closedir(directory);
}

int mount_helper_check(char **ret_why)
{
	if (access(_PATH_MOUNTED, F_OK) == 0)
		return 0;
	int err = -errno;
	*ret_why = aprintf(
		"%s: %s; fusermount3 can't unmount without this file: first run \"ln -s "
		"/proc/self/mounts %s\" as root",
		_PATH_MOUNTED, strerror(-err), _PATH_MOUNTED);
	return err;
}

/* Refuses a state directory below the mount point: the mount would hide this directory, and the
 * daemon would hang. */
static int check_state(const struct files_context *context)
{
	auto_free char *mountpoint = realpath(context->mountpoint, NULL);
	auto_free char *state = realpath(context->config->state, NULL);
	size_t n = mountpoint ? strlen(mountpoint) : 0;
	if (!mountpoint || !state || strncmp(state, mountpoint, n) != 0 ||
		(state[n] != '/' && state[n] != '\0'))
		return 0;
	log_error("the state directory %s lies below the mount point %s",
		context->config->state, mountpoint);
	return -EINVAL;
}

int mount_device_check(int device)
{
	static const unsigned fuse_major = 10, fuse_minor = 229;
	struct pollfd fd = {.fd = device};
	struct statx st;
	/* AT_STATX_DONT_SYNC: the kernel does not ask the file's server, which may be an untrusted
	 * process that never answers. */
	if (statx(device, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) != 0)
		return -errno;
	if (!S_ISCHR(st.stx_mode) || st.stx_rdev_major != fuse_major ||
		st.stx_rdev_minor != fuse_minor)
		return -ENOTTY;
	if (poll(&fd, 1, 0) < 0)
		return -errno;
	return fd.revents & (POLLERR | POLLNVAL) ? -ENODEV : 0;
}

/* Prepares an inherited device: children do not inherit it, and reads of it block. */
static int take_device(int device)
{
	int err = mount_device_check(device);
	int flags = err ? 0 : fcntl(device, F_GETFL);
	if (!err && (flags < 0 || fcntl(device, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
			    fcntl(device, F_SETFD, FD_CLOEXEC) < 0))
		err = -errno;
	if (err)
		log_error("--fuse-fd %d: %s", device,
			err == -ENOTTY ? "is not " MOUNT_DEVICE
			: err == -ENODEV
				? "is not mounted; mount it with mount(8) and -o fd="
			: err == -EBADF ? "is not open; joaderfs has to inherit it"
					: strerror(-err));
	return err;
}

/* Unmounts by fusermount3, because an ordinary user may not call umount2. */
static void unmount_by_helper(const char *mountpoint)
{
	pid_t child = fork();
	if (child == 0) {
		execlp("fusermount3", "fusermount3", "-u", "-q", "-z", "--", mountpoint,
			(char *)NULL);
		_exit(EXIT_FAILURE);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns the absolute path of a directory, without accessing the directory. The caller frees the
 * path. NULL: the directory's parent does not exist, or there is no memory. */
static char *absolute_name(const char *path)
{
	auto_free char *copy = strdup(path);
	size_t n = copy ? strlen(copy) : 0;
	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = '\0';
	char *slash = copy ? strrchr(copy, '/') : NULL;
	const char *last = slash ? slash + 1 : copy;
	auto_free char *parent = NULL;
	if (slash)
		*slash = '\0';
	if (copy)
		parent = realpath(!slash ? "." : *copy ? copy : "/", NULL);
	return parent ? aprintf("%s/%s", strcmp(parent, "/") ? parent : "", last) : NULL;
}

/* Tells whether the topmost mount at the path is a joaderfs mount. */
static bool is_of_our_kind(const char *path)
{
	auto_free char *name = absolute_name(path);
	FILE *mounts = name ? setmntent("/proc/self/mounts", "re") : NULL;
	const struct mntent *entry;
	bool ours = false;
	while (mounts && (entry = getmntent(mounts)))
		if (strcmp(entry->mnt_dir, name) == 0)
			ours = strcmp(entry->mnt_type, "fuse.joaderfs") == 0;
	if (mounts)
		(void)endmntent(mounts);
	return ours;
}

/* Tells whether the path is the mount point of a dead daemon. AT_STATX_FORCE_SYNC makes the kernel
 * ask the daemon instead of using cached answers. */
static bool is_dead(const char *path)
{
	struct statx st;
	return statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_FORCE_SYNC, STATX_TYPE,
		       &st) != 0 &&
	       errno == ENOTCONN;
}

static void detach_dead(const char *path)
{
	for (int i = 0; i < DEAD_MOST && is_dead(path) && is_of_our_kind(path); i++) {
		if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && geteuid() != 0)
			unmount_by_helper(path);
		if (!is_dead(path))
			log_info("mount point %s: detached the mount of a daemon that "
				 "was killed",
				path);
	}
}

int mount_point_check(const struct files_context *context)
{
	auto_free char *why = NULL;
	if (context->device)
		return take_device(context->device);
	detach_dead(context->mountpoint);
	int err = mount_directory_check(context->mountpoint, &why);
	if (!err && geteuid() != 0)
		err = mount_helper_check(&why);
	if (err)
		log_error("%s", why ? why : strerror(-err));
	if (!err)
		err = check_state(context);
	if (!err)
		err = check_device();
	if (!err)
		warn_of_content(context->mountpoint);
	return err;
}

void mount_point_unmount(const char *mountpoint, int device)
{
	struct pollfd fd = {.fd = device};
	if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLERR))
		return;
	if (umount2(mountpoint, MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && geteuid() != 0)
		unmount_by_helper(mountpoint);
}
