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
	size_t bytes;	/* bytes of the text, at least 1 */
	int descriptor; /* descriptor that came with the message, or -1 */
	int socket;	/* socket on which the message came */
	struct {
		/* 0: the sender's process is not visible from the daemon's name space */
		pid_t pid;
		uid_t uid;
		gid_t gid;
	} sender;
	const struct listener *listener; /* listener on which the client came */
};

struct control_answer {
	FILE *out;	 /* the text */
	bool hands_over; /* the engine ends as soon as the client has the answer */
	bool ok;	 /* false: the text says why the request failed */
	/* After the text the client gets the lines of an order, from line `next` on. lines.job is
	 * NULL: the answer has no order. */
	struct order_lines lines;
	uint32_t next;
};

/* The thread that carries a request out. WORKER: the thread for commands that change jobs; SCANNER:
 * the thread for commands that change datasets. */
enum control_place { CONTROL_AT_ONCE, CONTROL_WORKER, CONTROL_SCANNER };
enum control_place control_place_of(const struct control_message *message);

/* Carries out one request. A function that uses the descriptor sets it to -1. */
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
	TAILQ_ENTRY(client) link; /* links the clients of the listener */
	STAILQ_ENTRY(client) queued;
	struct listener *listener;
	enum client_state state;
	bool hands_over;
	/* the worker owns all fields but `link`, `listener` and `bytes` */
	bool at_worker;
	size_t bytes; /* bytes of request and answer, as counted by the listener */
	struct control_message message;
	char *in;
	size_t n_in, in_room;
	char *out; /* the answer in frames */
	size_t n_out, sent;
	struct order_lines lines; /* lines that follow `out`; job NULL: none */
	uint32_t next;
};

/* Creates a client. NULL: no memory. */
struct client *client_new(struct listener *listener, int fd);
void client_free(struct client *client); /* Hangs up on the client, and frees it. */

/* Receives the bytes that have arrived. Afterwards the client still receives, waits (its request is
 * complete), sends (its request was refused) or ends. */
void client_receive(struct client *client);

/* Sends as much as the socket takes, and renders more lines of an order meanwhile. */
void client_send(struct client *client);

/* Carries the request out. Afterwards the client sends, or ends. */
void client_execute(struct client *client, struct control *control);

/* Makes the message the answer, as an error. */
void client_refuse(struct client *client, const char *format, ...) printf_like(2, 3);

TAILQ_HEAD(client_list, client);

/* The rights and limits of a socket's clients. */
struct listener_rights {
	/* id of the only job that clients may mount and read; `name` is its name; 0: clients may do
	 * everything */
	job_id only;
	char name[80];
	mode_t mode; /* mode of the socket file */
	gid_t group; /* group of the socket file; 0: the default one */
	size_t max_clients;
	/* limit of one client's request; limit of all requests and answers together */
	size_t max_request, max_bytes;
};

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) link;
	struct listener_rights rights;
	struct kept_descriptor *kept; /* NULL: the socket ends with this engine */
	struct sockaddr_un address;
	dev_t device; /* device and inode of our socket file */
	ino_t inode;
	bool closed;
	/* in the order of the last activity: the first client is silent longest */
	struct client_list clients;
	size_t n_clients;
};

/* Makes a socket, or takes over the previous engine's. Nobody can connect before the file has
 * its mode. Errors are logged. */
must_check int listener_new(
	const char *path, const struct listener_rights *rights, struct listener **ret);

/*
 * Makes a socket, or takes over the previous engine's. The file gets its mode before a client can
 * connect. Errors are logged.
 */
void listener_close(struct listener **listener);

/* Counts one client less. A closed listener is freed with the last one. */
void listener_forget(struct listener *listener);

/* Notes that the client was active: others are silent for longer. */
void listener_touch(struct client *client);

/* Hangs up on the client that is silent longest, except `but`. false: there is no other client. */
bool listener_hang_up(struct listener *listener, const struct client *but);

/* Counts the client's bytes, and hangs up on other clients until the sum is allowed. false: the sum
 * is still too large. */
bool listener_make_room(struct client *client);

/* --- worker ------------------------------------------------------------------------ */

STAILQ_HEAD(client_queue, client);

struct worker {
	struct control *control;
	struct lock lock;
	pthread_cond_t changed;
	/* (lock) clients whose requests wait, and clients whose requests are done */
	struct client_queue queue, done;
	bool stopping; /* (lock) */
	bool running;
	struct watch watch; /* eventfd: a request is done */
	pthread_t thread;
};

must_check int worker_start(struct worker *worker, struct control *control);
/* Stops the thread. Waits for the running command, and drops queued ones. */
void worker_stop(struct worker *worker);
/* Queues a client for the worker. */
void worker_give(struct worker *worker, struct client *client);
/* Returns a client whose request is done, or NULL. */
struct client *worker_take(struct worker *worker);

/* --- grants ------------------------------------------------------------------------ */

/*
 * <state>/grants/<job>/socket: a client that reaches this socket can mount and read the job, and
 * can do nothing else. The directory is the record of the grant: it stays when the daemon ends, and
 * the next start makes a new socket in it.
 */
LIST_HEAD(grants, listener);

/* Makes the socket, unless it exists; *ret is its path. Errors are logged. */
must_check int grants_add(
	struct control *control, struct sched_job *job, const char **ret_path);
/* Removes the job's grant. false: there was none. */
bool grants_remove(struct control *control, job_id job);
/* Removes the grants of jobs that do not exist any more. */
void grants_prune(struct control *control);
/* Makes the sockets of the grants in the state directory. */
void grants_restore(struct control *control);
/* Closes the sockets. The grants stay in the state directory. */
void grants_close(struct control *control);

/* --- all --------------------------------------------------------------------------- */

struct control {
	const struct files_context *context;
	struct session *session;
	struct watch stop;	   /* eventfd */
	struct listener *listener; /* the socket of the daemon's user */
	struct grants grants;
	struct worker worker, scanner;
	atomic_bool ends; /* tells the scanner to stop its scan */
	int epoll;
	/* time since which new clients wait for a free descriptor; 0: they do not wait */
	uint64_t paused_ns;
	bool running;
	pthread_t thread;
};

/* Prints the table of the jobs. -ENOMEM */
must_check int control_list(FILE *out, struct sched_job *const *jobs, size_t n);
/* Prints the info of all datasets, or of the dataset with this name. false: no memory, or no such
 * dataset, which it prints. */
bool control_list_datasets(
	FILE *out, const struct files_context *context, const char *name);
/* Prints that there is no dataset of this name, and the most similar name that exists. */
void control_unknown_dataset(
	FILE *out, const struct files_context *context, const char *name);
/* Prints a table with a line for each dataset. false: no memory. */
bool control_dataset_table(FILE *out, const struct files_context *context);

must_check int control_watch(const struct control *control, int operation,
	struct watch *watch, uint32_t events);
