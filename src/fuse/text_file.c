// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/meta.h"
#include "files/text.h"
#include "fuse/view_internal.h"

#include <errno.h>
#include <stdatomic.h>

/* Lines of an order that one stat may measure, in chunks: a fraction of a second. */
#define MAX_STAT_CHUNKS 2048

struct snapshot {
	LIST_ENTRY(snapshot) link; /* (view's lock) */
	char *text;
	size_t bytes;
	atomic_uint references; /* as those of a sample_file */
};

bool text_file_is(enum inode_kind kind)
{
	switch (kind) {
	case INODE_README:
	case INODE_STATS:
	case INODE_STATS_JSON:
	case INODE_METRICS:
	case INODE_DATASET_INFO:
	case INODE_DATASET_CLASSES:
	case INODE_JOB_INI:
	case INODE_JOB_STATUS:
	case INODE_JOB_CLASSES:
	case INODE_EPOCH_ORDER:
		return true;
	default:
		return false;
	}
}

/* --- snapshots ---------------------------------------------------------------------- */

static void print_of_daemon(
	FILE *out, const struct view_context *context, enum inode_kind kind)
{
	if (kind == INODE_README)
		text_readme(out, context);
	else if (kind == INODE_STATS)
		text_stats(out, context);
	else if (kind == INODE_STATS_JSON)
		text_stats_json(out, context);
	else if (kind == INODE_METRICS)
		text_metrics(out, context);
}

static int print_of_dataset(
	FILE *out, const struct view_context *context, struct inode inode)
{
	if (inode.job >= context->n_datasets)
		return -ENOENT;
	if (inode.kind == INODE_DATASET_INFO)
		text_dataset_info(out, context, context->datasets[inode.job]);
	else
		text_classes(out, context->datasets[inode.job]);
	return 0;
}

static int print_of_job(FILE *out, struct sched *sched, struct inode inode)
{
	struct sched_job *job = sched_job_find_id(sched, inode.job);
	if (!job)
		return -ENOENT;
	if (inode.kind == INODE_JOB_INI)
		config_print_job(out, sched_job_config(job));
	else if (inode.kind == INODE_JOB_STATUS)
		text_job_status(out, job);
	else
		text_classes(out, sched_job_dataset(job));
	sched_job_put(job);
	return 0;
}

/* As with labels: whoever opens it binds the position and consumes nothing. */
static int print_of_position(FILE *out, struct sched *sched, struct inode inode)
{
	struct sched_job *job = sched_job_find_id(sched, inode.job);
	sample_id sample;
	if (!job)
		return -ENOENT;
	int err = -ENOENT;
	if (tree_in_epoch(job, inode))
		err = sched_bind(job, inode_sched_epoch(inode), inode.position, &sample);
	if (!err)
		err = meta_print(out, job, sample);
	sched_job_put(job);
	return err;
}

static int print(FILE *out, struct view *view, struct inode inode)
{
	switch (inode.kind) {
	case INODE_DATASET_INFO:
	case INODE_DATASET_CLASSES:
		return print_of_dataset(out, &view->context, inode);
	case INODE_JOB_INI:
	case INODE_JOB_STATUS:
	case INODE_JOB_CLASSES:
		return print_of_job(out, view->context.sched, inode);
	case INODE_META:
		return print_of_position(out, view->context.sched, inode);
	default:
		print_of_daemon(out, &view->context, inode.kind);
		return 0;
	}
}

static int snapshot_take(struct view *view, struct inode inode, struct snapshot *ret)
{
	*ret = (struct snapshot){.references = 1};
	FILE *out = open_memstream(&ret->text, &ret->bytes);
	if (!out)
		return -ENOMEM;
	int err = print(out, view, inode);
	bool failed = ferror(out);
	if ((fclose(out) != 0 || failed) && !err)
		err = -ENOMEM;
	if (err)
		free(ret->text);
	return err;
}

/* --- epoch-NNNN.order, read live ---------------------------------------------------- */

struct order_lines {
	struct sched_job *job;
	uint32_t epoch;
};

#define AT_ONCE 64

static uint32_t some_bindings(
	const struct order_lines *lines, uint32_t first, uint32_t n, struct binding *ret)
{
	return sched_bindings(
		lines->job, lines->epoch, first, n < AT_ONCE ? n : AT_ONCE, ret);
}

/* Does it for n lines, or as many as there are; how many. */
static uint32_t each_line(const struct order_lines *lines, uint32_t first, uint32_t n,
	void (*line)(void *into, struct sched_job *job, const struct binding *binding),
	void *into)
{
	struct binding bindings[AT_ONCE];
	uint32_t done = 0, some;
	do {
		some = some_bindings(lines, first + done, n - done, bindings);
		for (uint32_t i = 0; i < some; i++)
			line(into, lines->job, &bindings[i]);
		done += some;
	} while (some > 0 && done < n);
	return done;
}

static void print_line(void *into, struct sched_job *job, const struct binding *binding)
{
	text_order_line(into, job, binding);
}

static uint32_t print_order(void *context, uint32_t first, uint32_t n, FILE *out)
{
	return each_line(context, first, n, print_line, out);
}

