// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * What systemd wants to know of a service of Type=notify: sd_notify(3), whose protocol is a
 * datagram of lines. Where it was not started by systemd, nothing happens.
 *
 *   Owns: a socket.   Threads: one.   Errors: none; there is nobody to tell.
 */
struct notifier {
	int fd; /* -1: nobody wants to know */
	struct sockaddr_un address;
	socklen_t bytes;
	uint64_t pause_ns, next_ns; /* of the watchdog; 0: none */
};

void notifier_begin(struct notifier *notifier);
void notifier_ready(struct notifier *notifier);
void notifier_stopping(struct notifier *notifier);
/* When notifier_beat is to be called; UINT64_MAX: never. */
uint64_t notifier_next(const struct notifier *notifier);
void notifier_beat(struct notifier *notifier);
