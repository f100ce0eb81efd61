// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_resp.h"
#include "doctor.h"

#include <string.h>

#define TIMEOUT_MS 2000

static void look(struct findings *findings, struct coord_resp *resp)
{
	char said[COORD_TEXT] = "";
	int err = coord_resp_look(resp, said);
	if (err && said[0])
		found(findings, BREAKS, "see ENGINES in joaderfs.ini(5)", "the engine %s",
			said);
	else if (err)
		found(findings, BREAKS, "the server, its address or a firewall",
			"the engine can't be reached: %s", strerror(-err));
	else if (coord_policy_evicts(said))
		found(findings, COSTS, "CONFIG SET maxmemory-policy noeviction",
			"the engine may evict any key (maxmemory-policy %s): then orders "
			"are drawn anew",
			said);
	else
		found(findings, FINE, NULL, "the engine is reached, maxmemory-policy %s",
			said[0] ? said : "unknown");
}

static void look_at_nodes(struct findings *findings, const struct cluster_config *config)
{
	if (!config->listen || (!config->secret && !config->tls_cert))
		return;
	if (config->encrypt)
		found(findings, FINE, NULL, "nodes send images by TLS 1.3");
	else
		found(findings, COSTS, "encrypt = yes, unless only nodes use the network",
			"nodes send images unencrypted (encrypt = no)");
}

static void look_at_engine(struct findings *findings, const struct cluster_config *config)
{
	struct coord_resp *resp;
	char message[COORD_TEXT] = "";
	const struct coord_server server = {.url = config->engine,
		.password_file = config->engine_password_file,
		.ca = config->engine_ca,
		.cert = config->engine_cert,
		.key = config->engine_key};
	int err = coord_resp_new(&server, config->group, TIMEOUT_MS, &resp, message);
	if (err) {
		found(findings, BREAKS, "see ENGINES in joaderfs.ini(5)", "engine: %s",
			message[0] ? message : strerror(-err));
		return;
	}
	look(findings, resp);
	coord_resp_free(&resp);
}

void check_cluster(struct findings *findings)
{
	if (!findings->config || !findings->config->cluster.engine)
		return;
	look_at_nodes(findings, &findings->config->cluster);
	look_at_engine(findings, &findings->config->cluster);
}
