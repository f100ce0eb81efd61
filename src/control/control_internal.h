// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "control/control.h"
#include "files/order_lines.h"

#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

struct client;
struct sched_job;

/*
 * The thread of control.c waits for all sockets at once, and never for a single client. Two workers
 * (worker.c) carry out the commands that take long. One worker, the scanner, changes datasets,
 * whose scans may take hours; the other worker carries out all other long commands, such as those
 * that change jobs.
 * A client is a connection, a listener a socket for clients, and a grant a socket for one job.
 *
 *   accept -> CLIENT_RECEIVES -> (CLIENT_WAITS for a worker) -> CLIENT_SENDS -> end
 *
 * While a worker has a client, the client belongs to the worker; otherwise to control.c's thread.
 */

#define CONTROL_REQUEST_MAX (1u << 20) /* bytes of the largest request */

/* The thread for a request. AT_ONCE: the thread of control.c. SCANNER: for commands that change
 * datasets. WORKER: for other commands that take long. */
enum control_place { CONTROL_AT_ONCE, CONTROL_WORKER, CONTROL_SCANNER };
enum control_place control_place_of(const struct client *client);

/* Carries out the client's request, and prints the answer to `out`. Returns false if the request
 * failed; then the answer says why. A command that takes over client->descriptor sets it to -1. */
bool control_execute(struct control *control, struct client *client, FILE *out);

/* --- clients and listeners --------------------------------------------------------- */

/* A descriptor that control.c's thread waits for. */
struct watch {
	enum { WATCH_STOP, WATCH_WORKER, WATCH_LISTENER, WATCH_CLIENT } kind;
	int fd;
};

enum client_state { CLIENT_RECEIVES, CLIENT_WAITS, CLIENT_SENDS, CLIENT_ENDS };

struct client {
	struct watch watch;
	TAILQ_ENTRY(client) link; /* entry in listener.clients */
	STAILQ_ENTRY(client) queued;
	struct listener *listener;
	enum client_state state;
	bool hands_over; /* upgrade: this engine process ends after the answer */
	/* true: a worker has the client, and owns all members except `link`, `listener` and
	 * `bytes` */
	bool at_worker;
	/* bytes of the request and the answer; the listener limits the sum over its clients */
	size_t bytes;
	int descriptor;	     /* descriptor that came with the request, or -1 */
	struct ucred sender; /* pid 0: the process is in another name space */
	char *in;	     /* the request, at least 1 byte when it is complete */
	size_t n_in, in_room;
	char *out; /* the frame that is sent now */
	size_t n_out, sent;
	/* lines of epoch-NNNN.order that follow `out`, from line `next` on; lines.job NULL: none */
	struct order_lines lines;
	uint32_t next;
};

struct client *client_new(struct listener *listener, int fd);
void client_free(struct client *client); /* hangs up */

/* Receives the bytes that have arrived. Then the state is CLIENT_RECEIVES, CLIENT_WAITS
 * (the request is complete), CLIENT_SENDS (the request was refused) or CLIENT_ENDS. */
void client_receive(struct client *client);

/* Sends what the socket accepts. At a frame's end, makes the next frame if the answer goes on. */
void client_send(struct client *client);

/* Carries out the request. Then the client's state is CLIENT_SENDS or CLIENT_ENDS. */
void client_execute(struct client *client, struct control *control);

/* Sets the answer to an error with this message. */
void client_refuse(struct client *client, const char *format, ...) printf_like(2, 3);

TAILQ_HEAD(client_list, client);

struct listener_rights {
	/* id and name of the only job that clients may mount and read; 0: all jobs */
	job_id only;
	char name[80];
	mode_t mode; /* mode of the socket file */
	gid_t group; /* group of the socket file; 0: the default one */
	size_t max_clients;
	/* max_request: most bytes of one request. max_bytes: most bytes of the requests and answers
	 * of all clients of the socket. */
	size_t max_request, max_bytes;
};

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) link;
	struct listener_rights rights;
	/* entry in kept(), from which the next engine process takes the socket; NULL: the socket
	 * ends with this process */
	struct kept_descriptor *kept;
	struct sockaddr_un address;
	dev_t device; /* device and inode of our socket file */
	ino_t inode;
	bool closed;
	struct client_list clients; /* the first one has been silent longest */
	size_t n_clients;
};

/* Makes a socket, or takes over the socket of the previous engine process. Nobody can
 * connect before the socket's file has its mode. Errors are logged. */
must_check int listener_new(
	const char *path, const struct listener_rights *rights, struct listener **ret);

/* Removes the file, closes the socket, and hangs up on its clients. A client whose
 * request is at a worker stays until the worker is done. */
void listener_close(struct listener **listener);

/* Notes that a client is freed. Frees a closed listener after its last client. */
void listener_forget(struct listener *listener);

/* Moves the client to the end of the listener's list, because it was active. */
void listener_touch(struct client *client);

/* Hangs up on the client that has been silent longest. Never hangs up on `but`, or on a client
 * whose request is at a worker. Returns false if no other client is left. */
bool listener_hang_up(struct listener *listener, const struct client *but);

/* Counts the client's bytes. Then hangs up on other clients until the listener's limits are kept.
 * Returns false if the limits can't be kept. */
bool listener_make_room(struct client *client);

/* --- worker ------------------------------------------------------------------------ */

STAILQ_HEAD(client_queue, client);

struct worker {
	struct control *control;
	struct lock lock;
	pthread_cond_t changed;
	/* (lock) queue: clients whose requests wait. done: clients whose requests have been carried
	 * out. */
	struct client_queue queue, done;
	bool stopping; /* (lock) */
	bool running;
	struct watch watch; /* eventfd, readable when a request is done */
	pthread_t thread;
};

must_check int worker_start(struct worker *worker, struct control *control);
/* Stops the thread. Waits for the running command, and drops queued commands. */
void worker_stop(struct worker *worker);
void worker_give(struct worker *worker, struct client *client);
/* Returns a client whose request is done, or NULL. */
struct client *worker_take(struct worker *worker);

/* --- grants ------------------------------------------------------------------------ */

/* Sockets <state>/grants/<job>/socket, whose clients can only mount and read the job. The
 * directories stay when the daemon ends, and its next start creates new sockets in them. */
LIST_HEAD(grants, listener);

/* Creates the socket, unless it exists. *ret_path: its path. Errors are logged. */
must_check int grants_add(
	struct control *control, struct sched_job *job, const char **ret_path);
/* Removes the job's grant. Returns false if there was none. */
bool grants_remove(struct control *control, job_id job);
/* Removes the grants of jobs that do not exist any more. */
void grants_prune(struct control *control);
/* Creates sockets for the grants in the state directory. */
void grants_restore(struct control *control);
/* Closes the sockets. The grants stay in the state directory. */
void grants_close(struct control *control);

struct control {
	const struct files_context *context;
	struct session *session;
	struct watch stop;	   /* eventfd that tells the thread to stop */
	struct listener *listener; /* socket of the daemon's user */
	struct grants grants;
	struct worker worker, scanner;
	atomic_bool ends; /* tells the scanner to stop its scan */
	int epoll;
	/* time when accepting was paused; 0: it is not paused */
	uint64_t paused_ns;
	bool running;
	pthread_t thread;
};

must_check int control_watch(const struct control *control, int operation,
	struct watch *watch, uint32_t events);
