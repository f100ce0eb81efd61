// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "epoch_world.h"
#include "power_journal.h"

/*
 * The power fails at any moment while journal and orders are written, and again while they are
 * read. The journal must open and contain the state of some moment, and nothing may be missing
 * that a sync has promised. Tests with lies of the disk show that faults are noticed.
 *
 * JOADERFS_SEED=n runs one case alone.
 */

TestSuite(power_failure, .init = make_places, .fini = remove_places, .timeout = 600);

#define READINGS 80
#define FAILURES 12 /* failures of power in each case */

static const struct epochs_config config = {.kind = EPOCHS_DRAWN,
	.set.positions = EPOCH_POSITIONS,
	.limit = WORLD_EPOCHS,
	.lookahead = 3,
	.file = 1,
	.idle_ns = UINT64_MAX / 2};

/* --- writing ------------------------------------------------------------------------- */

struct writer {
	struct epoch_world world;
	struct journal *journal;
	struct rng rng;
	size_t appended; /* number of the world's records */
	size_t promised; /* number of records that a sync has promised */
};

/* Saves the order before the engine is told, as the clerk does. */
static void save_order_first(struct epoch_world *world, const struct world_event *event)
{
	if (event->kind != EVENT_SAVED)
		return;
	struct order order = epochs_order(world->epochs, event->epoch);
	cr_assert_eq(0, order_save(live, event->epoch, FINGERPRINT, &order));
}

static void write_records(struct epoch_world *world, const struct world_event *event)
{
	struct writer *writer = world->context;
	while (writer->appended < world->n_records)
		journal_append(writer->journal, &world->journal[writer->appended++]);
	disk_mark(writer->promised, writer->appended);
	if (rng_below(&writer->rng, 3) == 0)
		journal_flush(writer->journal);
	if (rng_below(&writer->rng, 10) == 0) {
		journal_flush(writer->journal);
		cr_assert_eq(0, journal_sync(writer->journal));
		writer->promised = writer->appended;
		disk_mark(writer->promised, writer->appended);
	}
	if (event->kind == EVENT_SAVED && rng_below(&writer->rng, 3) > 0)
		journal_forget(writer->journal, epochs_first_unsaved(world->epochs));
}

static int no_record(void *context, const struct record *record, const char **ret_reason)
{
	(void)context;
	(void)record;
	(void)ret_reason;
	return -EINVAL;
}

static void save_one(struct writer *writer)
{
	uint32_t epoch;
	for (epoch = 0; epoch < WORLD_EPOCHS; epoch++)
		if (writer->world.streams[epoch].saving) {
			world_saved(&writer->world, epoch);
			return;
		}
}

/* Begins all wanted streams. Orders are saved late. */
static void begin_streams(struct writer *writer)
{
	for (uint32_t epoch = 0; epoch < WORLD_EPOCHS; epoch++)
		if (writer->world.streams[epoch].wanted &&
			!writer->world.streams[epoch].left)
			world_begun(&writer->world, epoch, 0);
}

/* Lets two readers read current/; the second one is slow. */
static void read_some(struct writer *writer)
{
	uint32_t at[2] = {0};
	for (unsigned i = 0; i < READINGS; i++) {
		uint32_t reader = rng_below(&writer->rng, 4) == 0;
		uint32_t position = (2 * at[reader]++ + reader) % EPOCH_POSITIONS;
		struct world_request *request = world_request_new(
			&writer->world, EPOCH_CURRENT, position, reader + 1, false);
		world_open(&writer->world, request);
		begin_streams(writer);
		cr_assert_eq(1, request->answers);
		world_release(&writer->world, request, true);
		if (rng_below(&writer->rng, 6) == 0)
			save_one(writer);
	}
}

/* Writes journal and orders, and records the calls. */
static void write_case(struct writer *writer, uint64_t seed, enum disk_lie lie)
{
	enum journal_found found;
	*writer = (struct writer){.journal = NULL};
	rng_seed(&writer->rng, seed);
	disk_clear(live);
	disk_record(live, lie);
	cr_assert_eq(
		0, journal_open(live, &mine, no_record, NULL, &found, &writer->journal));
	world_begin(&writer->world, &config, seed);
	writer->world.by_hand = true;
	writer->world.context = writer;
	writer->world.before = save_order_first;
	writer->world.after = write_records;
	read_some(writer);
	writer->world.before = writer->world.after = NULL;
	disk_stop();
	journal_close(&writer->journal);
}

