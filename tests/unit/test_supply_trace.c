// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "golden.h"
#include "supply_world.h"

/*
 * Golden traces of the supply's engine, tests/trace/supply-*.trace (see golden.h). Jobs and spaces
 * are numbers. SAMPLE is an id, or SPACE/ID (space 0 is left out). Events:
 *
 *   cache BYTES SHARE READS the first line. SHARE: fifo, fair. READS: reads at once
 *   size ID BYTES of the tensor; otherwise 1
 *   elsewhere ID... another daemon has these
 *   draw JOB SAMPLE... the job has drawn them; undraw SAMPLE...: unpins them again
 *   open NAME JOB SAMPLE close NAME
 *   read a reader is free was-read SAMPLE
 *   decode a decoder is free
 *   done SAMPLE [passing|bad|damaged] its load has ended
 *   fetched SAMPLE not-fetched SAMPLE
 *   content BYTES memory is held for one open; negative: given back and reported
 *   time SECONDS pass
 *   state
 */

#define OPENS 8

struct player {
	struct supply_world world;
	bool made;
	FILE *out;
	struct supply_open opens[OPENS];
	char names[OPENS][8];
};

static void gone(void *context, struct cache_space *space, sample_id sample)
{
	struct player *player = context;
	bool first = space == player->world.spaces[0].cache;
	fprintf(player->out, "  out of the cache: %s%u\n", first ? "" : "1/", sample);
}

static void print_sample(FILE *out, const struct wanted *wanted)
{
	fprintf(out, " %s%u", wanted->key.space->number ? "1/" : "",
		(sample_id)wanted->key.sample);
}

static struct supply_open *open_named(struct player *player, const char *name)
{
	for (unsigned i = 0; i < OPENS; i++)
		if (player->opens[i].space && strcmp(player->names[i], name) == 0)
			return &player->opens[i];
	cr_assert_fail("no open is called %s", name);
	return NULL;
}

static void close_open(struct player *player, struct supply_open *open);

/* Prints the effects. A waiter that fails gives its sample back, as in the scheduler. */
static void print_effects(struct player *player)
{
	struct supply_effects effects;
	struct waiter *waiter;
	FILE *out = player->out;
	supply_take_effects(&player->world.supply, &effects);
	if (effects.delayed)
		fprintf(out, "  delayed, due in %.3f s\n",
			(double)(supply_first_due(&player->world.supply) -
				 player->world.now_ns) /
				1e9);
	if (effects.gone)
		fprintf(out, "  gone %u\n", effects.gone_sample);
	if (effects.bad)
		fprintf(out, "  bad %u%s\n", effects.bad_sample,
			effects.damaged ? " damaged" : "");
	while ((waiter = TAILQ_FIRST(&effects.ready))) {
		struct supply_open *open = (struct supply_open *)waiter;
		TAILQ_REMOVE(&effects.ready, waiter, link);
		fprintf(out, "  %s %s\n", player->names[open - player->opens],
			waiter->status ? strerrorname_np(-waiter->status) : "is ready");
		if (waiter->status)
			close_open(player, open);
	}
	supply_world_validate(&player->world);
}

static void close_open(struct player *player, struct supply_open *open)
{
	supply_world_close(&player->world, open);
	print_effects(player);
}

static struct space *space_named(struct player *player, const char *text)
{
	return &player->world.spaces[strchr(text, '/') ? 1 : 0];
}

static sample_id sample_named(const char *text)
{
	const char *slash = strchr(text, '/');
	return (sample_id)strtoul(slash ? slash + 1 : text, NULL, 10);
}

static struct wanted *wanted_named(struct player *player, const char *text)
{
	struct wanted *wanted =
		wanted_find(space_named(player, text), sample_named(text));
	cr_assert_not_null(wanted, "nobody wants %s", text);
	return wanted;
}

static void print_chain(FILE *out, const char *what, const struct wanted *wanted)
{
	fprintf(out, "  %s", wanted ? what : "nothing");
	for (; wanted; wanted = wanted->fetching ? NULL : wanted->also)
		print_sample(out, wanted);
	fputc('\n', out);
}

static void play_done(struct player *player, struct wanted *wanted, const char *how)
{
	struct supply_result result = {.status = how ? -EIO : 0,
		.passing = how && strcmp(how, "passing") == 0,
		.damaged = how && strcmp(how, "damaged") == 0};
	for (struct wanted *next; wanted; wanted = next) {
		next = wanted->also;
		supply_world_done(&player->world, wanted, result);
		print_effects(player);
	}
}

static void print_state(struct player *player)
{
	static const char *const states[] = {
		"open", "queued", "urgent", "delayed", "loading"};
	const struct supply *supply = &player->world.supply;
	fprintf(player->out, "  cache %lu:", cache_usage(supply->cache)->live_bytes);
	for (unsigned i = 0; i < SUPPLY_SPACES; i++)
		for (sample_id id = 0; id < SUPPLY_IDS; id++) {
			const struct cache_space *cache = player->world.spaces[i].cache;
			if (cache_state(cache, id) == CACHE_READY)
				fprintf(player->out, " %s%u%s", i ? "1/" : "", id,
					cache_opens(cache, id) > 0 ? " (open)" : "");
		}
	for (const struct wanted *wanted = supply->wanted; wanted;
		wanted = wanted->hash.next) {
		fprintf(player->out, ", %s", states[wanted->state]);
		print_sample(player->out, wanted);
	}
	fputc('\n', player->out);
}

