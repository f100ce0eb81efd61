// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * Data that outlive an engine (the process that serves the mount): memory that its parent process,
 * the supervisor, shares with each engine in turn, and descriptors that the supervisor holds.
 *
 *   Flow: main calls kept_begin first. The engine gives a descriptor to the supervisor by kept_add,
 *         and takes it back by kept_drop. After a death the next engine finds all data in kept().
 *   Owns: the memory. Without a supervisor the memory is the process's own.
 *   Threads: any; kept_begin is called while there is one thread.
 *   Errors: -errno. Nothing here waits for the supervisor.
 *
 * A change of struct kept needs a new KEPT_VERSION, because the next engine may be of another
 * version of joaderfs.
 */

#define KEPT_VERSION 1
#define KEPT_DESCRIPTORS 512
#define KEPT_OPENS 65536 /* room for open files that the next engine takes over */
#define KEPT_CLOSES 4096 /* room for closes that the next engine has to handle */
#define KEPT_FILES ((1u << 20) + 32768) /* room for files that the kernel reads */
#define KEPT_WORKERS 512
#define KEPT_MESSAGE 256 /* bytes for the FUSE_INIT message, which has 104 today */
#define KEPT_PATH 4096

enum kept_kind { KEPT_FREE, KEPT_RESERVED, KEPT_MOUNT, KEPT_LISTENER, KEPT_LOCK };

struct kept_mount {
	uint64_t root;	 /* inode number of the mount's root (inode_pack) */
	bool other_pids; /* the pids of readers belong to another name space */
	/* Features that the kernel granted when the mount began. maps_direct: files that bypass the
	 * page cache can be mapped. passes_through: the kernel can read files itself.
	 * omits_opendir: not used. */
	bool maps_direct, passes_through, omits_opendir;
	bool foreign; /* another process has made the mount, and will unmount it */
	/* The daemon sends the kernel no notifications, so names and attributes expire after a
	 * second. A notification needs locks that the kernel holds during some requests. A process
	 * that has kept the descriptor of /dev/fuse could take such a request, never answer it, and
	 * so block the daemon for ever. */
	bool untold;
	bool everybody; /* no rights are checked: the mounter decides who may read */
	struct timespec started;
	uint32_t message_bytes;
	uint8_t message[KEPT_MESSAGE]; /* the FUSE_INIT message */
};

struct kept_descriptor {
	/* an enum kept_kind; kept_add sets this when the engine has filled in the entry */
	atomic_int kind;
	/* the descriptor's number, the same in all engines; 0: none; the supervisor writes this */
	atomic_int fd;
	struct kept_mount mount;
	char path[KEPT_PATH]; /* path of a listener's socket */
	bool unlimited;	      /* the listener accepts all commands */
};

/* An open file. The engine stores this entry before it answers the open. The kernel sends the open
 * again, under the same number, if the engine dies before the answer. The next engine finds this
 * number in `request`, and so knows that no reader has got the file. */
struct kept_open {
	_Atomic uint64_t handle; /* 0: a free entry */
	uint64_t request;	 /* the kernel's number of the open request */
	uint64_t inode;
	uint64_t since_ns; /* time of the open (CLOCK_MONOTONIC) */
	uint32_t mount;	   /* index in kept.descriptors */
	uint32_t epoch;	   /* epoch of the file; INODE_CURRENT: not known yet */
	int32_t backing;   /* kernel's number of a file in memory (backing.h); 0: none */
};

/* A close that came to an engine which only answers EIO (engine_failed.h). The next engine handles
 * the close. */
struct kept_close {
	_Atomic uint64_t handle; /* 0: a free entry */
	uint64_t inode;
	uint32_t mount;
};

/* The sample that a worker prepares. */
struct kept_note {
	atomic_bool busy;
	atomic_bool crashed; /* a signal hit this worker and ended the engine */
	uint32_t sample;
	char dataset[80];
};

