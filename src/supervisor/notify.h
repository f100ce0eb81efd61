// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Sends systemd the messages that it expects from a service of Type=notify, as sd_notify(3)
 * describes: datagrams that consist of lines. Does nothing if systemd did not start the service.
 * Threads: one. Errors: ignored. */
struct notifier {
	int fd; /* socket; -1: systemd expects no messages */
	struct sockaddr_un address;
	socklen_t bytes;
	/* pause_ns: time between two watchdog messages; 0: none are sent. next_ns: time of the next
	 * watchdog message; 0: there is none. */
	uint64_t pause_ns, next_ns;
};

void notifier_begin(struct notifier *notifier);
void notifier_ready(struct notifier *notifier);
void notifier_stopping(struct notifier *notifier);
/* Returns the time at which notifier_beat must be called; UINT64_MAX: it need not be called. */
uint64_t notifier_next(const struct notifier *notifier);
void notifier_beat(struct notifier *notifier);
