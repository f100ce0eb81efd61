// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "base/lock.h"
#include "base/log.h"
#include "far/far_internal.h"

#include <stdlib.h>
#include <string.h>

/* The health of each source: whether the source refuses the credentials, and a URL of the source
 * that could be read. There are few sources, and they are never freed. */

struct health {
	struct health *next;
	char *source;	    /* text with which the source's URLs begin */
	char *known;	    /* (health_lock) a URL that could be read, or NULL */
	uint64_t known_ns;  /* (health_lock) time when `known` was read */
	uint64_t denied_ns; /* (health_lock) last refusal; 0: none at present */
};

static struct lock health_lock;
static struct health *all; /* list of all sources; health_lock protects it */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void begin(void)
{
	lock_init(&health_lock, LOCK_RANK_FAR, "far health");
}

static size_t source_bytes(const struct place *place, const char *url)
{
	const char *host = strstr(url, "://");
	if (place->url && strncmp(url, place->url, strlen(place->url)) == 0)
		return strlen(place->url);
	return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : strlen(url);
}

struct health *health_of(const struct place *place, const char *url)
{
	size_t n = source_bytes(place, url);
	ensure(pthread_once(&once, begin) == 0);
	LOCK_SCOPE(&health_lock);
	for (struct health *health = all; health; health = health->next)
		if (strlen(health->source) == n && strncmp(health->source, url, n) == 0)
			return health;
	struct health *health = calloc(1, sizeof(*health));
	if (!health || !(health->source = strndup(url, n))) {
		free(health);
		return NULL;
	}
	health->next = all;
	return all = health;
}

#define KNOWN_NS UINT64_C(1000000000) /* least pause between two changes of `known` */

static bool note_good(struct health *health, const char *url, uint64_t begun_ns)
{
	uint64_t now_ns = clock_now_ns();
	LOCK_SCOPE(&health_lock);
	if (!health->known || now_ns - health->known_ns > KNOWN_NS) {
		char *copy = strdup(url);
		if (copy) {
			free(health->known);
			health->known = copy;
			health->known_ns = now_ns;
		}
	}
	/* A read that began before the refusal does not show that the refusal has ended. */
	bool ends = health->denied_ns != 0 && begun_ns > health->denied_ns;
	if (ends)
		health->denied_ns = 0;
	return ends;
}

void health_good(struct health *health, const char *url, uint64_t begun_ns)
{
	if (health && note_good(health, url, begun_ns))
		log_info("%s: the source can be read again", health->source);
}

char *health_known(struct health *health)
{
	if (!health)
		return NULL;
	LOCK_SCOPE(&health_lock);
	return health->known ? strdup(health->known) : NULL;
}

static bool note_denied(struct health *health)
{
	LOCK_SCOPE(&health_lock);
	bool begins = health->denied_ns == 0;
	health->denied_ns = clock_now_ns();
	return begins;
}

void health_denied(struct health *health, const char *message)
{
	if (health && note_denied(health))
		log_warn("%s: the source refuses all reads: %s; these reads wait or "
			 "fail, and no sample counts as bad",
			health->source, message);
}