static void play_open(
	struct player *player, const char *name, unsigned job, const char *sample)
{
	unsigned i = 0;
	while (player->opens[i].space)
		i++;
	cr_assert_lt(i, OPENS);
	snprintf(player->names[i], sizeof(player->names[i]), "%s", name);
	if (supply_world_open(&player->world, space_named(player, sample), job,
		    sample_named(sample), &player->opens[i]))
		fprintf(player->out, "  %s is ready\n", name);
}

static void play_draws(struct player *player, char *const *words)
{
	unsigned job = (unsigned)atoi(words[1]);
	for (unsigned i = 2; words[i]; i++) {
		supply_world_draw(&player->world, space_named(player, words[i]), job,
			sample_named(words[i]));
		print_effects(player);
	}
}

static void play_undraws(struct player *player, char *const *words)
{
	for (unsigned i = 1; words[i]; i++) {
		supply_drop(space_named(player, words[i]), sample_named(words[i]));
		print_effects(player);
	}
}

static void play_content(struct player *player, int64_t bytes)
{
	struct supply *supply = &player->world.supply;
	if (bytes < 0) {
		supply_drop_content(supply, (uint64_t)-bytes);
		supply_has_room(supply);
	} else {
		fprintf(player->out, "  %s\n",
			supply_hold_content(supply, (uint64_t)bytes) ? "no room"
								     : "held");
	}
}

/* Plays the events of workers and of time. */
static void play_work(struct player *player, char *const *words)
{
	struct supply_world *world = &player->world;
	struct supply *supply = &world->supply;
	const char *event = words[0];
	if (strcmp(event, "read") == 0) {
		struct wanted *wanted = supply_world_read(world);
		print_chain(player->out, wanted && wanted->fetching ? "fetch" : "read",
			wanted);
	} else if (strcmp(event, "was-read") == 0) {
		supply_was_read(supply, wanted_named(player, words[1]), world->now_ns);
	} else if (strcmp(event, "decode") == 0) {
		print_chain(player->out, "decode", supply_next_decode(supply, false));
	} else if (strcmp(event, "done") == 0) {
		play_done(player, wanted_named(player, words[1]), words[2]);
	} else if (strcmp(event, "fetched") == 0) {
		struct tensor *tensor =
			tensor_new((struct tensor_shape){.height = 0, .width = 0}, 1);
		supply_fetched(
			supply, wanted_named(player, words[1]), tensor, world->now_ns);
	} else if (strcmp(event, "not-fetched") == 0) {
		supply_not_fetched(supply, wanted_named(player, words[1]), false);
	} else if (strcmp(event, "time") == 0) {
		world->now_ns += (uint64_t)(strtod(words[1], NULL) * 1e9);
		supply_time(supply, world->now_ns);
	} else {
		cr_assert_fail("no event: %s", event);
	}
}

static void play_words(struct player *player, char *const *words)
{
	struct supply_world *world = &player->world;
	const char *event = words[0];
	if (strcmp(event, "cache") == 0) {
		bool fifo = strcmp(words[2], "fifo") == 0;
		supply_world_make(world, strtoul(words[1], NULL, 10),
			fifo ? SHARE_FIFO : SHARE_FAIR, (unsigned)atoi(words[3]), gone,
			player);
		player->made = true;
	} else if (strcmp(event, "size") == 0) {
		world->bytes[atoi(words[1])] = strtoul(words[2], NULL, 10);
	} else if (strcmp(event, "elsewhere") == 0) {
		for (unsigned i = 1; words[i]; i++)
			world->elsewhere[atoi(words[i])] = true;
	} else if (strcmp(event, "draw") == 0) {
		play_draws(player, words);
	} else if (strcmp(event, "undraw") == 0) {
		play_undraws(player, words);
	} else if (strcmp(event, "open") == 0) {
		play_open(player, words[1], (unsigned)atoi(words[2]), words[3]);
	} else if (strcmp(event, "close") == 0) {
		close_open(player, open_named(player, words[1]));
	} else if (strcmp(event, "content") == 0) {
		play_content(player, strtol(words[1], NULL, 10));
	} else if (strcmp(event, "state") == 0) {
		print_state(player);
	} else {
		play_work(player, words);
	}
}

static void play(void *context, const char *line, FILE *out)
{
	struct player *player = context;
	char text[256], *rest = text, *word, *words[16] = {NULL};
	size_t n = 0;
	snprintf(text, sizeof(text), "%s", line);
	while (n < 15 && (word = strsep(&rest, " \n")))
		if (word[0])
			words[n++] = word;
	player->out = out;
	play_words(player, words);
	print_effects(player);
}

Test(supply_trace, decisions_are_those_of_the_traces)
{
	glob_t found;
	cr_assert_eq(glob("tests/trace/supply-*.trace", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct player player = {0};
		golden_check(found.gl_pathv[i], play, &player);
		cr_assert(player.made);
		supply_world_free(&player.world);
	}
	globfree(&found);
}
