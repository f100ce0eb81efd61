// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <sys/socket.h>

/*
 * "ADDRESS:PORT" of a network, in which an address with colons has brackets; no names.
 * -EINVAL: it is not of that kind.
 *
 *   Threads: any.
 */
must_check int address_parse(
	const char *text, struct sockaddr_storage *ret, socklen_t *ret_n);

/* Reads such an address, or ":PORT" for all IPv4 addresses of this machine, or "NAME:PORT": the first address
 * that the system knows for the name, which may take seconds. */
must_check int address_resolve(
	const char *text, struct sockaddr_storage *ret, socklen_t *ret_n);
