// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "fuse/fuse_internal.h"
#include "fuse/mount_options.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/ioctl.h>

/* Joins a device of the daemon's own to the client's mount. Duplicates of a descriptor share their
 * flags, so a client that has kept a duplicate of its descriptor could clear O_NONBLOCK while the
 * daemon reads. Returns the new descriptor, or -errno. */
static int join_mount(int device)
{
	uint32_t theirs = (uint32_t)device;
	int err = fault_hit("fuse.clone");
	int own = err ? err : open(MOUNT_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (own < 0)
		return err ? err : -errno;
	if (ioctl(own, FUSE_DEV_IOC_CLONE, &theirs) == 0)
		return own;
	err = -errno;
	close(own);
	return err;
}

/* join_mount fails if the daemon's user may not open /dev/fuse, and in older kernels if the mount
 * is in another user name space. In these cases the client's device is used, without blocking. */
int job_device_own(int *device)
{
	int own = join_mount(*device);
	if (own >= 0) {
		close(*device);
		*device = own;
		return 0;
	}
	int flags = fcntl(*device, F_GETFL);
	if (flags < 0 || fcntl(*device, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}
