// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch_world.h"
#include "golden.h"

/*
 * Golden traces of the epoch engine, tests/trace/epoch-*.trace (see golden.h): events of readers,
 * and their effects. epoch_world.h explains the effects. Events:
 *
 *   job KIND POSITIONS [KEY VALUE]... the first line. KIND: drawn, classes (drawn within a
 *       label: each has a quarter of the positions), fixed, reversed (fixed by a list),
 *       mirror. Keys: epochs (3), lookahead (4), idle (in seconds, 600), batch (positions
 *       that are opened as one), seed
 *   READER is a THREAD, RANK:THREAD or SCRIPT:RANK:THREAD: missing numbers are 1
 *   read PLACES [by READER] [WORD]... each is opened, read and closed; a line for each.
 *       PLACES: epoch/0-3,8 or current/0-3,8. Words: label-first, label-after (the label of
 *       the position, by the same reader), twice
 *   look PLACES [by READER] as read, but closed without a read
 *   open NAME PLACE [by READER] label NAME PLACE [by READER]
 *   close NAME after a read undo NAME without a read
 *   cancel NAME the reader gives up
 *   ahead EPOCH N N samples are drawn before they are asked for
 *   by-hand streams and orders come only with these events:
 *       begun EPOCH [ENOMEM] saved EPOCH loaded EPOCH [EIO]
 *   time SECONDS pass without a reader
 *   restart [N] the daemon restarts with the orders and the journal, of which the last N
 *                  records are lost
 *   checkpoint notes the place where the job is
 *   restore the job goes back to this place; restore EPOCH END: as if the epoch had
 *                  been read up to the position
 *   leave the job is removed
 *   state
 */

struct place {
	uint32_t epoch;
	uint32_t positions[64];
	size_t n;
};

enum words { LABEL_FIRST = 1, LABEL_AFTER = 2, TWICE = 4 };

struct command {
	char *words[16];
	size_t n;
	const char *line;
};

static void split(struct command *command, char *text, const char *line)
{
	char *rest = text, *word;
	*command = (struct command){.line = line};
	while ((word = strsep(&rest, " \n")))
		if (word[0] && command->n < 16)
			command->words[command->n++] = word;
}

static const char *word(const struct command *command, size_t i)
{
	cr_assert_lt(i, command->n, "what is missing here? %s", command->line);
	return command->words[i];
}

static uint32_t number(const struct command *command, size_t i)
{
	char *end;
	unsigned long value = strtoul(word(command, i), &end, 10);
	cr_assert_eq(*end, '\0', "no number: %s", command->line);
	return (uint32_t)value;
}

/* Parses THREAD, RANK:THREAD or SCRIPT:RANK:THREAD. */
static struct reader reader_named(const char *text, const char *line)
{
	unsigned long numbers[3] = {1, 1, 1};
	char *end;
	for (;; text = end + 1) {
		numbers[0] = numbers[1];
		numbers[1] = numbers[2];
		numbers[2] = strtoul(text, &end, 10);
		if (*end != ':')
			break;
	}
	cr_assert_eq(*end, '\0', "no reader: %s", line);
	return (struct reader){
		.script = numbers[0], .rank = numbers[1], .thread = numbers[2]};
}

/* Parses the words from the i-th on: "by" READER, and others. */
static struct reader reader_of(
	const struct command *command, size_t i, unsigned *ret_words)
{
	struct reader reader = {.rank = 1, .script = 1};
	*ret_words = 0;
	for (; i < command->n; i++) {
		const char *text = command->words[i];
		if (!strcmp(text, "by"))
			reader = reader_named(word(command, ++i), command->line);
		else if (!strcmp(text, "label-first"))
			*ret_words |= LABEL_FIRST;
		else if (!strcmp(text, "label-after"))
			*ret_words |= LABEL_AFTER;
		else if (!strcmp(text, "twice"))
			*ret_words |= TWICE;
		else
			cr_assert_fail("%s: %s", text, command->line);
	}
	return reader;
}

