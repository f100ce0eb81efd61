// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "prepare/command.h"
#include "prepare/prepare.h"

/*
 * One process of a program, and the exchange of messages with it.
 *
 *   Flow: process_start -> (process_ask)* -> process_end. After an error other than -EBADMSG
 *         the process can only be ended.
 *   Threads: one at a time; process_kill: any, between start and end.
 */

struct process {
	pid_t pid; /* 0: no process */
	int pidfd; /* -1: the kernel does not support pidfds */
	int in, out, err;
	uint64_t asked; /* number of samples sent to the process */
	bool ready;	/* the process has said that it is ready */
	char said[120]; /* the last line on its standard error */
	size_t n_said;
	bool line_ended, closed_err;
};

/* Starts a process. *ret_isolated: the process has no access to the network, because of its own
 * network namespace or because of a filter. */
must_check int process_start(const struct command *command, struct process *ret,
	bool *ret_isolated, char message[static COMMAND_MESSAGE]);
/* Kills the process. A thread that waits for an answer then sees that the process has ended. */
void process_kill(const struct process *process);
void process_end(struct process *process);

/* Tells whether the process still runs, and has not written an unexpected answer. */
bool process_is_good(struct process *process);

/*
 * Waits until the process is ready. -ETIMEDOUT; -EPIPE: the process has ended; -EPROTO: its answer
 * was invalid.
 */
must_check int process_await_ready(
	struct process *process, uint64_t timeout_ns, char message[static IMAGE_MESSAGE]);
/* Asks for the array of a sample, and fills `tensor`, whose size follows from the type. Errors:
 * those of process_await_ready; -EBADMSG: the program refused the sample for the reason in
 * `message`, and the process can be used again. */
must_check int process_ask(struct process *process, const struct program_sample *sample,
	const struct array_type *type, uint64_t timeout_ns, uint8_t *tensor,
	char message[static IMAGE_MESSAGE]);
