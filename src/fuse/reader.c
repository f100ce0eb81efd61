// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/reader.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/rng.h"
#include "fuse/outlived.h"
#include "fuse/process_kind.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_pending(const char *line, const char *key, int signal_number)
{
	size_t n = strlen(key);
	if (strncmp(line, key, n) != 0)
		return false;
	return strtoull(line + n, NULL, 16) >> (signal_number - 1) & 1;
}

bool reader_dies(const struct fuse_ctx *reader)
{
	char path[64], line[256];
	bool dies = false;
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)reader->pid);
	auto_fclose FILE *file = fopen(path, "re");
	if (!file)
		return true;
	while (!dies && fgets(line, sizeof(line), file))
		dies = has_pending(line, "SigPnd:", SIGKILL) ||
		       has_pending(line, "ShdPnd:", SIGKILL);
	return dies;
}

/* --- processes ----------------------------------------------------------------------- */

#define ANCESTORS 16 /* at most, that a worker is apart from what it works for */
#define TEXT_BYTES 4096

struct process {
	long id, parent, session;
	uint64_t start;		  /* clock ticks since the machine was started */
	char command[TEXT_BYTES]; /* its arguments, each with its \0 */
	size_t n_command;
};

/* As much as there is room for. false: nothing. */
static bool read_of(long id, const char *name, char *ret, size_t room, size_t *ret_n)
{
	char path[64];
	ssize_t n;
	*ret_n = 0;
	snprintf(path, sizeof(path), "/proc/%ld/%s", id, name);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && *ret_n < room - 1 &&
		(n = read(fd, ret + *ret_n, room - 1 - *ret_n)) > 0)
		*ret_n += (size_t)n;
	ret[*ret_n] = '\0';
	return *ret_n > 0;
}

/* Fields after the name, which may have any characters: 4, 6 and 22 of proc(5). */
static bool read_stat(long id, struct process *ret)
{
	char text[1024];
	size_t n;
	if (!read_of(id, "stat", text, sizeof(text), &n))
		return false;
	const char *rest = strrchr(text, ')');
	long long unsigned start = 0;
	ret->id = id;
	if (!rest || sscanf(rest,
			     ") %*c %ld %*d %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u "
			     "%*d %*d %*d %*d %*d %*d %llu",
			     &ret->parent, &ret->session, &start) != 3)
		return false;
	ret->start = start;
	return true;
}

static bool read_process(long id, struct process *ret)
{
	(void)read_of(id, "cmdline", ret->command, sizeof(ret->command), &ret->n_command);
	return read_stat(id, ret);
}

static long process_of_thread(long thread)
{
	char text[TEXT_BYTES];
	size_t n;
	long process = thread;
	if (read_of(thread, "status", text, sizeof(text), &n)) {
		const char *line = strstr(text, "\nTgid:");
		if (line)
			process = strtol(line + strlen("\nTgid:"), NULL, 10);
	}
	return process;
}

static uint64_t number_of(const struct process *process)
{
	return rng_mix((uint64_t)process->id, process->start) | 1;
}

bool reader_lives(const struct sched_program *program)
{
	struct process process;
	if (!read_stat(program->id, &process))
		return kill((pid_t)program->id, 0) == 0 || errno != ESRCH;
	return number_of(&process) == program->number;
}

static bool was_forked(const struct process *process, const struct process *parent)
{
	return process->session != process->id && process->n_command > 0 &&
	       process->n_command == parent->n_command &&
	       memcmp(process->command, parent->command, process->n_command) == 0;
}

/* Where it can't be found out, they run the same program. */
static bool run_same_program(const struct process *a, const struct process *b)
{
	char path[64];
	struct stat of_a, of_b;
	snprintf(path, sizeof(path), "/proc/%ld/exe", a->id);
	if (stat(path, &of_a) != 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%ld/exe", b->id);
	return stat(path, &of_b) != 0 ||
	       (of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

static bool is_helper(const struct process *process, const struct process *parent)
{
	return process_is_helper(process->command, process->n_command) &&
	       run_same_program(process, parent);
}

/* A helper that has forked workers of its own is no worker, but a rank. */
static struct process rank_of(struct process process)
{
	struct process parent;
	bool forked = false;
	for (int i = 0; i < ANCESTORS; i++) {
		if (process.parent <= 1 || !read_process(process.parent, &parent))
			break;
		bool was = was_forked(&process, &parent);
		if (!was && (forked || !is_helper(&process, &parent)))
			break;
		forked = was;
		process = parent;
	}
	return process;
}

/* --- what a launcher tells a process ------------------------------------------------- */

#define ENVIRONMENT_BYTES (256 << 10)

/* How many ranks there are, and how many of them on this machine: of each launcher, the one
 * that is started within the others first. Slurm's are as "2(x3),1": of the first machine. */
static const struct {
	const char *ranks, *here;
} launchers[] = {
	{"WORLD_SIZE", "LOCAL_WORLD_SIZE"},
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"PMI_SIZE", "MPI_LOCALNRANKS"},
	{"SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"},
};

struct launched {
	bool beside;	/* a launcher has started it beside others */
	bool elsewhere; /* as one of several ranks, and some are on other machines */
};

/* text: a row of NAME=NUMBER, each with its 0. 0: it has none. */
static long number_in(const char *text, size_t bytes, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = text; at < text + bytes; at += strlen(at) + 1)
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return strtol(at + n + 1, NULL, 10);
	return 0;
}

static struct launched launched_of(const char *text, size_t bytes)
{
	struct launched found = {0};
	long of = 0, here = 0;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		long ranks = number_in(text, bytes, launchers[i].ranks);
		found.beside |= ranks > 1;
		of = of ? of : ranks;
		/* A script may have taken its number from another launcher. */
		if (here == 0 && ranks == of)
			here = number_in(text, bytes, launchers[i].here);
	}
	bool other = number_in(text, bytes, "NODE_RANK") > 0;
	found.elsewhere = of > 1 && ((here > 0 && here < of) || other);
	return found;
}

