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
 * What outlives the engine: memory that the supervisor and one engine after the other
 * share, and descriptors that the supervisor holds for them.
 *
 *   Flow: main calls kept_begin first. The engine gives descriptors away by kept_add, and
 *         takes them back when the next one tells that they need not outlive it any more
 *         (kept_drop). After a death the next engine finds all of it in kept().
 *   Owns: the memory. Without a supervisor it is the process's own.
 *   Threads: any, but for kept_begin.
 *   Errors: -errno. Nothing here waits for the supervisor.
 *
 * The layout is a protocol: an engine of another version may come next (KEPT_VERSION).
 */

#define KEPT_VERSION 1
#define KEPT_DESCRIPTORS 512
#define KEPT_OPENS 65536 /* open files that the next engine has to know of */
#define KEPT_CLOSES 4096 /* that no engine has seen */
#define KEPT_FILES ((1u << 20) + 32768) /* that the kernel reads: backing.h */
#define KEPT_WORKERS 512
#define KEPT_MESSAGE 256 /* bytes of the kernel's first message; it has 104 */
#define KEPT_PATH 4096

enum kept_kind { KEPT_FREE, KEPT_RESERVED, KEPT_MOUNT, KEPT_LISTENER, KEPT_LOCK };

/* A mount that the kernel knows of. */
struct kept_mount {
	uint64_t root; /* its inode, as inode_pack */
	bool other_pids;
	bool maps_direct, passes_through, omits_opendir; /* as granted at its beginning */
	bool foreign; /* who has mounted it unmounts it */
	bool untold;
	bool everybody; /* whom the kernel lets in, whosever the jobs are */
	struct timespec started;
	uint32_t message_bytes;
	uint8_t message[KEPT_MESSAGE]; /* FUSE_INIT */
};

struct kept_descriptor {
	atomic_int kind; /* the engine's; set when the rest is there */
	atomic_int fd;	 /* the supervisor's: its number, in every engine too; 0: none */
	struct kept_mount mount;
	char path[KEPT_PATH]; /* of a listener */
	bool unlimited;	      /* it takes all commands */
};

/*
 * An open file that the inode and the handle don't tell everything of. It is listed before
 * the kernel is told that it is open. If the engine dies before, the kernel sends the
 * request again, and `request` tells that nobody has the file.
 */
struct kept_open {
	_Atomic uint64_t handle; /* 0: none */
	uint64_t request;	 /* the kernel's number for the open */
	uint64_t inode;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	uint32_t mount;	   /* place of its descriptor */
	uint32_t epoch;	   /* as in a handle */
	int32_t backing;   /* the file that the kernel reads it from; 0: none */
};

/* A file that was closed while a sick engine answered. */
struct kept_close {
	_Atomic uint64_t handle; /* 0: none */
	uint64_t inode;
	uint32_t mount;
};

/* What a worker prepares. */
struct kept_note {
	atomic_bool busy;
	atomic_bool crashed; /* a signal ended the engine in this very worker */
	uint32_t sample;
	char dataset[80];
};

struct kept {
	uint32_t version;
	uint32_t bytes;
	/* the supervisor's */
	atomic_uint lives; /* engines that were started */
	atomic_int died;   /* how the last one ended, as wait(2) tells; 0: none has */
	_Atomic int64_t died_ns; /* CLOCK_MONOTONIC */
	atomic_bool sick;	 /* too many deaths: this one only answers EIO */
	atomic_bool ending;	 /* an engine that is started now only unmounts */
	atomic_bool hung;	 /* the last one was killed since its beats stopped */
	/* the engines' */
	atomic_bool ended;	/* it has unmounted, or was */
	atomic_bool hands_over; /* it is about to end for another one */
	_Atomic uint64_t
		beats;	    /* another number each second; 0: none is to be expected */
	atomic_bool blamed; /* the death was some worker's: a note has `crashed` */
	_Atomic uint64_t handles;
	_Atomic uint64_t oom_kills; /* by the kernel, when the engine began: machine.h */
	atomic_int last_backing;
	char log[KEPT_PATH];	 /* a file; empty: standard error */
	char program[KEPT_PATH]; /* the next one to start; empty: the same */
	char reason[1024];	 /* of the last death, for people */
	char error[768];	 /* the last one that was logged before */
	struct kept_descriptor descriptors[KEPT_DESCRIPTORS];
	struct kept_note notes[KEPT_WORKERS];
	struct kept_open opens[KEPT_OPENS];
	struct kept_close closes[KEPT_CLOSES];
	atomic_int files[KEPT_FILES]; /* the kernel's numbers; 0: none */
};

/* engine: as the supervisor gave it after --engine, NULL without one. -EINVAL: of another
 * version, logged. */
must_check int kept_begin(const char *engine);
struct kept *kept(void);
/* Whether there is a supervisor; and whether an engine served before this one. */
bool kept_is_supervised(void);
bool kept_is_again(void);

/* Everything is served from now on. */
void kept_ready(void);

/* By one thread, at least once a second: the engine goes on. If that ends for a minute, the
 * supervisor kills it; but for what waits for a disk or ends, which takes as long as it
 * takes. */
void kept_beat(void);
void kept_beat_none(void);

/* An error was logged: perhaps it says why this engine ends. */
void kept_note_error(const char *message);

/* --- descriptors ------------------------------------------------------------------- */

/* A place for a descriptor, to be filled in, then given to kept_add or kept_drop; NULL: all
 * are taken. */
struct kept_descriptor *kept_new(void);
/* It is filled in; the supervisor gets a copy of the descriptor. */
void kept_add(struct kept_descriptor *place, enum kept_kind kind, int fd);
/* May be NULL. */
void kept_drop(struct kept_descriptor **place);
/* The next one of the kind after `before`, NULL: the first; NULL: no other. */
struct kept_descriptor *kept_next(
	const struct kept_descriptor *before, enum kept_kind kind);

/* --- open files -------------------------------------------------------------------- */

/* A number that no file had before, below 2^KEPT_SERIAL_BITS. */
#define KEPT_SERIAL_BITS 50
uint64_t kept_serial(void);

/* NULL: there are too many. */
struct kept_open *kept_open_add(const struct kept_open *open);
/* The next one of a mount after `before`, NULL: the first; NULL: no other. */
struct kept_open *kept_open_next(const struct kept_open *before, uint32_t mount);
void kept_open_remove(struct kept_open *open); /* may be NULL */

/* By one thread, as no engine serves. Of more than there is room for the later ones are not
 * known: their positions count as open, until the next start. */
void kept_close_add(uint32_t mount, uint64_t inode, uint64_t handle);
/* Takes one of the mount out; false: there is none. */
bool kept_close_take(uint32_t mount, uint64_t *ret_inode, uint64_t *ret_handle);

/* --- files that the kernel reads --------------------------------------------------- */

void kept_file_add(int backing);
void kept_file_remove(int backing);

/* --- what workers prepare ---------------------------------------------------------- */

void kept_note_begin(const char *dataset, uint32_t sample);
void kept_note_end(void);
/* By a signal handler, in the thread that the signal has arrived in. */
void kept_note_crashed(void);
