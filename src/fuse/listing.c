// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "files/data.h"
#include "files/layout.h"
#include "fuse/fuse_internal.h"
#include "sched/gauges.h"
#include "sched/jobs.h"

#include <errno.h>

/*
 * Directory listings. Each entry has a number that does not change while the directory exists. The
 * offset of an entry, as readdir reports it, is the number of the next entry.
 *
 *   all              0 "."   1 ".."   then
 *   root, dataset    numbers of the fixed entries (tree_entries)
 *   datasets, jobs   number of the dataset or job: a listing in progress survives adding and
 *                    removing
 *   a job            fixed entries, current, epochs, order files; some numbers are unused
 *   data/...         smallest id of the jobs whose paths have the entry; another number if this
 *                    job is removed
 *   in an epoch      the numbers that the job's layout gives
 */

#define FIRST 2 /* number of the first entry after "." and ".." */

/* The kernel keeps an inode and a name, together 1.2 KB, for each entry listed with attributes. So
 * only the entries of WINDOW positions have attributes, beginning where the reader probably is. The
 * kernel looks up other entries when they are opened. */
#define WINDOW 4096
/* The layouts classes and mirror have no window, because nobody knows where a reader begins. All
 * entries have attributes if the epoch has at most MOST_UNORDERED samples; otherwise none has. */
#define MOST_UNORDERED 16384

struct listing {
	fuse_req_t req;
	struct session *session;
	struct inode directory;
	bool plus;
	uint64_t offset; /* number of the next entry to be listed */
	char *buffer;
	size_t size, used;
	struct sched_job *job;	     /* job of the directory's epoch, or NULL */
	uint32_t window, window_end; /* positions whose entries get attributes */
};

static bool in_window(const struct listing *listing, struct inode inode)
{
	return listing->job && !tree_is_directory(inode.kind) &&
	       inode.position >= listing->window && inode.position < listing->window_end;
}

/* Adds an entry. A listing with attributes has the attributes of entries whose positions are in the
 * window. The other entries have the inode number 0, so that the kernel uses only their names and
 * types. Returns false if the buffer is full. */
static bool put(
	struct listing *listing, const char *name, struct inode inode, uint64_t number)
{
	struct session *session = listing->session;
	struct fuse_entry_param entry = {.entry_timeout = FOREVER};
	char *at = listing->buffer + listing->used;
	size_t room = listing->size - listing->used;
	entry.attr.st_ino = session_number(session, inode);
	entry.attr.st_mode = tree_type(inode.kind);
	if (listing->plus && in_window(listing, inode)) {
		entry.ino = session_number(session, inode);
		attributes_in_layout(
			session, listing->job, inode, &entry.attr, &entry.attr_timeout);
	}
	off_t next = (off_t)number + 1;
	size_t n = listing->plus ? fuse_add_direntry_plus(
					   listing->req, at, room, name, &entry, next)
				 : fuse_add_direntry(listing->req, at, room, name,
					   &entry.attr, next);
	if (n > room)
		return false;
	listing->used += n;
	listing->offset = number + 1;
	return true;
}

static bool list_dots(struct listing *listing)
{
	struct inode directory = listing->directory;
	if (listing->offset == 0 && !put(listing, ".", directory, 0))
		return false;
	return listing->offset > 1 || put(listing, "..", tree_parent(directory), 1);
}

/* Lists the fixed entries of the directory (tree_entries). *number: the number of the first of
 * them; becomes the number after the last one. Returns false if the buffer is full. */
static bool list_entries(struct listing *listing, uint64_t *number)
{
	for (size_t i = 0; i < tree_n_entries; i++) {
		const struct tree_entry *entry = &tree_entries[i];
		struct inode inode = {.kind = entry->kind, .job = listing->directory.job};
		if (entry->parent != listing->directory.kind)
			continue;
		if (*number >= listing->offset &&
			!put(listing, entry->name, inode, *number))
			return false;
		(*number)++;
	}
	return true;
}

static void list_datasets(struct listing *listing)
{
	struct sched *sched = listing->session->context.sched;
	uint32_t n = sched_datasets(sched, NULL);
	bool room = true;
	for (uint64_t i = listing->offset - FIRST; room && i < n; i++) {
		struct inode inode = {.kind = INODE_DATASET, .job = (uint32_t)i};
		struct dataset *dataset = sched_dataset_hold(sched, inode.job);
		if (!dataset)
			continue;
		room = put(listing, dataset_name(dataset), inode, FIRST + i);
		dataset_close(&dataset);
	}
}

static bool list_job(struct listing *listing, job_id id)
{
	struct inode inode = {.kind = INODE_JOB, .job = id};
	auto_job *job = sched_job_find_id(listing->session->context.sched, id);
	return !job || put(listing, sched_job_config(job)->name, inode, FIRST + id);
}

