// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "epoch/disk.h"
#include "epoch/order_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Files of orders have two checksums. The head's checksum is checked by all functions that read a
 * file, except order_look_up. The checksum of the data after the head is checked when a whole order
 * is loaded; and in small files also when order_bindings reads the first bindings. */

#define PREFIX "epoch-"
#define SUFFIX ".order"
#define BESIDE ".order.new"

/* size in bytes of the largest order whose checksum order_bindings compares */
#define CHEAP (UINT32_C(1) << 20)
#define NEIGHBOURS 1024 /* number of words that one read gets */

struct path {
	char text[PATH_MAX];
};

static int make_path(
	const char *directory, uint32_t epoch, const char *suffix, struct path *ret)
{
	int n = snprintf(ret->text, sizeof(ret->text), "%s/" PREFIX "%04u%s", directory,
		epoch, suffix);
	return n > 0 && (size_t)n < sizeof(ret->text) ? 0 : -ENAMETOOLONG;
}

int order_save(const char *directory, uint32_t epoch, uint64_t fingerprint,
	const struct order *order)
{
	struct path path;
	int err = make_path(directory, epoch, SUFFIX, &path);
	return err ? err : order_save_at(path.text, epoch, fingerprint, order);
}

int order_load(const char *directory, uint32_t epoch, uint32_t positions,
	uint64_t fingerprint, struct order_data *ret)
{
	struct path path;
	int err = make_path(directory, epoch, SUFFIX, &path);
	return err ? err : order_load_at(path.text, epoch, positions, fingerprint, ret);
}

static int read_head(int fd, const char *path, uint32_t epoch, struct order_head *ret)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return disk_cant(path, "read", -errno);
	int err = order_read_head(fd, path, 0, ret);
	if (err)
		return err;
	if (le32toh(ret->epoch) != epoch)
		return order_refuse(path, "its head belongs to another epoch");
	if ((uint64_t)st.st_size != order_bytes(ret))
		return order_refuse(path, "its size differs from the size in its head");
	return 0;
}

static int open_order(
	const char *directory, uint32_t epoch, struct path *ret_path, int *ret_fd)
{
	int err = make_path(directory, epoch, SUFFIX, ret_path);
	if (err)
		return disk_cant(directory, "read", err);
	*ret_fd = open(ret_path->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd >= 0)
		return 0;
	err = -errno;
	return err == -ENOENT ? err : disk_cant(ret_path->text, "opened", err);
}

int order_look_up(
	const char *directory, uint32_t epoch, uint32_t position, sample_id *ret)
{
	struct path path;
	auto_close int fd = -1;
	uint32_t word;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = order_read_words(
			fd, path.text, &word, 1, order_samples_at(position));
	if (!err)
		*ret = word - 1;
	return err;
}

int order_bound(const char *directory, uint32_t epoch, uint32_t *ret)
{
	struct path path;
	struct order_head head;
	auto_close int fd = -1;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = read_head(fd, path.text, epoch, &head);
	*ret = err ? 0 : le32toh(head.bound);
	return err;
}

/* The words of n successive positions from `first` on, as one read of the file got them. Scripts
 * mostly open positions in order, so the next bindings probably need the other words. */
struct neighbours {
	uint32_t words[NEIGHBOURS];
	uint32_t first, n;
};

static int read_sample(int fd, const char *path, const struct order_head *head,
	struct neighbours *near, uint32_t position, sample_id *ret)
{
	if (position - near->first >= near->n) {
		uint32_t positions = le32toh(head->positions);
		uint32_t first = position - position % NEIGHBOURS;
		uint32_t left = positions - first;
		near->first = first;
		near->n = left < NEIGHBOURS ? left : NEIGHBOURS;
		int err = order_read_words(
			fd, path, near->words, near->n, order_samples_at(first));
		if (err) {
			near->n = 0;
			return err;
		}
	}
	*ret = near->words[position - near->first] - 1;
	return 0;
}

static int read_bindings(int fd, const char *path, const struct order_head *head,
	uint32_t k, uint32_t n, struct binding *ret)
{
	auto_free uint32_t *log = malloc(n * sizeof(*log));
	auto_free struct neighbours *near = calloc(1, sizeof(*near));
	if (!log || !near)
		return -ENOMEM;
	int err = order_read_words(fd, path, log, n, order_log_at(head, k));
	for (uint32_t i = 0; i < n && !err; i++) {
		struct binding *binding = &ret[i];
		binding->position = order_log_entry_position(log[i]);
		binding->served = (enum served)(log[i] >> ORDER_POSITION_BITS);
		if (binding->position >= le32toh(head->positions))
			return order_refuse(
				path, "it is damaged: a binding is impossible");
		err = read_sample(
			fd, path, head, near, binding->position, &binding->sample);
		if (!err && binding->sample == SAMPLE_NONE)
			err = order_refuse(
				path, "it is damaged: a binding has no sample");
	}
	return err;
}

