// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supervisor/notify.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <stddef.h>
#include <string.h>

static void tell(const struct notifier *notifier, const char *text)
{
	if (notifier->fd < 0)
		return;
	(void)!sendto(notifier->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
		(const struct sockaddr *)&notifier->address, notifier->bytes);
}

static bool set_address(struct notifier *notifier, const char *path)
{
	size_t n = path ? strlen(path) : 0;
	if (n < 2 || n >= sizeof(notifier->address.sun_path) ||
		(path[0] != '/' && path[0] != '@'))
		return false;
	notifier->address.sun_family = AF_UNIX;
	memcpy(notifier->address.sun_path, path, n + 1);
	notifier->bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	if (path[0] == '@')
		notifier->address.sun_path[0] = '\0';
	return true;
}

/* Returns half of the longest pause that systemd's watchdog allows, in ns; 0: no watchdog. */
static uint64_t watchdog_pause(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	if (!usec || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return 0;
	return strtoull(usec, NULL, 10) * 1000 / 2;
}

void notifier_begin(struct notifier *notifier)
{
	*notifier = (struct notifier){.fd = -1};
	if (!set_address(notifier, getenv("NOTIFY_SOCKET")))
		return;
	notifier->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	notifier->pause_ns = notifier->fd < 0 ? 0 : watchdog_pause();
}

void notifier_ready(struct notifier *notifier)
{
	tell(notifier, "READY=1\nSTATUS=mounted\n");
	if (notifier->pause_ns)
		notifier->next_ns = clock_now_ns();
}

void notifier_stopping(struct notifier *notifier)
{
	tell(notifier, "STOPPING=1\n");
}

uint64_t notifier_next(const struct notifier *notifier)
{
	return notifier->next_ns ? notifier->next_ns : UINT64_MAX;
}

void notifier_beat(struct notifier *notifier)
{
	uint64_t now_ns = clock_now_ns();
	if (!notifier->next_ns || now_ns < notifier->next_ns)
		return;
	tell(notifier, "WATCHDOG=1\n");
	notifier->next_ns = now_ns + notifier->pause_ns;
}
