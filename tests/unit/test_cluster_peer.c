// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "peer_helpers.h"

#include <stdlib.h>

/* Two daemons without hostile intent. Tensors arrive whole, in any order, or an error says why
 * not. Broken connections are noticed and replaced. test_cluster_strangers.c has the hostile
 * peers. */

TestSuite(peer, .init = log_begin, .fini = log_end);

/* --- tensors ----------------------------------------------------------------------------- */

#define MANY 300

static void fetch_many(struct asker *asker, struct got *gots)
{
	for (uint32_t i = 0; i < MANY; i++)
		cr_assert_eq(start_fetch(asker, &gots[i], i, PATIENCE_S), 0);
}

static void all_whole(struct got *gots)
{
	for (uint32_t i = 0; i < MANY; i++) {
		EVENTUALLY(gots[i].done);
		cr_assert(is_whole(&gots[i]), "sample %u: %d", i, gots[i].err);
		free(gots[i].bytes);
	}
}

Test(peer, tensors_come_whole)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	struct got *gots = calloc(MANY, sizeof(*gots));
	fetch_many(&asker, gots);
	all_whole(gots);
	cr_assert_eq(owner->asked, MANY);
	EVENTUALLY(owner->released == MANY);
	peer_client_free(&asker.client);
	end_serving(&owner);
	free(gots);
}

Test(peer, answers_come_in_the_order_in_which_they_are_given)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	struct got *gots = calloc(MANY, sizeof(*gots));
	hold(owner, true);
	fetch_many(&asker, gots);
	EVENTUALLY(owner->asked == MANY);
	cr_assert(!gots[MANY - 1].done);
	answer_held(owner);
	all_whole(gots);
	peer_client_free(&asker.client);
	end_serving(&owner);
	free(gots);
}

Test(peer, a_space_is_told_as_it_is)
{
	static char long_text[PEER_SPACE_TEXT + 2];
	const struct peer_space other = {
		.dataset = "other", .preparation = "", .fingerprint = UINT64_MAX};
	struct peer_space longest = {
		.dataset = long_text, .preparation = long_text, .fingerprint = 1};
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	uint32_t first = asker.space, again;
	cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
	cr_assert_eq(peer_client_space(asker.client, &photos, &again), 0);
	cr_assert_eq(again, first);
	cr_assert_eq(peer_client_space(asker.client, &other, &asker.space), 0);
	cr_assert_neq(asker.space, first);
	owner->expected = &other;
	cr_assert_eq(fetch_one(&asker, 2, PATIENCE_S), 0);
	memset(long_text, 'x', PEER_SPACE_TEXT);
	cr_assert_eq(peer_client_space(asker.client, &longest, &asker.space), 0);
	owner->expected = &longest;
	cr_assert_eq(fetch_one(&asker, 3, PATIENCE_S), 0);
	long_text[PEER_SPACE_TEXT] = 'x';
	cr_assert_eq(peer_client_space(asker.client, &longest, &again), -EINVAL);
	long_text[PEER_SPACE_TEXT] = '\0';
	peer_client_free(&asker.client);
	end_serving(&owner);
}

/* --- no tensor --------------------------------------------------------------------------- */

Test(peer, a_refusal_says_why)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	cr_assert_eq(fetch_one(&asker, NO_SUCH_SAMPLE, PATIENCE_S), -ENOENT);
	cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
	peer_client_free(&asker.client);
	end_serving(&owner);
}

Test(peer, a_tensor_without_a_place_is_let_go)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	const sample_id samples[] = {
		5, 3, 4, 1}; /* 5 MB, no byte, a few bytes, an image */
	for (int i = 0; i < 4; i++) {
		struct got got = {.refuses = true};
		cr_assert_eq(start_fetch(&asker, &got, samples[i], PATIENCE_S), 0);
		EVENTUALLY(got.done);
		cr_assert_eq(got.err, -EBADMSG);
		cr_assert_eq(fetch_one(&asker, samples[i], PATIENCE_S), 0);
	}
	peer_client_free(&asker.client);
	end_serving(&owner);
}

