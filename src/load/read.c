// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "load/load_internal.h"
#include "base/disk_io.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "far/far.h"
#include "load/open_beneath.h"
#include "load/transient_error.h"
#include "stats/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Reads files: the first stage of loading. A system call on a file may never return, so struct
 * load_read has its own copy of all data that this stage uses. */

#define MAX_FILE_BYTES (UINT64_C(2) << 30) /* any sensible image is far smaller */

struct load_read *load_read_new(void)
{
	return calloc(1, sizeof(struct load_read));
}

void load_read_free(struct load_read **read_pointer)
{
	struct load_read *read = *read_pointer;
	*read_pointer = NULL;
	if (!read)
		return;
	tier_put(read->tier.dataset);
	tensor_free(read->tensor);
	buffer_free(&read->names);
	buffer_free(&read->bytes);
	buffer_free(&read->stored);
	load_read_free(&read->second);
	free(read->second_name);
	free(read);
}

void load_read_trim(struct load_read *read)
{
	ensure(!read->tensor);
	buffer_trim(&read->bytes);
	buffer_trim(&read->stored);
	if (read->second)
		load_read_trim(read->second);
}

static int copy_names(struct load_read *read, const struct load_task *task)
{
	const char *file = task->container ? task->container : task->path;
	size_t path = strlen(file) + 1;
	size_t root = task->root ? strlen(task->root) + 1 : 0;
	if (buffer_reserve(&read->names, path + root))
		return -ENOMEM;
	char *names = (char *)read->names.data;
	read->path = memcpy(names, file, path);
	read->root = root ? memcpy(names + path, task->root, root) : NULL;
	return 0;
}

static int prepare_second(struct load_read *read, const struct load_task *task)
{
	read->has_second = task->second != NULL;
	if (!task->second)
		return 0;
	if (!read->second)
		read->second = load_read_new();
	free(read->second_name);
	read->second_name = strdup(task->second->name);
	if (!read->second || !read->second_name)
		return -ENOMEM;
	return load_read_prepare(read->second, task->second);
}

int load_read_prepare(struct load_read *read, const struct load_task *task)
{
	read->encoded = task->preparation->encoded;
	read->by_content = task->by_content;
	read->identity = (struct load_identity){0};
	read->in_container = task->container != NULL;
	read->part = task->part;
	read->plain = task->plain;
	read->expected_bytes = task->expected_bytes;
	read->expected_mtime_ns = task->expected_mtime_ns;
	read->status = 0;
	read->passing = false;
	read->told = false;
	read->retry_ns = 0;
	read->message[0] = '\0';
	read->names_second = false;
	read->cpu_ns = 0;
	int err = copy_names(read, task);
	if (!err)
		err = prepare_second(read, task);
	if (err)
		return err;
	tier_hold(task->tier.dataset);
	read->tier = task->tier;
	read->tier_worth = task->tier_worth;
	return 0;
}

static int fail(struct load_read *read, int error, const char *text)
{
	snprintf(read->message, sizeof(read->message), "%s", text);
	return error;
}

static int fail_errno(struct load_read *read, int error)
{
	fail(read, 0, strerror(error));
	read->passing = load_error_passes(error, read->path);
	if (error == ENOENT || error == ENOTDIR)
		return -ENOENT;
	return error == ENOMEM ? -ENOMEM : -EIO;
}

static int check_fault(struct load_read *read)
{
	int err = fault_hit("load.read"), remote = fault_hit("load.remote");
	if (err)
		read->passing = load_error_passes(-err, read->path);
	else if (remote)
		read->passing = true;
	err = err ? err : remote;
	if (err)
		snprintf(read->message, sizeof(read->message), "%s: %s, as asked for",
			remote ? "load.remote" : "load.read", strerror(-err));
	return err;
}

