// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/rng.h"
#include "fuse/handover.h"
#include "fuse/reader.h"
#include "fuse/relatives.h"
#include "sched/gauges.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static bool has_pending(const char *line, const char *key, int signal_number)
{
	size_t n = strlen(key);
	if (strncmp(line, key, n) != 0)
		return false;
	return strtoull(line + n, NULL, 16) >> (signal_number - 1) & 1;
}

bool reader_dies(fuse_req_t req)
{
	const struct session *session = fuse_req_userdata(req);
	char path[64], line[256];
	bool dies = false;
	if (session->mount.other_pids)
		return true;
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)fuse_req_ctx(req)->pid);
	auto_fclose FILE *file = fopen(path, "re");
	if (!file)
		return true;
	while (!dies && fgets(line, sizeof(line), file))
		dies = has_pending(line, "SigPnd:", SIGKILL) ||
		       has_pending(line, "ShdPnd:", SIGKILL);
	return dies;
}

#define THREADS 1024
#define WAYS 4
#define CHECKED_NS UINT64_C(1000000000)
#define MINUTE_NS UINT64_C(60000000000)

struct known_thread {
	long id;
	/* start: of the thread, as in struct process. checked_ns: last time that /proc was read.
	 * used_ns: time of the last call of reader_of for the thread. */
	uint64_t start, checked_ns, used_ns;
	struct reader who;
	bool works; /* the thread's process is a worker of another process */
	bool looks; /* the thread's process has workers, and is no worker itself */
	bool done; /* reader_has_read was called, and reader_of has not returned this yet */
	bool elsewhere; /* some ranks of the training are on other machines */
	/* process: id of the thread's process; program: id of the rank's process */
	long process, program;
	uint64_t shared; /* the inode noted by reader_shares; 0: none */
	uint32_t epoch;
};

bool reader_lives(const struct sched_program *program)
{
	struct process process;
	if (!process_read_stat(program->id, &process))
		return kill((pid_t)program->id, 0) == 0 || errno != ESRCH;
	return process_number(&process) == program->number;
}

static struct lock lock = {
	.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = LOCK_RANK_FUSE, .name = "readers"};
/* (lock) a hash table; each bucket has room for WAYS threads, which follow each other */
static struct known_thread threads[THREADS];

static struct known_thread *bucket_of(long id)
{
	return &threads[(unsigned long)id % (THREADS / WAYS) * WAYS];
}

static struct known_thread *find_locked(long id)
{
	struct known_thread *set = bucket_of(id);
	lock_assert_held(&lock);
	for (size_t i = 0; i < WAYS; i++)
		if (set[i].id == id)
			return &set[i];
	return NULL;
}

/* A new entry replaces the least recently used one of its bucket. */
static struct known_thread *get_locked(long id)
{
	struct known_thread *set = bucket_of(id);
	struct known_thread *found = find_locked(id);
	lock_assert_held(&lock);
	if (found)
		return found;
	found = &set[0];
	for (size_t i = 1; i < WAYS; i++)
		if (set[i].used_ns < found->used_ns)
			found = &set[i];
	*found = (struct known_thread){.id = id};
	return found;
}

/* Returns the number of a rank's script, or 0 if no thread of the rank is in the table. A script
 * keeps the number of its oldest rank even after this rank has ended. */
static uint64_t known_script(uint64_t rank)
{
	LOCK_SCOPE(&lock);
	for (const struct known_thread *known = threads; known < threads + THREADS;
		known++)
		if (known->id != 0 && known->who.rank == rank)
			return known->who.script;
	return 0;
}

/* Removes the entries of a process that was taken for a worker, but has started workers since. */
static void forget_worker(long process)
{
	LOCK_SCOPE(&lock);
	for (struct known_thread *known = threads; known < threads + THREADS; known++)
		if (known->works && known->process == process)
			*known = (struct known_thread){.id = 0};
}

