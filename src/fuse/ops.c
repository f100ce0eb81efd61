// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content_parts.h"
#include "files/data.h"
#include "fuse/by_worker.h"
#include "fuse/file_requests.h"
#include "fuse/kernel_features.h"
#include "fuse/owner.h"
#include "fuse/passthrough.h"
#include "fuse/read_ahead.h"
#include "stats/stats.h"

#include <errno.h>
#include <sys/statvfs.h>

#define MAX_BACKGROUND 256

static struct session *session_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* Counts a request. kind: STAT_REQUESTS if the request has no counter of its own. */
static void count(enum stat_id kind)
{
	if (kind != STAT_REQUESTS)
		stats_add(kind, 1);
	stats_add(STAT_REQUESTS, 1);
}

/* Counts a request, and fills in *ret with the inode. Returns -ENODEV if the mount's job was
 * removed. Reads and releases do not call this function, because files of a removed job stay
 * readable. */
static int find(fuse_req_t req, fuse_ino_t ino, enum stat_id kind, struct request *ret)
{
	struct session *session = session_of(req);
	count(kind);
	*ret = (struct request){.req = req, .session = session};
	return atomic_load(&session->gone) ? -ENODEV
					   : session_inode(session, ino, &ret->inode);
}

static void want(struct fuse_conn_info *conn, unsigned capability, bool wanted)
{
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
	if (wanted)
		fuse_set_feature_flag(conn, capability);
	else
		fuse_unset_feature_flag(conn, capability);
#else
	if (wanted)
		conn->want |= conn->capable & capability;
	else
		conn->want &= ~capability;
#endif
}

/* Raises the limit of read-ahead in the mount of the whole tree, unless another process has made
 * the mount, or an earlier engine has already raised the limit. */
static void read_ahead(const struct session *session, struct fuse_conn_info *conn)
{
	if (session->root.kind == INODE_ROOT && !session->mount.foreign &&
		!session->again && read_ahead_raise(session->context.mountpoint) == 0)
		conn->max_readahead = READ_AHEAD;
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct session *session = userdata;
	session->omits_opendir = !owner_is_checked(session) &&
				 (conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT);
	want(conn, FUSE_CAP_READDIRPLUS, true);
	want(conn, FUSE_CAP_READDIRPLUS_AUTO, false);
	want(conn, FUSE_CAP_CACHE_SYMLINKS, true);
	want(conn, FUSE_CAP_SPLICE_READ, false);
	want(conn, FUSE_CAP_SPLICE_WRITE, false);
	want(conn, FUSE_CAP_SPLICE_MOVE, false);
	kernel_features_ask(session, conn);
	if (session->again)
		files_go_on(session);
	passthrough_begin(session);
	if (conn->max_write > CONTENT_MAX_READ)
		conn->max_write = CONTENT_MAX_READ; /* also limits reads */
	read_ahead(session, conn);
	conn->max_background = MAX_BACKGROUND;
}

static void start(const struct request *request, bool by_worker,
	void (*answer)(const struct request *request))
{
	if (by_worker)
		by_worker_answer(request, answer);
	else
		answer(request);
}

/* Returns the timeout to report for an inode: `timeout`, but at most UNTOLD_S seconds if the
 * session sends no notifications. Files of an epoch have no such limit: `timeout` is 0 if their
 * attributes may change, and the kernel looks them up again when their directory changes. */
static double lasting(const struct session *session, struct inode inode, double timeout)
{
	bool file = inode_is_sample(inode) || inode.kind == INODE_LABEL ||
		    inode_is_text_of_sample(inode.kind) || inode_is_composite(inode.kind);
	return session->mount.untold && !file && timeout > UNTOLD_S ? UNTOLD_S : timeout;
}

static void answer_entry(const struct request *request)
{
	struct session *session = request->session;
	struct inode inode = request->inode;
	struct fuse_entry_param entry = {
		.ino = session_number(session, inode), .entry_timeout = FOREVER};
	if (inode.kind == INODE_DATASET)
		entry.entry_timeout = 0; /* the name may soon belong to another dataset */
	int err = attributes_get(session, inode, false, &entry.attr, &entry.attr_timeout);
	entry.entry_timeout = lasting(session, inode, entry.entry_timeout);
	entry.attr_timeout = lasting(session, inode, entry.attr_timeout);
	if (err)
		reply_error(request->req, err);
	else
		fuse_reply_entry(request->req, &entry);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request request;
	struct inode found = {.kind = INODE_ROOT};
	int err = find(req, parent, STAT_LOOKUPS, &request);
	if (!err)
		err = owner_check(req, request.inode, OWNER_SEARCH);
	if (!err)
		err = tree_lookup(&request.session->context, request.inode, name, &found);
	request.inode = found;
	if (err)
		reply_error(req, err);
	else
		start(&request, attributes_take_long(request.session, found, false),
			answer_entry);
}

