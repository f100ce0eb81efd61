// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/kept.h"
#include "base/ensure.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/supervised.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define FILES_PROBED 64

static struct kept alone; /* used without a supervisor */
static struct kept *page = &alone;
static int supervisor = -1; /* socket to the supervisor; -1: there is no supervisor */
static bool again;
static struct lock lock = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.rank = LOCK_RANK_KEPT,
	.name = "kept",
};
static uint32_t cursor; /* (lock) where the next search in `opens` begins */

struct kept *kept(void)
{
	return page;
}

bool kept_is_supervised(void)
{
	return supervisor >= 0;
}

bool kept_is_again(void)
{
	return again;
}

static int attach(const char *engine)
{
	struct stat st;
	int fd;
	if (sscanf(engine, "%d,%d", &supervisor, &fd) != 2 || fstat(fd, &st) != 0)
		return -EINVAL;
	if ((size_t)st.st_size != sizeof(struct kept))
		return -EPROTO;
	void *at = mmap(
		NULL, sizeof(struct kept), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int err = at == MAP_FAILED ? -errno : 0;
	close(fd);
	if (err)
		return err;
	page = at;
	bool same = page->version == KEPT_VERSION && page->bytes == sizeof(*page);
	return same ? 0 : -EPROTO;
}

/* Frees the entries of kept.descriptors whose descriptors the supervisor did not get before the
 * previous engine died. Sets close-on-exec for the descriptors of all other entries. */
static void tidy(void)
{
	for (uint32_t i = 0; i < KEPT_DESCRIPTORS; i++) {
		struct kept_descriptor *place = &page->descriptors[i];
		int fd = atomic_load(&place->fd);
		if (fd == 0)
			atomic_store(&place->kind, KEPT_FREE);
		else if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
			log_warn("a descriptor of the supervisor is missing: %s",
				strerror(errno));
	}
	ensure(fcntl(supervisor, F_SETFD, FD_CLOEXEC) == 0);
}

int kept_begin(const char *engine)
{
	int err = engine ? attach(engine) : 0;
	if (err)
		log_error("the supervisor is missing or of another version: %s",
			strerror(-err));
	if (err || !engine)
		return err;
	tidy();
	again = kept_next(NULL, KEPT_MOUNT) != NULL;
	return 0;
}

static void tell(enum supervised_order order, uint32_t place, int fd)
{
	struct supervised_message message = {.order = order, .place = place};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = &message, .iov_len = sizeof(message)};
	struct msghdr packet = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd >= 0) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	ssize_t sent;
	do
		sent = sendmsg(supervisor, &packet, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		log_warn("can't send to the supervisor: %s", strerror(errno));
}

void kept_ready(void)
{
	if (supervisor < 0)
		return;
	page->error[0] = '\0';
	tell(SUPERVISED_READY, 0, -1);
}

void kept_beat(void)
{
	static _Atomic uint64_t n;
	atomic_store(&page->beats, atomic_fetch_add(&n, 1) + 1);
}

void kept_beat_none(void)
{
	atomic_store(&page->beats, 0);
}

void kept_note_error(const char *message)
{
	snprintf(page->error, sizeof(page->error), "%s", message);
}

struct kept_descriptor *kept_new(void)
{
	for (uint32_t i = 0; i < KEPT_DESCRIPTORS; i++) {
		struct kept_descriptor *place = &page->descriptors[i];
		int none = KEPT_FREE;
		if (atomic_load(&place->fd) != 0 ||
			!atomic_compare_exchange_strong(
				&place->kind, &none, KEPT_RESERVED))
			continue;
		memset(&place->mount, 0, sizeof(place->mount));
		place->path[0] = '\0';
		return place;
	}
	return NULL;
}

void kept_add(struct kept_descriptor *place, enum kept_kind kind, int fd)
{
	atomic_store(&place->kind, kind);
	if (supervisor >= 0)
		tell(SUPERVISED_KEEP, (uint32_t)(place - page->descriptors), fd);
}

void kept_drop(struct kept_descriptor **place)
{
	if (!*place)
		return;
	atomic_store(&(*place)->kind, KEPT_FREE);
	if (supervisor >= 0)
		tell(SUPERVISED_DROP, (uint32_t)(*place - page->descriptors), -1);
	*place = NULL;
}

