// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/machine.h"
#include "base/cleanup.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* A machine of 64 GiB, of which 48 GiB are not used, in a directory that stands for /. */

#define GIB (UINT64_C(1) << 30)

static char root[] = "/tmp/joaderfs-machine.XXXXXX";

static void put(const char *path, const char *format, ...) printf_like(2, 3);

static void put(const char *path, const char *format, ...)
{
	char whole[512];
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = whole + strlen(root); (slash = strchr(slash + 1, '/'));
		*slash = '/') {
		*slash = '\0';
		mkdir(whole, 0755);
	}
	auto_fclose FILE *out = fopen(whole, "w");
	cr_assert(out);
	va_list arguments;
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
}

static void begin(void)
{
	cr_assert(mkdtemp(root));
	put("/proc/meminfo", "MemTotal: %llu kB\nMemFree: 1 kB\nMemAvailable: %llu kB\n",
		(unsigned long long)(64 * GIB >> 10),
		(unsigned long long)(48 * GIB >> 10));
	put("/proc/vmstat", "nr_free_pages 1\noom_kill 7\n");
}

static void end(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(machine, .init = begin, .fini = end);

static void expect(uint64_t most, uint64_t left, const char *limit)
{
	struct machine_memory memory = machine_memory(root);
	cr_assert_eq(memory.most, most, "found %zu", (size_t)memory.most);
	cr_assert_eq(memory.left, left, "found %zu", (size_t)memory.left);
	cr_assert_str_eq(memory.limit, limit);
}

static void mounts(
	const char *top, const char *point, const char *type, const char *options)
{
	put("/proc/self/mountinfo",
		"22 1 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n"
		"23 1 0:22 / / rw - overlay overlay rw,lowerdir=/cgroup,memory\n"
		"31 23 0:28 %s %s ro,relatime shared:9 master:1 - %s cgroup %s\n",
		top, point, type, options);
}

static void group(const char *path, uint64_t most, uint64_t used, uint64_t cached)
{
	char name[256];
	snprintf(name, sizeof(name), "%s/memory.max", path);
	if (most)
		put(name, "%llu\n", (unsigned long long)most);
	else
		put(name, "max\n");
	snprintf(name, sizeof(name), "%s/memory.current", path);
	put(name, "%llu\n", (unsigned long long)used);
	snprintf(name, sizeof(name), "%s/memory.stat", path);
	put(name, "anon 5\nfile 77\nshmem 9\ninactive_file %llu\nactive_file 0\nslab 1\n",
		(unsigned long long)cached);
}

Test(machine, without_groups_it_is_the_machine)
{
	expect(64 * GIB, 48 * GIB, "");
	cr_assert_eq(machine_memory_kills(root), 7);
	put("/proc/self/cgroup", "0::/\n");
	mounts("/", "/sys/fs/cgroup", "cgroup2", "rw");
	expect(64 * GIB, 48 * GIB, "");
}

Test(machine, a_container_sees_its_group_as_the_root)
{
	put("/proc/self/cgroup", "0::/\n");
	mounts("/", "/sys/fs/cgroup", "cgroup2", "rw,nsdelegate");
	group("/sys/fs/cgroup", 6 * GIB, 3 * GIB, 2 * GIB);
	put("/sys/fs/cgroup/memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n");
	put("/sys/fs/cgroup/cpu.max", "max 100000\n");
	expect(6 * GIB, 5 * GIB, "/sys/fs/cgroup/memory.max");
	cr_assert_eq(machine_memory_kills(root), 2);
}

Test(machine, the_group_that_leaves_least_counts)
{
	put("/proc/self/cgroup", "0::/pods/a/c\n");
	mounts("/", "/sys/fs/cgroup", "cgroup2", "rw");
	group("/sys/fs/cgroup/pods/a/c", 0, GIB, 0);
	group("/sys/fs/cgroup/pods/a", 16 * GIB, 4 * GIB, 0);
	group("/sys/fs/cgroup/pods", 32 * GIB, 30 * GIB, 0);
	expect(32 * GIB, 2 * GIB, "/sys/fs/cgroup/pods/memory.max");
	group("/sys/fs/cgroup/pods/a/c", GIB, 2 * GIB, 0);
	expect(GIB, 0, "/sys/fs/cgroup/pods/a/c/memory.max");
}

Test(machine, a_limit_above_what_the_machine_has_is_none)
{
	put("/proc/self/cgroup", "0::/a\n");
	mounts("/", "/sys/fs/cgroup", "cgroup2", "rw");
	group("/sys/fs/cgroup/a", 600 * GIB, GIB, 0);
	expect(64 * GIB, 48 * GIB, "");
}

static void old_group(const char *path, uint64_t most)
{
	char name[256];
	snprintf(name, sizeof(name), "%s/memory.limit_in_bytes", path);
	put(name, "%llu\n", (unsigned long long)most);
	snprintf(name, sizeof(name), "%s/memory.usage_in_bytes", path);
	put(name, "%llu\n", (unsigned long long)(2 * GIB));
	snprintf(name, sizeof(name), "%s/memory.stat", path);
	put(name, "inactive_file 5\ntotal_inactive_file %llu\ntotal_active_file 0\n",
		(unsigned long long)GIB);
	snprintf(name, sizeof(name), "%s/memory.oom_control", path);
	put(name, "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
}

/* In Docker without a name space of groups, the mount's root is the group. */
Test(machine, groups_of_v1)
{
	put("/proc/self/cgroup",
		"12:cpuset:/docker/x\n4:memory:/docker/x/y\n3:cpu,cpuacct:/docker/x\n"
		"0::/docker/x\n");
	mounts("/docker/x", "/sys/fs/cgroup/memory", "cgroup", "rw,memory");
	old_group("/sys/fs/cgroup/memory", 8 * GIB);
	old_group("/sys/fs/cgroup/memory/y", INT64_MAX / 4096 * 4096);
	expect(8 * GIB, 7 * GIB, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
	cr_assert_eq(machine_memory_kills(root), 4);
	/* The mount does not show this group. */
	mounts("/elsewhere", "/sys/fs/cgroup/memory", "cgroup", "rw,memory");
	expect(8 * GIB, 7 * GIB, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
}

Test(machine, cpus_are_those_of_the_affinity_and_of_quotas)
{
	unsigned all = machine_cpus(root);
	cr_assert_geq(all, 1);
	put("/proc/self/cgroup", "0::/a/b\n");
	mounts("/", "/sys/fs/cgroup", "cgroup2", "rw");
	put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	cr_assert_eq(machine_cpus(root), all);
	put("/sys/fs/cgroup/a/cpu.max", "%u 100000\n", all * 100000);
	cr_assert_eq(machine_cpus(root), all);
	put("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
	cr_assert_eq(machine_cpus(root), 1);
	put("/sys/fs/cgroup/a/cpu.max", "%u 100000\n", all * 100000 - 99999);
	cr_assert_eq(machine_cpus(root), all);

	put("/proc/self/cgroup", "3:cpuacct,cpu:/a\n0::/\n");
	mounts("/", "/sys/fs/cgroup/cpu", "cgroup", "rw,cpuacct,cpu");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
	cr_assert_eq(machine_cpus(root), all);
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "20000\n");
	cr_assert_eq(machine_cpus(root), 1);
}
