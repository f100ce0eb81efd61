// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/*
 * The supervisor: the first process of the daemon. It starts the engine, which does all other work.
 *
 *     joaderfs CONFIG MOUNTPOINT          the supervisor
 *       joaderfs --engine=S,P CONFIG ...  the engine: this program or a newer version
 *
 * S and P are the descriptors of the socket for the engine's messages, and of the shared memory.
 *
 *   Flow: supervisor_run starts the engine and waits. When the engine dies, the supervisor starts
 *         another one, with the same descriptors under the same numbers. When the engine ends in
 *         order, the supervisor ends with the engine's exit status.
 *   Owns: copies of the descriptors of mounts, sockets and the lock; memory that the supervisor
 *         shares with the engine (base/kept.h).
 *   Threads: one. The supervisor allocates no memory after its start, and reads only the engine's
 *         messages. A message consists of two numbers, and sometimes a descriptor.
 *   Errors: an exit status. Once an engine has served, the supervisor logs nothing: the next
 *         engine logs why the last one died.
 *
 * SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGXCPU make the engine end in order. If the supervisor is
 * killed, the engine gets SIGTERM. The supervisor kills an engine that does not call kept_beat for
 * a minute. After five deaths within a minute by the engines' own fault, the next engine only
 * answers EIO (engine_failed.h). Two kinds of death do not count as a fault: SIGKILL while the
 * engine serves, and a crash caused by an image, which the next engine does not prepare
 * (quarantine.h).
 */

struct supervisor_config {
	/* arguments of the first engine, then NULL; first[1] is free for --engine=... */
	char **first;
	bool watches; /* kill an engine that hangs */
	/* descriptor of /dev/fuse for the first engine, closed when the engine serves; 0: none */
	int device;
	/* like `first`, for later engines: absolute paths, as the working directory may change */
	char **again;
};

/* Returns the exit status of the process. */
int supervisor_run(const struct supervisor_config *config);

/* Runs the supervisor, in the background unless `foreground` is set. Returns the exit status. argv:
 * the arguments, which engines get, too; the last two are the ini and the mount point. debug: an
 * engine that hangs is never killed, since a debugger may have stopped it. device: a /dev/fuse that
 * is mounted at the mount point, but not served yet; 0: the engine mounts the tree. */
int supervise(bool foreground, bool debug, int device, int argc, char **argv);
