// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/beside.h"
#include "files/label.h"
#include "files/layout_tar.h"
#include "files/made_text.h"
#include "fuse/composite/composite_internal.h"
#include "sched/jobs.h"

#include <errno.h>
#include <string.h>

/* Collects the bytes of a read, as pieces (iovecs), from constants, labels and samples. Pieces of
 * less than BY_REFERENCE bytes (a page) are copied into one buffer, because a system call takes at
 * most 1024 pieces. */

#define BY_REFERENCE ((size_t)4096)
#define MAX_PIECES (2 * (CONTENT_MAX_READ / BY_REFERENCE + CONTENT_IOV))

struct gather {
	struct wait *wait;
	uint8_t *scratch; /* buffer of wait->size bytes for copies */
	size_t used;
	size_t bytes;
	/* true: the last piece ends in `scratch`, and is extended by the next bytes that are
	 * copied */
	bool open;
	const struct sched_edition *edition; /* a reference; NULL: no label needed yet */
	int n;
	struct iovec iov[MAX_PIECES];
};

static void add_piece(struct gather *gather, void *data, size_t bytes)
{
	ensure((size_t)gather->n < MAX_PIECES);
	gather->iov[gather->n++] = (struct iovec){.iov_base = data, .iov_len = bytes};
	gather->bytes += bytes;
	gather->open = false;
}

/* Returns a new piece of scratch memory, which the caller fills in. */
static uint8_t *add_copied(struct gather *gather, size_t bytes)
{
	uint8_t *at = gather->scratch + gather->used;
	gather->used += bytes;
	ensure(gather->used <= gather->wait->size);
	if (gather->open) {
		gather->iov[gather->n - 1].iov_len += bytes;
		gather->bytes += bytes;
	} else {
		add_piece(gather, at, bytes);
		gather->open = true;
	}
	return at;
}

/* Adds `bytes` bytes of `source`, from `offset` on. stays: these bytes remain valid until they are
 * sent, so they need not be copied. */
static void add_content(struct gather *gather, const struct content_parts *source,
	uint64_t offset, size_t bytes, bool stays)
{
	struct iovec iov[CONTENT_IOV];
	size_t found;
	int n = content_cut(source, offset, bytes, iov, &found);
	ensure(found == bytes);
	for (int i = 0; i < n; i++) {
		if (stays && iov[i].iov_len >= BY_REFERENCE)
			add_piece(gather, iov[i].iov_base, iov[i].iov_len);
		else
			memcpy(add_copied(gather, iov[i].iov_len), iov[i].iov_base,
				iov[i].iov_len);
	}
}

/* Finds the bytes of a sample. The bytes of a bad sample are zeros. In a tar of pairs, the tar
 * header of the second file stands between the zeros, so that readers find the files that follow.
 * This header is made in `buffer`. */
static int sample_source(const struct wait *wait, const struct segment *segment,
	struct content_parts *ret, uint8_t buffer[COMPOSITE_CONSTANT])
{
	const struct composite_file *file = wait->file;
	if (segment->index - wait->first >= wait->n)
		return wait->status;
	const struct slot *slot = file->slots[segment->index];
	*ret = (struct content_parts){.size = segment->bytes};
	if (slot->state == SLOT_READY) {
		*ret = content_parts(&slot->content);
		return 0;
	}
	/* Zeros can replace a bad sample, because readers reject an image of zeros. Readers of
	 * format raw would accept zeros, so they get an error. */
	if (!slot->bad || file->format == FORMAT_RAW)
		return slot->status;
	if (file->composite.second_at) {
		tar_second_header(&file->composite, segment->index, buffer);
		ret->second_at = file->composite.second_at;
		ret->second_header = buffer;
		ret->second_header_bytes = CONTENT_HEADER;
	}
	return 0;
}

static int sample_of(
	const struct wait *wait, const struct segment *segment, sample_id *ret)
{
	LOCK_SCOPE(&wait->file->lock);
	*ret = wait->file->samples[segment->index];
	if (*ret != SAMPLE_NONE)
		return 0;
	return wait->status ? wait->status : -EIO;
}

