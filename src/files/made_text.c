// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/made_text.h"
#include "base/clock.h"
#include "base/lock.h"
#include "files/beside.h"
#include "files/text.h"

#include <errno.h>

/* Printing the texts of one kind takes at most 1 / ONE_IN of a CPU's time on average. A burst may
 * take BURST_NS / ONE_IN of CPU time in addition. */
#define ONE_IN 20
#define BURST_NS (2 * SECOND_NS)

struct shared {
	struct made_text *text; /* (lock) NULL: none yet */
	unsigned makers;	/* (lock) threads that print this text */
	/* (lock) Time until which printing has to rest, so that it takes 1 / ONE_IN of a CPU's time
	 * on average. A printing adds ONE_IN times its CPU time to paid_ns, or to the present time
	 * if paid_ns has passed. While paid_ns is more than BURST_NS in the future, readers share a
	 * text. */
	uint64_t paid_ns;
};

struct made_texts {
	struct lock lock;
	struct shared shared[MADE_KINDS]; /* (lock) */
};

int made_text_begin(struct made_text **ret)
{
	struct made_text *text = calloc(1, sizeof(*text));
	if (!text)
		return -ENOMEM;
	text->references = 1;
	text->begun_ns = clock_now_ns();
	text->out = open_memstream(&text->text, &text->bytes);
	if (!text->out) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

int made_text_end(struct made_text **text, int err)
{
	bool failed = ferror((*text)->out);
	if ((fclose((*text)->out) != 0 || failed) && !err)
		err = -ENOMEM;
	if (err)
		made_text_put(text);
	return err;
}

void made_text_put(struct made_text **text)
{
	struct made_text *old = *text;
	*text = NULL;
	if (!old || atomic_fetch_sub(&old->references, 1) != 1)
		return;
	free(old->text);
	free(old);
}

int made_texts_new(struct made_texts **ret)
{
	struct made_texts *texts = calloc(1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	lock_init(&texts->lock, LOCK_RANK_FILES, "texts");
	*ret = texts;
	return 0;
}

void made_texts_free(struct made_texts **texts)
{
	if (!*texts)
		return;
	for (size_t i = 0; i < MADE_KINDS; i++)
		made_text_put(&(*texts)->shared[i].text);
	lock_destroy(&(*texts)->lock);
	free(*texts);
	*texts = NULL;
}

static int print(FILE *out, const struct files_context *context, enum made_kind kind)
{
	switch (kind) {
	case MADE_STATS:
		text_stats(out, context);
		return 0;
	case MADE_STATS_JSON:
		text_stats_json(out, context);
		return 0;
	case MADE_METRICS:
		text_metrics(out, context, STATS_PROMETHEUS);
		return 0;
	case MADE_OPENMETRICS:
		text_metrics(out, context, STATS_OPENMETRICS);
		return 0;
	default:
		return text_dashboard(out, context);
	}
}

/* Tells whether the caller gets the shared text. This text must be less than a second old, unless
 * another thread is printing a new text. The dashboard is always shared. Counters are shared only
 * if printing them for each caller takes too much CPU time (ONE_IN), or if an old text is
 * enough. */
static bool is_good_enough(const struct shared *shared, enum made_kind kind,
	bool old_is_enough, uint64_t now_ns)
{
	bool rests = old_is_enough || kind == MADE_DASHBOARD ||
		     shared->paid_ns > now_ns + BURST_NS;
	return shared->text && rests &&
	       (shared->makers > 0 || now_ns - shared->text->begun_ns < SECOND_NS);
}

/* Takes a reference to the shared text. NULL: the caller must print a new text, and call share. */
static struct made_text *find(
	struct made_texts *texts, enum made_kind kind, bool old_is_enough)
{
	LOCK_SCOPE(&texts->lock);
	struct shared *shared = &texts->shared[kind];
	if (!is_good_enough(shared, kind, old_is_enough, clock_now_ns())) {
		shared->makers++;
		return NULL;
	}
	atomic_fetch_add(&shared->text->references, 1);
	return shared->text;
}

/* Makes `text` the shared text, unless the present one was begun later. text NULL: printing failed.
 * cost_ns: CPU time of the printing. Returns the text that was shared before, for made_text_put, or
 * NULL. */
static struct made_text *share(struct made_texts *texts, enum made_kind kind,
	struct made_text *text, uint64_t cost_ns)
{
	LOCK_SCOPE(&texts->lock);
	struct shared *shared = &texts->shared[kind];
	uint64_t now_ns = clock_now_ns();
	shared->makers--;
	if (shared->paid_ns < now_ns)
		shared->paid_ns = now_ns;
	shared->paid_ns += cost_ns * ONE_IN;
	if (!text || (shared->text && shared->text->begun_ns > text->begun_ns))
		return NULL;
	struct made_text *old = shared->text;
	atomic_fetch_add(&text->references, 1);
	shared->text = text;
	return old;
}

int made_texts_take(const struct files_context *context, enum made_kind kind,
	bool old_is_enough, struct made_text **ret)
{
	struct made_text *text = find(context->texts, kind, old_is_enough);
	uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	*ret = text;
	if (text)
		return 0;
	int err = made_text_begin(&text);
	if (!err)
		err = print(text->out, context, kind);
	if (text)
		err = made_text_end(&text, err);
	struct made_text *old = share(
		context->texts, kind, text, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns);
	made_text_put(&old);
	*ret = text;
	return err;
}

static enum made_kind kind_of(enum inode_kind kind)
{
	switch (kind) {
	case INODE_STATS:
		return MADE_STATS;
	case INODE_STATS_JSON:
		return MADE_STATS_JSON;
	case INODE_METRICS:
		return MADE_METRICS;
	case INODE_DASHBOARD:
		return MADE_DASHBOARD;
	default:
		return MADE_KINDS;
	}
}

int made_texts_take_file(const struct files_context *context, struct inode inode,
	bool old_is_enough, struct made_text **ret)
{
	enum made_kind kind = kind_of(inode.kind);
	if (kind != MADE_KINDS)
		return made_texts_take(context, kind, old_is_enough, ret);
	int err = made_text_begin(ret);
	if (err)
		return err;
	return made_text_end(ret, text_print((*ret)->out, context, inode));
}

int made_text_of_sample(struct sched_job *job, enum inode_kind kind, uint32_t epoch,
	sample_id sample, struct made_text **ret)
{
	int err = made_text_begin(ret);
	if (err)
		return err;
	if (kind == INODE_JSON)
		err = json_print((*ret)->out, job, epoch, sample);
	else
		err = beside_print((*ret)->out, job, epoch, sample, kind - INODE_BESIDE);
	return made_text_end(ret, err);
}
