// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/address.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/signals.h"
#include "peer/peer_client_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define EVENTS 64

/* The client whose loop this thread runs, or NULL. */
static _Thread_local const struct peer_client *looping;

/* --- fetches ----------------------------------------------------------------------------- */

/* Adds the node to the list of nodes for which the loop has work. Returns true if the caller must
 * wake the client's thread. */
static bool set_ready_locked(struct peer_client *client, struct peer_node *node)
{
	lock_assert_held(&client->lock);
	bool first = SLIST_EMPTY(&client->ready);
	if (node->is_ready)
		return false;
	node->is_ready = true;
	SLIST_INSERT_HEAD(&client->ready, node, ready_link);
	return first && looping != client;
}

static int add_locked(struct peer_client *client, struct peer_want *want, bool *ret_wakes)
{
	lock_assert_held(&client->lock);
	ensure(want->fetch.node < client->n_nodes);
	ensure(want->fetch.space < client->n_spaces);
	struct peer_node *node = client->nodes[want->fetch.node];
	if (client->stopping)
		return -ECANCELED;
	if (node->is_gone || clock_now_ns() < node->down_until_ns)
		return -EHOSTDOWN;
	TAILQ_INSERT_TAIL(&node->waiting, want, link);
	*ret_wakes = set_ready_locked(client, node);
	return 0;
}

int peer_fetch(struct peer_client *client, const struct peer_fetch *fetch)
{
	struct peer_want *want = malloc(sizeof(*want));
	bool wakes = false;
	if (!want)
		return -ENOMEM;
	want->fetch = *fetch;
	lock_take(&client->lock);
	int err = add_locked(client, want, &wakes);
	lock_release(&client->lock);
	if (err)
		free(want);
	else if (wakes)
		peer_wake(client->wake);
	return err;
}

void peer_want_done(struct peer_want *want, int err)
{
	want->fetch.done(want->fetch.context, err);
	free(want);
}

void peer_slot_free(struct peer_node *node, struct peer_slot *slot)
{
	if (!slot->want)
		node->n_left--;
	slot->want = NULL;
	slot->is_used = false;
	node->free_slots[node->n_free++] = (uint32_t)(slot - node->slots);
}

void peer_node_set_down(struct peer_node *node, uint64_t until_ns)
{
	LOCK_SCOPE(&node->client->lock);
	node->down_until_ns = until_ns;
}

/* --- nodes and spaces -------------------------------------------------------------------- */

static struct peer_node *new_node(struct peer_client *client, const char *name)
{
	struct peer_node *node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->client = client;
	peer_link_begin(&node->stream, -1, false);
	strcpy(node->name, name);
	TAILQ_INIT(&node->waiting);
	TAILQ_INIT(&node->queue);
	for (uint32_t i = 0; i < PEER_WINDOW; i++) {
		node->slots[i].request = i;
		node->free_slots[i] = i;
	}
	node->n_free = PEER_WINDOW;
	return node;
}

static int add_node_locked(
	struct peer_client *client, const char *name, struct peer_node **ret)
{
	lock_assert_held(&client->lock);
	struct peer_node **nodes =
		reallocarray(client->nodes, client->n_nodes + 1, sizeof(*client->nodes));
	if (!nodes)
		return -ENOMEM;
	client->nodes = nodes;
	*ret = new_node(client, name);
	if (!*ret)
		return -ENOMEM;
	client->nodes[client->n_nodes++] = *ret;
	return 0;
}

static uint32_t find_node_locked(struct peer_client *client, const char *name)
{
	lock_assert_held(&client->lock);
	uint32_t i = 0;
	while (i < client->n_nodes && strcmp(client->nodes[i]->name, name) != 0)
		i++;
	return i;
}

static int check_node(const struct peer_client *client, const char *name,
	const char *text, struct peer_address *ret_address)
{
	size_t n = strlen(name);
	if (n == 0 || n > PEER_NAME ||
		address_parse(text, &ret_address->bytes, &ret_address->n)) {
		log_error("node %s at %s: allowed: a name of 1 to %d bytes, ADDRESS:PORT",
			name, text, PEER_NAME);
		return -EINVAL;
	}
	if (!client->self.trust && !peer_address_is_loopback(ret_address)) {
		log_error("node %s at %s: without a secret or certificate only "
			  "loopback addresses are allowed",
			name, text);
		return -EPERM;
	}
	return 0;
}