struct kept_descriptor *kept_next(
	const struct kept_descriptor *before, enum kept_kind kind)
{
	size_t i = before ? (size_t)(before - page->descriptors) + 1 : 0;
	for (; i < KEPT_DESCRIPTORS; i++)
		if (atomic_load(&page->descriptors[i].kind) == (int)kind &&
			atomic_load(&page->descriptors[i].fd) != 0)
			return &page->descriptors[i];
	return NULL;
}

uint64_t kept_serial(void)
{
	uint64_t serial = atomic_fetch_add(&page->handles, 1) + 1;
	ensure(serial < UINT64_C(1) << KEPT_SERIAL_BITS);
	return serial;
}

struct kept_open *kept_open_add(const struct kept_open *open)
{
	LOCK_SCOPE(&lock);
	for (uint32_t i = 0; i < KEPT_OPENS; i++) {
		struct kept_open *place = &page->opens[cursor++ % KEPT_OPENS];
		if (atomic_load(&place->handle) != 0)
			continue;
		/* copies all members but the handle: once it is stored, the entry is valid */
		memcpy(&place->request, &open->request,
			sizeof(*place) - offsetof(struct kept_open, request));
		atomic_store(&place->handle, atomic_load(&open->handle));
		return place;
	}
	return NULL;
}

struct kept_open *kept_open_next(const struct kept_open *before, uint32_t mount)
{
	size_t i = before ? (size_t)(before - page->opens) + 1 : 0;
	for (; i < KEPT_OPENS; i++)
		if (atomic_load(&page->opens[i].handle) != 0 &&
			page->opens[i].mount == mount)
			return &page->opens[i];
	return NULL;
}

void kept_open_remove(struct kept_open *open)
{
	if (open)
		atomic_store(&open->handle, 0);
}

void kept_close_add(uint32_t mount, uint64_t inode, uint64_t handle)
{
	for (uint32_t i = 0; i < KEPT_CLOSES; i++) {
		struct kept_close *place = &page->closes[i];
		if (atomic_load(&place->handle) != 0)
			continue;
		place->inode = inode;
		place->mount = mount;
		atomic_store(&place->handle, handle);
		return;
	}
}

bool kept_close_take(uint32_t mount, uint64_t *ret_inode, uint64_t *ret_handle)
{
	for (uint32_t i = 0; i < KEPT_CLOSES; i++) {
		struct kept_close *place = &page->closes[i];
		*ret_handle = atomic_load(&place->handle);
		if (*ret_handle == 0 || place->mount != mount)
			continue;
		*ret_inode = place->inode;
		atomic_store(&place->handle, 0);
		return true;
	}
	return false;
}

static atomic_int *file_place(int backing, uint32_t i)
{
	return &page->files[((uint32_t)backing + i) % KEPT_FILES];
}

/* Notes a file that the kernel reads, so that the next engine can make the kernel forget the file.
 * If the list has no room, the kernel keeps the file until the mount ends. */
void kept_file_add(int backing)
{
	atomic_store(&page->last_backing, backing);
	for (uint32_t i = 0; i < FILES_PROBED; i++) {
		int none = 0;
		if (atomic_compare_exchange_strong(
			    file_place(backing, i), &none, backing))
			return;
	}
}

void kept_file_remove(int backing)
{
	for (uint32_t i = 0; i < FILES_PROBED; i++) {
		int found = backing;
		if (atomic_compare_exchange_strong(file_place(backing, i), &found, 0))
			return;
	}
}

static atomic_uint n_noting;
static _Thread_local struct kept_note *own;
static _Thread_local bool noting;

/* Notes in kept.notes that this thread prepares a sample. kept.notes has room for KEPT_WORKERS
 * threads. Calls of further threads do nothing. */
void kept_note_begin(const char *dataset, uint32_t sample)
{
	if (supervisor < 0)
		return;
	if (!noting) {
		uint32_t place = atomic_fetch_add(&n_noting, 1);
		own = place < KEPT_WORKERS ? &page->notes[place] : NULL;
		noting = true;
	}
	if (!own)
		return;
	snprintf(own->dataset, sizeof(own->dataset), "%s", dataset);
	own->sample = sample;
	atomic_store(&own->busy, true);
}

void kept_note_end(void)
{
	if (own)
		atomic_store(&own->busy, false);
}

void kept_note_crashed(void)
{
	if (!own || !atomic_load(&own->busy))
		return;
	atomic_store(&own->crashed, true);
	atomic_store(&page->blamed, true);
}
