// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/content_parts.h"
#include "files/data.h"
#include "fuse/composite/composite_file.h"
#include "fuse/kernel_features.h"
#include "fuse/label_file.h"
#include "fuse/by_worker.h"
#include "fuse/other_file.h"
#include "fuse/handover.h"
#include "fuse/owner.h"
#include "fuse/passthrough.h"
#include "fuse/read_ahead.h"
#include "fuse/sample_file.h"
#include "sched/jobs.h"
#include "stats/stats.h"

#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#define MAX_BACKGROUND 256

static struct session *session_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* Only this function answers with -errno. */
void reply_error(fuse_req_t req, int err)
{
	ensure(err < 0);
	fuse_reply_err(req, -err);
}

/* Counts a request. kind: STAT_REQUESTS if it has no counter of its own. */
static void count(enum stat_id kind)
{
	if (kind != STAT_REQUESTS)
		stats_add(kind, 1);
	stats_add(STAT_REQUESTS, 1);
}

/* --- numbers of inodes in this mount ------------------------------------------------ */

/* A job's mount has no directory outside the job's: .. of its root is the root. */
uint64_t session_number(const struct session *session, struct inode inode)
{
	bool outside = inode.kind == INODE_ROOT || inode.kind == INODE_JOBS;
	if (session->root.kind == INODE_JOB && (outside || inode.kind == INODE_JOB))
		return FUSE_ROOT_ID;
	return inode_pack(inode);
}

int session_inode(const struct session *session, uint64_t number, struct inode *ret)
{
	if (number == FUSE_ROOT_ID) {
		*ret = session->root;
		return 0;
	}
	if (!inode_unpack(number, ret))
		return -ENOENT;
	return session->root.kind == INODE_JOB && ret->job != session->root.job ? -ENOENT
										: 0;
}

/* Finds the inode of a request that is not about an open file: open files stay readable. */
static int find(fuse_req_t req, fuse_ino_t ino, struct inode *ret)
{
	const struct session *session = session_of(req);
	return atomic_load(&session->gone) ? -ENODEV : session_inode(session, ino, ret);
}

/* Readers map batches. If files that bypass the page cache can't be mapped, batches go through
 * it. */
bool session_is_cached(const struct session *session, const struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	return config->io == IO_CACHED ||
	       (config->io == IO_AUTO && config->layout == LAYOUT_BATCH &&
		       !session->maps_direct);
}

bool session_is_mappable(const struct session *session, const struct sched_job *job)
{
	return session->maps_direct || session->passes_through ||
	       session_is_cached(session, job);
}

/*
 * Cached bytes stay valid for a file of an explicit epoch, which never changes. A file of
 * current/ may hold other samples when it is opened again.
 */
void session_set_io(const struct session *session, const struct sched_job *job,
	struct inode inode, struct fuse_file_info *fi)
{
	bool cached = session_is_cached(session, job);
	fi->direct_io = !cached;
	fi->keep_cache = cached && inode.epoch != INODE_CURRENT;
}

/* --- the session -------------------------------------------------------------------- */

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

/* Raises the limit of read-ahead, unless somebody else, or a previous engine, has set it. */
static void read_ahead(const struct session *session, struct fuse_conn_info *conn)
{
	if (session->root.kind == INODE_ROOT && !session->foreign && !session->again &&
		read_ahead_raise(session->context.mountpoint) == 0)
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
		handover_begin(session);
	passthrough_begin(session);
	if (conn->max_write > CONTENT_MAX_READ)
		conn->max_write = CONTENT_MAX_READ; /* limits reads as well */
	read_ahead(session, conn);
	conn->max_background = MAX_BACKGROUND;
}

/* --- names and attributes ----------------------------------------------------------- */

static void later(fuse_req_t req, struct inode inode,
	void (*answer)(const struct by_worker_request *request))
{
	by_worker_request(&(struct by_worker_request){
		.later = {.req = req, .session = session_of(req)},
		.inode = inode,
		.answer = answer});
}

/* Returns how long the kernel may remember a name, or attributes. An epoch's files stay as they
 * are; if their directory changes, the kernel looks for them again. */
