// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw_world.h"
#include "golden.h"

/*
 * Golden traces of the draw engine, tests/trace/draw-*.trace (see golden.h): which samples are
 * drawn for which streams, and when. Events:
 *
 *   draw KIND SEED CACHE sampler dsa or isa, and a cache for this many samples; the first line
 *   job J BEGIN END STEP [ahead N] [batch N] [mixture] a job of the ids BEGIN, BEGIN+STEP, ...
 *                             below END; mixture: of two datasets, the second one from id 40 on
 *   rank J TRAINING ahead N a rank of a training that reads all ids
 *   begin J/E epoch E of the job begins
 *   fill J/E rounds until the stream wants no more; a line for each round
 *   read J/E N N positions are opened and read, one after the other
 *   received J/E ID... samples come to the rank's feed
 *   fetched ID another daemon fetches a sample
 *   end J/E the stream ends
 *   cache N the cache now has room for this many samples
 *
 *   drop ID, drawn J/E:ID, low J, leave J, gone J effects
 */

static void start(struct draw_world *world, const char *line)
{
	char kind[8];
	unsigned seed, cache;
	cr_assert_eq(3, sscanf(line, "draw %7s %u %u", kind, &seed, &cache), "%s", line);
	bool dsa = strcmp(kind, "dsa") == 0;
	world_begin(world, dsa ? SAMPLER_DSA : SAMPLER_ISA, seed, cache);
}

static unsigned option(const char *line, const char *name, unsigned otherwise)
{
	const char *found = strstr(line, name);
	return found ? (unsigned)strtoul(found + strlen(name), NULL, 10) : otherwise;
}

static void join(struct draw_world *world, const char *line)
{
	unsigned id, range[3] = {0, IDS, 1};
	static char training[JOBS][8];
	if (sscanf(line, "job %u %u %u %u", &id, &range[0], &range[1], &range[2]) != 4)
		cr_assert_eq(1, sscanf(line, "rank %u", &id), "%s", line);
	cr_assert(id > 0 && id <= JOBS);
	struct world_job *job =
		world_join(world, id, 0, strstr(line, "mixture") ? 2 : 1, range);
	job->lookahead = option(line, "ahead ", 4);
	job->at_once = option(line, "batch ", 1);
	if (sscanf(line, "rank %*u %7s", training[id - 1]) == 1)
		job->training = training[id - 1];
}

static void begin_line(struct draw_world *world, const char *comma)
{
	world->comma = comma;
}

static void end_line(struct draw_world *world, const char *unless)
{
	if (world->comma != unless)
		fputc('\n', world->out);
}

static void fill(struct draw_world *world, struct world_stream *s)
{
	bool more = true;
	while (more) {
		begin_line(world, "  ");
		more = s->job->training ? world_feed(world, s) : world_go_on(world, s);
		end_line(world, "  ");
	}
}

static void read_some(struct draw_world *world, struct world_stream *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		begin_line(world, "  ");
		if (s->head == s->end)
			world_ask(world, s);
		sample_id sample = world_bind(world, s);
		fprintf(world->out, "%s-> %u\n", world->comma, sample);
	}
}

static void receive(struct world_stream *s, const char *line, const char *ids)
{
	struct feeds *feeds = &s->job->feeds;
	struct feed *feed = feed_find(feeds, s->stream.epoch);
	int used;
	sample_id id;
	if (!feed)
		feed = feed_begin(feeds, s->stream.epoch, s->end);
	for (; sscanf(ids, " %u%n", &id, &used) == 1; ids += used)
		cr_assert_eq(0, feed_append(feed, feed->next, &id, 1), "%s", line);
}

static void fetch(struct draw_world *world, sample_id id)
{
	begin_line(world, "  ");
	world_fetch(world, 0, id);
	end_line(world, "  ");
}

static void play_stream(struct draw_world *world, const char *line)
{
	char event[12];
	unsigned id, epoch, n = 0;
	int used;
	cr_assert_eq(
		3, sscanf(line, "%11s %u/%u%n", event, &id, &epoch, &used), "%s", line);
	struct world_stream *s = &world->streams[id - 1][epoch % 2];
	if (strcmp(event, "begin") == 0)
		world_enter(world, &world->jobs[id - 1], epoch);
	else if (strcmp(event, "fill") == 0)
		fill(world, s);
	else if (strcmp(event, "read") == 0 && sscanf(line + used, " %u", &n) == 1)
		read_some(world, s, n);
	else if (strcmp(event, "received") == 0)
		receive(s, line, line + used);
	else if (strcmp(event, "end") == 0) {
		begin_line(world, "  ");
		world_leave(world, s);
		end_line(world, "  ");
	} else {
		cr_assert_fail("no event: %s", line);
	}
}

static void play(void *context, const char *line, FILE *out)
{
	struct draw_world *world = context;
	unsigned id;
	world->out = out;
	if (!world->samplers[0])
		start(world, line);
	else if (strncmp(line, "job ", 4) == 0 || strncmp(line, "rank ", 5) == 0)
		join(world, line);
	else if (sscanf(line, "fetched %u", &id) == 1)
		fetch(world, id);
	else if (sscanf(line, "cache %u", &id) == 1)
		world->capacity = id;
	else
		play_stream(world, line);
	world->out = NULL;
}

static void check(const char *path)
{
	static struct draw_world world;
	memset(&world, 0, sizeof(world));
	golden_check(path, play, &world);
	world_end(&world);
}

Test(draw_trace, golden_traces_come_out_the_same)
{
	golden_each("tests/trace/draw-*.trace", check);
}