struct kept {
	uint32_t version;
	uint32_t bytes;
	/* The supervisor writes the members from here on. */
	atomic_uint lives; /* engines started so far */
	/* status (wait(2)) with which the last engine died; 0: it exited with 0, it handed over the
	 * mount, or there was none */
	atomic_int died;
	_Atomic int64_t died_ns; /* the last engine's end (CLOCK_MONOTONIC) */
	atomic_bool sick;   /* set after too many deaths: the engine only answers EIO */
	atomic_bool ending; /* set when an engine that starts now should only unmount */
	atomic_bool hung; /* set when the supervisor kills an engine without heartbeats */
	/* The engines write the members from here on. */
	atomic_bool ended;	/* the engine or another process has unmounted */
	atomic_bool hands_over; /* the engine ends, so that another one takes over */
	_Atomic uint64_t beats; /* heartbeat: changes every second; 0: none is sent */
	/* a worker's crash ended the engine (kept_note.crashed); the supervisor reads this after
	 * the engine's end, and sets it to false when it starts the next engine */
	atomic_bool blamed;
	_Atomic uint64_t handles;
	/* out-of-memory kills before the engine began (machine.h) */
	_Atomic uint64_t oom_kills;
	atomic_int last_backing;
	char log[KEPT_PATH];	 /* log file; empty: standard error */
	char program[KEPT_PATH]; /* program of later engines; empty: the supervisor's */
	char reason[1024];	 /* cause of the last death, for users */
	char error[768];	 /* last logged error before the death */
	struct kept_descriptor descriptors[KEPT_DESCRIPTORS];
	struct kept_note notes[KEPT_WORKERS];
	struct kept_open opens[KEPT_OPENS];
	struct kept_close closes[KEPT_CLOSES];
	/* kernel's numbers of files in memory (backing.h); 0: free */
	atomic_int files[KEPT_FILES];
};

/* Maps the supervisor's shared memory. engine: the argument of --engine; NULL: no supervisor.
 * -EPROTO: the memory has another version; -EINVAL: `engine` is invalid. Logs errors. */
must_check int kept_begin(const char *engine);
struct kept *kept(void);
bool kept_is_supervised(void);
bool kept_is_again(void);

/* Tells the supervisor that this engine has started completely. */
void kept_ready(void);

/* Changes kept.beats, the heartbeat. One thread calls this every second. The supervisor kills an
 * engine whose heartbeat has not changed for a minute. */
void kept_beat(void);
/* Ends the supervision until the next kept_beat. Called before work that can take any time, such as
 * waiting for a disk, or ending the engine. */
void kept_beat_none(void);

/* Stores a logged error, which may explain the end of this engine. */
void kept_note_error(const char *message);

/* Reserves an entry of kept.descriptors. The caller fills the entry in, and passes it to kept_add
 * or kept_drop. Returns NULL if all entries are taken. */
struct kept_descriptor *kept_new(void);
/* Sets place->kind, and gives a copy of the descriptor `fd` to the supervisor. */
void kept_add(struct kept_descriptor *place, enum kept_kind kind, int fd);
/* Frees the entry, so that the supervisor closes its copy of the descriptor. *place may be NULL. */
void kept_drop(struct kept_descriptor **place);
/* Returns the entry of this kind that follows `before`; before NULL: the first one. NULL: there is
 * no further entry. */
struct kept_descriptor *kept_next(
	const struct kept_descriptor *before, enum kept_kind kind);

#define KEPT_SERIAL_BITS 50
/* Returns a number < 2^KEPT_SERIAL_BITS that was never returned before. */
uint64_t kept_serial(void);

/* Copies *open to the list kept.opens. Returns NULL if the list is full. */
struct kept_open *kept_open_add(const struct kept_open *open);
/* Returns the mount's next open file after `before`, or NULL. before NULL: the first one. */
struct kept_open *kept_open_next(const struct kept_open *before, uint32_t mount);
void kept_open_remove(struct kept_open *open); /* may be NULL */

/* Notes a close for the next engine. An engine that only answers EIO calls this, in one thread. If
 * there is no room, the close is lost, and the file counts as open until joaderfs is started
 * again. */
void kept_close_add(uint32_t mount, uint64_t inode, uint64_t handle);
/* Takes a noted close in the mount from the list. Returns false if none is noted. */
bool kept_close_take(uint32_t mount, uint64_t *ret_inode, uint64_t *ret_handle);

/* --- files that the kernel reads --------------------------------------------------- */

void kept_file_add(int backing);
void kept_file_remove(int backing);

/* --- samples that workers prepare -------------------------------------------------- */

void kept_note_begin(const char *dataset, uint32_t sample);
void kept_note_end(void);
/* Notes that a crash hit this thread. Does nothing if the thread is not preparing a sample. A
 * signal handler calls this. */
void kept_note_crashed(void);
