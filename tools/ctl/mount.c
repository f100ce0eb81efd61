// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "commands.h"
#include "fuse/mount_options.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct place {
	const char *directory; /* absolute */
	bool allow_other;
	int device;   /* descriptor of /dev/fuse, over which the mount is served */
	int detached; /* descriptor of the mount; -1: the mount is attached */
	int guard;    /* our end of the pipe to the guard process; -1: there is none */
	pid_t guard_pid;
};

static bool set(int context, const char *key, const char *value)
{
	return fsconfig(context, FSCONFIG_SET_STRING, key, value, 0) == 0;
}

static bool set_number(int context, const char *key, unsigned number)
{
	char text[16];
	snprintf(text, sizeof(text), "%u", number);
	return set(context, key, text);
}

static bool set_flag(int context, const char *key)
{
	return fsconfig(context, FSCONFIG_SET_FLAG, key, NULL, 0) == 0;
}

/* Returns false, and sets errno, after a failure. */
static bool configure(int context, const struct place *place)
{
	return set(context, "source", "joaderfs") &&
	       set(context, "subtype", "joaderfs") &&
	       set_number(context, "fd", (unsigned)place->device) &&
	       set(context, "rootmode", "40000") && /* S_IFDIR in octal */
	       set_number(context, "user_id", geteuid()) &&
	       set_number(context, "group_id", getegid()) && set_flag(context, "ro") &&
	       (!place->allow_other || set_flag(context, "allow_other"));
}

/* Makes a detached mount (commands.h). Returns -EPERM if this user is not allowed to mount, and
 * -ENOSYS if the kernel is older than 5.2. */
static int mount_detached(struct place *place)
{
	auto_close int context = fsopen("fuse", FSOPEN_CLOEXEC);
	if (context < 0 || !configure(context, place) ||
		fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	place->detached = fsmount(context, FSMOUNT_CLOEXEC,
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return place->detached < 0 ? -errno : 0;
}

static bool attach(const struct place *place)
{
	return place->detached < 0 ||
	       move_mount(place->detached, "", AT_FDCWD, place->directory,
		       MOVE_MOUNT_F_EMPTY_PATH) == 0 ||
	       complain("can't mount on %s: %s", place->directory, strerror(errno));
}

static void wait_for(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Runs in the guard process. Waits until joaderctl ends, or sends a byte because the daemon serves
 * the mount. Unmounts the directory if no byte came and no process serves the mount. */
static _Noreturn void guard(const char *directory, int fd)
{
	struct statx st;
	char byte;
	/* Leaves joaderctl's process group, so that ^C does not end the guard. */
	setsid();
	if (read(fd, &byte, 1) == 1)
		_exit(EXIT_SUCCESS);
	if (statx(AT_FDCWD, directory, AT_NO_AUTOMOUNT, STATX_TYPE, &st) == 0 ||
		errno != ENOTCONN)
		_exit(EXIT_SUCCESS);
	execlp("fusermount3", "fusermount3", "-u", "-z", "--", directory, (char *)NULL);
	_exit(EXIT_FAILURE);
}

static bool start_guard(struct place *place)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	place->guard_pid = fork();
	if (place->guard_pid == 0) {
		close(ends[1]);
		guard(place->directory, ends[0]);
	}
	close(ends[0]);
	if (place->guard_pid < 0)
		close(ends[1]);
	else
		place->guard = ends[1];
	return place->guard >= 0;
}

static void end_guard(struct place *place, bool served)
{
	if (place->guard < 0)
		return;
	if (served)
		(void)!write(place->guard, "", 1);
	close(place->guard);
	wait_for(place->guard_pid);
}

static _Noreturn void exec_helper(const struct place *place, int socket)
{
	char number[16];
	const char *options = place->allow_other
				      ? "ro,fsname=joaderfs,subtype=joaderfs,allow_other"
				      : "ro,fsname=joaderfs,subtype=joaderfs";
	snprintf(number, sizeof(number), "%d", socket);
	if (fcntl(socket, F_SETFD, 0) == 0 && setenv("_FUSE_COMMFD", number, 1) == 0)
		execlp("fusermount3", "fusermount3", "-o", options, "--",
			place->directory, (char *)NULL);
	complain("fusermount3: %s", strerror(errno));
	_exit(EXIT_FAILURE);
}

static int receive_descriptor(int socket)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights;
	char byte;
	int descriptor = -1;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &rights,
		.msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t n;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_type == SCM_RIGHTS &&
		head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&descriptor, CMSG_DATA(head), sizeof(int));
	return descriptor;
}

/* Runs fusermount3, which mounts on the directory and sends the descriptor of /dev/fuse over a
 * socket. fusermount3 itself prints its errors. */
static bool run_helper(struct place *place)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	pid_t child = fork();
	if (child == 0)
		exec_helper(place, ends[1]);
	close(ends[1]);
	if (child > 0) {
		place->device = receive_descriptor(ends[0]);
		wait_for(child);
	}
	close(ends[0]);
	return place->device >= 0;
}

static bool mount_by_helper(struct place *place)
{
	auto_free char *why = NULL;
	int err = mount_helper_check(&why);
	if (err)
		return complain("%s", why ? why : strerror(-err));
	return (start_guard(place) && run_helper(place)) ||
	       complain("can't mount on %s", place->directory);
}

static bool mount_somehow(struct place *place)
{
	place->device = open(MOUNT_DEVICE, O_RDWR | O_CLOEXEC);
	if (place->device < 0)
		return complain("%s: %s%s", MOUNT_DEVICE, strerror(errno),
			mount_device_advice(-errno));
	int err = mount_detached(place);
	if (err != -EPERM && err != -ENOSYS)
		return !err || complain("can't mount: %s", strerror(-err));
	close(place->device);
	place->device = -1;
	return mount_by_helper(place);
}

static bool check_directory(const char *directory, char **ret)
{
	auto_free char *why = NULL;
	*ret = realpath(directory, NULL);
	if (!*ret)
		return complain("mount point %s: %s", directory, strerror(errno));
	int err = mount_directory_check(*ret, &why);
	return !err || complain("%s", why ? why : strerror(-err));
}

int mount_job(
	const char *socket_path, const char *job, const char *directory, bool allow_other)
{
	auto_free char *absolute = NULL;
	const char *arguments[] = {"mount", job};
	struct place place = {
		.allow_other = allow_other, .device = -1, .detached = -1, .guard = -1};
	if (!check_directory(directory, &absolute))
		return EXIT_FAILURE;
	place.directory = absolute;
	bool served = mount_somehow(&place) &&
		      request(socket_path, arguments, 2, &place.device, stdout) ==
			      EXIT_SUCCESS &&
		      attach(&place);
	if (place.device >= 0)
		close(place.device);
	if (place.detached >= 0)
		close(place.detached);
	end_guard(&place, served);
	if (served)
		printf("mounted %s on %s\n", job, place.directory);
	return served ? EXIT_SUCCESS : EXIT_FAILURE;
}