int order_bindings(const char *directory, uint32_t epoch, uint32_t k, uint32_t n,
	struct binding *ret, uint32_t *ret_n)
{
	struct path path;
	struct order_head head;
	auto_close int fd = -1;
	*ret_n = 0;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = read_head(fd, path.text, epoch, &head);
	if (err)
		return err;
	uint32_t bound = le32toh(head.bound);
	if (k == 0 && order_bytes(&head) <= CHEAP)
		err = order_check_content(fd, path.text, 0, &head);
	uint32_t left = k < bound ? bound - k : 0;
	n = n < left ? n : left;
	if (!err && n > 0)
		err = read_bindings(fd, path.text, &head, k, n, ret);
	if (!err)
		*ret_n = n;
	return err;
}

/* Returns 1 if the order belongs to one of the sets; 0 if the order is damaged (logged), does not
 * exist, or belongs to another set (counted in *others); -errno if it can't be read. */
static int judge(const char *directory, uint32_t epoch, const struct order_set *sets,
	size_t n_sets, uint32_t *others)
{
	struct path path;
	struct order_head head;
	auto_close int fd = -1;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = read_head(fd, path.text, epoch, &head);
	if (err == -EINVAL || err == -ENOENT)
		return 0;
	if (err)
		return err;
	for (size_t i = 0; i < n_sets; i++)
		if (le32toh(head.positions) == sets[i].positions &&
			le64toh(head.fingerprint) == sets[i].fingerprint)
			return 1;
	(*others)++;
	return 0;
}

int order_list(const char *directory, const struct order_set *sets, size_t n_sets,
	uint32_t **ret, size_t *ret_n)
{
	uint32_t *epochs;
	size_t n, good = 0;
	uint32_t others = 0;
	*ret = NULL;
	*ret_n = 0;
	int err = disk_list(directory, PREFIX, SUFFIX, &epochs, &n);
	if (err)
		return disk_cant(directory, "read", err);
	for (size_t i = 0; i < n; i++) {
		int status = judge(directory, epochs[i], sets, n_sets, &others);
		if (status < 0) {
			free(epochs);
			return status;
		}
		if (status)
			epochs[good++] = epochs[i];
	}
	if (others > 0)
		log_warn("%s: %u orders of epochs are not used: the job has other "
			 "samples now, or files have changed",
			directory, others);
	*ret = epochs;
	*ret_n = good;
	return 0;
}

int order_sets(const char *directory, struct order_found **ret, size_t *ret_n)
{
	auto_free uint32_t *epochs = NULL;
	struct path path;
	size_t n;
	*ret_n = 0;
	int err = disk_list(directory, PREFIX, SUFFIX, &epochs, &n);
	*ret = err ? NULL : calloc(n + 1, sizeof(**ret));
	if (err || !*ret)
		return err ? err : -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct order_head head;
		auto_close int fd = -1;
		if (open_order(directory, epochs[i], &path, &fd) == 0 &&
			read_head(fd, path.text, epochs[i], &head) == 0)
			(*ret)[(*ret_n)++] = (struct order_found){epochs[i],
				{le32toh(head.positions), le64toh(head.fingerprint)}};
	}
	return 0;
}

static void remove_before(const char *directory, uint32_t epoch, const char *suffix)
{
	auto_free uint32_t *epochs = NULL;
	struct path path;
	size_t n;
	int err = disk_list(directory, PREFIX, suffix, &epochs, &n);
	if (err) {
		(void)disk_cant(directory, "read", err);
		return;
	}
	for (size_t i = 0; i < n && epochs[i] < epoch; i++)
		if (make_path(directory, epochs[i], suffix, &path) == 0 &&
			unlink(path.text) != 0 && errno != ENOENT)
			log_warn("%s: can't be removed: %s", path.text, strerror(errno));
}

void order_prune(const char *directory, uint32_t epoch)
{
	remove_before(directory, epoch, SUFFIX);
	remove_before(directory, epoch, BESIDE);
}
