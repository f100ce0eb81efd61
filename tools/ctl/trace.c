// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/cleanup.h"
#include "commands.h"
#include "request.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define PAUSE_NS 200000000
#define NUMBER 24

static volatile sig_atomic_t ends;

static void end(int signal_number)
{
	(void)signal_number;
	ends = 1;
}

/* Prints the events in `text`, the daemon's answer. Sets `next` to the number of the next event,
 * which is in the answer's first line, and *ret_more to whether the answer has any events. Returns
 * false if the answer is not understood or can't be printed. */
static bool print_lines(char *text, char next[static NUMBER], bool *ret_more)
{
	uint64_t number, lost;
	char *lines = strchr(text, '\n');
	*ret_more = lines && lines[1];
	if (!lines || sscanf(text, "next %" SCNu64 " lost %" SCNu64, &number, &lost) != 2)
		return complain("trace: the daemon's answer is not understood");
	snprintf(next, NUMBER, "%" PRIu64, number);
	if (lost > 0)
		printf("# %" PRIu64 " lines are lost: they came too fast\n", lost);
	fputs(lines + 1, stdout);
	if (fflush(stdout) == 0)
		return true;
	if (errno != EPIPE)
		complain("trace: cannot write: %s", strerror(errno));
	return false;
}

static bool ask(const char *socket_path, const char *job, char next[static NUMBER],
	bool *ret_more)
{
	const char *command[] = {"trace", job, next};
	auto_free char *text = NULL;
	return request_text(socket_path, command, next[0] ? 3 : 2, &text) &&
	       print_lines(text, next, ret_more);
}

int trace(const char *socket_path, int argc, char **argv)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const struct sigaction action = {.sa_handler = end};
	char next[NUMBER] = "";
	bool more = false, ok;
	if (argc != 2)
		return exit_usage("usage: joaderctl trace JOB >FILE");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ok = ask(socket_path, argv[1], next, &more);
	if (ok) {
		puts("time\topen\tevent\tepoch\tposition\tsample\twaited\terror");
		fflush(stdout);
	}
	/* One more request after a signal gets the events until the signal. */
	for (bool last = false; ok && (!last || more);) {
		last = ends;
		if (!last && !more)
			nanosleep(&pause, NULL);
		ok = ask(socket_path, argv[1], next, &more);
	}
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