static void measure_line(void *into, struct sched_job *job, const struct binding *binding)
{
	uint64_t *bytes = into;
	*bytes += text_order_line_length(job, binding);
}

static uint32_t measure_order(
	void *context, uint32_t first, uint32_t n, uint64_t *ret_bytes)
{
	return each_line(context, first, n, measure_line, ret_bytes);
}

static int order_find(struct view *view, struct inode inode, struct order_lines *ret)
{
	*ret = (struct order_lines){
		.job = sched_job_find_id(view->context.sched, inode.job),
		.epoch = inode.epoch};
	return ret->job ? 0 : -ENOENT;
}

static struct order_source order_source(struct inode inode, struct order_lines *lines)
{
	return (struct order_source){.key = inode_pack(inode),
		.print = print_order,
		.measure = measure_order,
		.context = lines};
}

static int order_size(struct view *view, struct inode inode, uint64_t *ret)
{
	struct order_lines lines;
	int err = order_find(view, inode, &lines);
	if (err)
		return err;
	struct order_source source = order_source(inode, &lines);
	*ret = order_text_size(view->orders, &source, MAX_STAT_CHUNKS);
	sched_job_put(lines.job);
	return 0;
}

static void order_read(fuse_req_t req, struct view *view, struct inode inode, size_t size,
	uint64_t offset)
{
	struct order_lines lines;
	auto_free char *buffer = malloc(size);
	int err = buffer ? order_find(view, inode, &lines) : -ENOMEM;
	if (err) {
		view_reply_error(req, err);
		return;
	}
	struct order_source source = order_source(inode, &lines);
	ssize_t n = order_text_read(view->orders, &source, offset, buffer, size);
	sched_job_put(lines.job);
	if (n < 0)
		view_reply_error(req, (int)n);
	else
		fuse_reply_buf(req, buffer, (size_t)n);
}

/* --- for ops and tree --------------------------------------------------------------- */

int text_file_size(struct view *view, struct inode inode, uint64_t *ret)
{
	struct snapshot snapshot;
	if (inode.kind == INODE_EPOCH_ORDER)
		return order_size(view, inode, ret);
	int err = snapshot_take(view, inode, &snapshot);
	if (err)
		return err;
	*ret = snapshot.bytes;
	free(snapshot.text);
	return 0;
}

uint64_t text_file_known_size(struct view *view, struct inode inode)
{
	return inode.kind == INODE_EPOCH_ORDER
		       ? order_text_known_size(view->orders, inode_pack(inode))
		       : 0;
}

static void snapshot_put(struct view *view, struct snapshot *snapshot)
{
	if (atomic_fetch_sub(&snapshot->references, 1) != 1)
		return;
	lock_take(&view->lock);
	LIST_REMOVE(snapshot, link);
	lock_release(&view->lock);
	free(snapshot->text);
	free(snapshot);
}

static int open_snapshot(struct view *view, struct inode inode, uint64_t *ret_fh)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	int err = snapshot ? snapshot_take(view, inode, snapshot) : -ENOMEM;
	if (err) {
		free(snapshot);
		return err;
	}
	lock_take(&view->lock);
	LIST_INSERT_HEAD(&view->open_texts, snapshot, link);
	lock_release(&view->lock);
	*ret_fh = (uintptr_t)snapshot;
	return 0;
}

void text_file_open(fuse_req_t req, struct view *view, struct inode inode,
	const struct fuse_file_info *fi)
{
	struct fuse_file_info reply = *fi;
	reply.fh = 0;
	reply.direct_io = 1;
	int err = inode.kind == INODE_EPOCH_ORDER ? 0
						  : open_snapshot(view, inode, &reply.fh);
	if (err)
		view_reply_error(req, err);
	else if (fuse_reply_open(req, &reply) != 0)
		text_file_release(view, &reply);
}

void text_file_read(fuse_req_t req, struct view *view, struct inode inode, size_t size,
	uint64_t offset, const struct fuse_file_info *fi)
{
	struct snapshot *snapshot = (struct snapshot *)(uintptr_t)fi->fh;
	if (!snapshot) {
		order_read(req, view, inode, size, offset);
		return;
	}
	if (offset > snapshot->bytes)
		offset = snapshot->bytes;
	if (size > snapshot->bytes - offset)
		size = snapshot->bytes - (size_t)offset;
	atomic_fetch_add(&snapshot->references, 1);
	fuse_reply_buf(req, snapshot->text + offset, size);
	snapshot_put(view, snapshot);
}

void text_file_release(struct view *view, const struct fuse_file_info *fi)
{
	struct snapshot *snapshot = (struct snapshot *)(uintptr_t)fi->fh;
	if (snapshot)
		snapshot_put(view, snapshot);
}

void text_files_close_all(struct view *view)
{
	struct snapshot *snapshot;
	for (;;) {
		lock_take(&view->lock);
		snapshot = LIST_FIRST(&view->open_texts);
		lock_release(&view->lock);
		if (!snapshot)
			return;
		snapshot_put(view, snapshot);
	}
}
