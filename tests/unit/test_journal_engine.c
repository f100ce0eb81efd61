// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/journal_internal.h"
#include "epoch_world.h"
#include "journal_helpers.h"

/*
 * The decisions of an epoch engine go through a journal into another engine: all of them, or those
 * for which there was memory, or those that were written before the process ended. In each case
 * the other engine continues with the rest.
 */

TestSuite(journal_engine, .init = make_directory, .fini = remove_directory);

#define N 400 /* positions */
#define READERS 4

/* Reads current/ by several readers, each in its own order. One reader is slow, and stays in the
 * draining epoch. */
static void read_epochs(struct epoch_world *world)
{
	uint32_t at[READERS] = {0};
	for (uint32_t i = 0; i < 6 * N; i++) {
		uint32_t reader = (uint32_t)rng_below(&world->rng, READERS);
		if (reader == 0 && rng_below(&world->rng, 4) > 0)
			continue;
		uint32_t position = (at[reader]++ * READERS + reader) % N;
		world_read(world, EPOCH_CURRENT, position, reader + 1,
			rng_below(&world->rng, 8) == 0);
	}
}

static const struct epochs_config config = {.kind = EPOCHS_DRAWN,
	.set.positions = N,
	.limit = WORLD_EPOCHS,
	.lookahead = 8,
	.file = 1,
	.idle_ns = UINT64_MAX / 2};

static struct journal_identity identity_of(const struct epoch_world *world)
{
	return (struct journal_identity){
		.job = "job", .id = 1, .positions = N, .samples = world->n_samples};
}

/* The engine that replays the journal, and the bindings of the engine that wrote it. */
struct reader_engine {
	struct epochs *epochs;
	const struct epoch_world *world;
	size_t n, n_bound;
};

static bool was_bound(const struct epoch_world *world, const struct record *record)
{
	for (size_t i = 0; i < world->n_records; i++)
		if (same_record(&world->journal[i], record))
			return true;
	return false;
}

static int take(void *context, const struct record *record, const char **ret_reason)
{
	struct reader_engine *reader = context;
	reader->n++;
	reader->n_bound += record->kind == RECORD_BOUND;
	if (record->kind == RECORD_BOUND && reader->n % 16 == 0)
		cr_assert(was_bound(reader->world, record));
	return epochs_replay(reader->epochs, record, ret_reason);
}

static size_t replay_into_engine(
	const struct epoch_world *world, struct journal **ret, size_t *ret_bound)
{
	struct reader_engine reader = {.world = world};
	struct journal_identity mine = identity_of(world);
	enum journal_found found;
	cr_assert_eq(0, epochs_new(&world->config, &reader.epochs));
	catch_log();
	cr_assert_eq(0, journal_open(directory, &mine, take, &reader, &found, ret));
	epochs_validate(reader.epochs);
	epochs_free(&reader.epochs);
	*ret_bound = reader.n_bound;
	return reader.n;
}

/* flush: the number of records after which the journal is flushed; 0: never. */
static void write_journal(const struct epoch_world *world, size_t flush)
{
	struct journal *journal;
	size_t n_bound;
	cr_assert_eq(0, replay_into_engine(world, &journal, &n_bound));
	for (size_t i = 0; i < world->n_records; i++) {
		journal_append(journal, &world->journal[i]);
		if (flush && i % flush == 0)
			journal_flush(journal);
	}
	journal_close(&journal);
}

static void empty_directory(void)
{
	remove_directory();
	cr_assert_eq(0, mkdir(directory, 0755));
}

Test(journal_engine, takes_all_that_was_decided)
{
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct epoch_world world;
		struct journal *journal;
		size_t n_bound;
		world_begin(&world, &config, seed);
		read_epochs(&world);
		write_journal(&world, seed * 10);
		cr_assert_eq(
			world.n_records, replay_into_engine(&world, &journal, &n_bound));
		cr_assert_gt(n_bound, 3 * N, "epochs were read");
		journal_close(&journal);
		world_end(&world);
		empty_directory();
	}
}

#define GROWS 5 /* least number of times that memory grows */

Test(journal_engine, takes_what_there_was_memory_for)
{
	for (unsigned fault = 0; fault < GROWS * 4; fault += 3) {
		struct epoch_world world;
		struct journal *journal;
		char specification[64];
		size_t n_bound;
		world_begin(&world, &config, fault);
		read_epochs(&world);
		snprintf(specification, sizeof(specification),
			"journal.memory:ENOMEM:after=%u:times=%u", fault / 4,
			1 + fault % 4);
		cr_assert_eq(0, fault_add(specification));
		write_journal(&world, 0);
		fault_clear();
		size_t n = replay_into_engine(&world, &journal, &n_bound);
		cr_assert(n < world.n_records, "nothing was left out");
		journal_close(&journal);
		world_end(&world);
		empty_directory();
	}
}