static void answer_attributes(const struct request *request)
{
	struct session *session = request->session;
	struct stat st;
	double timeout;
	int err = attributes_get(session, request->inode, true, &st, &timeout);
	if (err)
		reply_error(request->req, err);
	else
		fuse_reply_attr(
			request->req, &st, lasting(session, request->inode, timeout));
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request request;
	(void)fi;
	int err = find(req, ino, STAT_GETATTRS, &request);
	if (err)
		reply_error(req, err);
	else
		start(&request,
			attributes_take_long(request.session, request.inode, true),
			answer_attributes);
}

/* Reports zero blocks and files, as /proc does. So df leaves out the mount, and programs that watch
 * for full disks compute no percentage. */
static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = {
		.f_bsize = 4096, .f_frsize = 4096, .f_namemax = 255, .f_flag = ST_RDONLY};
	struct request request;
	int err = find(req, ino, STAT_REQUESTS, &request);
	if (err)
		reply_error(req, err);
	else
		fuse_reply_statfs(req, &st);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[DATA_TARGET];
	struct request request;
	int err = find(req, ino, STAT_REQUESTS, &request);
	if (!err)
		err = data_target(&request.session->context, request.inode, target);
	if (err)
		reply_error(req, err);
	else
		fuse_reply_readlink(req, target);
}

/* If the session sends notifications, the kernel may keep a listing until the directory's time
 * changes (set_in_job in attributes.c). If such a session also checks no rights, the answer is
 * ENOSYS, after which the kernel sends no further opendir. If the session sends no notifications,
 * the kernel keeps no listing. */
static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request request;
	int err = find(req, ino, STAT_REQUESTS, &request);
	const struct session *session = request.session;
	if (session->omits_opendir && !session->mount.untold) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	if (!err)
		err = owner_check(req, request.inode, OWNER_READ);
	if (err) {
		reply_error(req, err);
		return;
	}
	fi->cache_readdir = !session->mount.untold;
	fi->keep_cache = !session->mount.untold;
	fuse_reply_open(req, fi);
}

/* Checks rights for chdir(2) and access(2). */
static void op_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	struct request request;
	int err = find(req, ino, STAT_REQUESTS, &request);
	if (!owner_is_checked(request.session)) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	if (!err)
		err = owner_check(
			req, request.inode, (unsigned)mask & (OWNER_READ | OWNER_SEARCH));
	fuse_reply_err(req, -err);
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	struct request request;
	int err = find(req, ino, STAT_READDIRS, &request);
	if (!err && offset < 0)
		err = -EINVAL;
	request.size = size;
	request.offset = (uint64_t)offset;
	request.plus = plus;
	if (err)
		reply_error(req, err);
	else
		start(&request,
			plus && attributes_take_long(
					request.session, request.inode, false),
			listing_reply);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
	struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
	struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, true);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request request;
	int err = find(req, ino, STAT_OPEN_REQUESTS, &request);
	request.fi = *fi;
	if (err)
		reply_error(req, err);
	else
		file_open(&request);
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t at, struct fuse_file_info *fi)
{
	struct request request = {.req = req,
		.session = session_of(req),
		.fi = *fi,
		.size = size,
		.offset = (uint64_t)at};
	count(STAT_READ_REQUESTS);
	if (at < 0 || session_inode(request.session, ino, &request.inode) != 0)
		reply_error(req, -EINVAL);
	else
		file_read(&request);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	count(STAT_RELEASES);
	file_release(session_of(req), ino, fi->fh);
	fuse_reply_err(req, 0);
}

/* Answers the ioctl by which Python's open() asks of each file whether it is a terminal. */
static void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned command, void *argument,
	struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_bytes,
	size_t out_bytes)
{
	(void)ino, (void)command, (void)argument, (void)fi, (void)flags;
	(void)in, (void)in_bytes, (void)out_bytes;
	count(STAT_REQUESTS);
	fuse_reply_err(req, ENOTTY);
}

/* libfuse answers all other kinds of request, such as getxattr, with ENOSYS. The kernel then sends
 * no further request of this kind. */
const struct fuse_lowlevel_ops session_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.readlink = op_readlink,
	.opendir = op_opendir,
	.access = op_access,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.open = op_open,
	.read = op_read,
	.release = op_release,
	.ioctl = op_ioctl,
	.statfs = op_statfs,
};