/* --- checks -------------------------------------------------------------------------- */

static bool has_order(const struct found *found, uint32_t epoch)
{
	for (size_t i = 0; i < found->n_orders; i++)
		if (found->orders[i] == epoch)
			return true;
	return false;
}

/* Compares the epoch's bindings in the history and in its file. */
static const char *check_order(
	const char *path, uint32_t epoch, const struct record *history, size_t done)
{
	struct binding bindings[EPOCH_POSITIONS];
	uint32_t n, k = 0;
	if (order_bindings(path, epoch, 0, EPOCH_POSITIONS, bindings, &n) != 0)
		return "an order can't be read";
	for (size_t i = 0; i < done; i++) {
		if (history[i].kind != RECORD_BOUND || history[i].epoch != epoch)
			continue;
		if (k == n || bindings[k].position != history[i].position ||
			bindings[k].sample != history[i].sample)
			return "an order is another one";
		k++;
	}
	return k < n ? "an order has more than was bound" : NULL;
}

static const char *check_orders(const char *path, const struct found *found,
	const struct record *history, size_t done)
{
	for (size_t i = 0; i < found->n_orders; i++) {
		const char *wrong = check_order(path, found->orders[i], history, done);
		if (wrong)
			return wrong;
	}
	for (size_t i = 0; i < done && found->replay.n > 0; i++)
		if (history[i].kind == RECORD_BEGUN &&
			history[i].epoch < found->replay.records[0].epoch &&
			!has_order(found, history[i].epoch))
			return "neither journal nor orders tell of an epoch";
	return NULL;
}

/* Checks that an engine replays the records and continues. */
static const char *check_engine(
	const char *path, const struct epochs_config *of, const struct found *found)
{
	struct epochs *epochs;
	struct effects effects;
	const char *reason = NULL;
	int err = 0;
	cr_assert_eq(0, epochs_new(of, &epochs));
	for (size_t i = 0; i < found->replay.n && !err; i++)
		err = epochs_replay(epochs, &found->replay.records[i], &reason);
	struct epochs_order_file *orders = calloc(found->n_orders + 1, sizeof(*orders));
	cr_assert_not_null(orders);
	for (size_t i = 0; i < found->n_orders && !err; i++) {
		orders[i].epoch = found->orders[i];
		err = order_bound(path, orders[i].epoch, &orders[i].bound);
	}
	epochs_has_orders(epochs, orders, found->n_orders);
	do {
		effects_init(&effects);
		if (!err)
			epochs_replayed(epochs, &effects);
	} while (effects.n > 0);
	epochs_validate(epochs);
	epochs_free(&epochs);
	return err ? "the engine refuses a record" : NULL;
}

static const char *check(const char *path, const struct epochs_config *of,
	const struct record *history, size_t done, size_t promised, struct found *found)
{
	const char *wrong = find(path, found);
	if (!wrong)
		wrong = check_records(&found->replay, history, done, promised);
	if (!wrong && of)
		wrong = check_orders(path, found, history, done);
	if (!wrong && of)
		wrong = check_engine(path, of, found);
	return wrong;
}

/* --- a second failure, during the recovery -------------------------------------------- */

#define MORE 6

/* Returns the number of records with which an engine might continue. */
static size_t go_on(struct found *found)
{
	struct replay *replay = &found->replay;
	const char *reason;
	uint32_t epoch = replay->n ? replay->records[replay->n - 1].epoch : 0;
	for (size_t i = 0; i < replay->n; i++)
		if (replay->records[i].epoch > epoch)
			epoch = replay->records[i].epoch;
	size_t before = replay->n;
	if (before == 0) {
		struct record first = begun(0);
		cr_assert_eq(0, note_record(replay, &first, &reason));
	}
	for (uint32_t i = 0; i < MORE; i++) {
		struct record record = i == MORE / 2
					       ? begun(epoch + 1)
					       : bound(epoch + (i > MORE / 2), i, i);
		cr_assert_eq(0, note_record(replay, &record, &reason));
	}
	return before;
}

