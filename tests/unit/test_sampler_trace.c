// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "golden.h"
#include "sampler/sampler.h"

/*
 * Golden traces of the samplers, tests/trace/sampler-*.trace (see golden.h). They are the same on
 * every machine and with every version of CRoaring. Events:
 *
 *   sampler KIND SEED dsa, isa, exchange or sequential; the first line
 *   join JOB SPACE BEGIN END STEP the ids BEGIN, BEGIN+STEP, ... below END
 *   insert STREAM BEGIN END STEP a stream of job 0
 *   begin STREAM JOB BEGIN END STEP
 *   draw STREAM ... then " STREAM:SAMPLE ..." or "-" for none
 *   evicted SPACE SAMPLE and resident SPACE SAMPLE
 *   remove STREAM
 *   leave JOB
 */

#define STREAMS 16

static struct sampler *start(const char *line)
{
	static const char *const names[] = {[SAMPLER_DSA] = "dsa",
		[SAMPLER_ISA] = "isa",
		[SAMPLER_EXCHANGE] = "exchange",
		[SAMPLER_SEQUENTIAL] = "sequential"};
	struct sampler *sampler = NULL;
	char kind[16];
	unsigned long seed;
	cr_assert_eq(sscanf(line, "sampler %15s %lu", kind, &seed), 2, "%s", line);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && !strcmp(kind, names[i]))
			cr_assert_eq(
				sampler_new((enum sampler_kind)i, seed, &sampler), 0);
	cr_assert_not_null(sampler, "%s", line);
	return sampler;
}

static void draw(struct sampler *sampler, const char *line, FILE *out)
{
	stream_id streams[STREAMS];
	sample_id ret[STREAMS];
	size_t n = 0;
	int used;
	line += strlen("draw");
	while (n < STREAMS && sscanf(line, " %u%n", &streams[n], &used) == 1) {
		line += used;
		n++;
	}
	sampler_draw(sampler, streams, n, ret);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s%u:", i ? " " : "  ", streams[i]);
		if (ret[i] == SAMPLE_NONE)
			fprintf(out, "-");
		else
			fprintf(out, "%u", ret[i]);
	}
	fprintf(out, "\n");
}

static roaring_bitmap_t *ids_of(const unsigned *range)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (unsigned id = range[0]; id < range[1]; id += range[2])
		roaring_bitmap_add(ids, id);
	return ids;
}

/* Plays an event about jobs or residency. Returns false for other events. */
static bool play_job_event(struct sampler *sampler, const char *line)
{
	unsigned n[5];
	if (sscanf(line, "join %u %u %u %u %u", &n[0], &n[1], &n[2], &n[3], &n[4]) == 5) {
		roaring_bitmap_t *ids = ids_of(&n[2]);
		cr_assert_eq(sampler_join(sampler, n[0], n[1], ids), 0);
		roaring_bitmap_free(ids);
	} else if (sscanf(line, "begin %u %u %u %u %u", &n[0], &n[1], &n[2], &n[3],
			   &n[4]) == 5) {
		cr_assert_eq(sampler_insert(sampler, n[0], n[1], ids_of(&n[2])), 0);
	} else if (sscanf(line, "leave %u", &n[0]) == 1) {
		sampler_leave(sampler, n[0]);
	} else if (sscanf(line, "resident %u %u", &n[0], &n[1]) == 2) {
		sampler_resident(sampler, n[0], n[1]);
	} else if (sscanf(line, "evicted %u %u", &n[0], &n[1]) == 2) {
		sampler_evicted(sampler, n[0], n[1]);
	} else {
		return false;
	}
	return true;
}

static void play_event(struct sampler *sampler, const char *line, FILE *out)
{
	unsigned stream, range[3];
	if (sscanf(line, "insert %u %u %u %u", &stream, &range[0], &range[1],
		    &range[2]) == 4) {
		cr_assert_eq(sampler_insert(sampler, stream, 0, ids_of(range)), 0);
	} else if (sscanf(line, "remove %u", &stream) == 1) {
		sampler_remove(sampler, stream);
	} else if (!play_job_event(sampler, line)) {
		cr_assert_eq(strncmp(line, "draw ", 5), 0, "%s", line);
		draw(sampler, line, out);
	}
	sampler_validate(sampler);
}

static void play(void *context, const char *line, FILE *out)
{
	struct sampler **sampler = context;
	if (!*sampler)
		*sampler = start(line);
	else
		play_event(*sampler, line, out);
}

static void check(const char *path)
{
	struct sampler *sampler = NULL;
	golden_check(path, play, &sampler);
	sampler_free(&sampler);
}

Test(sampler_trace, golden_traces_come_out_the_same)
{
	golden_each("tests/trace/sampler-*.trace", check);
}
