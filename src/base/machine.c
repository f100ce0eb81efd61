// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/machine.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A control group of this process, and the mount that shows it. */
struct group {
	bool old;		  /* belongs to cgroup v1 */
	char directory[PATH_MAX]; /* absolute path; in tests below another root */
	size_t mount; /* length of the mount point, with which `directory` begins */
};

static printf_like(1, 2) FILE *open_file(const char *format, ...)
{
	char path[PATH_MAX + 64];
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return n > 0 && (size_t)n < sizeof(path) ? fopen(path, "re") : NULL;
}

/* Reads the number in a file of the group. Returns false if the file does not exist, or contains
 * no number but a word such as "max". */
static bool read_number(const struct group *group, const char *name, uint64_t *ret)
{
	auto_fclose FILE *in = open_file("%s/%s", group->directory, name);
	return in && fscanf(in, "%" SCNu64, ret) == 1;
}

/* Returns the sum of the lines "NAME NUMBER" or "NAME: NUMBER" whose name is in `names`. */
static uint64_t sum_of(FILE *in, const char *const *names)
{
	char name[64];
	uint64_t number, sum = 0;
	while (in && fscanf(in, "%63s %" SCNu64 "%*[^\n]", name, &number) == 2)
		for (size_t i = 0; names[i]; i++)
			if (strcmp(name, names[i]) == 0)
				sum += number;
	return sum;
}

/* Tells whether a list such as "cpu,cpuacct" contains the word. */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

/* Finds this process's control group for the controller, "memory" or "cpu": in cgroup v1 if v1 has
 * the controller, otherwise in v2. */
static bool find_path(const char *root, const char *controller, bool *ret_old,
	char ret[static PATH_MAX])
{
	auto_free char *line = NULL;
	size_t size = 0;
	bool found = false;
	auto_fclose FILE *in = open_file("%s/proc/self/cgroup", root);
	while (in && getline(&line, &size, in) > 0) {
		char *list = strchr(line, ':');
		char *path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		bool old = has_word(list + 1, controller);
		if ((!old && list[1] != '\0') || strlen(path) >= PATH_MAX)
			continue;
		strcpy(ret, path);
		*ret_old = old;
		found = true;
		if (old)
			break;
	}
	return found;
}

/* Tells whether a line of mountinfo describes the mount of cgroup v2. If `old` is true, looks for
 * the mount of cgroup v1 with the controller instead. *ret_top: the group that is the root of the
 * mount; *ret_point: the mount point. */
static bool is_mount_of(
	char *line, bool old, const char *controller, char **ret_top, char **ret_point)
{
	char *rest = strstr(line, " - ");
	char type[32], options[512];
	if (!rest || sscanf(rest, " - %31s %*s %511s", type, options) != 2)
		return false;
	if (strcmp(type, old ? "cgroup" : "cgroup2") != 0 ||
		(old && !has_word(options, controller)))
		return false;
	*rest = '\0';
	char *save = NULL, *word = strtok_r(line, " ", &save);
	for (int i = 0; word && i < 3; i++)
		word = strtok_r(NULL, " ", &save);
	*ret_top = word;
	*ret_point = word ? strtok_r(NULL, " ", &save) : NULL;
	return *ret_point != NULL;
}

/* Returns the group's path below the mount point. top: the group at the mount's root. If the mount
 * does not show the group, returns "", and the caller uses the group `top`. */
static const char *below(const char *path, const char *top)
{
	size_t n = strcmp(top, "/") == 0 ? 0 : strlen(top);
	if (strncmp(path, top, n) != 0 || (path[n] && path[n] != '/') ||
		strstr(path, "/..") || strcmp(path + n, "/") == 0)
		return "";
	return path + n;
}

static bool find_group(const char *root, const char *controller, struct group *ret)
{
	char path[PATH_MAX];
	auto_free char *line = NULL;
	size_t size = 0;
	if (!find_path(root, controller, &ret->old, path))
		return false;
	auto_fclose FILE *in = open_file("%s/proc/self/mountinfo", root);
	while (in && getline(&line, &size, in) > 0) {
		char *top, *point;
		if (!is_mount_of(line, ret->old, controller, &top, &point))
			continue;
		ret->mount = strlen(root) + strlen(point);
		int n = snprintf(ret->directory, sizeof(ret->directory), "%s%s%s", root,
			point, below(path, top));
		return n > 0 && (size_t)n < sizeof(ret->directory);
	}
	return false;
}