/* Checks that records that were read once stay on the disk, whatever is written afterwards. */
static const char *fails_again(struct rng *rng, enum disk_order order, enum disk_lie lie)
{
	struct found found, second;
	size_t promised, done;
	disk_record(crashed, lie);
	const char *wrong = find(crashed, &found);
	size_t before = found.replay.n;
	if (!wrong) {
		before = go_on(&found);
		disk_mark(before, found.replay.n);
		append_all(found.journal, found.replay.records + before,
			found.replay.n - before);
		journal_flush(found.journal);
		cr_assert_eq(0, journal_sync(found.journal));
		disk_mark(found.replay.n, found.replay.n);
	}
	disk_stop();
	for (size_t end = 0; end <= disk.n_events && !wrong; end++) {
		power_fails(end, order, rng, again);
		image_promise(end, &promised, &done);
		promised = promised < before ? before : promised;
		done = done < before ? before : done;
		wrong = check(again, NULL, found.replay.records, done, promised, &second);
		found_free(&second);
	}
	found_free(&found);
	return wrong;
}

/* --- cases ---------------------------------------------------------------------------- */

struct seen {
	unsigned failures, torn, forgotten, empty;
};

static void look(const struct found *found, size_t done, struct seen *seen)
{
	seen->failures++;
	seen->empty += found->replay.n == 0 && done > 0;
	seen->forgotten += found->replay.n > 0 && found->replay.records[0].epoch > 0;
	seen->torn += found->replay.n < done;
}

static const char *play(uint64_t seed, enum disk_lie lie, struct seen *seen)
{
	struct writer writer;
	const char *wrong = NULL;
	size_t promised, done, end = 0;
	enum disk_order order = seed % DISK_ORDERS;
	write_case(&writer, seed, lie);
	for (unsigned i = 0; i < FAILURES && !wrong; i++) {
		struct found found;
		end = rng_below(&writer.rng, disk.n_events + 1);
		power_fails(end, order, &writer.rng, crashed);
		image_promise(end, &promised, &done);
		wrong = check(crashed, &writer.world.config, writer.world.journal, done,
			promised, &found);
		look(&found, done, seen);
		found_free(&found);
	}
	if (!wrong) {
		power_fails(end, order, &writer.rng, crashed);
		wrong = fails_again(&writer.rng, order, lie);
	}
	world_end(&writer.world);
	return wrong;
}

Test(power_failure, leaves_what_was_promised)
{
	struct seen seen = {0};
	const char *which = getenv("JOADERFS_SEED");
	uint64_t seed = which ? strtoull(which, NULL, 10) : 0;
	uint64_t last = which ? seed : effort(150, 5000);
	for (; seed <= last; seed++) {
		const char *wrong = play(seed, LIE_NONE, &seen);
		cr_assert_null(wrong, "seed %u: %s", (unsigned)seed, wrong);
	}
	if (which)
		return;
	cr_assert_gt(seen.torn, 100);
	cr_assert_gt(seen.forgotten, 100);
	cr_assert_gt(seen.empty, 10);
}

static void expect_noticed(enum disk_lie lie)
{
	struct seen seen = {0};
	const char *wrong = NULL;
	for (uint64_t seed = 0; seed < 100 && !wrong; seed++)
		wrong = play(seed, lie, &seen);
	cr_assert_not_null(wrong);
}

Test(power_failure, notices_mutants_that_do_not_sync_files)
{
	expect_noticed(LIE_FILES_UNSYNCED);
}

Test(power_failure, notices_mutants_that_rename_what_is_not_synced)
{
	expect_noticed(LIE_RENAMED_UNSYNCED);
}

Test(power_failure, notices_mutants_that_do_not_sync_directories)
{
	expect_noticed(LIE_DIRECTORIES_UNSYNCED);
}
