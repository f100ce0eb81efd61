// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "fuse/passthrough.h"
#include "sched/jobs.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* equals struct fuse_backing_map, which headers before Linux 6.9 lack */
struct backing_map {
	int32_t fd;
	uint32_t flags;
	uint64_t padding;
};
#define BACKING_OPEN _IOW(229, 1, struct backing_map)
#define BACKING_CLOSE _IOW(229, 2, uint32_t)

static bool is_capable(unsigned capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}

bool passthrough_possible(const struct session *session)
{
	return session->root.kind == INODE_ROOT && session->context.backings &&
	       is_capable(CAP_SYS_ADMIN);
}

static int add(void *context, int fd)
{
	const struct session *session = context;
	struct backing_map map = {.fd = fd};
	int id = ioctl(fuse_session_fd(session->fuse), BACKING_OPEN, &map);
	if (id < 0)
		return -errno;
	kept_file_add(id);
	return id;
}

/* Asks nothing of the kernel if the session has ended, because the kernel has then forgotten all
 * files of the session. */
int passthrough_try_forget(const struct session *session, int backing)
{
	uint32_t number = (uint32_t)backing;
	int err = 0;
	if (session->fuse &&
		ioctl(fuse_session_fd(session->fuse), BACKING_CLOSE, &number) != 0)
		err = -errno;
	kept_file_remove(backing);
	return err;
}

static void remove_again(void *context, int id)
{
	passthrough_forget(context, id);
}

void passthrough_forget(const struct session *session, int backing)
{
	int err = passthrough_try_forget(session, backing);
	if (err)
		log_warn("FUSE passthrough: the kernel can't release a sample's file: %s",
			strerror(-err));
}

void passthrough_begin(struct session *session)
{
	struct backing_kernel kernel = {
		.add = add, .remove = remove_again, .context = session};
	if (!session->mount.passes_through)
		return;
	backings_begin(session->context.backings, &kernel);
	log_info("FUSE passthrough: the kernel itself reads the samples of jobs with io "
		 "= auto");
}

void passthrough_end(struct session *session)
{
	if (session->mount.passes_through)
		backings_end(session->context.backings);
}

int passthrough_of(const struct session *session, const struct sched_job *job,
	const struct content *content)
{
	const struct tensor *tensor = content->first.tensor;
	const struct formatted *format = &content->first.format;
	if (!session->mount.passes_through || sched_job_config(job)->io != IO_AUTO ||
		!tensor || !tensor->file.store)
		return 0;
	bool same = content->size == tensor->file.size &&
		    format->bytes == tensor->file.size &&
		    format->head_bytes == tensor->head_bytes &&
		    memcmp(format->head, tensor->head, tensor->head_bytes) == 0;
	return same ? tensor->file.id : 0;
}
