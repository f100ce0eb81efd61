// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch_random.h"
#include "epoch/questions.h"

/*
 * The journal and the engine. At every moment the records contain all that the engine knows.
 * Records that no engine can have written are refused, and change nothing.
 */

#define CASES 300
#define STEPS 100

/* --- the same state ------------------------------------------------------------------ */

/* An engine that replays each record as soon as it is written, so that every prefix of the journal
 * is replayed. */
static struct epochs *follower;
static size_t followed;

static void follow(struct epoch_world *world, const struct world_event *event)
{
	for (; followed < world->n_records; followed++)
		world_replay_record(world, follower, followed);
	auto_free char *live = world_print(world->epochs);
	auto_free char *replayed = world_print(follower);
	cr_assert_str_eq(live, replayed, "%s%s", live, replayed);
	(void)event;
}

static void follow_sequences(enum epochs_kind kind)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct random_world random;
		struct random_seen seen = {0};
		random_begin(&random, kind, seed);
		random.saves = false;
		random.world.by_hand = true;
		random.world.keep = 0;
		random.world.after = follow;
		followed = 0;
		cr_assert_eq(0, epochs_new(&random.world.config, &follower));
		for (int i = 0; i < STEPS; i++)
			random_step(&random);
		random_end(&random, &seen);
		epochs_free(&follower);
	}
}

Test(epoch_replay, every_prefix_is_the_state_of_its_moment, .timeout = 600)
{
	follow_sequences(EPOCHS_DRAWN);
	follow_sequences(EPOCHS_DRAWN_AT_OPEN);
	follow_sequences(EPOCHS_FIXED);
}

/* Returns the lines about one epoch. */
static char *lines_of(const char *text, uint32_t epoch)
{
	auto_free char *begin = NULL;
	cr_assert_geq(asprintf(&begin, "epoch %u ", epoch), 0);
	const char *found = strstr(text, begin);
	if (!found)
		return NULL;
	const char *end = strchr(strchr(found, '\n') + 1, '\n');
	return strndup(found, (size_t)(end - found));
}

/* Compares all lines; if the journal forgets records, only the lines about epochs that are not
 * saved. */
static void compare(const struct epoch_world *world)
{
	struct epochs *epochs = world_replay(world, world->n_records);
	auto_free char *live = world_print(world->epochs);
	auto_free char *replayed = world_print(epochs);
	epochs_validate(epochs);
	epochs_free(&epochs);
	if (!world->keep)
		cr_assert_str_eq(live, replayed, "%s%s", live, replayed);
	for (uint32_t epoch = 0; epoch < WORLD_EPOCHS; epoch++) {
		auto_free char *told = lines_of(live, epoch);
		auto_free char *kept = lines_of(replayed, epoch);
		if (told)
			cr_assert_str_eq(told, kept, "%s\n%s", told, kept);
	}
}

static void compare_now_and_then(
	struct epoch_world *world, const struct world_event *event)
{
	struct random_world *random = world->context;
	bool always = event->kind == EVENT_SAVED || event->kind == EVENT_BEGUN;
	if (always || random_one_in(random, 8))
		compare(world);
}

static void compare_sequences(enum epochs_kind kind, uint32_t keep)
{
	size_t forgotten = 0;
	for (uint64_t seed = 0; seed < CASES / 4; seed++) {
		struct random_world random;
		struct random_seen seen = {0};
		random_begin(&random, kind, seed);
		random.world.keep = keep;
		random.world.after = compare_now_and_then;
		for (int i = 0; i < STEPS; i++)
			random_step(&random);
		forgotten += random.world.forgotten;
		random_end(&random, &seen);
	}
	cr_assert_eq(keep > 0, forgotten > 0);
}

Test(epoch_replay, with_epochs_that_are_saved, .timeout = 600)
{
	compare_sequences(EPOCHS_DRAWN, 0);
	compare_sequences(EPOCHS_DRAWN_AT_OPEN, 0);
}

Test(epoch_replay, with_epochs_that_are_saved_and_forgotten, .timeout = 600)
{
	compare_sequences(EPOCHS_DRAWN, 2);
	compare_sequences(EPOCHS_FIXED, 1);
}