static int check_unchanged(struct load_read *read, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return fail_errno(read, errno);
	if (!S_ISREG(st.st_mode))
		return fail(read, -EIO, "not a regular file");
	int64_t mtime_ns = timespec_ns(st.st_mtim);
	uint64_t bytes =
		read->in_container ? read->part.container_bytes : read->expected_bytes;
	if ((uint64_t)st.st_size != bytes || mtime_ns != read->expected_mtime_ns)
		return fail(read, -ESTALE,
			read->in_container ? "the container changed since the scan"
					   : "changed since the scan");
	if (!read->by_content)
		read->identity = (struct load_identity){
			{st.st_dev, st.st_ino, read->in_container ? read->part.offset : 0,
				read->expected_bytes, (uint64_t)mtime_ns}};
	return 0;
}

static int read_bytes(
	struct load_read *read, int fd, uint64_t from, uint64_t bytes, uint8_t *out)
{
	size_t done;
	int err = disk_read(fd, out, bytes, from, &done);
	if (err)
		return fail_errno(read, -err);
	stats_add(STAT_SOURCE_BYTES, done);
	/* a second check, because the file may have changed during the read */
	err = check_unchanged(read, fd);
	if (!err && done < bytes)
		err = fail(read, -EIO, "has become shorter since the scan");
	return err;
}

static int try_to_open(const struct load_read *read)
{
	/* O_NONBLOCK: if the file is a FIFO, the open does not wait for a writer */
	static const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (read->root)
		return open_beneath(read->root, read->path, flags);
	int fd = open(read->path, flags);
	return fd < 0 ? -errno : fd;
}

static int open_source(struct load_read *read, int *ret)
{
	do
		*ret = try_to_open(read);
	while (*ret == -EINTR);
	if (*ret == -EXDEV)
		return fail(read, -EIO,
			"a symbolic link leads out of the dataset (allowed with symlinks "
			"= follow)");
	if (*ret < 0)
		return fail_errno(read, -*ret);
	int err = check_unchanged(read, *ret);
	return err ? err : check_fault(read);
}

static int fail_memory(struct load_read *read)
{
	read->passing = true;
	return fail(read, -ENOMEM, "no memory");
}

static int take_memory(struct load_read *read, uint8_t **ret)
{
	if (!read->encoded && read->expected_bytes > MAX_FILE_BYTES)
		return fail(read, -EIO, "too large for an image");
	if (read->encoded && !read->tensor)
		read->tensor = tensor_new((struct tensor_shape){0}, read->expected_bytes);
	else if (!read->encoded && buffer_reserve(&read->bytes, read->expected_bytes))
		return fail_memory(read);
	if (read->encoded && !read->tensor)
		return fail_memory(read);
	*ret = read->encoded ? read->tensor->data : read->bytes.data;
	return 0;
}

static int read_deflated(struct load_read *read, int fd, uint8_t *out)
{
	const struct source_part *part = &read->part;
	if (part->stored_bytes > MAX_FILE_BYTES)
		return fail(read, -EIO, "too large for an image");
	if (buffer_reserve(&read->stored, part->stored_bytes))
		return fail_memory(read);
	int err =
		read_bytes(read, fd, part->offset, part->stored_bytes, read->stored.data);
	if (err)
		return err;
	err = source_unpack(part, read->stored.data, out, read->expected_bytes);
	if (err == -ENOMEM)
		return fail_memory(read);
	return err ? fail(read, -EIO, "its compressed bytes are damaged") : 0;
}

static int read_part(struct load_read *read, int fd, uint8_t *out)
{
	const struct source_part *part = &read->part;
	int err = part->method == PART_DEFLATED
			  ? read_deflated(read, fd, out)
			  : read_bytes(read, fd, part->offset, read->expected_bytes, out);
	if (!err && source_check(part, out, read->expected_bytes) != 0)
		err = fail(read, -EIO, "is damaged: its checksum is wrong");
	return err;
}

/* --- remote files ------------------------------------------------------------------------ */

