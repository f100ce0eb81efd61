// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "group/group_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TIMEOUT_MS 2000

/* Connects to the engine for one command. NULL: an error, with the reason in `text`. */
static struct coord_resp *connect_to(const struct group *group, char text[GROUP_TEXT])
{
	const struct cluster_config *config = &group->config->cluster;
	char message[COORD_TEXT] = "";
	struct coord_resp *resp = NULL;
	if (!config->engine) {
		snprintf(text, GROUP_TEXT, "the daemon's ini has no engine in [cluster]");
		return NULL;
	}
	const struct coord_server server = {.url = config->engine,
		.password_file = config->engine_password_file,
		.ca = config->engine_ca,
		.cert = config->engine_cert,
		.key = config->engine_key};
	int err = coord_resp_new(&server, config->group, TIMEOUT_MS, &resp, message);
	if (err)
		snprintf(text, GROUP_TEXT, "%s", message[0] ? message : strerror(-err));
	return resp;
}

static bool explain(int err, const char *name, const char *said, char text[GROUP_TEXT])
{
	if (err == -ENOENT)
		snprintf(text, GROUP_TEXT, "the group has no training or node %.64s",
			name);
	else if (err == -EAGAIN)
		snprintf(text, GROUP_TEXT,
			"the log is being repaired; please try again in a few seconds");
	else if (err == -EBUSY && strcmp(said, name) == 0)
		snprintf(text, GROUP_TEXT,
			"node %.64s is alive; please end its daemon first", name);
	else if (err == -EBUSY)
		snprintf(text, GROUP_TEXT,
			"training %.64s runs on %.200s; please remove its jobs there "
			"(joaderctl rm)",
			name, said);
	else if (err)
		snprintf(text, GROUP_TEXT, "%s", said[0] ? said : strerror(-err));
	return err == 0;
}

bool group_forget(struct group *group, const char *name, char text[GROUP_TEXT])
{
	char said[COORD_TEXT] = "";
	struct coord_resp *resp = connect_to(group, text);
	if (!resp)
		return false;
	int err = coord_resp_drop(resp, name, said);
	coord_resp_free(&resp);
	if (!explain(err, name, said, text))
		return false;
	snprintf(text, GROUP_TEXT, "the group has forgotten %.64s", name);
	return true;
}

bool group_resize(struct group *group, const char *training, uint32_t ranks,
	uint32_t local_ranks, char text[GROUP_TEXT])
{
	char said[COORD_TEXT] = "";
	struct coord_resp *resp = connect_to(group, text);
	if (!resp)
		return false;
	int err = coord_resp_resize(resp, training, ranks, local_ranks, said);
	coord_resp_free(&resp);
	if (!explain(err, training, said, text))
		return false;
	snprintf(text, GROUP_TEXT,
		"training %.64s continues with ranks = %" PRIu32
		": please remove its jobs (joaderctl rm), and add the jobs of the new "
		"ranks within a day",
		training, ranks);
	return true;
}
