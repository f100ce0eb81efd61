// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "prepare/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* A seccomp filter that refuses all sockets except AF_UNIX. It also refuses io_uring, which could
 * create sockets without passing the filter. System calls of another architecture have other
 * numbers, which the filter does not know, so a process that uses them is killed. */

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OUR_ARCH

#define LOAD(field)                                                                      \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define LEAST(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, yes, no)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define X32 0x40000000 /* bit in the numbers of the x32 ABI's system calls */

static struct sock_filter instructions[] = {
	LOAD(arch),
	EQUAL(OUR_ARCH, 1, 0),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	LEAST(X32, 4, 0),
	EQUAL(SYS_io_uring_setup, 3, 0),
	EQUAL(SYS_socket, 0, 3),
	LOAD(args[0]),
	EQUAL(AF_UNIX, 1, 0),
	RETURN(SECCOMP_RET_ERRNO | EACCES),
	RETURN(SECCOMP_RET_ALLOW),
};

int filter_sockets(void)
{
	const struct sock_fprog program = {
		.len = sizeof(instructions) / sizeof(instructions[0]),
		.filter = instructions};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : -errno;
}

#else

int filter_sockets(void)
{
	return -ENOSYS;
}

#endif