static void find_out(long id, uint64_t start, struct known_thread *ret)
{
	struct process process;
	ret->who = (struct reader){.thread = rng_mix((uint64_t)id, start) | 1};
	ret->works = ret->elsewhere = false;
	ret->process = ret->program = 0;
	if (!process_read(process_of_thread(id), &process))
		return;
	struct process rank = process;
	if (known_script(process_number(&process)) == 0)
		rank = relatives_rank(&process);
	ret->works = rank.id != process.id;
	ret->process = process.id;
	ret->program = rank.id;
	ret->elsewhere = relatives_are_elsewhere(&rank);
	ret->who.rank = process_number(&rank);
	ret->who.script = known_script(ret->who.rank);
	if (ret->who.script == 0)
		ret->who.script = relatives_script(&rank);
	if (ret->works)
		forget_worker(rank.id);
}

static bool has_workers(uint64_t rank, uint64_t now_ns)
{
	LOCK_SCOPE(&lock);
	for (const struct known_thread *known = threads; known < threads + THREADS;
		known++)
		if (known->works && known->who.rank == rank &&
			known->used_ns + MINUTE_NS >= now_ns)
			return true;
	return false;
}

static bool take_known(long id, uint64_t now_ns, struct known_thread *ret)
{
	LOCK_SCOPE(&lock);
	struct known_thread *known = find_locked(id);
	if (!known)
		return false;
	*ret = *known;
	known->used_ns = now_ns;
	known->done = false;
	return true;
}

static void keep_known(const struct known_thread *found)
{
	LOCK_SCOPE(&lock);
	*get_locked(found->id) = *found;
}

static struct sched_reader reader_known(const struct known_thread *known, bool done)
{
	return (struct sched_reader){.who = known->who,
		.done = done,
		.looks = known->looks,
		.elsewhere = known->elsewhere,
		.thread = known->id,
		.program = known->program,
		.resent = handover_is_resent()};
}

struct sched_reader reader_of(fuse_req_t req)
{
	long id = (long)fuse_req_ctx(req)->pid;
	uint64_t now_ns = clock_now_ns();
	struct known_thread known = {.id = 0};
	struct process thread = {.id = 0};
	bool found = take_known(id, now_ns, &known);
	bool done = known.done;
	/* id 0: the process is in another name space of pids. */
	if (id == 0)
		return (struct sched_reader){.unknown = true};
	if (found && now_ns - known.checked_ns < CHECKED_NS)
		return reader_known(&known, done);
	bool alive = process_read_stat(id, &thread);
	if (!found || !alive || thread.start != known.start) {
		done = false;
		find_out(id, thread.start, &known);
	}
	known.looks = !known.works && has_workers(known.who.rank, now_ns);
	known.id = id;
	known.start = thread.start;
	known.checked_ns = known.used_ns = now_ns;
	known.done = false;
	keep_known(&known);
	return reader_known(&known, done);
}

void reader_has_read(fuse_req_t req)
{
	LOCK_SCOPE(&lock);
	struct known_thread *known = find_locked((long)fuse_req_ctx(req)->pid);
	if (known)
		known->done = true;
}

struct sched_reader reader_peek(fuse_req_t req)
{
	struct sched_reader reader = reader_of(req);
	if (reader.done)
		reader_has_read(req);
	return reader;
}

void reader_shares(fuse_req_t req, uint64_t number, uint32_t epoch)
{
	LOCK_SCOPE(&lock);
	struct known_thread *known = get_locked((long)fuse_req_ctx(req)->pid);
	known->shared = number;
	known->epoch = epoch;
}

uint32_t reader_shared(fuse_req_t req, uint64_t number)
{
	LOCK_SCOPE(&lock);
	struct known_thread *known = find_locked((long)fuse_req_ctx(req)->pid);
	if (!known || known->shared == 0)
		return SCHED_CURRENT;
	if (known->shared == number)
		return known->epoch;
	known->shared = 0;
	return SCHED_CURRENT;
}
