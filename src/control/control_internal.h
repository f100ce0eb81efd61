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
 *   worker.c            threads for the commands that take long: one for changes of jobs, and
 *                       one for scans of datasets, which may take hours
 *   control_commands.c  carries out the commands
 *   control_show.c      carries out the commands that change nothing
 *   control_list.c      prints the tables of "ls" and "datasets"
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
	int descriptor; /* the descriptor that came with it, or -1 */
	int socket;	/* the socket that it came by */
	struct {
		pid_t pid; /* 0: it can't be seen from here */
		uid_t uid;
		gid_t gid;
	} sender;
	const struct listener *listener; /* the listener that it came by */
};

struct control_answer {
	FILE *out;	 /* the text */
	bool hands_over; /* the engine ends when the client has the answer */
	bool ok;	 /* else the text says why it failed */
	/* The lines of an order, from number `next` on, follow the text; job may be NULL. */
	struct order_lines lines;
	uint32_t next;
};

/* The thread that carries a request out. WORKER: the one thread of commands that change jobs;
 * SCANNER: the one thread of commands that change datasets. */
enum control_place { CONTROL_AT_ONCE, CONTROL_WORKER, CONTROL_SCANNER };
enum control_place control_place_of(const struct control_message *message);

/* Carries out one request. If it uses the descriptor, that is -1 afterwards. */
void control_execute(struct control *control, struct control_message *message,
	struct control_answer *answer);

/* --- clients and listeners --------------------------------------------------------- */

/* A descriptor that the thread of control.c waits for. */
struct watch {
	enum { WATCH_STOP, WATCH_WORKER, WATCH_LISTENER, WATCH_CLIENT } kind;
	int fd;
};

enum client_state { CLIENT_RECEIVES, CLIENT_WAITS, CLIENT_SENDS, CLIENT_ENDS };

struct client {
	struct watch watch;
	TAILQ_ENTRY(client) link; /* its listener's clients */
	STAILQ_ENTRY(client) queued;
	struct listener *listener;
	enum client_state state;
	bool hands_over;
	bool at_worker; /* the worker has all but the links to its listener, and bytes */
	size_t bytes;	/* request and answer, as the listener counts them */
	struct control_message message;
	char *in;
	size_t n_in, in_room;
	char *out; /* the answer, with frames */
	size_t n_out, sent;
	struct order_lines lines; /* sent after `out`; or job is NULL */
	uint32_t next;
};

struct client *client_new(struct listener *listener, int fd); /* NULL: no memory */
void client_free(struct client *client);		      /* hangs up */

/* Receives what is there. Afterwards the client still receives, waits (the request is
 * complete), sends (the request is refused) or ends. */
void client_receive(struct client *client);

/* Sends as much as the client takes, and renders more of an order meanwhile. */
void client_send(struct client *client);

/* Carries the request out. Afterwards the client sends, or ends. */
void client_execute(struct client *client, struct control *control);

/* Makes this message the answer. */
void client_refuse(struct client *client, const char *format, ...) printf_like(2, 3);

TAILQ_HEAD(client_list, client);

/* The rights and limits of a socket's clients. */
struct listener_rights {
	/* 0: everything; otherwise to mount and read the job that has this id and name */
	job_id only;
	char name[80];
	mode_t mode; /* the socket file's */
	gid_t group; /* 0: as it comes */
	size_t max_clients;
	/* one client's request; all requests and answers */
	size_t max_request, max_bytes;
};

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) link;
	struct listener_rights rights;
	struct kept_descriptor *kept; /* NULL: the socket ends with this engine */
	struct sockaddr_un address;
	dev_t device; /* our socket file's, and so is the next */
	ino_t inode;
	bool closed;
	struct client_list clients; /* the first one is silent longest */
	size_t n_clients;
};

/* Makes a socket, or takes over the previous engine's. Nobody can connect before the file has
 * its mode. Errors are logged. */
must_check int listener_new(
	const char *path, const struct listener_rights *rights, struct listener **ret);

/*
 * Removes the file, unless another one has taken its place, and hangs up on the clients.
 * The listener is freed with the last client that the worker has.
 */
void listener_close(struct listener **listener);

/* Counts one client less. A closed listener is freed with the last one. */
void listener_forget(struct listener *listener);

/* Notes that the client has done something, and so is not the one that is silent longest. */
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
/* Stops the thread. The command that is being carried out is waited for; queued ones are
 * dropped. */
void worker_stop(struct worker *worker);
/* Queues a client for the worker. */
void worker_give(struct worker *worker, struct client *client);
struct client *worker_take(struct worker *worker); /* a client that is done, or NULL */

/* --- grants ------------------------------------------------------------------------ */

/*
 * <state>/grants/<job>/socket: a client that reaches it can mount and read the job, and
 * nothing else. The directory is the record of the grant: it stays when the daemon ends,
 * and gets a new socket at the next start.
 */
LIST_HEAD(grants, listener);

/* Makes the socket, or finds it; *ret is its path. Errors are logged. */
must_check int grants_add(
	struct control *control, struct sched_job *job, const char **ret_path);
/* Removes the job's grant. false: there was none. */
bool grants_remove(struct control *control, job_id job);
/* Removes the grants of jobs that were removed. */
void grants_prune(struct control *control);
/* Makes the sockets of the grants in the state directory. */
void grants_restore(struct control *control);
/* Closes the sockets. The grants stay. */
void grants_close(struct control *control);

/* --- all --------------------------------------------------------------------------- */

struct control {
	const struct files_context *context;
	struct session *session;
	struct watch stop;	   /* eventfd */
	struct listener *listener; /* the socket of the daemon's user */
	struct grants grants;
	struct worker worker, scanner;
	atomic_bool ends; /* tells the scanner to give up */
	int epoll;
	uint64_t
		paused_ns; /* since then new clients wait, for want of descriptors; or 0 */
	bool running;
	pthread_t thread;
};

/* Prints the table of the jobs. -ENOMEM */
must_check int control_list(FILE *out, struct sched_job *const *jobs, size_t n);
/* Prints the info of all datasets, or of the one that has this name. false: there is no such
 * dataset, which is printed, or no memory. */
bool control_list_datasets(
	FILE *out, const struct files_context *context, const char *name);
/* Prints that there is no dataset of this name, and which one has a like name. */
void control_unknown_dataset(
	FILE *out, const struct files_context *context, const char *name);
/* Prints a table with a line for each dataset. false: no memory. */
bool control_dataset_table(FILE *out, const struct files_context *context);

must_check int control_watch(const struct control *control, int operation,
	struct watch *watch, uint32_t events);
