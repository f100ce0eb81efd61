// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <sys/socket.h>

/* Parses "ADDRESS:PORT". An IPv6 address is in brackets; names are refused. -EINVAL: the text has
 * another form. Any thread may call the functions of this file. */
must_check int address_parse(
	const char *text, struct sockaddr_storage *ret, socklen_t *ret_n);

/* Parses "ADDRESS:PORT", ":PORT" (all IPv4 addresses of this machine) or "NAME:PORT". A name is
 * resolved to its first address, which may take seconds. -EINVAL: the text has another form, or the
 * name can't be resolved. */
must_check int address_resolve(
	const char *text, struct sockaddr_storage *ret, socklen_t *ret_n);