Test(peer, what_comes_after_its_deadline_is_let_go)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	hold(owner, true);
	cr_assert_eq(fetch_one(&asker, 1, .05), -ETIMEDOUT);
	cr_assert_eq(fetch_one(&asker, 3, 0), -ETIMEDOUT);
	hold(owner, false);
	cr_assert_eq(fetch_one(&asker, 2, PATIENCE_S), 0);
	answer_held(owner);
	cr_assert_eq(fetch_one(&asker, 4, PATIENCE_S), 0);
	peer_client_free(&asker.client);
	end_serving(&owner);
}

Test(peer, a_node_that_answers_nothing_any_more_is_given_up)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	static struct got gots[PEER_WINDOW];
	hold(owner, true);
	for (uint32_t i = 0; i < PEER_WINDOW; i++)
		cr_assert_eq(start_fetch(&asker, &gots[i], 4, 1), 0);
	EVENTUALLY(owner->asked == PEER_WINDOW);
	for (uint32_t i = 0; i < PEER_WINDOW; i++)
		EVENTUALLY(gots[i].done);
	EVENTUALLY(logged("it does not answer"));
	hold(owner, false);
	EVENTUALLY(fetch_one(&asker, 1, PATIENCE_S) == 0);
	cr_assert(logged("answers again"));
	peer_client_free(&asker.client);
	end_serving(&owner);
}

Test(peer, no_more_is_asked_for_at_once_than_may_be)
{
	enum { ALL = 2 * PEER_WINDOW };
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	struct got *gots = calloc(ALL, sizeof(*gots));
	hold(owner, true);
	for (uint32_t i = 0; i < ALL; i++)
		cr_assert_eq(start_fetch(&asker, &gots[i], 4, PATIENCE_S), 0);
	EVENTUALLY(owner->asked == PEER_WINDOW);
	hold(owner, false);
	answer_held(owner);
	for (uint32_t i = 0; i < ALL; i++) {
		EVENTUALLY(gots[i].done);
		cr_assert(is_whole(&gots[i]));
		free(gots[i].bytes);
	}
	peer_client_free(&asker.client);
	end_serving(&owner);
	free(gots);
}

/* --- connections that break -------------------------------------------------------------- */

Test(peer, all_fail_at_once_when_the_connection_breaks)
{
	struct owner *owner = serve("b", NULL);
	char address[64];
	snprintf(address, sizeof(address), "%s", peer_server_address(owner->server));
	struct asker asker = ask(owner);
	static struct got gots[20];
	hold(owner, true);
	for (uint32_t i = 0; i < 20; i++)
		cr_assert_eq(start_fetch(&asker, &gots[i], 4, 1000), 0);
	EVENTUALLY(owner->asked == 20);
	end_serving(&owner);
	for (uint32_t i = 0; i < 20; i++) {
		EVENTUALLY(gots[i].done);
		cr_assert_eq(gots[i].err, -ECONNRESET);
	}
	EVENTUALLY(logged("node b at 127.0.0.1"));
	cr_assert_eq(fetch_one(&asker, 1, 1000), -EHOSTDOWN);
	owner = serve_at("b", NULL, address);
	EVENTUALLY(fetch_one(&asker, 1, 1000) == 0);
	cr_assert(logged("answers again"));
	peer_client_free(&asker.client);
	end_serving(&owner);
}

Test(peer, a_node_that_moves_is_found)
{
	struct owner *first = serve("b", NULL), *second = serve("b", NULL);
	struct asker asker = ask(first);
	uint32_t node;
	cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
	cr_assert_eq(peer_client_node(asker.client, "b",
			     peer_server_address(second->server), &node),
		0);
	cr_assert_eq(node, asker.node);
	cr_assert_eq(fetch_one(&asker, 2, PATIENCE_S), 0);
	cr_assert_eq(second->asked, 1);
	peer_client_forget(asker.client, node);
	cr_assert_eq(fetch_one(&asker, 2, PATIENCE_S), -EHOSTDOWN);
	cr_assert_eq(peer_client_node(asker.client, "b",
			     peer_server_address(first->server), &node),
		0);
	cr_assert_eq(fetch_one(&asker, 2, PATIENCE_S), 0);
	cr_assert_eq(first->asked, 2);
	peer_client_free(&asker.client);
	end_serving(&first);
	end_serving(&second);
}