/* Copies an error of far_read to the read. Returns -errno. */
static int fail_far(struct load_read *read, int err, const struct far_error *error)
{
	fail(read, 0, error->message);
	read->passing = error->passing;
	read->told = error->denied;
	read->retry_ns = error->retry_ns;
	return err == -ENOENT || err == -ESTALE || err == -ENOMEM ? err : -EIO;
}

static int read_far(struct load_read *read)
{
	bool part = read->in_container;
	const struct far_object object = {.url = read->path,
		.plain = part ? 0 : read->plain,
		.bytes = part ? read->part.container_bytes : read->expected_bytes,
		.mtime_ns = read->expected_mtime_ns};
	struct far_error error;
	uint8_t *out = NULL;
	int err = check_fault(read);
	if (!err)
		err = take_memory(read, &out);
	if (err)
		return err;
	err = far_read(
		&object, part ? read->part.offset : 0, read->expected_bytes, out, &error);
	return err ? fail_far(read, err, &error) : 0;
}

static int read_file(struct load_read *read)
{
	auto_close int fd = -1;
	uint8_t *out = NULL;
	if (far_is(read->path))
		return read_far(read);
	int err = open_source(read, &fd);
	if (!err)
		err = take_memory(read, &out);
	if (err)
		return err;
	return read->in_container ? read_part(read, fd, out)
				  : read_bytes(read, fd, 0, read->expected_bytes, out);
}

static int read_tiered(struct load_read *read)
{
	uint8_t *out = NULL;
	int err = take_memory(read, &out);
	if (err)
		return err;
	if (tier_read(&read->tier, out, read->expected_bytes))
		return 0;
	err = read_file(read);
	if (!err)
		tier_offer(&read->tier, out, read->expected_bytes, read->tier_worth);
	return err;
}

static void identify_content(struct load_read *read)
{
	const uint8_t *bytes = read->encoded ? read->tensor->data : read->bytes.data;
	uint8_t digest[EVP_MAX_MD_SIZE];
	read->identity.words[4] = read->expected_bytes;
	if (EVP_Digest(bytes, read->expected_bytes, digest, NULL, EVP_sha256(), NULL))
		memcpy(read->identity.words, digest, 32);
	else
		read->identity = (struct load_identity){0};
}

/* Reads the second file of a sample, or all later frames of a video. A failure fails the sample. */
static void run_second(struct load_read *read)
{
	struct load_read *second = read->second;
	load_read_run(second);
	read->cpu_ns += second->cpu_ns;
	if (second->status == 0)
		return;
	read->status = second->status;
	read->passing = second->passing;
	read->told = second->told;
	read->retry_ns = second->retry_ns;
	read->names_second = true;
	if (second->names_second)
		memcpy(read->message, second->message, sizeof(read->message));
	else
		load_name_second(read->second_name, second->message, read->message);
}

void load_read_run(struct load_read *read)
{
	uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	read->status = read->tier.dataset ? read_tiered(read) : read_file(read);
	tier_put(read->tier.dataset);
	read->tier.dataset = NULL;
	if (read->by_content && read->status == 0)
		identify_content(read);
	read->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
	if (read->status == 0 && read->has_second)
		run_second(read);
	if (read->status == 0 || !read->tensor)
		return;
	tensor_free(read->tensor);
	read->tensor = NULL;
}

int load_bytes(struct load_task *task)
{
	static const struct preparation as_it_is = {.encoded = true};
	struct load_read *read = load_read_new();
	task->preparation = &as_it_is;
	task->tensor = NULL;
	task->message[0] = '\0';
	int err = read ? load_read_prepare(read, task) : -ENOMEM;
	if (!err) {
		load_read_run(read);
		err = read->status;
		memcpy(task->message, read->message, sizeof(task->message));
	}
	if (!err) {
		task->tensor = read->tensor;
		read->tensor = NULL;
	}
	load_read_free(&read);
	return task->status = err;
}