Test(journal_engine, takes_what_was_written_before_the_end)
{
	struct epoch_world world;
	struct journal *journal;
	char newest[32] = "";
	size_t n_bound, size, before = SIZE_MAX;
	world_begin(&world, &config, 1);
	read_epochs(&world);
	write_journal(&world, 0);
	for (unsigned epoch = 0; epoch < WORLD_EPOCHS; epoch++) {
		char name[32];
		snprintf(name, sizeof(name), "journal-%04u", epoch);
		if (exists(name))
			strcpy(newest, name);
	}
	uint8_t *bytes = read_file(newest, &size);
	for (size_t end = size; end > 0; end -= end < 131 ? end : 131) {
		write_file(newest, bytes, end);
		size_t n = replay_into_engine(&world, &journal, &n_bound);
		cr_assert(n <= before);
		before = n;
		journal_close(&journal);
	}
	free(bytes);
	world_end(&world);
}

#define OPENS 100000
#define SMALL 8192 /* bytes */

static size_t write_and_measure(const struct epoch_world *world)
{
	struct journal *journal;
	size_t n_bound;
	write_journal(world, 1000);
	size_t size = size_of("journal-0000");
	cr_assert_eq(world->n_records, replay_into_engine(world, &journal, &n_bound));
	journal_close(&journal);
	empty_directory();
	return size;
}

/* Some threads open a file each, again and again. Another one reads a file now and then. */
Test(journal_engine, is_told_once_of_a_file_that_is_opened_for_ever)
{
	struct epoch_world world;
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < N / 4; i++)
		world_read(&world, EPOCH_CURRENT, i, 1, false);
	size_t before = write_and_measure(&world);
	for (uint32_t i = 0; i < OPENS; i++)
		world_read(&world, EPOCH_CURRENT, N / 4 + i % 3, 1 + i % 3, false);
	size_t after = write_and_measure(&world);
	cr_assert_lt(after, before + SMALL, "%zu bytes, and then %zu", before, after);
	for (uint32_t i = 0; i < N / 4; i++) {
		world_read(&world, EPOCH_CURRENT, N / 2 + i, 9, false);
		for (uint32_t k = 0; k < 100; k++)
			world_read(&world, EPOCH_CURRENT, N / 4, 1, false);
	}
	before = after;
	after = write_and_measure(&world);
	cr_assert_lt(after, before + N / 4 * 64 + SMALL, "%zu bytes, and then %zu",
		before, after);
	world_end(&world);
}

#define BOUNDED (2 * (16 * 16 * N + OPENS / 20000 * 4 * N * 16)) /* bytes */

/* Scripts that only try a few files, and one script that reads on beside them. */
Test(journal_engine, takes_what_is_left_of_a_segment_that_grew_for_ever)
{
	struct epoch_world world;
	struct journal *journal;
	size_t n_bound, most = 0;
	world_begin(&world, &config, 2);
	for (uint32_t i = 0; i < OPENS; i++) {
		struct reader reader = {.thread = i / 20000 + 2,
			.rank = i / 20000 + 2,
			.script = i / 20000 + 2};
		world_read_by(&world, EPOCH_CURRENT, i % 10, reader, false);
		if (i % 1000 == 0)
			world_read(&world, EPOCH_CURRENT, 10 + i / 1000, 1, false);
	}
	cr_assert_eq(0, replay_into_engine(&world, &journal, &n_bound));
	journal->long_from = 0;
	for (size_t i = 0; i < world.n_records; i++) {
		journal_append(journal, &world.journal[i]);
		if (i % 1000 > 0)
			continue;
		journal_flush(journal);
		journal_compact(journal);
		most = size_of("journal-0000") > most ? size_of("journal-0000") : most;
	}
	journal_close(&journal);
	cr_assert_gt(world.n_records * 16, 1000000);
	cr_assert_lt(most, BOUNDED, "%zu bytes", most);
	size_t n = replay_into_engine(&world, &journal, &n_bound);
	cr_assert_lt(n, world.n_records);
	cr_assert_eq(n_bound, 10 + OPENS / 1000);
	journal_close(&journal);
	world_end(&world);
}
