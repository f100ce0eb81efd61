// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "control/control.h"
#include "files/order_lines.h"

#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/un.h>

struct sched_job;

/*
 * Inside of the control socket.
 *
 *   control.c           one thread that waits for sockets, and never for a client
 *   client.c            one connection: receives its request, sends the answer
 *   listener.c          a socket's file, and the clients that came by it
 *   grants.c            the sockets of single jobs
 *   worker.c            threads for the commands that take long: those that change jobs, and
 *                       those that scan a dataset, which may take hours
 *   control_commands.c  carries out the commands
 *   control_show.c      those that change nothing
 *   control_list.c      what "ls" and "datasets" print
 *   control_datasets.c  datasets that come and go
 *
 *   accept -> CLIENT_RECEIVES -> (CLIENT_WAITS for the worker) -> CLIENT_SENDS -> end
 *
 * A client that is at the worker belongs to it, any other one to the thread of control.c.
 */

#define CONTROL_REQUEST_MAX (1u << 20) /* bytes */

/* --- requests ---------------------------------------------------------------------- */

struct control_message {
	const char *text;
	size_t bytes;	/* > 0 */
	int descriptor; /* the one that came with it, or -1 */
	int socket;	/* that it came by */
	struct {
		pid_t pid; /* 0: it can't be seen from here */
		uid_t uid;
		gid_t gid;
	} sender;
	const struct listener *listener; /* that it came by */
};

struct control_answer {
	FILE *out;	 /* the text */
	bool hands_over; /* the engine ends when the client has the answer */
	bool ok;	 /* else the text says why it failed */
	/* The lines of an order, from number `next` on, follow the text; job may be NULL. */
	struct order_lines lines;
	uint32_t next;
};

/* Who carries it out. WORKER: it changes jobs, and is for one thread only; SCANNER: likewise,
 * it changes datasets. */
enum control_place { CONTROL_AT_ONCE, CONTROL_WORKER, CONTROL_SCANNER };
enum control_place control_place_of(const struct control_message *message);

/* Carries out one request. If it uses the descriptor, that is -1 afterwards. */
void control_execute(struct control *control, struct control_message *message,
	struct control_answer *answer);

/* --- clients and listeners --------------------------------------------------------- */

/* What the thread waits for. */
struct watch {
	enum { WATCH_STOP, WATCH_WORKER, WATCH_LISTENER, WATCH_CLIENT } kind;
	int fd;
};

enum client_state { CLIENT_RECEIVES, CLIENT_WAITS, CLIENT_SENDS, CLIENT_ENDS };

struct client {
	struct watch watch;
	TAILQ_ENTRY(client) link; /* of its listener */
	STAILQ_ENTRY(client) queued;
	struct listener *listener;
	enum client_state state;
	bool hands_over;
	bool at_worker; /* who then has all but the links to its listener, and bytes */
	size_t bytes;	/* of request and answer, as the listener counts them */
	struct control_message message;
	char *in;
	size_t n_in, in_room;
	char *out; /* with frames */
	size_t n_out, sent;
	struct order_lines lines; /* to be sent when out is; or job is NULL */
	uint32_t next;
};

struct client *client_new(struct listener *listener, int fd); /* NULL: no memory */
void client_free(struct client *client);		      /* hangs up */

/* Receives what is there. Afterwards it still receives, waits (the request is complete),
 * sends (the request is refused) or ends. */
void client_receive(struct client *client);

/* Sends what the client takes, and renders more of an order meanwhile. */
void client_send(struct client *client);

/* Has the request carried out: the client sends, or ends. */
void client_execute(struct client *client, struct control *control);

/* The answer is this message. */
void client_refuse(struct client *client, const char *format, ...) printf_like(2, 3);

TAILQ_HEAD(client_list, client);

/* What the clients of a socket may do. */
struct listener_rights {
	/* 0: everything; otherwise to mount and read the job that has this id and name */
	job_id only;
	char name[80];
	mode_t mode; /* of the file */
	gid_t group; /* 0: as it comes */
	size_t max_clients;
	size_t max_request, max_bytes; /* of one client; of all requests and answers */
};

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) link;
	struct listener_rights rights;
	struct kept_descriptor *kept; /* NULL: the socket ends with this engine */
	struct sockaddr_un address;
	dev_t device; /* of our socket file, as the next */
	ino_t inode;
	bool closed;
	struct client_list clients; /* the one that is silent longest is the first */
	size_t n_clients;
};

/* Nobody can connect before the file has its mode. Errors are logged. */
must_check int listener_new(
	const char *path, const struct listener_rights *rights, struct listener **ret);

/*
 * Removes the file, unless another one has taken its place, and hangs up on the clients.
 * What is left is freed with the last client that the worker has.
 */
void listener_close(struct listener **listener);

/* One client less. */
void listener_forget(struct listener *listener);

/* The client has done something, and is not the one that is silent longest. */
void listener_touch(struct client *client);

/* Hangs up on the client that is silent longest, but not on `but`. false: there is none. */
bool listener_hang_up(struct listener *listener, const struct client *but);

/* Counts the client's bytes, and hangs up on others until all is no more than allowed.
 * false: it still is. */
bool listener_make_room(struct client *client);

/* --- worker ------------------------------------------------------------------------ */

STAILQ_HEAD(client_queue, client);

struct worker {
	struct control *control;
	struct lock lock;
	pthread_cond_t changed;
	struct client_queue queue, done; /* (lock) */
	bool stopping;			 /* (lock) */
	bool running;
	struct watch watch; /* eventfd: something is done */
	pthread_t thread;
};

must_check int worker_start(struct worker *worker, struct control *control);
/* Waits for the command that is being carried out; the others are not. */
void worker_stop(struct worker *worker);
void worker_give(struct worker *worker, struct client *client);
struct client *worker_take(struct worker *worker); /* one that is done, or NULL */

/* --- grants ------------------------------------------------------------------------ */

/*
 * <state>/grants/<job>/socket: who can reach this file can mount and read the job, and
 * nothing else. The directory is the record of the grant: it stays when the daemon ends,
 * and gets a new socket at the next start.
 */
LIST_HEAD(grants, listener);

/* Makes the socket, or finds it; *ret is its path. Errors are logged. */
must_check int grants_add(
	struct control *control, struct sched_job *job, const char **ret_path);
/* false: there was no grant. */
bool grants_remove(struct control *control, job_id job);
/* Those of jobs that were removed. */
void grants_prune(struct control *control);
void grants_restore(struct control *control);
void grants_close(struct control *control);

/* --- all --------------------------------------------------------------------------- */

struct control {
	const struct files_context *context;
	struct session *session;
	struct watch stop;	   /* eventfd */
	struct listener *listener; /* of the daemon's user */
	struct grants grants;
	struct worker worker, scanner;
	atomic_bool ends; /* the scanner gives up */
	int epoll;
	uint64_t
		paused_ns; /* since then new clients wait, for want of descriptors; or 0 */
	bool running;
	pthread_t thread;
};

/* -ENOMEM */
must_check int control_list(FILE *out, struct sched_job *const *jobs, size_t n);
/* name: of the only one wanted, or NULL. false: there is no such, which is printed. */
bool control_list_datasets(
	FILE *out, const struct files_context *context, const char *name);
void control_unknown_dataset(
	FILE *out, const struct files_context *context, const char *name);
/* A line for each; false: no memory. */
bool control_dataset_table(FILE *out, const struct files_context *context);

must_check int control_watch(const struct control *control, int operation,
	struct watch *watch, uint32_t events);
