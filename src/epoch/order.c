// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
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

static char *path_of(const char *directory, uint32_t epoch, const char *suffix)
{
	return aprintf("%s/" PREFIX "%04u%s", directory, epoch, suffix);
}

int order_save(const char *directory, uint32_t epoch, uint64_t fingerprint,
	const struct order *order)
{
	auto_free char *path = path_of(directory, epoch, SUFFIX);
	return path ? order_save_at(path, epoch, fingerprint, order) : -ENOMEM;
}

int order_load(const char *directory, uint32_t epoch, uint32_t positions,
	uint64_t fingerprint, struct order *ret)
{
	auto_free char *path = path_of(directory, epoch, SUFFIX);
	return path ? order_load_at(path, epoch, positions, fingerprint, ret) : -ENOMEM;
}

/* The caller frees *ret_path, and closes *ret_fd, also after an error. */
static int open_order(const char *directory, uint32_t epoch, char **ret_path, int *ret_fd)
{
	*ret_path = path_of(directory, epoch, SUFFIX);
	if (!*ret_path)
		return disk_cant(directory, "read", -ENOMEM);
	*ret_fd = open(*ret_path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd >= 0)
		return 0;
	return errno == ENOENT ? -ENOENT : disk_cant(*ret_path, "opened", -errno);
}

/* Opens an order, as open_order does, and reads its head. */
static int open_head(const char *directory, uint32_t epoch, char **ret_path, int *ret_fd,
	struct order_head *ret)
{
	struct stat st;
	int err = open_order(directory, epoch, ret_path, ret_fd);
	if (!err && fstat(*ret_fd, &st) != 0)
		err = disk_cant(*ret_path, "read", -errno);
	if (!err)
		err = order_read_head(*ret_fd, *ret_path, 0, ret);
	if (err)
		return err;
	if (le32toh(ret->epoch) != epoch)
		return order_refuse(*ret_path, "its head belongs to another epoch");
	if ((uint64_t)st.st_size != order_bytes(ret))
		return order_refuse(
			*ret_path, "its size differs from the size in its head");
	return 0;
}

int order_look_up(
	const char *directory, uint32_t epoch, uint32_t position, sample_id *ret)
{
	auto_free char *path = NULL;
	auto_close int fd = -1;
	uint32_t word;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = order_read_words(fd, path, &word, 1, order_samples_at(position));
	if (!err)
		*ret = word - 1;
	return err;
}

int order_bound(const char *directory, uint32_t epoch, uint32_t *ret)
{
	auto_free char *path = NULL;
	struct order_head head;
	auto_close int fd = -1;
	int err = open_head(directory, epoch, &path, &fd, &head);
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
	auto_free char *path = NULL;
	struct order_head head;
	auto_close int fd = -1;
	*ret_n = 0;
	int err = open_head(directory, epoch, &path, &fd, &head);
	if (err)
		return err;
	uint32_t bound = le32toh(head.bound);
	if (k == 0 && order_bytes(&head) <= CHEAP)
		err = order_check_content(fd, path, 0, &head);
	uint32_t left = k < bound ? bound - k : 0;
	n = n < left ? n : left;
	if (!err && n > 0)
		err = read_bindings(fd, path, &head, k, n, ret);
	if (!err)
		*ret_n = n;
	return err;
}

/* Returns 1 if the order belongs to one of the sets; 0 if the order is damaged (logged), does not
 * exist, or belongs to another set (counted in *others); -errno if it can't be read. */
static int judge(const char *directory, uint32_t epoch, const struct order_set *sets,
	size_t n_sets, uint32_t *others)
{
	auto_free char *path = NULL;
	struct order_head head;
	auto_close int fd = -1;
	int err = open_head(directory, epoch, &path, &fd, &head);
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
	size_t n;
	*ret_n = 0;
	int err = disk_list(directory, PREFIX, SUFFIX, &epochs, &n);
	*ret = err ? NULL : calloc(n + 1, sizeof(**ret));
	if (err || !*ret)
		return err ? err : -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		auto_free char *path = NULL;
		auto_close int fd = -1;
		struct order_head head;
		if (open_head(directory, epochs[i], &path, &fd, &head) == 0)
			(*ret)[(*ret_n)++] = (struct order_found){epochs[i],
				{le32toh(head.positions), le64toh(head.fingerprint)}};
	}
	return 0;
}

static void remove_before(const char *directory, uint32_t epoch, const char *suffix)
{
	auto_free uint32_t *epochs = NULL;
	size_t n;
	int err = disk_list(directory, PREFIX, suffix, &epochs, &n);
	if (err) {
		(void)disk_cant(directory, "read", err);
		return;
	}
	for (size_t i = 0; i < n && epochs[i] < epoch; i++) {
		auto_free char *path = path_of(directory, epochs[i], suffix);
		if (path && unlink(path) != 0 && errno != ENOENT)
			log_warn("%s: can't be removed: %s", path, strerror(errno));
	}
}

void order_prune(const char *directory, uint32_t epoch)
{
	remove_before(directory, epoch, SUFFIX);
	remove_before(directory, epoch, BESIDE);
}
