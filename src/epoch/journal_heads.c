// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/disk.h"
#include "epoch/journal_internal.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Checks the heads of segments: all must belong to this job, and no segment may be missing. */

static enum head_found refuse_head(const char *path, const char *found)
{
	log_error(
		"%s: byte 0: found %s, allowed: a journal of version %d" JOURNAL_REFUSED,
		path, found, JOURNAL_VERSION);
	return HEAD_REFUSED;
}

static bool is_zero(const struct disk_head *head)
{
	static const struct disk_head zero;
	return memcmp(head, &zero, sizeof(zero)) == 0;
}

static enum head_found judge_head(
	const struct disk_head *head, size_t n, const char *path, uint32_t epoch)
{
	char text[100];
	if (n < sizeof(*head) || is_zero(head))
		return HEAD_TORN;
	if (memcmp(head->magic, JOURNAL_MAGIC, sizeof(head->magic)) != 0)
		return refuse_head(path, "no journal");
	if (le32toh(head->version) != JOURNAL_VERSION) {
		snprintf(text, sizeof(text),
			"a journal of version %u (another joaderfs reads it)",
			le32toh(head->version));
		return refuse_head(path, text);
	}
	if (le32toh(head->checksum) != head_checksum(head))
		return refuse_head(path, "a damaged head");
	if (le32toh(head->epoch) != epoch || le32toh(head->lag) > epoch) {
		snprintf(text, sizeof(text), "the segment of epoch %u",
			le32toh(head->epoch));
		return refuse_head(path, text);
	}
	return HEAD_GOOD;
}

int head_read(int fd, const char *path, uint32_t epoch, struct disk_head *ret,
	enum head_found *ret_found)
{
	size_t n;
	memset(ret, 0, sizeof(*ret));
	int err = disk_read(fd, ret, sizeof(*ret), 0, &n);
	if (err)
		return disk_cant(path, "read", err);
	*ret_found = judge_head(ret, n, path, epoch);
	return 0;
}

int journal_open_segment(const char *directory, uint32_t epoch, int flags,
	struct journal_path *ret_path, int *ret_fd)
{
	int err = journal_path(directory, epoch, "", ret_path);
	if (err)
		return err;
	*ret_fd = open(ret_path->text, flags | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? disk_cant(ret_path->text, "opened", -errno) : 0;
}

uint32_t journal_most_positions(const struct journal_identity *identity)
{
	uint32_t most = identity->positions;
	for (size_t i = 0; i < identity->n_others; i++)
		if (identity->others[i].positions > most)
			most = identity->others[i].positions;
	return most;
}

static bool is_same(const char *directory, const struct journal_identity *identity,
	const struct disk_head *head)
{
	uint32_t positions = le32toh(head->positions);
	uint64_t fingerprint = le64toh(head->fingerprint);
	if (positions == identity->positions && fingerprint == identity->fingerprint)
		return true;
	for (size_t i = 0; i < identity->n_others; i++)
		if (positions == identity->others[i].positions &&
			fingerprint == identity->others[i].fingerprint)
			return true;
	if (positions != identity->positions)
		log_info("job %s: its epochs had %u positions, and have %u now (%s)",
			identity->job, positions, identity->positions, directory);
	else
		log_info("job %s: its selection of samples or their files have changed "
			 "since its epochs began (%s)",
			identity->job, directory);
	return false;
}

int journal_read_heads(const char *directory, const struct journal_identity *identity,
	const uint32_t *segments, size_t n, enum journal_found *ret_found, bool *ret_torn)
{
	*ret_torn = false;
	for (size_t i = 0; i < n && !*ret_torn; i++) {
		auto_close int fd = -1;
		struct journal_path path;
		struct disk_head head;
		enum head_found found;
		int err = journal_open_segment(
			directory, segments[i], O_RDONLY, &path, &fd);
		if (!err)
			err = head_read(fd, path.text, segments[i], &head, &found);
		if (err)
			return err;
		*ret_torn = found == HEAD_TORN && i == n - 1;
		if (found == HEAD_TORN && !*ret_torn)
			found = refuse_head(path.text, "an incomplete head");
		if (found == HEAD_REFUSED)
			return -EINVAL;
		if (*ret_torn)
			break;
		if (i > 0 && le32toh(head.before) != segments[i - 1]) {
			log_error("%s: byte %zu: found that this segment "
				  "follows " JOURNAL_PREFIX
				  "%04u, which is missing, allowed: " JOURNAL_PREFIX
				  "%04u" JOURNAL_REFUSED,
				path.text, offsetof(struct disk_head, before),
				le32toh(head.before), segments[i - 1]);
			return -EINVAL;
		}
		if (!is_same(directory, identity, &head)) {
			*ret_found = JOURNAL_OTHER;
			return 0;
		}
		*ret_found = JOURNAL_SAME;
	}
	return 0;
}

int journal_sets(const char *directory, struct order_found **ret, size_t *ret_n)
{
	auto_free uint32_t *segments = NULL;
	struct journal_path path;
	struct disk_head head;
	size_t n, bytes;
	*ret = NULL;
	*ret_n = 0;
	int err = journal_undo_aside(directory);
	if (!err)
		err = disk_list(directory, JOURNAL_PREFIX, "", &segments, &n);
	*ret = err ? NULL : calloc(n + 1, sizeof(**ret));
	if (err || !*ret)
		return err ? err : -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		auto_close int fd = -1;
		if (journal_path(directory, segments[i], "", &path) == 0)
			fd = open(path.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || disk_read(fd, &head, sizeof(head), 0, &bytes) != 0 ||
			bytes < sizeof(head) || is_zero(&head) ||
			le32toh(head.checksum) != head_checksum(&head))
			continue;
		(*ret)[(*ret_n)++] =
			(struct order_found){le32toh(head.epoch) - le32toh(head.lag),
				{le32toh(head.positions), le64toh(head.fingerprint)}};
	}
	return 0;
}
