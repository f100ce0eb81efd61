// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"

#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A real redis-server on a socket in its own directory; the test ends it by its pid. */

struct redis_server {
	char directory[64];
	char socket[96];
	char url[128];
	pid_t pid;
};

static inline void redis_wait_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static inline bool redis_is_there(void)
{
#ifdef HAVE_HIREDIS
	return access("/usr/bin/redis-server", X_OK) == 0;
#else
	return false;
#endif
}

static inline bool redis_answers(const struct redis_server *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char reply[8] = "";
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", server->socket);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool answers = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		       write(fd, "PING\r\n", 6) == 6 && read(fd, reply, 7) == 7 &&
		       strcmp(reply, "+PONG\r\n") == 0;
	close(fd);
	return answers;
}

/* Starts the server with the data in its directory. fsync: the value of appendfsync; NULL: the
 * server writes no data. */
static inline void redis_start(struct redis_server *server, const char *fsync)
{
	unlink(server->socket);
	server->pid = fork();
	ensure(server->pid >= 0);
	if (server->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/usr/bin/redis-server", "redis-server", "--port", "0",
			"--unixsocket", server->socket, "--dir", server->directory,
			"--save", "", "--appendonly", fsync ? "yes" : "no",
			"--appendfsync", fsync ? fsync : "no", "--logfile", "log",
			(char *)NULL);
		_exit(127);
	}
	for (int i = 0; !redis_answers(server); i++) {
		ensure(i < 2000);
		redis_wait_ms(5);
	}
}

static inline void redis_kill(struct redis_server *server)
{
	if (server->pid > 0) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, NULL, 0);
	}
	server->pid = 0;
}

static inline void redis_new(struct redis_server *server, const char *fsync)
{
	signal(SIGPIPE, SIG_IGN); /* the daemon does this, too */
	strcpy(server->directory, "/tmp/joaderfs-redis.XXXXXX");
	ensure(mkdtemp(server->directory));
	snprintf(server->socket, sizeof(server->socket), "%s/socket", server->directory);
	snprintf(server->url, sizeof(server->url), "redis+unix://%s", server->socket);
	redis_start(server, fsync);
}

static inline int redis_remove_one(
	const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

static inline void redis_end(struct redis_server *server)
{
	redis_kill(server);
	nftw(server->directory, redis_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