static struct place place(const struct command *command, size_t i)
{
	struct place place = {.epoch = EPOCH_CURRENT};
	const char *text = word(command, i);
	const char *positions = strchr(text, '/');
	unsigned first, last;
	int used;
	cr_assert_not_null(positions, "no place: %s", command->line);
	if (strncmp(text, "current/", 8) != 0)
		place.epoch = (uint32_t)strtoul(text, NULL, 10);
	do {
		int found = sscanf(++positions, "%u%n-%u%n", &first, &used, &last, &used);
		cr_assert_geq(found, 1, "no place: %s", command->line);
		positions += used;
		for (last = found == 2 ? last : first; first <= last; first++)
			place.positions[place.n++] = first;
	} while (*positions == ',');
	return place;
}

/* --- the job ------------------------------------------------------------------------- */

static void set_kind(struct epochs_config *config, const char *name)
{
	static sample_id reversed[64];
	uint32_t n = config->set.positions;
	if (!strcmp(name, "classes")) {
		config->kind = EPOCHS_DRAWN_AT_OPEN;
	} else if (!strcmp(name, "mirror")) {
		config->kind = EPOCHS_MIRRORED;
	} else if (!strcmp(name, "fixed") || !strcmp(name, "reversed")) {
		config->kind = EPOCHS_FIXED;
		config->set.fixed = name[0] == 'r' ? reversed : NULL;
	} else {
		cr_assert_str_eq(name, "drawn");
	}
	for (uint32_t i = 0; i < n; i++)
		reversed[i] = 2 * (n - 1 - i);
}

static void start(struct epoch_world *world, const struct command *command)
{
	struct epochs_config config = {.set.positions = number(command, 2),
		.limit = 3,
		.lookahead = 4,
		.file = 1,
		.idle_ns = UINT64_C(600000000000)};
	uint64_t seed = 1;
	cr_assert_str_eq(word(command, 0), "job");
	set_kind(&config, word(command, 1));
	for (size_t i = 3; i < command->n; i += 2) {
		const char *key = word(command, i);
		uint32_t value = number(command, i + 1);
		if (!strcmp(key, "epochs"))
			config.limit = value;
		else if (!strcmp(key, "lookahead"))
			config.lookahead = value;
		else if (!strcmp(key, "idle"))
			config.idle_ns = value * UINT64_C(1000000000);
		else if (!strcmp(key, "batch"))
			config.file = value;
		else if (!strcmp(key, "seed"))
			seed = value;
		else
			cr_assert_fail("%s: %s", key, command->line);
	}
	world_begin(world, &config, seed);
}

/* --- readers ------------------------------------------------------------------------- */

static void read_one(struct epoch_world *world, uint32_t epoch, uint32_t position,
	struct reader reader, unsigned words)
{
	if (words & LABEL_FIRST)
		world_read_by(world, epoch, position, reader, true);
	world_read_by(world, epoch, position, reader, false);
	if (words & TWICE)
		world_read_by(world, epoch, position, reader, false);
	if (words & LABEL_AFTER)
		world_read_by(world, epoch, position, reader, true);
	world_end_line(world);
}

static void look_at(struct epoch_world *world, uint32_t epoch, uint32_t position,
	struct reader reader)
{
	struct world_request *request =
		world_request_by(world, epoch, position, reader, false);
	world_open(world, request);
	world_release(world, request, false);
	world_end_line(world);
}

static void read_places(
	struct epoch_world *world, const struct command *command, bool look)
{
	unsigned words;
	struct place places = place(command, 1);
	struct reader reader = reader_of(command, 2, &words);
	for (size_t i = 0; i < places.n; i++)
		if (look)
			look_at(world, places.epoch, places.positions[i], reader);
		else
			read_one(world, places.epoch, places.positions[i], reader, words);
}

static void open_one(struct epoch_world *world, const struct command *command, bool label)
{
	unsigned words;
	struct place places = place(command, 2);
	struct reader reader = reader_of(command, 3, &words);
	struct world_request *request =
		world_request_by(world, places.epoch, places.positions[0], reader, label);
	snprintf(request->name, sizeof(request->name), "%s", word(command, 1));
	world_open(world, request);
}

static struct world_request *named(
	const struct epoch_world *world, const struct command *command)
{
	struct world_request *request;
	TAILQ_FOREACH (request, &world->requests, link)
		if (!strcmp(request->name, word(command, 1)))
			return request;
	cr_assert_fail("what is meant? %s", command->line);
	return NULL;
}