int peer_client_node(struct peer_client *client, const char *name, const char *text,
	uint32_t *ret_node)
{
	struct peer_address address;
	int err = check_node(client, name, text, &address);
	if (err)
		return err;
	lock_take(&client->lock);
	struct peer_node *node = NULL;
	uint32_t i = find_node_locked(client, name);
	if (i < client->n_nodes)
		node = client->nodes[i];
	else
		err = add_node_locked(client, name, &node);
	bool wakes = false;
	if (!err) {
		bool moves = node->wanted.n != address.n ||
			     memcmp(&node->wanted.bytes, &address.bytes, address.n) != 0;
		if (moves || node->is_gone)
			node->down_until_ns = 0;
		node->is_gone = false;
		node->has_moved |= moves;
		node->wanted = address;
		*ret_node = i;
		wakes = set_ready_locked(client, node);
	}
	lock_release(&client->lock);
	if (wakes)
		peer_wake(client->wake);
	return err;
}

void peer_client_forget(struct peer_client *client, uint32_t number)
{
	lock_take(&client->lock);
	ensure(number < client->n_nodes);
	client->nodes[number]->is_gone = true;
	bool wakes = set_ready_locked(client, client->nodes[number]);
	lock_release(&client->lock);
	if (wakes)
		peer_wake(client->wake);
}

static bool is_space(const struct peer_space *a, const struct peer_space *b)
{
	return a->fingerprint == b->fingerprint && strcmp(a->dataset, b->dataset) == 0 &&
	       strcmp(a->preparation, b->preparation) == 0;
}

int peer_client_space(
	struct peer_client *client, const struct peer_space *space, uint32_t *ret_space)
{
	if (strlen(space->dataset) > PEER_SPACE_TEXT ||
		strlen(space->preparation) > PEER_SPACE_TEXT)
		return -EINVAL;
	LOCK_SCOPE(&client->lock);
	for (uint32_t i = 0; i < client->n_spaces; i++)
		if (is_space(&client->spaces[i], space)) {
			*ret_space = i;
			return 0;
		}
	if (client->n_spaces == PEER_SPACES)
		return -ENOSPC;
	char *dataset = strdup(space->dataset);
	char *preparation = strdup(space->preparation);
	if (!dataset || !preparation) {
		free(dataset);
		free(preparation);
		return -ENOMEM;
	}
	client->spaces[client->n_spaces] = (struct peer_space){.dataset = dataset,
		.preparation = preparation,
		.fingerprint = space->fingerprint};
	*ret_space = client->n_spaces++;
	return 0;
}

bool peer_client_bytes(struct peer_client *client, const char *name, uint64_t *ret)
{
	LOCK_SCOPE(&client->lock);
	uint32_t i = find_node_locked(client, name);
	bool known = i < client->n_nodes;
	if (known)
		*ret = client->nodes[i]->bytes;
	return known;
}

/* --- the loop ---------------------------------------------------------------------------- */

/* a copy of fields of the node that need the lock */
struct news {
	struct peer_node *node;
	bool is_gone, has_moved, is_down;
};

static bool next_ready(struct peer_client *client, struct news *ret)
{
	struct peer_want *want;
	LOCK_SCOPE(&client->lock);
	struct peer_node *node = SLIST_FIRST(&client->ready);
	if (!node)
		return false;
	SLIST_REMOVE_HEAD(&client->ready, ready_link);
	node->is_ready = false;
	TAILQ_FOREACH (want, &node->waiting, link)
		if (want->fetch.deadline_ns < client->next_look_ns)
			client->next_look_ns = want->fetch.deadline_ns;
	TAILQ_CONCAT(&node->queue, &node->waiting, link);
	*ret = (struct news){.node = node,
		.is_gone = node->is_gone,
		.has_moved = node->has_moved,
		.is_down = clock_now_ns() < node->down_until_ns};
	if (node->has_moved)
		node->address = node->wanted;
	node->has_moved = false;
	return true;
}

