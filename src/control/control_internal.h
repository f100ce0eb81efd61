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
 * The files of the control socket:
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
 * A client is one connection. A listener is a socket to which clients connect. A grant is a socket
 * for one job. The scanner is the worker for scans.
 *
 *   accept -> CLIENT_RECEIVES -> (CLIENT_WAITS for the worker) -> CLIENT_SENDS -> end
 *
 * While a worker has a client, the client belongs to the worker; otherwise to the thread of
 * control.c.
 */

#define CONTROL_REQUEST_MAX (1u << 20) /* bytes of the largest request */

/* --- requests ---------------------------------------------------------------------- */

struct control_message {
	const char *text;
	size_t bytes;	/* bytes of the text, at least 1 */
	int descriptor; /* descriptor that came with the message, or -1 */
	int socket;	/* socket on which the message came */
	struct {
		/* 0: the sender's process is in another name space, and not visible here. */
		pid_t pid;
		uid_t uid;
		gid_t gid;
	} sender;
	const struct listener *listener; /* listener to which the client connected */
};

struct control_answer {
	FILE *out; /* receives the text of the answer */
	/* upgrade: the engine ends as soon as the client has received the answer */
	bool hands_over;
	bool ok; /* false: the text says why the request failed */
	/* Lines of an epoch's order that the client gets after the text, from line `next` on.
	 * lines.job is NULL: there are none. */
	struct order_lines lines;
	uint32_t next;
};

/* The thread that carries out a request: control's own thread, the WORKER for commands that change
 * jobs, or the SCANNER for commands that change datasets. */
enum control_place { CONTROL_AT_ONCE, CONTROL_WORKER, CONTROL_SCANNER };
enum control_place control_place_of(const struct control_message *message);

/* Carries out one request. A command that takes over message->descriptor sets it to -1. */
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
	TAILQ_ENTRY(client) link; /* links the listener's clients */
	STAILQ_ENTRY(client) queued;
	struct listener *listener;
	enum client_state state;
	bool hands_over;
	/* If true, the worker owns all members except `link`, `listener` and `bytes`. */
	bool at_worker;
	/* Bytes of the request and the answer. The listener limits the sum of these bytes over its
	 * clients. */
	size_t bytes;
	struct control_message message;
	char *in;
	size_t n_in, in_room;
	char *out; /* the frame that is sent now */
	size_t n_out, sent;
	/* Lines of an epoch's order that are sent after `out`. lines.job is NULL if there are
	 * none. */
	struct order_lines lines;
	uint32_t next;
};

/* Creates a client. NULL: no memory. */
struct client *client_new(struct listener *listener, int fd);
void client_free(struct client *client); /* Hangs up on the client and frees it. */

/* Receives the bytes that have arrived. Then the client's state is CLIENT_RECEIVES, CLIENT_WAITS
 * (the request is complete), CLIENT_SENDS (the request was refused) or CLIENT_ENDS. */
void client_receive(struct client *client);

/* Sends as much as the socket accepts. When a frame was sent, makes the next one, if any. */
void client_send(struct client *client);

/* Carries out the request. Then the client's state is CLIENT_SENDS or CLIENT_ENDS. */
void client_execute(struct client *client, struct control *control);

/* Sets the answer to an error with this message. */
void client_refuse(struct client *client, const char *format, ...) printf_like(2, 3);

TAILQ_HEAD(client_list, client);

/* The rights and limits of a socket's clients. */
struct listener_rights {
	/* Id of the only job that clients may mount and read; `name` is the name of this job. 0:
	 * clients may use all jobs. */
	job_id only;
	char name[80];
	mode_t mode; /* mode of the socket file */
	gid_t group; /* group of the socket file; 0: the default one */
	size_t max_clients;
	/* max_request: bytes of the largest request; max_bytes: bytes of all clients' requests and
	 * answers together. */
	size_t max_request, max_bytes;
};

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) link;
	struct listener_rights rights;
	/* Entry of the socket for the next engine, which takes over the socket. NULL: the socket
	 * ends with this engine. */
	struct kept_descriptor *kept;
	struct sockaddr_un address;
	dev_t device; /* device and inode of our socket file */
	ino_t inode;
	bool closed;
	/* Sorted by the last activity: the first client has been silent longest. */
	struct client_list clients;
	size_t n_clients;
};

