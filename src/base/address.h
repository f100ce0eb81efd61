// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <sys/socket.h>

/*
 * Reads "ADDRESS:PORT", in which an IPv6 address has brackets. Names are not looked up.
 * -EINVAL: the text is no such address.
 *
 *   Threads: any.
 */
must_check int address_parse(
	const char *text, struct sockaddr_storage *ret, socklen_t *ret_n);

/* Reads such an address, or ":PORT" for all IPv4 addresses of this machine, or "NAME:PORT".
 * Takes the first address that the system knows for the name, which may take seconds. */
must_check int address_resolve(
	const char *text, struct sockaddr_storage *ret, socklen_t *ret_n);
