// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "state/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "joaderfs checkpoint 1"

static void print_point(FILE *out, const char *key, const struct epochs_point *point)
{
	fprintf(out, "%s %" PRIu32 "\nconsumed %" PRIu32 " %016" PRIx64 "\n", key,
		point->epoch, point->consumed, point->hash);
}

static void print_runs(FILE *out, const struct checkpoint *checkpoint)
{
	fprintf(out, "read");
	for (uint32_t i = 0; i < checkpoint->n_runs; i++) {
		const struct run *run = &checkpoint->runs[i];
		fprintf(out, " %" PRIu32, run->first);
		if (run->last != run->first)
			fprintf(out, "-%" PRIu32, run->last);
	}
	fprintf(out, "%s\n", checkpoint->all_runs ? "" : " more");
}

void checkpoint_print(FILE *out, const struct checkpoint *checkpoint)
{
	fprintf(out, FIRST_LINE "\njob %s\n", checkpoint->job);
	if (checkpoint->has_journal)
		fprintf(out, "journal %016" PRIx64 "\n", checkpoint->journal);
	else
		fprintf(out, "journal none\n");
	fprintf(out, "samples %" PRIu32 " %016" PRIx64 "\nini %016" PRIx64 "\n",
		checkpoint->samples, checkpoint->fingerprint, checkpoint->ini);
	print_point(out, "epoch", &checkpoint->place.running);
	print_runs(out, checkpoint);
	if (checkpoint->place.drains)
		print_point(out, "beside", &checkpoint->place.draining);
	fprintf(out, "end\n");
}

struct parser {
	const char *at;
	unsigned line;
	char *message;
};

static int refuse(struct parser *parser, const char *allowed)
{
	snprintf(parser->message, 200, "line %u: found \"%.*s\", allowed: %s",
		parser->line, (int)(strcspn(parser->at, "\n") % 100), parser->at,
		allowed);
	return -EINVAL;
}

static bool skip(struct parser *parser, const char *text)
{
	size_t n = strlen(text);
	if (strncmp(parser->at, text, n) != 0)
		return false;
	parser->at += n;
	return true;
}

static bool end_line(struct parser *parser)
{
	parser->line++;
	return skip(parser, "\n");
}

static bool take_number(struct parser *parser, uint32_t *ret)
{
	char *end;
	if (*parser->at < '0' || *parser->at > '9')
		return false;
	unsigned long long value = strtoull(parser->at, &end, 10);
	parser->at = end;
	*ret = (uint32_t)value;
	return value <= UINT32_MAX;
}

static bool take_hash(struct parser *parser, uint64_t *ret)
{
	if (strspn(parser->at, "0123456789abcdef") != 16)
		return false;
	*ret = strtoull(parser->at, NULL, 16);
	parser->at += 16;
	return true;
}

static int take_point(struct parser *parser, const char *key, struct epochs_point *ret)
{
	if (!skip(parser, key) || !take_number(parser, &ret->epoch) || !end_line(parser))
		return refuse(parser, "the number of an epoch");
	if (!skip(parser, "consumed ") || !take_number(parser, &ret->consumed) ||
		!skip(parser, " ") || !take_hash(parser, &ret->hash) || !end_line(parser))
		return refuse(parser, "consumed NUMBER HASH");
	return 0;
}

static int take_runs(struct parser *parser, struct checkpoint *ret)
{
	ret->all_runs = true;
	if (!skip(parser, "read"))
		return refuse(parser, "read FIRST-LAST...");
	while (skip(parser, " ")) {
		if (skip(parser, "more")) {
			ret->all_runs = false;
			break;
		}
		if (ret->n_runs == CHECKPOINT_RUNS)
			return refuse(parser, "fewer ranges of positions");
		struct run *run = &ret->runs[ret->n_runs];
		bool ok = take_number(parser, &run->first);
		run->last = run->first;
		if (ok && skip(parser, "-"))
			ok = take_number(parser, &run->last);
		bool ascends = ret->n_runs == 0 || run[-1].last < run->first;
		if (!ok || run->last < run->first || !ascends ||
			run->last >= ret->samples)
			return refuse(parser, "positions that ascend");
		ret->n_runs++;
	}
	return end_line(parser) ? 0 : refuse(parser, "positions that ascend");
}

static int take_head(struct parser *parser, struct checkpoint *ret)
{
	if (!skip(parser, FIRST_LINE) || !end_line(parser))
		return refuse(parser, FIRST_LINE);
	size_t n = skip(parser, "job ") ? strcspn(parser->at, "\n") : 0;
	if (n == 0 || n >= sizeof(ret->job))
		return refuse(parser, "job NAME");
	memcpy(ret->job, parser->at, n);
	parser->at += n;
	if (!end_line(parser) || !skip(parser, "journal "))
		return refuse(parser, "journal ID");
	ret->has_journal = !skip(parser, "none");
	if ((ret->has_journal && !take_hash(parser, &ret->journal)) || !end_line(parser))
		return refuse(parser, "journal ID");
	if (!skip(parser, "samples ") || !take_number(parser, &ret->samples) ||
		!skip(parser, " ") || !take_hash(parser, &ret->fingerprint) ||
		!end_line(parser))
		return refuse(parser, "samples NUMBER FINGERPRINT");
	if (!skip(parser, "ini ") || !take_hash(parser, &ret->ini) || !end_line(parser))
		return refuse(parser, "ini FINGERPRINT");
	return 0;
}

int checkpoint_parse(const char *text, struct checkpoint *ret, const char **ret_end,
	char message[static 200])
{
	struct parser parser = {.at = text, .line = 1, .message = message};
	*ret = (struct checkpoint){.place.started = true};
	int err = take_head(&parser, ret);
	if (!err)
		err = take_point(&parser, "epoch ", &ret->place.running);
	if (!err)
		err = take_runs(&parser, ret);
	if (!err && strncmp(parser.at, "beside ", 7) == 0) {
		ret->place.drains = true;
		err = take_point(&parser, "beside ", &ret->place.draining);
	}
	if (!err && (!skip(&parser, "end") || !end_line(&parser)))
		err = refuse(&parser, "end");
	*ret_end = parser.at;
	return err;
}

int checkpoint_parse_at(const char *text, uint32_t *ret_epoch, uint32_t *ret_position)
{
	struct parser parser = {.at = text};
	if (!take_number(&parser, ret_epoch) || !skip(&parser, ":") ||
		!take_number(&parser, ret_position) || *parser.at != '\0')
		return -EINVAL;
	return 0;
}
