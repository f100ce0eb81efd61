// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/lock.h"
#include "world.h"

#include <malloc.h>
#include <stdatomic.h>

/*
 * Memory with a place for each sample of a dataset is allocated and freed without the lock,
 * because with millions of samples this takes milliseconds. All allocations come through here;
 * sanitizers and valgrind have their own allocator.
 */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

/* A number for which no other allocation is as large as the needs of all samples. */
#define N 20011
#define NEED_BYTES (N * sizeof(uint16_t))

void *__libc_calloc(size_t n, size_t size);
void __libc_free(void *memory);

static atomic_bool watched;
static atomic_uint made, freed, with_lock;

static void note_lock(int fd, const char *text)
{
	(void)fd;
	if (strcmp(text, "sched") == 0)
		atomic_fetch_add(&with_lock, 1);
}

void *calloc(size_t n, size_t size)
{
	if (n * size == NEED_BYTES && atomic_load(&watched)) {
		atomic_fetch_add(&made, 1);
		lock_each_held(note_lock, -1);
	}
	return __libc_calloc(n, size);
}

void free(void *memory)
{
	size_t size = memory && atomic_load(&watched) ? malloc_usable_size(memory) : 0;
	if (size >= NEED_BYTES && size < NEED_BYTES + 16) {
		atomic_fetch_add(&freed, 1);
		lock_each_held(note_lock, -1);
	}
	__libc_free(memory);
}

static void start(struct world *world)
{
	char first[128], path[128];
	world_begin(world, 2, 10);
	world_stop(world);
	world_image_path(world, 0, first);
	for (unsigned i = 2; i < N; i++) {
		world_image_path(world, i, path);
		cr_assert_eq(0, link(first, path));
	}
	world_start(world);
}

Test(sched_space, it_is_made_and_freed_without_the_lock)
{
	static char name[] = "a";
	const char *preloaded = getenv("LD_PRELOAD");
	struct world world;
	if (preloaded && strstr(preloaded, "vgpreload"))
		cr_skip_test("valgrind takes the allocations elsewhere");
	start(&world);
	atomic_store(&watched, true);
	struct sched_job *job = world_add(&world, name);
	cr_assert_eq(1, atomic_load(&made), "%u are made", atomic_load(&made));
	cr_assert_eq(0, atomic_load(&with_lock), "it is made under the lock");
	world_read(job, 0, 0);
	cr_assert_eq(0, sched_job_remove(world.sched, name));
	sched_job_put(job);
	sched_stop(world.sched); /* by now the memory is freed, by whatever thread */
	atomic_store(&watched, false);
	cr_assert_eq(1, atomic_load(&freed), "%u are freed", atomic_load(&freed));
	cr_assert_eq(0, atomic_load(&with_lock), "it is freed under the lock");
	world_end(&world);
}

#else

Test(sched_space, it_is_made_and_freed_without_the_lock)
{
	cr_skip_test("the sanitizer allocates");
}

#endif