/* Plays an event of a single reader. Returns false for other events. */
static bool play_reader(struct epoch_world *world, const struct command *command)
{
	const char *name = command->words[0];
	if (!strcmp(name, "read"))
		read_places(world, command, false);
	else if (!strcmp(name, "look"))
		read_places(world, command, true);
	else if (!strcmp(name, "open"))
		open_one(world, command, false);
	else if (!strcmp(name, "label"))
		open_one(world, command, true);
	else if (!strcmp(name, "close") || !strcmp(name, "undo"))
		world_release(world, named(world, command), name[0] == 'c');
	else if (!strcmp(name, "cancel"))
		world_say(world, world_cancel(world, named(world, command)) ? "cancelled"
									    : "too late");
	else
		return false;
	return true;
}

/* --- the rest ------------------------------------------------------------------------ */

static void say_state(struct epoch_world *world)
{
	struct epochs_status status;
	epochs_status(world->epochs, &status);
	world->first_of_event = true;
	if (!status.started)
		world_say(world, "no epoch has begun");
	else
		world_say(world,
			"epoch %u %s%s: bound %u, consumed %u, ahead %u, pins %u",
			status.epoch, status.running ? "runs" : "has ended",
			status.idle ? ", parked" : "", status.bound, status.consumed,
			status.ahead, epochs_pins(world->epochs));
	for (uint32_t epoch = 0; epoch < world->config.limit; epoch++)
		if (epochs_state(world->epochs, epoch) == EPOCH_SAVED)
			world_say(world, "%u saved", epoch);
}

static struct epochs_place checkpoint;

static void say_place(struct epoch_world *world, const struct epochs_place *place)
{
	world->first_of_event = true;
	world_say(world, "epoch %u consumed %u", place->running.epoch,
		place->running.consumed);
	if (place->drains)
		world_say(world, "beside %u consumed %u", place->draining.epoch,
			place->draining.consumed);
}

static void restore(struct epoch_world *world, const struct command *command)
{
	struct epochs_place place = {.started = true};
	if (command->n == 1) {
		world_restore(world, &checkpoint, UINT32_MAX);
		return;
	}
	place.running.epoch = number(command, 1);
	world_restore(world, &place, number(command, 2));
}

static void play_command(struct epoch_world *world, const struct command *command)
{
	const char *name = command->words[0];
	if (!strcmp(name, "ahead")) {
		for (uint32_t i = 0; i < number(command, 2); i++)
			cr_assert(world_draw_ahead(world, number(command, 1)));
	} else if (!strcmp(name, "by-hand")) {
		world->by_hand = true;
	} else if (!strcmp(name, "begun")) {
		world_begun(world, number(command, 1), command->n > 2 ? -ENOMEM : 0);
	} else if (!strcmp(name, "loaded")) {
		world_loaded(world, number(command, 1), command->n > 2 ? -EIO : 0);
	} else if (!strcmp(name, "saved")) {
		world_saved(world, number(command, 1));
	} else if (!strcmp(name, "time")) {
		world_time(world, number(command, 1) * UINT64_C(1000000000));
	} else if (!strcmp(name, "restart")) {
		size_t lost = command->n > 1 ? number(command, 1) : 0;
		world_restart(world, world->n_records - lost);
		world_replayed(world);
	} else if (!strcmp(name, "checkpoint")) {
		epochs_place(world->epochs, &checkpoint);
		say_place(world, &checkpoint);
	} else if (!strcmp(name, "restore")) {
		restore(world, command);
	} else if (!strcmp(name, "leave")) {
		world_leave(world);
	} else {
		cr_assert_str_eq(name, "state", "what is that? %s", command->line);
		say_state(world);
	}
}

static void validate(struct epoch_world *world, const struct world_event *event)
{
	(void)event;
	epochs_validate(world->epochs);
}

static void play(void *context, const char *line, FILE *out)
{
	struct epoch_world *world = context;
	struct command command;
	auto_free char *text = strdup(line);
	split(&command, text, line);
	if (!world->epochs) {
		start(world, &command);
		world->after = validate;
		return;
	}
	world->out = out;
	if (!play_reader(world, &command))
		play_command(world, &command);
	world_end_line(world);
	world->out = NULL;
}

static void check(const char *path)
{
	struct epoch_world world = {.epochs = NULL};
	golden_check(path, play, &world);
	world_end(&world);
}

Test(epoch_trace, golden_traces_come_out_the_same)
{
	golden_each("tests/trace/epoch-*.trace", check);
}
