// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/journal_internal.h"
#include "base/ensure.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

#define RESERVED 4096 /* bytes for which journal_reserve makes room */

static bool is_reader(const struct reader *a, const struct reader *b)
{
	return a->thread == b->thread && a->rank == b->rank && a->script == b->script;
}

/* Returns 0 if the reader has no number. */
static uint32_t reader_number(
	const struct reader_numbers *readers, const struct reader *id)
{
	size_t set = id->thread % READER_SETS;
	for (size_t i = 0; i < READER_WAYS; i++)
		if (readers->sets[set][i].number != 0 &&
			is_reader(&readers->sets[set][i].id, id))
			return readers->sets[set][i].number;
	return 0;
}

uint32_t reader_give_number(struct reader_numbers *readers, const struct reader *id)
{
	size_t set = id->thread % READER_SETS, place = 0;
	for (size_t i = 1; i < READER_WAYS; i++)
		if (readers->sets[set][i].number < readers->sets[set][place].number)
			place = i;
	readers->sets[set][place].id = *id;
	readers->sets[set][place].number = ++readers->n;
	return readers->n;
}

/* Takes the buffer for new records. The writing thread can't take it until put_filling. */
static struct record_buffer *take_filling(struct journal *journal)
{
	struct record_buffer *filling = atomic_exchange(&journal->filling, NULL);
	ensure(filling); /* only one thread at a time appends */
	return filling;
}

/* Gives the buffer back. A thread that takes it later sees all bytes in it. */
static void put_filling(struct journal *journal, struct record_buffer *filling)
{
	atomic_store_explicit(&journal->filling, filling, memory_order_release);
}

/* Appends the bytes to the buffer, and then adds their number to `appended`. A thread that has
 * read `appended` finds the bytes that this number counts: they are in the buffer or the file. Only
 * the appending thread changes `appended`. Returns false if memory is short. */
static bool push(struct journal *journal, const void *bytes, size_t n)
{
	struct record_buffer *filling = take_filling(journal);
	bool pushed = buffer_make_room(filling, n);
	if (pushed) {
		memcpy(filling->bytes + filling->n, bytes, n);
		filling->n += n;
	}
	put_filling(journal, filling);
	if (atomic_load_explicit(&journal->incomplete, memory_order_relaxed) == pushed)
		atomic_store(&journal->incomplete, !pushed);
	if (pushed) {
		uint64_t appended =
			atomic_load_explicit(&journal->appended, memory_order_relaxed);
		atomic_store_explicit(
			&journal->appended, appended + n, memory_order_release);
	}
	return pushed;
}

/* Notes that there was no memory for a record. Records of positions of the epochs that have begun
 * are omitted from now on, because a replay fails if one in the middle of an epoch is missing. */
static void lose(struct journal *journal, uint32_t epoch)
{
	struct loss *loss = &journal->loss;
	if (!loss->now)
		loss->known_below = journal->begun ? journal->epoch + 1 : 0;
	loss->now = true;
	loss->whole_from = epoch + 1;
	log_error("journal %s: no memory for it: the rest of epoch %u is not written, "
		  "and a restart draws it anew; the next epoch will be written",
		journal->directory, epoch);
}

/* Tells whether the record ends its epoch (ENDED or LET_GO), and a replay accepts it even if
 * earlier records of this epoch are missing. */
static bool is_end(const struct loss *loss, const struct record *record)
{
	bool last = record->epoch + 1 == loss->known_below;
	if (record->kind == RECORD_LET_GO)
		/* The journal lacks the next epoch's BEGUN. So in a replay this epoch does not
		 * drain, and can't be let go. */
		return !(loss->begun && last);
	return record->kind == RECORD_ENDED;
}

/* Tells whether the record can be appended now. While records are being lost, a record that ends an
 * epoch is put on the list `owed`, which is appended before the next BEGUN. */
static bool survives(struct loss *loss, const struct record *record)
{
	if (record->epoch >= loss->whole_from)
		return true;
	if (record->epoch >= loss->known_below || !is_end(loss, record))
		return false;
	if (loss->now) {
		ensure(loss->n_owed < OWED_MAX);
		loss->owed[loss->n_owed++] = *record;
	}
	return !loss->now;
}

int journal_reserve(struct journal *journal)
{
	struct record_buffer *filling = take_filling(journal);
	bool made = buffer_make_room(filling, RESERVED);
	put_filling(journal, filling);
	return made ? 0 : -ENOMEM;
}

