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
	int pidfd; /* -1: the kernel has no pidfds */
	int in, out, err;
	uint64_t asked; /* number of samples that it was asked for */
	bool ready;	/* the process has told that it is ready */
	char said[120]; /* the last line on its standard error */
	size_t n_said;
	bool line_ended, closed_err;
};

/* Starts a process. *ret_isolated: a network namespace of its own, or a filter, keeps it
 * from the network. */
must_check int process_start(const struct command *command, struct process *ret,
	bool *ret_isolated, char message[static COMMAND_MESSAGE]);
/* Kills the process. Any thread may call this; the thread that waits for an answer then
 * finds that the process has ended. */
void process_kill(const struct process *process);
void process_end(struct process *process);

/* Tells whether the process still runs, and has written no unexpected answer. */
bool process_is_good(struct process *process);

/*
 * Waits until the process is ready. -ETIMEDOUT; -EPIPE: it has ended; -EPROTO: it has answered
 * nonsense.
 */
must_check int process_await_ready(
	struct process *process, uint64_t timeout_ns, char message[static IMAGE_MESSAGE]);
/* Asks for the array of a sample, and fills `tensor`, which has the type's size. Errors: as
 * process_await_ready; -EBADMSG: the program has refused the sample, as the message tells, and
 * goes on. */
must_check int process_ask(struct process *process, const struct program_sample *sample,
	const struct array_type *type, uint64_t timeout_ns, uint8_t *tensor,
	char message[static IMAGE_MESSAGE]);
