// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/machine.h"
#include "base/size_text.h"
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FEW_DESCRIPTORS 4096
#define FEW_MAPPINGS 262144

/* Reads the number with which the file begins. Returns false if there is none. */
static bool number_of(const char *path, uint64_t *ret)
{
	auto_fclose FILE *in = fopen(path, "re");
	return in && fscanf(in, "%" SCNu64, ret) == 1;
}

static bool has_line(const char *path, const char *line)
{
	char text[256];
	bool has = false;
	auto_fclose FILE *in = fopen(path, "re");
	while (in && !has && fgets(text, sizeof(text), in)) {
		text[strcspn(text, "\n \t")] = '\0';
		has = strcmp(text, line) == 0;
	}
	return has;
}

static bool is_administrator(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t first, mapped;
	if (syscall(SYS_capget, &header, data) != 0 ||
		!(data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &
			CAP_TO_MASK(CAP_SYS_ADMIN)))
		return false;
	/* CAP_SYS_ADMIN counts only in the first user name space: any user can have it in a further
	 * one. The first name space alone maps all ids to themselves. */
	auto_fclose FILE *in = fopen("/proc/self/uid_map", "re");
	return in && fscanf(in, "%" SCNu64 " %" SCNu64, &first, &mapped) == 2 &&
	       first == 0 && mapped == 0;
}

static bool is_on_path(const char *program)
{
	const char *path = getenv("PATH");
	for (path = path ? path : "/usr/bin:/bin"; *path;) {
		size_t n = strcspn(path, ":");
		auto_free char *file = aprintf("%.*s/%s", (int)n, path, program);
		if (!file)
			return false;
		if (access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static void check_device(struct findings *findings)
{
	auto_close int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		found(findings, FINE, NULL, "/dev/fuse can be opened");
	else
		found(findings, BREAKS,
			errno == ENOENT || errno == ENODEV || errno == ENXIO
				? "modprobe fuse; for a container: --device /dev/fuse"
				: "chmod 666 /dev/fuse; for a container: --device "
				  "/dev/fuse",
			"/dev/fuse: %s", strerror(errno));
}

static void check_user(struct findings *findings)
{
	if (is_on_path("fusermount3"))
		found(findings, FINE, NULL,
			"you are not root; fusermount3 is installed, and can mount");
	else
		found(findings, BREAKS, "apt install fuse3",
			"you are not root, and fusermount3 is missing, so you can't "
			"mount");
	if (has_line("/etc/fuse.conf", "user_allow_other"))
		found(findings, FINE, NULL, "-o allow_other is allowed");
	else
		found(findings, COSTS, "echo user_allow_other >>/etc/fuse.conf",
			"-o allow_other is refused: only you can read your mounts");
	found(findings, COSTS, "start joaderfs as root",
		"without root there is no FUSE passthrough, so the daemon answers each "
		"read of a sample, and the kernel reads only 128 KiB ahead in mapped "
		"files");
}

static void check_kernel(struct findings *findings)
{
	struct utsname name;
	int major = 0, minor = 0;
	if (uname(&name) != 0 || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return;
	if (major > 6 || (major == 6 && minor >= 9))
		found(findings, FINE, NULL,
			"Linux %d.%d: the kernel reads samples by itself, with io = auto",
			major, minor);
	else
		found(findings, COSTS, "a kernel of 6.9 or later",
			"Linux %d.%d: the daemon answers each read of a sample", major,
			minor);
}

/* The daemon raises the kernel's read-ahead if it may write to /sys/class/bdi. */
static void check_read_ahead(struct findings *findings)
{
	if (access("/sys/class/bdi", W_OK) == 0)
		found(findings, FINE, NULL,
			"the kernel reads 2 MiB ahead in mapped files");
	else
		found(findings, COSTS,
			"mount -o remount,rw /sys; for a container: --privileged",
			"the kernel reads only 128 KiB ahead in mapped files, because "
			"/sys/class/bdi can't be written: %s",
			strerror(errno));
}

void check_fuse(struct findings *findings)
{
	check_device(findings);
	if (is_administrator()) {
		check_kernel(findings);
		check_read_ahead(findings);
	} else {
		check_user(findings);
	}
}

#define FIRST_PROCESSES "pid:[4026531836]" /* the first name space of process ids */

void check_readers(struct findings *findings)
{
	char name[64] = "";
	if (readlink("/proc/self/ns/pid", name, sizeof(name) - 1) > 0 &&
		strcmp(name, FIRST_PROCESSES) != 0)
		found(findings, COSTS,
			"docker run --pid, or shareProcessNamespace in Kubernetes, "
			"unless all readers are in this container",
			"this container has its own name space of processes: scripts "
			"outside of it that read current/ can't be told apart");
}

void check_limits(struct findings *findings)
{
	uint64_t mappings;
	struct rlimit limit;
	if (number_of("/proc/sys/vm/max_map_count", &mappings)) {
		bool few = mappings < FEW_MAPPINGS;
		found(findings, few ? COSTS : FINE,
			few ? "sysctl vm.max_map_count=1048576" : NULL,
			"vm.max_map_count is %" PRIu64
			": the kernel itself reads %" PRIu64 " samples at most",
			mappings, mappings / 2);
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max != RLIM_INFINITY) {
		bool few = limit.rlim_max < FEW_DESCRIPTORS;
		found(findings, few ? COSTS : FINE,
			few ? "ulimit -Hn 65536, or LimitNOFILE= of the unit" : NULL,
			"%" PRIu64 " files can be open", (uint64_t)limit.rlim_max);
	}
}

void check_memory(struct findings *findings)
{
	if (!findings->config)
		return;
	uint64_t cache = findings->config->cache_bytes;
	struct machine_memory machine = machine_memory("");
	uint64_t memory = machine.most;
	const char *whose = machine.limit[0] ? machine.limit : "this machine";
	if (cache > memory)
		found(findings, BREAKS, "a smaller cache in [joaderfs]",
			"cache = %s is more than the memory of %s, %s",
			size_text(cache).text, whose, size_text(memory).text);
	else if (cache > memory / 4 * 3)
		found(findings, COSTS, "a smaller cache in [joaderfs]",
			"cache = %s leaves little of the memory of %s, %s",
			size_text(cache).text, whose, size_text(memory).text);
	else
		found(findings, FINE, NULL, "cache = %s, of %s in %s",
			size_text(cache).text, size_text(memory).text, whose);
}