/* Changes *group to its parent group. Returns false if the parent is not visible. */
static bool go_up(struct group *group)
{
	char *slash = strrchr(group->directory, '/');
	if (strlen(group->directory) <= group->mount || !slash)
		return false;
	*slash = '\0';
	return true;
}

/* Changes *memory to the group's limit if the group has fewer unused bytes than memory->left. The
 * group's page cache counts as unused: the kernel frees the cache when processes need memory. root:
 * length of the path that replaces / in tests; memory->limit is written without this path. */
static void limit_memory(
	const struct group *group, size_t root, struct machine_memory *memory)
{
	static const char *const cached[] = {"inactive_file", "active_file", NULL};
	static const char *const cached_old[] = {
		"total_inactive_file", "total_active_file", NULL};
	const char *file = group->old ? "memory.limit_in_bytes" : "memory.max";
	uint64_t most, used = 0;
	if (!read_number(group, file, &most))
		return;
	(void)read_number(
		group, group->old ? "memory.usage_in_bytes" : "memory.current", &used);
	auto_fclose FILE *in = open_file("%s/memory.stat", group->directory);
	uint64_t files = sum_of(in, group->old ? cached_old : cached);
	used -= files < used ? files : used;
	uint64_t left = used < most ? most - used : 0;
	if (left >= memory->left)
		return;
	memory->most = most;
	memory->left = left;
	snprintf(memory->limit, sizeof(memory->limit), "%.400s/%s",
		group->directory + root, file);
}

static uint64_t of_meminfo(const char *root, const char *name)
{
	auto_fclose FILE *in = open_file("%s/proc/meminfo", root);
	return sum_of(in, (const char *const[]){name, NULL}) << 10;
}

struct machine_memory machine_memory(const char *root)
{
	struct group group;
	struct machine_memory memory = {.most = of_meminfo(root, "MemTotal:"),
		.left = of_meminfo(root, "MemAvailable:")};
	if (memory.most == 0)
		memory.most = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			      (uint64_t)sysconf(_SC_PAGESIZE);
	if (memory.left == 0)
		memory.left = memory.most;
	if (find_group(root, "memory", &group))
		do
			limit_memory(&group, strlen(root), &memory);
		while (go_up(&group));
	return memory;
}

uint64_t machine_memory_kills(const char *root)
{
	static const char *const names[] = {"oom_kill", NULL};
	struct group group;
	if (find_group(root, "memory", &group)) {
		auto_fclose FILE *in = open_file("%s/%s", group.directory,
			group.old ? "memory.oom_control" : "memory.events");
		if (in)
			return sum_of(in, names);
	}
	auto_fclose FILE *in = open_file("%s/proc/vmstat", root);
	return sum_of(in, names);
}

static uint64_t affinity(void)
{
	for (int n = 1024; n <= 1 << 20; n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);
		if (!set)
			break;
		size_t bytes = CPU_ALLOC_SIZE(n);
		int err = sched_getaffinity(0, bytes, set);
		int count = err ? 0 : CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (count > 0)
			return (uint64_t)count;
	}
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online < 1 ? 1 : (uint64_t)online;
}

/* Returns the group's quota in CPUs, rounded up. UINT64_MAX: there is none. */
static uint64_t quota_of(const struct group *group)
{
	uint64_t quota = 0, period = 0;
	if (group->old) {
		if (!read_number(group, "cpu.cfs_quota_us", &quota) ||
			!read_number(group, "cpu.cfs_period_us", &period))
			return UINT64_MAX;
	} else {
		auto_fclose FILE *in = open_file("%s/cpu.max", group->directory);
		if (!in || fscanf(in, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
			return UINT64_MAX;
	}
	/* cgroup v1 writes -1 for "no limit"; read_number makes this UINT64_MAX */
	if (quota == 0 || period == 0 || quota > INT64_MAX)
		return UINT64_MAX;
	return (quota + period - 1) / period;
}

unsigned machine_cpus(const char *root)
{
	struct group group;
	uint64_t cpus = affinity();
	if (find_group(root, "cpu", &group))
		do {
			uint64_t quota = quota_of(&group);
			if (quota < cpus)
				cpus = quota;
		} while (go_up(&group));
	return (unsigned)cpus;
}
