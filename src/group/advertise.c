// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/address.h"
#include "base/log.h"
#include "coord/coord_url.h"
#include "peer/peer_handshake.h"
#include "group/peers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_everywhere(const char *address)
{
	return strncmp(address, "0.0.0.0:", 8) == 0 || strncmp(address, "[::]:", 5) == 0;
}

static const char *port_of(const char *bound)
{
	return strrchr(bound, ':'); /* the text from the colon on */
}

/* Finds the local address from which the kernel would send to the host. Sends nothing. */
static int route_to(const struct coord_host *host, struct peer_address *ret)
{
	char text[COORD_URL_TEXT + 16];
	bool v6 = strchr(host->name, ':') != NULL;
	struct peer_address there;
	snprintf(text, sizeof(text), "%s%s%s:%d", v6 ? "[" : "", host->name,
		v6 ? "]" : "", host->port);
	if (host->port == 0 || address_resolve(text, &there.bytes, &there.n))
		return -EINVAL;
	auto_close int fd = socket(there.bytes.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*ret = (struct peer_address){.n = sizeof(ret->bytes)};
	if (fd < 0 || connect(fd, (struct sockaddr *)&there.bytes, there.n) < 0 ||
		getsockname(fd, (struct sockaddr *)&ret->bytes, &ret->n) < 0)
		return -errno;
	return 0;
}

/* Sets `ret` to this node's address on the route to the engine, with the port of `bound`. */
static int find_way(const struct cluster_config *config, const char *bound,
	char ret[static COORD_ADDRESS])
{
	char why[COORD_URL_MESSAGE], text[PEER_ADDRESS_TEXT];
	struct coord_url url;
	struct peer_address here;
	int err = -EINVAL;
	if (config->engine && coord_url_parse(config->engine, &url, why) == 0)
		for (size_t i = 0; i < url.n && err; i++)
			err = route_to(&url.hosts[i], &here);
	explicit_bzero(&url, sizeof(url));
	if (err)
		return err;
	peer_address_print(&here, text);
	*strrchr(text, ':') = '\0';
	snprintf(ret, COORD_ADDRESS, "%s%s", text, port_of(bound));
	return 0;
}

/* Resolves an address or a name. If `given` has no port, uses the port in `bound`. */
static int resolve(const char *given, const char *bound, char ret[static COORD_ADDRESS])
{
	char text[COORD_ADDRESS], found[PEER_ADDRESS_TEXT];
	struct peer_address address;
	const char *first = strchr(given, ':'), *last = strrchr(given, ':');
	bool bracket = *given == '[', v6 = !bracket && first != last;
	bool has_port = bracket ? strstr(given, "]:") != NULL : first && !v6;
	int n = snprintf(text, sizeof(text), "%s%s%s%s", v6 ? "[" : "", given,
		v6 ? "]" : "", has_port ? "" : port_of(bound));
	if ((*given == ':' && !v6) || n >= (int)sizeof(text) ||
		address_resolve(text, &address.bytes, &address.n))
		return -EINVAL;
	peer_address_print(&address, found);
	snprintf(ret, COORD_ADDRESS, "%s", found);
	return is_everywhere(found) ? -EINVAL : 0;
}

int advertise(const struct cluster_config *config, const char *bound,
	char ret[static COORD_ADDRESS])
{
	const char *given = config->advertise;
	if (!given && !is_everywhere(bound)) {
		snprintf(ret, COORD_ADDRESS, "%s", bound);
		return 0;
	}
	if (given && strcmp(given, "auto") != 0) {
		if (resolve(given, bound, ret) == 0)
			return 0;
		log_error("[cluster]:advertise: found \"%s\", allowed: auto, or the "
			  "address "
			  "or name at which the other nodes reach this one",
			given);
		return -EINVAL;
	}
	if (find_way(config, bound, ret) == 0)
		return 0;
	log_error("[cluster]:advertise: found no route to the engine, so auto can't find "
		  "this node's address; allowed: the address or name at which the other "
		  "nodes reach this one");
	return -EINVAL;
}