static size_t encode_owed(const struct journal *journal, struct disk_record *ret)
{
	size_t n = journal->loss.n_owed;
	for (size_t i = 0; i < n; i++)
		ret[i] = record_encode(&journal->loss.owed[i], journal->epoch, 0);
	return n * sizeof(*ret);
}

/* Returns the least number that the next segment may have. The numbers of segments ascend, even if
 * the job goes back to an earlier epoch. */
static uint32_t number_after(const struct journal *journal)
{
	return journal->begun ? journal->epoch + journal->lag + 1 : 0;
}

static struct segment next_segment(
	const struct journal *journal, const struct record *record)
{
	uint32_t number = record->epoch + journal->lag;
	if (record->kind == RECORD_RESTORED)
		number = number_after(journal);
	if (number < record->epoch)
		number = record->epoch;
	return (struct segment){.number = number,
		.lag = number - record->epoch,
		.before = journal->begun ? journal->epoch + journal->lag : JOURNAL_FIRST,
		.journal = journal->id};
}

char *journal_next_order(
	const struct journal *journal, const char *directory, bool drains)
{
	return journal_order_of(directory, number_after(journal), drains);
}

void journal_use(struct journal *journal, const struct order_set *set)
{
	journal->identity.positions = set->positions;
	journal->identity.fingerprint = set->fingerprint;
	if (journal->most_positions < set->positions)
		journal->most_positions = set->positions;
}

static void append_segment(struct journal *journal, const struct record *record)
{
	struct {
		struct disk_record segment;
		struct disk_head head;
		struct disk_record begun;
	} all = {.segment.kind = RECORD_SEGMENT};
	_Static_assert(sizeof(all) == BUFFER_SEGMENT, "no holes");
	uint8_t bytes[OWED_MAX * sizeof(struct disk_record) + sizeof(all)];
	struct record begun = *record;
	struct loss *loss = &journal->loss;
	bool restored = record->kind == RECORD_RESTORED;
	struct segment segment = next_segment(journal, record);
	ensure(!journal->begun || restored || record->epoch > journal->epoch);
	/* a replay of RESTORED needs no earlier record, so the loss is over */
	if (restored)
		*loss = (struct loss){.now = false};
	/* the previous epoch can't drain, because the journal lacks its BEGUN */
	if (loss->begun)
		begun.rolls = false;
	all.head = head_encode(&journal->identity, &segment);
	all.begun = record_encode(&begun, record->epoch, 0);
	size_t n = encode_owed(journal, (struct disk_record *)bytes);
	memcpy(bytes + n, &all, sizeof(all));
	if (!push(journal, bytes, n + sizeof(all))) {
		lose(journal, record->epoch);
		loss->begun = true;
		return;
	}
	if (loss->now)
		*loss = (struct loss){
			.known_below = loss->known_below, .whole_from = record->epoch};
	journal->begun = true;
	journal->epoch = record->epoch;
	journal->lag = segment.lag;
	memset(&journal->readers, 0, sizeof(journal->readers));
}

static size_t encode_reader(const struct reader *reader, struct disk_record *ret)
{
	ret[0] = record_encode_reader(reader->script, READER_SCRIPT);
	ret[1] = record_encode_reader(reader->rank, READER_RANK);
	ret[2] = record_encode_reader(reader->thread, READER_THREAD);
	return READER_PARTS;
}

static void append_record(struct journal *journal, const struct record *record)
{
	const struct reader *reader = &record->reader;
	struct disk_record records[READER_PARTS + 1];
	size_t n = 0;
	uint32_t number = 0;
	if (record->kind == RECORD_OPENED && !is_reader(reader, &(struct reader){0})) {
		number = reader_number(&journal->readers, reader);
		if (number == 0) {
			number = reader_give_number(&journal->readers, reader);
			n = encode_reader(reader, records);
		}
	}
	records[n++] = record_encode(record, journal->epoch, number);
	if (!push(journal, records, n * sizeof(records[0])))
		lose(journal, journal->epoch);
}

void journal_append(struct journal *journal, const struct record *record)
{
	bool restored = record->kind == RECORD_RESTORED;
	if (record->kind == RECORD_BEGUN || (restored && !record->drains)) {
		append_segment(journal, record);
	} else if (survives(&journal->loss, record)) {
		ensure(journal->begun);
		ensure(restored || record->position < journal->most_positions);
		append_record(journal, record);
	}
}
