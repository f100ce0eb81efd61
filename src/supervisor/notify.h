// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Sends systemd the messages that it expects from a service of Type=notify, as sd_notify(3)
 * describes: datagrams of lines. Does nothing if systemd did not start the service.
 *
 *   Owns: a socket.   Threads: one.   Errors: none, since they could not be reported.
 */
struct notifier {
	int fd; /* -1: systemd expects no messages */
	struct sockaddr_un address;
	socklen_t bytes;
	uint64_t pause_ns, next_ns; /* for the watchdog; 0: no watchdog */
};

void notifier_begin(struct notifier *notifier);
void notifier_ready(struct notifier *notifier);
void notifier_stopping(struct notifier *notifier);
/* Returns the time of the next call of notifier_beat; UINT64_MAX: never. */
uint64_t notifier_next(const struct notifier *notifier);
void notifier_beat(struct notifier *notifier);