/* The process ends while a reader has position 1 open. The reader never comes back, and the cursor
 * of the other readers moves on; before the process ended, it waited. */
Test(epoch_replay, the_cursor_passes_a_position_that_was_open_when_the_process_ended)
{
	const struct epochs_config config = {.kind = EPOCHS_DRAWN,
		.set.positions = 8,
		.limit = WORLD_EPOCHS,
		.lookahead = 4,
		.file = 1,
		.idle_ns = UINT64_MAX / 2};
	struct epoch_world world;
	world_begin(&world, &config, 1);
	for (uint32_t position = 0; position < 3; position++) {
		struct world_request *request =
			world_request_new(&world, 0, position, 1, false);
		world_open(&world, request);
		if (position != 1)
			world_release(&world, request, true);
	}
	cr_assert_eq(epochs_consumed_first(world.epochs, 0, 0), 1);
	world_restart(&world, world.n_records);
	world_replayed(&world);
	struct world_request *request = world_request_new(&world, 0, 3, 1, false);
	world_open(&world, request);
	cr_assert_eq(epochs_consumed_first(world.epochs, 0, 0), 3);
	world_release(&world, request, true);
	cr_assert_eq(epochs_consumed_first(world.epochs, 0, 0), 4);
	world_end(&world);
}

#define OFTEN 100 /* opens of a file in a row, more than are noted */
#define FEW_FILES 8

/* The script opens each file many times, in order, in one pass. The next pass begins with the
 * first file. */
Test(epoch_replay, repeats_that_are_not_noted_change_nothing)
{
	const struct epochs_config config = {.kind = EPOCHS_DRAWN,
		.set.positions = FEW_FILES,
		.limit = WORLD_EPOCHS,
		.lookahead = 4,
		.file = 1,
		.idle_ns = UINT64_MAX / 2};
	struct epoch_world world;
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < 3 * FEW_FILES * OFTEN; i++) {
		struct world_request *request = world_request_by(&world, EPOCH_CURRENT,
			i / OFTEN % FEW_FILES, (struct reader){1, 1, 1}, false);
		request->request.done = true;
		world_open(&world, request);
		cr_assert_eq(request->request.found_epoch, i / (FEW_FILES * OFTEN),
			"open %u is epoch %u's", i, request->request.found_epoch);
		world_release(&world, request, true);
		if (i % 7 > 0)
			continue;
		struct epochs *again = world_replay(&world, world.n_records);
		char *live = world_print(world.epochs), *replayed = world_print(again);
		cr_assert_str_eq(live, replayed, "after open %u", i);
		free(live);
		free(replayed);
		epochs_free(&again);
	}
	cr_assert_lt(world.n_records, 3 * FEW_FILES * (64 + 4));
	world_end(&world);
}

/* --- what can't be ------------------------------------------------------------------- */

#define BEGUN(e, r)                                                                      \
	{                                                                                \
		.kind = RECORD_BEGUN, .epoch = (e), .rolls = (r)                         \
	}
#define BOUND(e, p, s)                                                                   \
	{                                                                                \
		.kind = RECORD_BOUND, .epoch = (e), .position = (p), .sample = (s)       \
	}
#define OPENED(e, p)                                                                     \
	{                                                                                \
		.kind = RECORD_OPENED, .epoch = (e), .position = (p), .reader = {        \
			1,                                                               \
			1,                                                               \
			1                                                                \
		}                                                                        \
	}
#define CONSUMED(e, p)                                                                   \
	{                                                                                \
		.kind = RECORD_CONSUMED, .epoch = (e), .position = (p)                   \
	}
#define ENDED(e)                                                                         \
	{                                                                                \
		.kind = RECORD_ENDED, .epoch = (e)                                       \
	}
#define LET_GO(e)                                                                        \
	{                                                                                \
		.kind = RECORD_LET_GO, .epoch = (e)                                      \
	}

/* Valid records, and then an impossible one. There are 4 positions and the samples 0, 2, 4 and
 * 6. */
struct impossible {
	const char *reason;
	struct record records[8];
};

