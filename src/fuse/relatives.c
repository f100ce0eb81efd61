// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/relatives.h"
#include "base/cleanup.h"
#include "fuse/process_kind.h"

#include <stdlib.h>
#include <string.h>

#define ANCESTORS 16 /* most ancestors that are examined */
#define ENVIRON_TEXT (256 * 1024)

/* The way a parent started a process. BIRTH_FORKED: by fork alone; BIRTH_SPAWNED: as a helper of
 * multiprocessing or loky; BIRTH_STARTED: in any other way. */
enum birth { BIRTH_STARTED, BIRTH_FORKED, BIRTH_SPAWNED };

static enum birth birth_of(const struct process *process, const struct process *parent)
{
	if (process->session != process->id && process->n_command > 0 &&
		process->n_command == parent->n_command &&
		memcmp(process->command, parent->command, process->n_command) == 0)
		return BIRTH_FORKED;
	if (process_helper(process->command, process->n_command) != HELPER_NONE &&
		process_runs_same(process, parent))
		return BIRTH_SPAWNED;
	return BIRTH_STARTED;
}

static bool has_parent(const struct process *process, struct process *ret)
{
	return process->parent > 1 && process_read(process->parent, ret);
}

/* Tells whether the process is the server of multiprocessing's forkserver. The server forks
 * processes on behalf of the process that has started the server. */
static bool is_server(const struct process *process)
{
	struct process parent;
	return process_helper(process->command, process->n_command) == HELPER_FORKS &&
	       has_parent(process, &parent) &&
	       birth_of(process, &parent) == BIRTH_SPAWNED;
}

/* Finds the process that started `process`, directly or through a forkserver, if /proc shows it. */
static bool has_founder(
	const struct process *process, struct process *ret, enum birth *ret_birth)
{
	struct process parent;
	if (!has_parent(process, &parent))
		return false;
	*ret_birth = birth_of(process, &parent);
	if (*ret_birth == BIRTH_FORKED && is_server(&parent))
		return has_parent(&parent, ret);
	*ret = parent;
	return true;
}

struct process relatives_rank(const struct process *process)
{
	struct process founder;
	enum birth birth;
	if (has_founder(process, &founder, &birth) && birth != BIRTH_STARTED)
		return founder;
	return *process;
}

static bool read_launch(long id, struct process_launch *ret)
{
	size_t n;
	auto_free char *text = malloc(ENVIRON_TEXT);
	*ret = (struct process_launch){0};
	return text && process_read_file(id, "environ", text, ENVIRON_TEXT, &n) &&
	       process_launched(text, n, ret);
}

bool relatives_are_elsewhere(const struct process *rank)
{
	size_t n;
	auto_free char *text = malloc(ENVIRON_TEXT);
	return text && process_read_file(rank->id, "environ", text, ENVIRON_TEXT, &n) &&
	       process_has_ranks_elsewhere(text, n);
}

struct eldest {
	long id;
	/* number: the process's process_number; 0: no process is found yet */
	uint64_t start, number;
};

static void take_elder(struct eldest *eldest, const struct process *process)
{
	bool elder = process->start != eldest->start ? process->start < eldest->start
						     : process->id < eldest->id;
	if (eldest->number == 0 || elder)
		*eldest = (struct eldest){
			process->id, process->start, process_number(process)};
}

/* The ranks of a training among the children of one parent. */
struct group {
	const struct process *first; /* one of the ranks; the others are its siblings */
	const struct process *parent;
	enum birth birth; /* how `first` was started */
	struct process_launch launch;
	struct process other; /* the sibling that is being examined */
	struct eldest eldest;
	bool has_command; /* the command line of `first` may name a rank */
	/* the oldest sibling whose command line differs from that of `first` in the rank
	 * (process_differ_in_rank) */
	struct eldest by_command;
	/* n: number of such siblings. least, most: the smallest and the largest rank in the command
	 * lines of these siblings and of `first` */
	long least, most, n;
};

static bool has_same_birth(const struct group *group)
{
	const struct process *first = group->first, *other = &group->other;
	return group->birth != BIRTH_STARTED &&
	       birth_of(other, group->parent) == group->birth &&
	       process_helper(other->command, other->n_command) ==
		       process_helper(first->command, first->n_command);
}

static bool has_same_launch(const struct group *group)
{
	struct process_launch launch;
	return group->launch.rank != 0 && read_launch(group->other.id, &launch) &&
	       launch.training == group->launch.training &&
	       launch.rank != group->launch.rank;
}

static void note_command(struct group *group)
{
	const struct process *first = group->first, *other = &group->other;
	struct process_ranks ranks;
	if (!group->has_command ||
		!process_differ_in_rank(first->command, first->n_command, other->command,
			other->n_command, &ranks))
		return;
	long least = ranks.a < ranks.b ? ranks.a : ranks.b;
	long most = ranks.a < ranks.b ? ranks.b : ranks.a;
	group->least = group->n == 0 || least < group->least ? least : group->least;
	group->most = most > group->most ? most : group->most;
	group->n++;
	take_elder(&group->by_command, other);
}

static void visit_sibling(void *context, long child)
{
	struct group *group = context;
	if (child == group->first->id || !process_read(child, &group->other))
		return;
	if (has_same_birth(group) || has_same_launch(group))
		take_elder(&group->eldest, &group->other);
	note_command(group);
}

/* Returns the number of the oldest rank among the process and its siblings, or 0 if no sibling is a
 * rank. as_rank: siblings that were forked or spawned like the process are ranks, too. */
static uint64_t eldest_of(
	const struct process *process, const struct process *parent, bool as_rank)
{
	struct group group = {.first = process, .parent = parent};
	group.birth = as_rank ? birth_of(process, parent) : BIRTH_STARTED;
	group.has_command = process_names_rank(process->command, process->n_command);
	(void)read_launch(process->id, &group.launch);
	if (group.birth == BIRTH_STARTED && !group.has_command && group.launch.rank == 0)
		return 0;
	process_children(parent->id, visit_sibling, &group);
	if (group.n > 0 && group.most - group.least <= group.n)
		take_elder(&group.eldest, &(struct process){.id = group.by_command.id,
						  .start = group.by_command.start});
	if (group.eldest.number == 0)
		return 0;
	take_elder(&group.eldest, process);
	return group.eldest.number;
}

/* Examines the rank and its ancestors. If one of them has siblings that are ranks, too, all these
 * ranks make up the script. If several have such siblings, the uppermost counts. Forked and spawned
 * siblings count only for `rank` itself. */
uint64_t relatives_script(const struct process *rank)
{
	uint64_t script = process_number(rank), eldest;
	struct process process = *rank, parent;
	for (int i = 0; i < ANCESTORS && process.parent > 0; i++) {
		if (!process_read(process.parent, &parent))
			break;
		eldest = eldest_of(&process, &parent, i == 0);
		if (eldest != 0)
			script = eldest;
		process = parent;
	}
	return script;
}