static struct launched launch_of(long id)
{
	struct launched found = {0};
	size_t n;
	char *text = malloc(ENVIRONMENT_BYTES);
	if (text && read_of(id, "environ", text, ENVIRONMENT_BYTES, &n))
		found = launched_of(text, n);
	free(text);
	return found;
}

/* Ranks that were started by multiprocessing, too, belong to who started them. */
static uint64_t script_of(const struct process *rank, bool launched)
{
	struct process parent;
	if (rank->parent > 1 && read_process(rank->parent, &parent) &&
		(is_helper(rank, &parent) || launched))
		return number_of(&parent);
	return number_of(rank);
}

/* --- threads ------------------------------------------------------------------------- */

#define THREADS 1024
#define WAYS 4
#define CHECKED_NS UINT64_C(1000000000)
#define MINUTE_NS UINT64_C(60000000000)

struct known_thread {
	long id;
	uint64_t start, checked_ns, used_ns;
	struct reader who;
	bool works; /* of a process that works for another */
	bool looks; /* of a process that others work for */
	bool done;
	bool elsewhere;	 /* ranks of its training are on other machines */
	long program;	 /* the process that is the rank */
	uint64_t shared; /* the inode whose epoch others decide; 0: none */
	uint32_t epoch;
};

static struct lock lock = {
	.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = LOCK_RANK_FUSE, .name = "readers"};
static struct known_thread threads[THREADS / WAYS][WAYS]; /* (lock) */

static struct known_thread *find_locked(long id)
{
	struct known_thread *set = threads[(unsigned long)id % (THREADS / WAYS)];
	lock_assert_held(&lock);
	for (size_t i = 0; i < WAYS; i++)
		if (set[i].id == id)
			return &set[i];
	return NULL;
}

/* The one that is known, or in place of that which was not used for the longest time. */
static struct known_thread *get_locked(long id)
{
	struct known_thread *set = threads[(unsigned long)id % (THREADS / WAYS)];
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

static void find_out(long id, uint64_t start, struct known_thread *ret)
{
	struct process process;
	ret->who = (struct reader){.thread = rng_mix((uint64_t)id, start) | 1};
	ret->works = ret->elsewhere = false;
	ret->program = 0;
	if (!read_process(process_of_thread(id), &process))
		return;
	struct process rank = rank_of(process);
	ret->works = rank.id != process.id;
	ret->program = rank.id;
	ret->who.rank = number_of(&rank);
	struct launched launched = launch_of(rank.id);
	ret->elsewhere = launched.elsewhere;
	ret->who.script = script_of(&rank, launched.beside);
}

/* Whether a process has read for this one within a minute. */
static bool has_workers(uint64_t rank, uint64_t now_ns)
{
	LOCK_SCOPE(&lock);
	for (size_t i = 0; i < THREADS; i++) {
		const struct known_thread *known = &threads[i / WAYS][i % WAYS];
		if (known->works && known->who.rank == rank &&
			known->used_ns + MINUTE_NS >= now_ns)
			return true;
	}
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
		.resent = outlived_is_resent()};
}

struct sched_reader reader_of(fuse_req_t req)
{
	long id = (long)fuse_req_ctx(req)->pid;
	uint64_t now_ns = clock_now_ns();
	struct known_thread known = {.id = 0};
	struct process thread = {.id = 0};
	bool found = take_known(id, now_ns, &known);
	bool done = known.done;
	if (id == 0)
		return (struct sched_reader){.unknown = true}; /* of another name space */
	if (found && now_ns - known.checked_ns < CHECKED_NS)
		return reader_known(&known, done);
	bool alive = read_stat(id, &thread);
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