static int label_source(struct gather *gather, const struct segment *segment,
	uint8_t buffer[COMPOSITE_CONSTANT])
{
	const struct wait *wait = gather->wait;
	sample_id sample;
	int err = sample_of(wait, segment, &sample);
	if (err)
		return err;
	if (!gather->edition)
		gather->edition =
			sched_edition(wait->file->job, composite_epoch(wait->file));
	uint32_t label = dataset_label(gather->edition->dataset, sample);
	uint32_t targets = wait->file->composite.targets;
	if (targets > 0)
		memcpy(buffer, gather->edition->targets + (size_t)sample * targets,
			segment->bytes);
	else if (wait->file->inode.kind == INODE_BATCH_LABELS)
		memcpy(buffer, &(int64_t){label}, sizeof(int64_t));
	else
		label_print(label, (uint32_t)segment->bytes, (char *)buffer);
	return 0;
}

/* Makes the text of a sample. If the segment is SEGMENT_BESIDE, a tar header comes before the text.
 * The caller frees *ret_text. */
static int text_source(
	const struct wait *wait, const struct segment *segment, char **ret_text)
{
	struct composite_file *file = wait->file;
	bool json = segment->kind == SEGMENT_JSON;
	enum inode_kind kind =
		json ? INODE_JSON : (enum inode_kind)(INODE_BESIDE + segment->constant);
	struct made_text *text;
	sample_id sample;
	int err = sample_of(wait, segment, &sample);
	if (!err)
		err = made_text_of_sample(
			file->job, kind, composite_epoch(file), sample, &text);
	if (err)
		return err;
	*ret_text = malloc(segment->bytes);
	if (*ret_text && json) {
		ensure(text->bytes == segment->bytes);
		memcpy(*ret_text, text->text, text->bytes);
	} else if (*ret_text) {
		tar_beside(&file->composite, segment,
			beside_ending(sched_job_config(file->job), segment->constant),
			text->text, text->bytes, (uint8_t *)*ret_text);
	}
	made_text_put(&text);
	return *ret_text ? 0 : -ENOMEM;
}

/* Adds the segment's bytes from the file's offset `at` on, as far as the request wants them. */
static int add_segment(struct gather *gather, const struct segment *segment, uint64_t at)
{
	const struct composite_file *file = gather->wait->file;
	uint64_t offset = at - segment->begin, left = segment->bytes - offset;
	size_t wanted = gather->wait->size - gather->bytes;
	uint8_t buffer[COMPOSITE_CONSTANT];
	auto_free char *text = NULL;
	struct content_parts source = {
		.head = buffer, .head_bytes = segment->bytes, .size = segment->bytes};
	int err = 0;
	switch (segment->kind) {
	case SEGMENT_CONSTANT:
		composite_constant(&file->composite, segment, buffer);
		break;
	case SEGMENT_ZEROS:
		source.head_bytes = 0;
		break;
	case SEGMENT_SAMPLE:
		err = sample_source(gather->wait, segment, &source, buffer);
		break;
	case SEGMENT_LABEL:
		err = label_source(gather, segment, buffer);
		break;
	case SEGMENT_JSON:
	case SEGMENT_BESIDE:
		err = text_source(gather->wait, segment, &text);
		source.head = text;
		break;
	}
	if (!err)
		add_content(gather, &source, offset,
			left < wanted ? (size_t)left : wanted,
			segment->kind == SEGMENT_SAMPLE ||
				segment->kind == SEGMENT_ZEROS);
	return err;
}

/* Collects bytes up to the first error. Returns the error only if no byte comes before it. */
static int gather_all(struct gather *gather)
{
	const struct wait *wait = gather->wait;
	while (gather->bytes < wait->size) {
		struct segment segment;
		uint64_t at = wait->offset + gather->bytes;
		composite_segment(&wait->file->composite, at, &segment);
		int err = add_segment(gather, &segment, at);
		if (err)
			return gather->bytes > 0 ? 0 : err;
	}
	return 0;
}

bool composite_reply(struct wait *wait)
{
	auto_free uint8_t *scratch = malloc(wait->size);
	struct gather gather = {.wait = wait, .scratch = scratch};
	int err = scratch ? gather_all(&gather) : -ENOMEM;
	sched_edition_put(gather.edition);
	if (err) {
		reply_error(wait->req, err);
		return false;
	}
	wait->size = gather.bytes;
	return reply_samples(wait->req, gather.iov, gather.n, gather.bytes) == 0;
}
