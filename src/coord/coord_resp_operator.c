// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "coord/coord_resp_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int ask(struct coord_resp *resp, struct resp_words *words, redisReply **ret,
	char said[COORD_TEXT])
{
	int err = resp_call(resp, words, ret);
	said[0] = '\0';
	if (err && err != -ENOENT && err != -ESTALE)
		snprintf(said, COORD_TEXT, "the engine %.200s",
			resp->refused[0] ? resp->refused : "does not answer");
	return err == -ESTALE ? -EAGAIN : err;
}

/* Prints to `said` the names of the nodes in the reply. Returns -EBUSY if there are any. */
static int list_live(const redisReply *reply, char said[COORD_TEXT])
{
	char name[COORD_NAME];
	size_t n = 0;
	if (!resp_is_array(reply, 0))
		return -EBADE;
	for (size_t i = 0; i < reply->elements; i++) {
		if (!resp_take_name(reply->element[i], name))
			return -EBADE;
		if (n < COORD_TEXT)
			n += (size_t)snprintf(
				said + n, COORD_TEXT - n, "%s%s", i ? ", " : "", name);
	}
	return reply->elements ? -EBUSY : 0;
}

int coord_resp_drop(struct coord_resp *resp, const char *name, char said[COORD_TEXT])
{
	redisReply *reply;
	struct resp_words words = resp_function(resp, "joaderfs_2_drop", 1);
	resp_text(&words, name);
	int err = ask(resp, &words, &reply, said);
	return err ? err : resp_end(resp, reply, list_live(reply, said));
}

/* Prints to `said` why the engine did not change the number of ranks. An empty reply means that the
 * engine has changed the number. Otherwise the reply is one of these arrays:
 *     "ranks", ranks, batch
 *     "local", ranks, local_ranks
 *     "behind", rank, position, epoch, epoch of other ranks
 */
static int take_obstacle(const redisReply *reply, char said[COORD_TEXT])
{
	uint32_t number[4] = {0};
	if (!resp_is_array(reply, 0))
		return -EBADE;
	if (reply->elements == 0)
		return 0;
	bool behind = reply->elements == 5;
	if ((!behind && reply->elements != 3) || !resp_is_text(reply->element[0], 8))
		return -EBADE;
	for (size_t i = 1; i < reply->elements; i++)
		if (!resp_take_u32(reply->element[i], 0, UINT32_MAX, &number[i - 1]))
			return -EBADE;
	if (behind)
		snprintf(said, COORD_TEXT,
			"rank %" PRIu32 " is at position %" PRIu32 " of epoch %" PRIu32
			", other ranks are in epoch %" PRIu32
			"; let this rank read its epoch to the end, on any node",
			number[0], number[1], number[2], number[3]);
	else if (strcmp(reply->element[0]->str, "local") == 0)
		snprintf(said, COORD_TEXT,
			"found %" PRIu32 " ranks, allowed: a multiple of %" PRIu32
			", the number of local_ranks",
			number[0], number[1]);
	else
		snprintf(said, COORD_TEXT,
			"found %" PRIu32 " ranks, allowed: 1 to %" PRIu32
			", the training's global_batch",
			number[0], number[1]);
	return -EINVAL;
}

int coord_resp_resize(struct coord_resp *resp, const char *job, uint32_t ranks,
	uint32_t local_ranks, char said[COORD_TEXT])
{
	redisReply *reply;
	snprintf(said, COORD_TEXT, "the engine does not answer");
	/* The command has the server's run_id, which is known only after connecting. */
	int err = resp_connect(resp);
	if (err)
		return err;
	struct resp_words words = resp_function(resp, "joaderfs_2_resize", 4);
	resp_text(&words, resp->run);
	resp_text(&words, job);
	resp_number(&words, ranks);
	resp_number(&words, local_ranks);
	err = ask(resp, &words, &reply, said);
	return err ? err : resp_end(resp, reply, take_obstacle(reply, said));
}

#endif
