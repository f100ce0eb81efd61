// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/ensure.h"
#include "draw/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Opens bind samples in the order of the feed. So the number of bindings in the journal tells which
 * samples are bound. */

static void feed_free(struct feed *feed)
{
	free(feed->ids);
	*feed = (struct feed){0};
}

void feeds_free(struct feeds *feeds)
{
	feed_free(&feeds->feed[0]);
	feed_free(&feeds->feed[1]);
}

struct feed *feed_find(struct feeds *feeds, uint32_t epoch)
{
	struct feed *feed = &feeds->feed[epoch % 2];
	return feed->used && feed->epoch == epoch ? feed : NULL;
}

struct feed *feed_begin(struct feeds *feeds, uint32_t epoch, uint32_t next)
{
	struct feed *feed = &feeds->feed[epoch % 2];
	feed_free(feed);
	*feed = (struct feed){.used = true, .epoch = epoch, .next = next};
	return feed;
}

/* Makes room for n more samples at the end. -ENOMEM */
static int reserve(struct feed *feed, uint32_t n)
{
	if (feed->n > 0)
		memmove(feed->ids, feed->ids + feed->head, feed->n * sizeof(*feed->ids));
	feed->head = 0;
	if (feed->n + n <= feed->room)
		return 0;
	if (!array_resize(feed->ids, feed->n + n))
		return -ENOMEM;
	feed->room = feed->n + n;
	return 0;
}

sample_id *feed_return(struct feeds *feeds, uint32_t epoch, uint32_t n)
{
	struct feed *feed = feed_find(feeds, epoch);
	if (n == 0 || !feed)
		return NULL;
	if (reserve(feed, n) != 0) {
		feed_free(feed);
		return NULL;
	}
	memmove(feed->ids + n, feed->ids, feed->n * sizeof(*feed->ids));
	feed->n += n;
	return feed->ids;
}

int feed_append(struct feed *feed, uint32_t base, const sample_id *ids, uint32_t n)
{
	uint32_t known = feed->next - base;
	if (known >= n)
		return 0;
	int err = reserve(feed, n - known);
	if (err)
		return err;
	memcpy(feed->ids + feed->n, ids + known, (n - known) * sizeof(*ids));
	feed->n += n - known;
	feed->next += n - known;
	return 0;
}

sample_id feed_take(struct feed *feed)
{
	ensure(feed->n > 0);
	feed->n--;
	return feed->ids[feed->head++];
}

sample_id feed_at(const struct feed *feed, uint32_t k)
{
	if (k >= feed->next || feed->next - k > feed->n)
		return SAMPLE_NONE;
	return feed->ids[feed->head + feed->n - (feed->next - k)];
}

/* The coordinator gets a report after this many consumed positions, and every second. */
#define NEWS_EVERY 16

bool feed_has_news(struct feeds *feeds)
{
	feeds->consumed_since = (feeds->consumed_since + 1) % NEWS_EVERY;
	return feeds->consumed_since == 0;
}