static const struct impossible impossible[] = {
	{"the epoch has not begun", {BOUND(0, 0, 0)}},
	{"the epoch has not begun", {BEGUN(0, false), BOUND(1, 0, 0)}},
	{"the epoch has not begun", {BEGUN(1, false), CONSUMED(0, 0)}},
	{"the epoch has not begun", {BEGUN(0, false), ENDED(3)}},
	{"there is no such epoch", {BEGUN(EPOCH_CURRENT, false)}},
	{"a later epoch has already begun", {BEGUN(0, false), BEGUN(0, true)}},
	{"a later epoch has already begun", {BEGUN(1, false), ENDED(1), BEGUN(0, false)}},
	{"the epoch before has not ended", {BEGUN(0, false), BEGUN(1, false)}},
	{"the epoch before the last one has not ended",
		{BEGUN(0, false), BEGUN(1, true), BEGUN(2, true)}},
	{"there is no such position", {BEGUN(0, false), BOUND(0, 4, 0)}},
	{"there is no such position", {BEGUN(0, false), BOUND(0, UINT32_MAX, 0)}},
	{"there is no such position", {BEGUN(0, false), CONSUMED(0, 4)}},
	{"there is no such position", {BEGUN(0, false), OPENED(0, 4)}},
	{"the position is already bound",
		{BEGUN(0, false), BOUND(0, 1, 0), BOUND(0, 1, 2)}},
	{"the sample is already bound",
		{BEGUN(0, false), BOUND(0, 1, 0), BOUND(0, 2, 0)}},
	{"the sample is none of the job's", {BEGUN(0, false), BOUND(0, 0, 1)}},
	{"the sample is none of the job's", {BEGUN(0, false), BOUND(0, 0, 8)}},
	{"the sample is none of the job's", {BEGUN(0, false), BOUND(0, 0, SAMPLE_NONE)}},
	{"there is no such way to be served",
		{BEGUN(0, false), {.kind = RECORD_BOUND, .served = (enum served)4}}},
	{"the position is not bound", {BEGUN(0, false), CONSUMED(0, 1)}},
	{"the position is already consumed",
		{BEGUN(0, false), BOUND(0, 1, 0), CONSUMED(0, 1), CONSUMED(0, 1)}},
	{"the epoch has ended", {BEGUN(0, false), ENDED(0), BOUND(0, 1, 0)}},
	{"the epoch has already ended", {BEGUN(0, false), ENDED(0), ENDED(0)}},
	{"the epoch does not drain", {BEGUN(0, false), ENDED(0), LET_GO(0)}},
	{"the epoch does not drain", {BEGUN(0, false), BEGUN(1, true), LET_GO(0)}},
	{"the epoch does not drain",
		{BEGUN(0, false), BEGUN(1, true), ENDED(0), LET_GO(0), LET_GO(0)}},
	{"there is no such kind of record", {BEGUN(0, false), {.kind = RECORD_KINDS}}},
	{"there is no such kind of record",
		{BEGUN(0, false), {.kind = (enum record_kind)77}}},
};

static const struct epochs_config small = {
	.set.positions = 4, .limit = 8, .lookahead = 2, .file = 1, .idle_ns = 1000};

static void check_refused(
	struct epochs *epochs, const struct record *record, const char *expected)
{
	const char *reason = NULL;
	auto_free char *before = world_print(epochs);
	cr_assert_eq(-EINVAL, epochs_replay(epochs, record, &reason), "%s", expected);
	cr_assert_str_eq(expected, reason);
	epochs_validate(epochs);
	auto_free char *after = world_print(epochs);
	cr_assert_str_eq(before, after);
}

static void check_impossible(
	const struct epochs_config *config, const struct impossible *impossible_case)
{
	struct epoch_world world;
	const char *reason = NULL;
	size_t n = 8;
	world_begin(&world, config, 1);
	while (!impossible_case->records[n - 1].kind)
		n--;
	for (size_t i = 0; i + 1 < n; i++)
		cr_assert_eq(0,
			epochs_replay(
				world.epochs, &impossible_case->records[i], &reason),
			"%s", reason);
	check_refused(
		world.epochs, &impossible_case->records[n - 1], impossible_case->reason);
	world_end(&world);
}