static double lasting(const struct session *session, struct inode inode, double timeout)
{
	bool file = inode_is_sample(inode) || inode.kind == INODE_LABEL ||
		    inode_is_text_of_sample(inode.kind) || composite_is(inode.kind);
	return session->untold && !file && timeout > UNTOLD_S ? UNTOLD_S : timeout;
}

static void answer_entry(const struct by_worker_request *request)
{
	struct session *session = request->later.session;
	fuse_req_t req = request->later.req;
	struct fuse_entry_param entry = {
		.ino = session_number(session, request->inode), .entry_timeout = FOREVER};
	if (request->inode.kind == INODE_DATASET)
		entry.entry_timeout = 0; /* another dataset may have the name soon */
	int err = attributes_get(
		session, request->inode, false, &entry.attr, &entry.attr_timeout);
	entry.entry_timeout = lasting(session, request->inode, entry.entry_timeout);
	entry.attr_timeout = lasting(session, request->inode, entry.attr_timeout);
	if (err)
		reply_error(req, err);
	else
		fuse_reply_entry(req, &entry);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent_ino, const char *name)
{
	struct session *session = session_of(req);
	struct inode parent, inode = {.kind = INODE_ROOT};
	count(STAT_LOOKUPS);
	int err = find(req, parent_ino, &parent);
	if (!err)
		err = owner_check(req, parent, OWNER_SEARCH);
	if (!err)
		err = tree_lookup(&session->context, parent, name, &inode);
	if (err)
		reply_error(req, err);
	else if (attributes_take_long(session, inode, false))
		later(req, inode, answer_entry);
	else
		answer_entry(&(struct by_worker_request){
			.later = {.req = req, .session = session}, .inode = inode});
}

static void answer_attributes(const struct by_worker_request *request)
{
	const struct session *session = request->later.session;
	struct stat st;
	double timeout;
	int err = attributes_get(
		request->later.session, request->inode, true, &st, &timeout);
	if (err)
		reply_error(request->later.req, err);
	else
		fuse_reply_attr(request->later.req, &st,
			lasting(session, request->inode, timeout));
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct session *session = session_of(req);
	struct inode inode;
	(void)fi;
	count(STAT_GETATTRS);
	int err = find(req, ino, &inode);
	if (err)
		reply_error(req, err);
	else if (attributes_take_long(session, inode, true))
		later(req, inode, answer_attributes);
	else
		answer_attributes(&(struct by_worker_request){
			.later = {.req = req, .session = session}, .inode = inode});
}

/* Answers without blocks and files, as /proc does: df leaves the mount out, and monitors of
 * full disks have nothing to divide. */
static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = {
		.f_bsize = 4096, .f_frsize = 4096, .f_namemax = 255, .f_flag = ST_RDONLY};
	struct inode inode;
	count(STAT_REQUESTS);
	int err = find(req, ino, &inode);
	if (err)
		reply_error(req, err);
	else
		fuse_reply_statfs(req, &st);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[DATA_TARGET];
	struct inode inode;
	count(STAT_REQUESTS);
	int err = find(req, ino, &inode);
	if (!err)
		err = data_target(&session_of(req)->context, inode, target);
	if (err)
		reply_error(req, err);
	else
		fuse_reply_readlink(req, target);
}

/* --- directories -------------------------------------------------------------------- */

/* Lets the kernel keep listings: see set_in_job in attributes.c. Where nobody else reads, the
 * kernel sends no further opendir. */
static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	const struct session *session = session_of(req);
	struct inode inode;
	count(STAT_REQUESTS);
	if (session->omits_opendir && !session->untold) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	int err = find(req, ino, &inode);
	if (!err)
		err = owner_check(req, inode, OWNER_READ);
	if (err) {
		reply_error(req, err);
		return;
	}
	fi->cache_readdir = !session->untold;
	fi->keep_cache = !session->untold;
	fuse_reply_open(req, fi);
}

/* Answers chdir(2) and access(2). */
static void op_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	struct inode inode;
	count(STAT_REQUESTS);
	if (!owner_is_checked(session_of(req))) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	int err = find(req, ino, &inode);
	if (!err)
		err = owner_check(
			req, inode, (unsigned)mask & (OWNER_READ | OWNER_SEARCH));
	fuse_reply_err(req, -err);
}

