// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "epoch/journal_internal.h"
#include "power_journal.h"

/*
 * A segment that has grown long is rewritten, and the power fails at any moment, or the process
 * ends. No promised record may be missing, except opens with many later opens of the same script.
 * Records that are appended afterwards must be read, too.
 *
 * JOADERFS_SEED=n runs one case alone.
 */

TestSuite(power_compact, .init = make_places, .fini = remove_places, .timeout = 600);

#define RECORDS 1500
#define FAILURES 12
#define SCRIPTS 12
#define KEPT (4 * EPOCH_POSITIONS)

struct writer {
	struct journal *journal;
	struct rng rng;
	struct record history[RECORDS];
	size_t n, promised, compacted;
	bool recorded;
	uint32_t epoch, position;
	uint32_t opens[SCRIPTS + 1];
};

static struct record next_record(struct writer *writer)
{
	struct rng *rng = &writer->rng;
	if (writer->n == 0)
		return begun(0);
	if (rng_below(rng, 600) == 0) {
		writer->position = 0;
		return begun(++writer->epoch);
	}
	if (writer->position < EPOCH_POSITIONS && rng_below(rng, 40) == 0) {
		uint32_t position = writer->position++;
		return bound(writer->epoch, position, position);
	}
	uint64_t script = 1 + rng_below(rng, 1 + rng_below(rng, SCRIPTS));
	uint64_t rank = rng_below(rng, 3) ? script : rng_next(rng);
	uint32_t nth = writer->opens[script]++; /* distinguishes the open from others */
	return (struct record){.kind = RECORD_OPENED,
		.epoch = writer->epoch,
		.position = nth % EPOCH_POSITIONS,
		.how = (enum opened_how)(nth / EPOCH_POSITIONS % OPENED_HOWS),
		.label = nth / EPOCH_POSITIONS / OPENED_HOWS % 2,
		.reader = {.thread = rank + rng_below(rng, 2),
			.rank = rank,
			.script = script}};
}

static void compact(struct writer *writer)
{
	size_t before = writer->journal->offset;
	journal_compact(writer->journal);
	writer->compacted += writer->journal->offset < before;
}

static void mark(const struct writer *writer)
{
	if (writer->recorded)
		disk_mark(writer->promised, writer->n);
}

static void write_some(struct writer *writer, size_t n)
{
	for (size_t i = 0; i < n && writer->n < RECORDS; i++) {
		struct record record = next_record(writer);
		journal_append(writer->journal, &record);
		writer->history[writer->n++] = record;
		mark(writer);
		if (rng_below(&writer->rng, 8) == 0)
			journal_flush(writer->journal);
		if (rng_below(&writer->rng, 30) == 0)
			compact(writer);
		if (rng_below(&writer->rng, 30) > 0)
			continue;
		journal_flush(writer->journal);
		cr_assert_eq(0, journal_sync(writer->journal));
		writer->promised = writer->n;
		mark(writer);
	}
}

/* Writes a journal, and records the calls. */
static void write_case(struct writer *writer, uint64_t seed, enum disk_lie lie)
{
	struct found found;
	*writer = (struct writer){.recorded = true};
	rng_seed(&writer->rng, seed);
	disk_clear(live);
	disk_record(live, lie);
	cr_assert_null(find(live, &found));
	writer->journal = found.journal;
	writer->journal->long_from = 0;
	write_some(writer, RECORDS);
	disk_stop();
	journal_close(&writer->journal);
}

/* Tells whether the open may be left out, because its script has many later ones. */
static bool is_old(const struct record *history, size_t at, size_t end)
{
	size_t later = 0;
	for (size_t i = at + 1; i < end; i++)
		later += history[i].kind == RECORD_OPENED &&
			 history[i].reader.script == history[at].reader.script;
	return history[at].kind == RECORD_OPENED && later >= KEPT;
}

/* Compares the replay with the history. Returns a description of the fault; NULL: none. *ret_end:
 * the length of the history that the replay covers. */
static const char *compare(const struct replay *replay, const struct record *history,
	size_t done, size_t promised, size_t *ret_end)
{
	size_t at = 0;
	for (size_t i = 0; i < replay->n; i++, at++) {
		while (at < done && !same_record(&history[at], &replay->records[i])) {
			if (!is_old(history, at, done))
				return "a record is missing in the middle";
			at++;
		}
		if (at == done)
			return "a record was not written there";
	}
	*ret_end = at;
	return at < promised ? "a record is missing that was promised" : NULL;
}

/* Lets another process continue the journal. */
static const char *goes_on(struct writer *writer, struct found *found, size_t end)
{
	writer->journal = found->journal;
	writer->journal->long_from = 0;
	writer->recorded = false;
	writer->n = end;
	for (size_t i = 0; i < end; i++)
		if (writer->history[i].kind == RECORD_BEGUN)
			writer->epoch = writer->history[i].epoch;
	write_some(writer, 200);
	journal_close(&writer->journal);
	found->journal = NULL;
	struct found again_found;
	const char *wrong = find(crashed, &again_found);
	if (!wrong)
		wrong = compare(
			&again_found.replay, writer->history, writer->n, writer->n, &end);
	found_free(&again_found);
	return wrong;
}

static const char *play(uint64_t seed, enum disk_lie lie, size_t *compacted)
{
	static struct writer writer, other;
	const char *wrong = NULL;
	write_case(&writer, seed, lie);
	*compacted += writer.compacted;
	for (unsigned i = 0; i < FAILURES && !wrong; i++) {
		struct found found;
		size_t promised, done, at,
			end = rng_below(&writer.rng, disk.n_events + 1);
		power_fails(end, seed % DISK_ORDERS, &writer.rng, crashed);
		image_promise(end, &promised, &done);
		wrong = find(crashed, &found);
		if (!wrong)
			wrong = compare(
				&found.replay, writer.history, done, promised, &at);
		if (!wrong && at > 0 && i % 4 == 0) {
			other = writer;
			wrong = goes_on(&other, &found, at);
		}
		found_free(&found);
	}
	return wrong;
}

Test(power_compact, leaves_what_was_promised)
{
	const char *which = getenv("JOADERFS_SEED");
	uint64_t seed = which ? strtoull(which, NULL, 10) : 0;
	uint64_t last = which ? seed : effort(40, 2000);
	size_t compacted = 0;
	for (; seed <= last; seed++) {
		const char *wrong = play(seed, LIE_NONE, &compacted);
		cr_assert_null(wrong, "seed %u: %s", (unsigned)seed, wrong);
	}
	cr_assert_gt(compacted, which ? 0 : 40, "%zu times", compacted);
}

static void expect_noticed(enum disk_lie lie)
{
	const char *wrong = NULL;
	size_t compacted = 0;
	for (uint64_t seed = 0; seed < 100 && !wrong; seed++)
		wrong = play(seed, lie, &compacted);
	cr_assert_not_null(wrong);
}

Test(power_compact, notices_mutants_that_rename_what_is_not_synced)
{
	expect_noticed(LIE_RENAMED_UNSYNCED);
}

Test(power_compact, notices_mutants_that_do_not_sync_directories)
{
	expect_noticed(LIE_DIRECTORIES_UNSYNCED);
}
