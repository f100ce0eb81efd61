// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "prepare/command.h"
#include "prepare/prepare.h"

/*
 * One process of a program, and the exchange of messages with it.
 *
 *   Flow: process_start -> process_await_ready -> (process_ask)* -> process_end. After any error
 *         except -EBADMSG the caller must end the process.
 *   Threads: one at a time, but between start and end any thread may call process_kill.
 */

struct process {
	pid_t pid; /* 0: no process */
	int pidfd; /* descriptor of the process; -1: the kernel has no pidfds */
	int in, out, err;
	uint64_t asked; /* number of samples sent to the process */
	char said[120]; /* last line that the process wrote to standard error */
	size_t n_said;
	bool line_ended, closed_err;
};

/* *ret_isolated: true if a namespace or filter_sockets keeps the process off the network */
must_check int process_start(const struct command *command, struct process *ret,
	bool *ret_isolated, char message[static COMMAND_MESSAGE]);
/* Kills the process. A thread that waits for an answer then learns of the end. */
void process_kill(const struct process *process);
void process_end(struct process *process);

/* Tells whether the process runs and has sent nothing since its last answer. */
bool process_is_good(struct process *process);

/* Waits for the line "joaderfs-prepare 1". -ETIMEDOUT: the line did not come within timeout_ns;
 * -EPIPE: the process has ended; -EPROTO: the process has sent another line. */
must_check int process_await_ready(
	struct process *process, uint64_t timeout_ns, char message[static IMAGE_MESSAGE]);
/* Sends a sample, and receives the array into `tensor`, whose size follows from `type`. -EBADMSG:
 * the program refused the sample, and can be used again. Other errors: see process_await_ready. */
must_check int process_ask(struct process *process, const struct program_sample *sample,
	const struct array_type *type, uint64_t timeout_ns, uint8_t *tensor,
	char message[static IMAGE_MESSAGE]);