static void answer_listing_plus(const struct by_worker_request *request)
{
	listing_reply(request->later.req, request->later.session, request->inode,
		request->size, request->offset, true);
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	struct session *session = session_of(req);
	struct by_worker_request request = {.later = {.req = req, .session = session},
		.size = size,
		.offset = (uint64_t)offset,
		.answer = answer_listing_plus};
	count(STAT_READDIRS);
	int err = offset < 0 ? -EINVAL : find(req, ino, &request.inode);
	if (err)
		reply_error(req, err);
	else if (plus && attributes_take_long(session, request.inode, false))
		by_worker_request(&request);
	else
		listing_reply(req, session, request.inode, size, (uint64_t)offset, plus);
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

/* --- files -------------------------------------------------------------------------- */

/* Tells whether the daemon itself has sent the request: a source leads to the own mount, by a
 * way that its scan did not see. The thread would wait for itself, and take a job's samples. */
static bool is_own_thread(fuse_req_t req)
{
	return !session_of(req)->other_pids &&
	       tgkill(getpid(), fuse_req_ctx(req)->pid, 0) == 0;
}

static int may_open(fuse_req_t req, fuse_ino_t ino, const struct fuse_file_info *fi,
	struct inode *ret)
{
	int err = find(req, ino, ret);
	if (err)
		return err;
	if ((fi->flags & O_ACCMODE) != O_RDONLY)
		return -EROFS;
	if (tree_is_directory(ret->kind))
		return -EISDIR;
	err = owner_check(req, *ret, OWNER_READ);
	if (err)
		return err;
	return is_own_thread(req) ? -EDEADLK : 0;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct inode inode;
	count(STAT_OPEN_REQUESTS);
	int err = may_open(req, ino, fi, &inode);
	if (err)
		reply_error(req, err);
	else if (inode_is_sample(inode) || inode.kind == INODE_LABEL ||
		 inode_is_text_of_sample(inode.kind))
		opening_start(req, session_of(req), inode, fi);
	else if (inode.kind == INODE_OTHER)
		other_file_open(req, session_of(req), inode, fi);
	else if (composite_is(inode.kind))
		composite_open(req, session_of(req), inode, fi);
	else
		text_file_open(req, session_of(req), inode, fi);
}

static void read_sample(fuse_req_t req, struct session *session, struct inode inode,
	uint64_t handle, size_t size, uint64_t offset)
{
	struct sample_file *file = sample_file_find(session, handle);
	if (file)
		sample_file_read(req, session, file, size, offset);
	else
		opening_again(req, session, inode, handle, size, offset);
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t at, struct fuse_file_info *fi)
{
	struct session *session = session_of(req);
	uint64_t offset = (uint64_t)at;
	struct inode inode;
	bool known = true;
	count(STAT_READ_REQUESTS);
	if (at < 0 || session_inode(session, ino, &inode) != 0)
		reply_error(req, -EINVAL);
	else if (inode_is_sample(inode))
		read_sample(req, session, inode, fi->fh, size, offset);
	else if (inode.kind == INODE_OTHER)
		other_file_read(req, session, inode, size, offset);
	else if (inode.kind == INODE_LABEL)
		known = label_file_read(req, session, fi->fh, size, offset);
	else if (composite_is(inode.kind))
		composite_read(req, session, inode, fi->fh, size, offset);
	else
		known = text_file_read(req, session, inode, fi->fh, size, offset);
	if (!known)
		opening_again(req, session, inode, fi->fh, size, offset);
}

void session_release(struct session *session, struct inode inode, uint64_t handle)
{
	if (inode_is_sample(inode))
		sample_file_release(session, inode, handle);
	else if (composite_is(inode.kind))
		composite_release(session, inode, handle);
	else if (inode.kind == INODE_LABEL)
		label_file_release(session, handle);
	else if (inode.kind != INODE_OTHER)
		text_file_release(session, handle);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct session *session = session_of(req);
	struct inode inode;
	count(STAT_RELEASES);
	if (session_inode(session, ino, &inode) == 0)
		session_release(session, inode, fi->fh);
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

/*
 * libfuse answers requests that are not here with ENOSYS, and the kernel does not send
 * them again: flush, getxattr, listxattr.
 */
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