Test(epoch_replay, a_record_that_can_not_be_is_refused)
{
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++)
		check_impossible(&small, &impossible[i]);
}

Test(epoch_replay, a_fixed_position_can_hold_nothing_else)
{
	struct epochs_config config = small;
	config.kind = EPOCHS_FIXED;
	check_impossible(&config, &(struct impossible){"the position has another sample",
					  {BEGUN(0, false), BOUND(0, 1, 0)}});
}

Test(epoch_replay, a_mirror_has_no_epochs)
{
	struct epochs_config config = small;
	config.kind = EPOCHS_MIRRORED;
	check_impossible(&config,
		&(struct impossible){"a mirror has no epochs", {BEGUN(0, false)}});
}

/* --- what is damaged ----------------------------------------------------------------- */

static void damage(struct random_world *random, struct record *record)
{
	uint32_t most = 2 * random->world.config.set.positions;
	switch (random_below(random, 7)) {
	case 0:
		record->kind = (enum record_kind)random_below(random, RECORD_KINDS + 1);
		break;
	case 1:
		record->epoch = random_below(random, WORLD_EPOCHS);
		break;
	case 2:
		record->position = random_below(random, most);
		break;
	case 3:
		record->sample = random_below(random, most);
		break;
	case 4:
		record->served = (enum served)random_below(random, 5);
		break;
	case 5:
		record->rolls = !record->rolls;
		break;
	default:
		record->how = (enum opened_how)random_below(random, OPENED_HOWS);
		break;
	}
}

/* Damages a record: changes it, repeats it, removes it, or moves it to a later place. */
static void damage_journal(struct random_world *random)
{
	struct epoch_world *world = &random->world;
	size_t i = random_below(random, (uint32_t)world->n_records);
	size_t j = random_below(random, (uint32_t)world->n_records);
	struct record record = world->journal[i];
	switch (random_below(random, 8)) {
	case 0:
		world->journal[j] = record;
		break;
	case 1:
		memmove(&world->journal[i], &world->journal[i + 1],
			(--world->n_records - i) * sizeof(record));
		break;
	case 2:
		world->journal[i] = world->journal[j];
		world->journal[j] = record;
		break;
	default:
		damage(random, &world->journal[i]);
		break;
	}
}

/* Replays the journal until a record is refused. That record and all later ones are cut off, as if
 * they had been lost. */
static size_t replay_damaged(const struct epoch_world *world)
{
	struct epochs *epochs;
	const char *reason = NULL;
	size_t n = 0;
	cr_assert_eq(0, epochs_new(&world->config, &epochs));
	while (n < world->n_records) {
		int err = epochs_replay(epochs, &world->journal[n], &reason);
		epochs_validate(epochs);
		if (err) {
			cr_assert_eq(-EINVAL, err);
			cr_assert_not_null(reason);
			break;
		}
		n++;
	}
	epochs_free(&epochs);
	return n;
}

/* Tells whether the engine continues with the accepted records, and the twin agrees. */
static bool goes_on(enum epochs_kind kind, uint64_t seed)
{
	struct random_world random;
	struct random_seen seen = {0};
	random_begin(&random, kind, seed);
	random.saves = false;
	random.world.by_hand = true;
	random.world.keep = 0;
	for (int i = 0; i < STEPS; i++)
		random_step(&random);
	size_t before = random.world.n_records;
	if (before > 0)
		damage_journal(&random);
	size_t n = replay_damaged(&random.world);
	world_restart(&random.world, n);
	twin_restart(&random.twin, true);
	world_replayed(&random.world);
	twin_check(&random.twin);
	for (int i = 0; i < STEPS / 2; i++)
		random_step(&random);
	random_end(&random, &seen);
	return n + 1 >= before;
}

Test(epoch_replay, a_damaged_record_is_refused_or_understood, .timeout = 600)
{
	unsigned accepted = 0;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		accepted += goes_on(EPOCHS_DRAWN, seed);
		accepted += goes_on(EPOCHS_FIXED, seed);
	}
	cr_assert_gt(accepted, CASES / 20);
	cr_assert_lt(accepted, CASES * 2 - CASES / 20);
}
