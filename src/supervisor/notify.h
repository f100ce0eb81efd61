// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Tells systemd what it wants to know of a service of Type=notify. The protocol of sd_notify(3)
 * is a datagram of lines. Where systemd has not started the service, nothing happens.
 *
 *   Owns: a socket.   Threads: one.   Errors: none; there is nobody to tell.
 */
struct notifier {
	int fd; /* -1: nobody wants to know */
	struct sockaddr_un address;
	socklen_t bytes;
	uint64_t pause_ns, next_ns; /* the watchdog's; 0: it has none */
};

void notifier_begin(struct notifier *notifier);
void notifier_ready(struct notifier *notifier);
void notifier_stopping(struct notifier *notifier);
/* Returns when notifier_beat is to be called; UINT64_MAX: never. */
uint64_t notifier_next(const struct notifier *notifier);
void notifier_beat(struct notifier *notifier);