/* Makes a socket, or takes over the socket of the previous engine. Nobody can connect before the
 * file has its mode. Errors are logged. */
must_check int listener_new(
	const char *path, const struct listener_rights *rights, struct listener **ret);

/* Removes the socket's file, closes the socket, and hangs up on its clients. If a worker is
 * carrying out the request of a client, this client stays until the worker has finished. */
void listener_close(struct listener **listener);

/* Subtracts one from the number of the listener's clients. A closed listener is freed after its
 * last client. */
void listener_forget(struct listener *listener);

/* Notes that the client was active: moves it to the end of the listener's list. */
void listener_touch(struct client *client);

/* Hangs up on the client that has been silent longest. Leaves out the client `but`. false: there is
 * no client except `but`. */
bool listener_hang_up(struct listener *listener, const struct client *but);

/* Counts the bytes of the client's request and answer, and hangs up on other clients until all
 * clients together are within the listener's limits. false: they still exceed the limits. */
bool listener_make_room(struct client *client);

/* --- worker ------------------------------------------------------------------------ */

STAILQ_HEAD(client_queue, client);

struct worker {
	struct control *control;
	struct lock lock;
	pthread_cond_t changed;
	/* (lock) Clients with waiting requests, and clients whose requests are done. */
	struct client_queue queue, done;
	bool stopping; /* (lock) */
	bool running;
	struct watch watch; /* eventfd that becomes readable when a request is done */
	pthread_t thread;
};

must_check int worker_start(struct worker *worker, struct control *control);
/* Stops the thread. Waits for the running command, and drops queued commands. */
void worker_stop(struct worker *worker);
/* Queues a client for the worker. */
void worker_give(struct worker *worker, struct client *client);
/* Returns a client whose request is done, or NULL. */
struct client *worker_take(struct worker *worker);

/* --- grants ------------------------------------------------------------------------ */

/*
 * The sockets <state>/grants/<job>/socket. A client of such a socket can only mount and read the
 * job. The directory records the grant: it stays when the daemon ends, and the next start creates a
 * new socket in it.
 */
LIST_HEAD(grants, listener);

/* Creates the socket, unless it exists. *ret_path: its path. Errors are logged. */
must_check int grants_add(
	struct control *control, struct sched_job *job, const char **ret_path);
/* Removes the job's grant. false: there was none. */
bool grants_remove(struct control *control, job_id job);
/* Removes the grants of jobs that do not exist any more. */
void grants_prune(struct control *control);
/* Creates sockets for the grants in the state directory. */
void grants_restore(struct control *control);
/* Closes the sockets. The grants stay in the state directory. */
void grants_close(struct control *control);

/* --- all --------------------------------------------------------------------------- */

struct control {
	const struct files_context *context;
	struct session *session;
	struct watch stop;	   /* eventfd that tells the thread to stop */
	struct listener *listener; /* the socket of the daemon's user */
	struct grants grants;
	struct worker worker, scanner;
	atomic_bool ends; /* tells the scanner to stop its scan */
	int epoll;
	/* Time at which the daemon stopped accepting clients, because there was no free descriptor;
	 * 0: it accepts clients. */
	uint64_t paused_ns;
	bool running;
	pthread_t thread;
};

/* Prints the table of jobs. -ENOMEM */
must_check int control_list(FILE *out, struct sched_job *const *jobs, size_t n);
/* Prints information about all datasets, or about the dataset with this name. false: there is no
 * memory, or no such dataset. A missing dataset is reported in `out`. */
bool control_list_datasets(
	FILE *out, const struct files_context *context, const char *name);
/* Prints that there is no dataset of this name, and suggests the most similar name. */
void control_unknown_dataset(
	FILE *out, const struct files_context *context, const char *name);
/* Prints a table with one line per dataset. false: no memory. */
bool control_dataset_table(FILE *out, const struct files_context *context);

must_check int control_watch(const struct control *control, int operation,
	struct watch *watch, uint32_t events);
