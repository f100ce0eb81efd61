// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/*
 * The supervisor: the process that is started, and starts the engine, which does all else.
 *
 *     joaderfs CONFIG MOUNTPOINT          the supervisor
 *       joaderfs --engine=S,P CONFIG ...  the engine; the same program, or its successor
 *
 *   Flow: supervisor_run starts the engine and waits. It holds descriptors for the engine, and
 *         the memory that both share (base/kept.h). When the engine dies, another engine is
 *         started, with the same descriptors under the same numbers.
 *         When the engine ends by itself, the supervisor ends with its exit status.
 *   Owns: copies of the descriptors of mounts, sockets and the lock; the shared memory.
 *   Threads: one. It allocates no memory after its start, and reads nothing that comes from
 *         outside: two numbers in each message of the engine.
 *   Errors: an exit status. It logs nothing once an engine has served: the next engine does.
 *
 * SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGXCPU end the engine in order. If the supervisor
 * is killed, the engine gets SIGTERM.
 *
 * An engine that hangs for a minute is killed (kept_beat).
 *
 * An engine that ends five times within a minute by its own fault is followed by one that
 * only answers EIO (engine_failed.h). It is no fault to be killed by SIGKILL while serving, nor
 * to die of one image, which the next engine deals with (quarantine.h).
 */

struct supervisor_config {
	/* arguments of the first engine, the last one NULL; the supervisor sets first[1] */
	char **first;
	bool watches; /* an engine that hangs is killed */
	int device;   /* the first engine's /dev/fuse, until it serves; 0: none */
	char **again; /* later engines' arguments; these begin in another directory */
};

/* Runs the supervisor. Returns the exit status of the process. */
int supervisor_run(const struct supervisor_config *config);

/* Makes the arguments of engines from those of the process, whose last two are the ini and
 * the mount point, goes to the background unless it stays in the foreground, and runs.
 * debug: an engine may be held for as long as somebody looks into it. device: is mounted at
 * the mount point already, where nobody answers before an engine serves; 0: none. */
int supervise(bool foreground, bool debug, int device, int argc, char **argv);