static int list_jobs(struct listing *listing)
{
	auto_free job_id *ids = NULL;
	size_t n;
	int err = sched_job_ids(listing->session->context.sched, &ids, &n);
	if (err)
		return err;
	if (n > 0)
		qsort(ids, n, sizeof(*ids), compare_u32);
	for (size_t i = 0; i < n; i++)
		if (FIRST + (uint64_t)ids[i] >= listing->offset &&
			!list_job(listing, ids[i]))
			break;
	return 0;
}

/* Lists the epochs' directories or, if `kind` is INODE_EPOCH_ORDER, their order files. number: the
 * number of epoch 0's entry. Returns false if the buffer is full. */
static bool list_epochs(struct listing *listing, struct sched_job *job,
	const struct tree_range *range, enum inode_kind kind, uint64_t number)
{
	bool order = kind == INODE_EPOCH_ORDER;
	char name[TREE_NAME];
	for (uint32_t epoch = range->first; epoch < range->end; epoch++) {
		struct inode inode = {
			.kind = kind, .job = listing->directory.job, .epoch = epoch};
		if (number + epoch < listing->offset ||
			!(order ? tree_has_order(job, range, epoch)
				: tree_has_epoch(job, range, epoch)))
			continue;
		snprintf(
			name, sizeof(name), "epoch-%04u%s", epoch, order ? ".order" : "");
		if (!put(listing, name, inode, number + epoch))
			return false;
	}
	return true;
}

static void list_in_job(struct listing *listing, struct sched_job *job)
{
	uint64_t first = FIRST;
	struct tree_range range = tree_range(job);
	struct inode current = {.kind = INODE_EPOCH,
		.job = listing->directory.job,
		.epoch = INODE_CURRENT};
	if (!list_entries(listing, &first))
		return;
	if (listing->offset <= first && !put(listing, TREE_CURRENT, current, first))
		return;
	first++;
	if (list_epochs(listing, job, &range, INODE_EPOCH, first))
		list_epochs(listing, job, &range, INODE_EPOCH_ORDER,
			first + tree_epochs(job));
}

static void set_window(struct listing *listing, struct sched_job *job)
{
	enum view_layout layout = sched_job_config(job)->layout;
	uint32_t epoch = listing->directory.epoch;
	uint32_t samples = sched_job_samples(job, inode_sched_epoch(listing->directory));
	struct sched_job_status status;
	listing->job = job;
	if (layout == LAYOUT_CLASSES || layout == LAYOUT_MIRROR) {
		listing->window_end = samples <= MOST_UNORDERED ? samples : 0;
		return;
	}
	sched_job_status(job, &status);
	if (status.running && (status.epoch == epoch || epoch == INODE_CURRENT))
		listing->window = status.bound;
	listing->window_end = listing->window + WINDOW;
}

static void list_layout(struct listing *listing, struct sched_job *job)
{
	const struct layout *layout = layout_of(job);
	uint64_t n = layout->entries(job, listing->directory);
	struct layout_entry entry;
	set_window(listing, job);
	for (uint64_t i = listing->offset - FIRST; i < n; i++)
		if (layout->entry(job, listing->directory, i, &entry) &&
			!put(listing, entry.name, entry.inode, FIRST + i))
			return;
}

static int list_data(struct listing *listing)
{
	struct data_entry entry;
	uint64_t number = listing->offset - FIRST;
	int err;
	while ((err = data_entry(&listing->session->context, listing->directory, number,
			&entry)) > 0) {
		if (!put(listing, entry.name, entry.inode, FIRST + entry.number))
			return 0;
		number = entry.number + 1;
	}
	return err;
}

static int list_with_job(struct listing *listing)
{
	struct inode directory = listing->directory;
	auto_job *job = sched_job_find_id(listing->session->context.sched, directory.job);
	if (!job)
		return -ENOENT;
	int err = directory.kind == INODE_JOB ? 0 : tree_check(job, directory);
	if (!err && directory.kind == INODE_JOB)
		list_in_job(listing, job);
	else if (!err)
		list_layout(listing, job);
	return err;
}

static int list(struct listing *listing)
{
	uint64_t first = FIRST;
	if (!list_dots(listing))
		return 0;
	switch (listing->directory.kind) {
	case INODE_ROOT:
	case INODE_DATASET:
		list_entries(listing, &first);
		return 0;
	case INODE_DATASETS:
		list_datasets(listing);
		return 0;
	case INODE_JOBS:
		return list_jobs(listing);
	case INODE_DATA:
	case INODE_DATA_DIRECTORY:
		return list_data(listing);
	case INODE_JOB:
	case INODE_EPOCH:
	case INODE_SHARD:
		return list_with_job(listing);
	default:
		return -ENOTDIR;
	}
}

void listing_reply(const struct request *request)
{
	auto_free char *buffer = malloc(request->size);
	struct listing listing = {.req = request->req,
		.session = request->session,
		.directory = request->inode,
		.plus = request->plus,
		.offset = request->offset,
		.buffer = buffer,
		.size = request->size};
	int err = buffer ? list(&listing) : -ENOMEM;
	reply_bytes(request->req, buffer, err ? err : (ssize_t)listing.used);
}