Test(peer, a_client_that_ends_cancels_what_it_waits_for)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	struct got got = {0};
	hold(owner, true);
	cr_assert_eq(start_fetch(&asker, &got, 1, 1000), 0);
	EVENTUALLY(owner->asked == 1);
	peer_client_free(&asker.client);
	cr_assert(got.done);
	cr_assert_eq(got.err, -ECANCELED);
	end_serving(&owner);
}

Test(peer, nobody_is_there)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	end_serving(&owner);
	cr_assert_eq(fetch_one(&asker, 1, 1000), -EHOSTDOWN);
	cr_assert(logged("Connection refused"));
	peer_client_free(&asker.client);
}

/* --- counters ---------------------------------------------------------------------------- */

Test(peer, both_ends_count)
{
	struct owner *owner = serve("b", NULL);
	struct asker asker = ask(owner);
	uint64_t client, server;
	cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
	cr_assert_eq(fetch_one(&asker, NO_SUCH_SAMPLE, PATIENCE_S), -ENOENT);
	cr_assert(peer_client_bytes(asker.client, "b", &client));
	cr_assert_eq(client, tensor_length(1));
	EVENTUALLY(peer_server_bytes(owner->server, "a", &server) &&
		   server == tensor_length(1));
	cr_assert_not(peer_client_bytes(asker.client, "a", &client));
	cr_assert_not(peer_server_bytes(owner->server, "b", &server));
	peer_client_free(&asker.client);
	end_serving(&owner);
}

Test(peer, without_a_secret_only_loopback)
{
	const struct peer_self self = {.name = "a"};
	const struct peer_server_calls calls = {.asked = owner_asked};
	const char *const refused[] = {"0.0.0.0:0", "10.1.2.3:7070", "[::]:0"};
	const char *const wrong[] = {"", "7070", "127.0.0.1", "127.0.0.1:", ":x", "::1:7",
		"127.0.0.1:65536", "127.0.0.1:x", "[127.0.0.1:7"};
	/* A server may resolve its own name. A name that another node tells is never resolved. */
	const char *const names[] = {":1", "localhost:7070"};
	struct peer_server *server = NULL;
	struct peer_client *client = NULL;
	uint32_t node;
	cr_assert_eq(peer_client_new(&self, MOST_BYTES, &client), 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		cr_assert_eq(peer_server_new(refused[i], &self, &calls, &server), -EPERM);
		cr_assert_eq(peer_client_node(client, "b", refused[i], &node), -EPERM);
	}
	cr_assert(logged(
		"without a secret or certificate only loopback addresses are allowed"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_assert_eq(peer_client_node(client, "b", names[i], &node), -EINVAL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_assert_eq(peer_server_new(wrong[i], &self, &calls, &server), -EINVAL,
			"%s", wrong[i]);
		cr_assert_eq(peer_client_node(client, "b", wrong[i], &node), -EINVAL);
	}
	peer_client_free(&client);
}

Test(peer, two_nodes_of_one_name_are_told)
{
	struct owner *owner = serve("b", NULL);
	struct asker same = ask_as("b", NULL, "b", peer_server_address(owner->server));
	cr_assert_eq(fetch_one(&same, 1, PATIENCE_S), -EHOSTDOWN);
	EVENTUALLY(logged("it is refused: it has this node's name"));
	peer_client_free(&same.client);
	struct asker other = ask_as("a", NULL, "c", peer_server_address(owner->server));
	cr_assert_eq(fetch_one(&other, 1, PATIENCE_S), -EHOSTDOWN);
	cr_assert(logged("node c at 127.0.0.1"));
	cr_assert(logged("a node of another name answers there"));
	peer_client_free(&other.client);
	end_serving(&owner);
}