static void go_all(struct peer_client *client)
{
	struct news news;
	while (next_ready(client, &news)) {
		if (news.has_moved)
			peer_node_move(news.node);
		if (news.is_gone || (news.is_down && news.node->state == PEER_DOWN))
			peer_node_close(news.node, -EHOSTDOWN);
		else
			peer_node_go(news.node);
	}
}

static struct peer_node *nth_node(struct peer_client *client, uint32_t i)
{
	LOCK_SCOPE(&client->lock);
	return i < client->n_nodes ? client->nodes[i] : NULL;
}

static void look(struct peer_client *client, uint64_t now)
{
	struct peer_node *node;
	uint64_t next = UINT64_MAX;
	client->next_look_ns = UINT64_MAX;
	for (uint32_t i = 0; (node = nth_node(client, i)); i++) {
		uint64_t at = peer_node_look(node, now);
		next = at < next ? at : next;
	}
	if (next < client->next_look_ns)
		client->next_look_ns = next;
}

static void end_all(struct peer_client *client)
{
	struct peer_node *node;
	for (uint32_t i = 0; (node = nth_node(client, i)); i++) {
		lock_take(&client->lock);
		TAILQ_CONCAT(&node->queue, &node->waiting, link);
		lock_release(&client->lock);
		peer_node_close(node, -ECANCELED);
	}
}

static void *loop(void *context)
{
	struct peer_client *client = context;
	struct epoll_event events[EVENTS];
	uint64_t count;
	looping = client;
	while (!client->stopping) {
		int n = epoll_wait(client->epoll, events, EVENTS,
			clock_ms_until(client->next_look_ns));
		for (int i = 0; i < n; i++) {
			struct peer_node *node = events[i].data.ptr;
			if (!node)
				(void)!read(client->wake, &count, sizeof(count));
			else if (node->state != PEER_DOWN)
				peer_node_event(node, events[i].events);
		}
		go_all(client);
		uint64_t now = clock_now_ns();
		if (now >= client->next_look_ns)
			look(client, now);
	}
	end_all(client);
	return NULL;
}

/* --- life -------------------------------------------------------------------------------- */

static int start(struct peer_client *client)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
	client->epoll = epoll_create1(EPOLL_CLOEXEC);
	client->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	client->scratch = malloc(PEER_SCRATCH_BYTES);
	if (!client->scratch)
		return -ENOMEM;
	if (client->epoll < 0 || client->wake < 0 ||
		epoll_ctl(client->epoll, EPOLL_CTL_ADD, client->wake, &event) < 0)
		return -errno;
	return signals_thread(&client->thread, loop, client);
}

static void destroy(struct peer_client *client)
{
	for (uint32_t i = 0; i < client->n_nodes; i++)
		free(client->nodes[i]);
	for (uint32_t i = 0; i < client->n_spaces; i++) {
		free((char *)(uintptr_t)client->spaces[i].dataset);
		free((char *)(uintptr_t)client->spaces[i].preparation);
	}
	cleanup_close(&client->epoll);
	cleanup_close(&client->wake);
	lock_destroy(&client->lock);
	free(client->nodes);
	free(client->scratch);
	free(client);
}

int peer_client_new(
	const struct peer_self *self, uint64_t most_bytes, struct peer_client **ret)
{
	struct peer_client *client = calloc(1, sizeof(*client));
	if (!client)
		return -ENOMEM;
	ensure(strlen(self->name) <= PEER_NAME);
	strcpy(client->name, self->name);
	client->self = *self;
	client->self.name = client->name;
	client->most_bytes = most_bytes;
	client->next_look_ns = UINT64_MAX;
	client->epoll = client->wake = -1;
	SLIST_INIT(&client->ready);
	lock_init(&client->lock, LOCK_RANK_PEER, "peer client");
	int err = start(client);
	if (err)
		destroy(client);
	else
		*ret = client;
	return err;
}

void peer_client_free(struct peer_client **client_)
{
	struct peer_client *client = *client_;
	*client_ = NULL;
	if (!client)
		return;
	client->stopping = true;
	peer_wake(client->wake);
	ensure(pthread_join(client->thread, NULL) == 0);
	destroy(client);
}
