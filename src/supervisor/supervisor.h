// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/*
 * The supervisor: the first process of the daemon. It starts the engine, a process that does all
 * other work.
 *
 *     joaderfs CONFIG MOUNTPOINT          the supervisor
 *       joaderfs --engine=S,P CONFIG ...  the engine; the same program, or its successor
 *
 *   Flow: supervisor_run starts the engine and waits. It holds descriptors for the engine, and the
 *         memory that both share (base/kept.h). When the engine dies, another engine is started,
 *         with the same descriptors under the same numbers. When the engine ends by itself, the
 *         supervisor ends with its exit status.
 *   Owns: copies of the descriptors of mounts, sockets and the lock; the shared memory.
 *   Threads: one. It allocates no memory after its start. Its only input are two numbers in each
 *         message from the engine.
 *   Errors: an exit status. After an engine has served, the supervisor logs nothing; the next
 *           engine does.
 *
 * SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGXCPU make the engine end in order. If the supervisor is
 * killed, the engine gets SIGTERM.
 *
 * An engine that hangs for a minute is killed (kept_beat).
 *
 * After five deaths within a minute by the engines' own fault, the next engine only answers EIO
 * (engine_failed.h). Two kinds of death do not count as a fault: SIGKILL while serving, and a crash
 * on one image, which the next engine then avoids (quarantine.h).
 */

struct supervisor_config {
	/* Arguments of the first engine, ended by NULL. The supervisor sets first[1]. */
	char **first;
	bool watches; /* kills an engine that hangs */
	int device;   /* /dev/fuse for the first engine, until it serves; 0: none */
	char **again; /* arguments of later engines, which start in another directory */
};

/* Runs the supervisor. Returns the exit status of the process. */
int supervisor_run(const struct supervisor_config *config);

/*
 * Makes the arguments of engines from those of the process; the last two are the ini and the mount
 * point. Goes to the background unless `foreground` is set, and runs the supervisor. debug: an
 * engine that hangs is never killed, so a debugger may stop it. device: a /dev/fuse that is already
 * mounted at the mount point, where no process answers until an engine serves; 0: none.
 */
int supervise(bool foreground, bool debug, int device, int argc, char **argv);
