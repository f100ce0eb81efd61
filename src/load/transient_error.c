// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/transient_error.h"
#include "base/cleanup.h"

#include <errno.h>
#include <libgen.h>
#include <stdint.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* File systems with files on another machine; the files of a FUSE file system may also be local. */
static const uint32_t remote[] = {
	0x6969,	    /* NFS */
	0x517b,	    /* SMB */
	0xfe534d42, /* SMB2 */
	0xff534d42, /* CIFS */
	0x01021997, /* 9P */
	0x65735546, /* FUSE */
	0x00c36400, /* Ceph */
	0x5346414f, /* AFS */
	0x6b414653, /* kAFS */
	0x73757245, /* Coda */
	0x0bd00bd0, /* Lustre */
	0x47504653, /* GPFS */
	0x01161970, /* GFS2 */
	0x7461636f, /* OCFS2 */
	0x19830326, /* BeeGFS */
};

/* Tells whether the directory is on another machine, or can't be examined. */
static bool is_remote(const char *directory)
{
	struct statfs fs;
	if (statfs(directory, &fs) != 0)
		return true;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((uint32_t)fs.f_type == remote[i])
			return true;
	return false;
}

bool load_error_passes(int error, const char *path)
{
	auto_free char *copy = strdup(path);
	const char *directory = copy ? dirname(copy) : NULL;
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOBUFS:
	case EINTR:
	case EAGAIN:
	case EBUSY:
	case ESTALE:
	case ETIMEDOUT:
	case ENOTCONN:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ECONNRESET:
	case ECONNABORTED:
	case ECONNREFUSED:
	case EREMOTEIO:
		return true;
	case EIO:
		return !directory || is_remote(directory);
	case ENOENT:
	case ENOTDIR:
	case EACCES:
		return !directory || access(directory, X_OK) != 0;
	default:
		return false;
	}
}
