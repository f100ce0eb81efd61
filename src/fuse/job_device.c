// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "fuse/fuse_internal.h"
#include "fuse/mount_options.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/ioctl.h>

/*
 * The client that mounts may keep a duplicate of its descriptor. Both then share the flags of
 * the open file, and the client can take O_NONBLOCK away while the daemon reads. So the daemon
 * opens /dev/fuse for itself, and the kernel joins this one to the client's mount.
 */
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

/* Opens an own device. Where that fails, makes reads of the client's device not wait: an ordinary
 * user may not open /dev/fuse everywhere, and an older kernel joins no mount of another user name
 * space. */
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
