// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "epoch/journal.h"
#include "epoch/disk.h"

#include <endian.h>
#include <limits.h>
#include <stdatomic.h>

/* Records become bytes in memory (journal_append.c, journal_buffer.c), then bytes in files
 * (journal.c); journal_replay.c makes them records again. */

/* --- bytes: all numbers are little endian --- */

#define JOURNAL_PREFIX "journal-"
#define JOURNAL_MAGIC "JOADERJ\n"
#define JOURNAL_VERSION 1
#define JOURNAL_FIRST UINT32_MAX /* disk_head.before of a journal's first segment */

struct disk_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t id; /* number of the job */
	uint32_t positions;
	uint32_t samples;
	uint64_t fingerprint;
	/* time when the segment began, in ns since 1970; it gives equal records in different files
	 * different checksums */
	uint64_t begun_ns;
	uint32_t epoch;	 /* number of the segment */
	uint32_t before; /* number of the previous segment */
	/* Number of the segment minus its first epoch: above 0 if the job has gone back, because
	 * segments then still get new numbers, while the epochs repeat. */
	uint32_t lag;
	uint32_t journal[2]; /* journal_id, equal in all segments; lower half first */
	/* checksum of the previous 60 bytes; the first record's checksum continues it */
	uint32_t checksum;
};

/* A record. `checksum` covers bytes 4 to 15, and continues the previous record's. */
struct disk_record {
	uint32_t checksum;
	uint8_t kind;
	/* BOUND: served; BEGUN: rolls; RESTORED: drains; OPENED: how and DETAIL_LABEL; READER (see
	 * below): which of the reader's three numbers it has (READER_...) */
	uint8_t detail;
	uint16_t back;	   /* first epoch of the segment minus epoch of the record */
	uint32_t position; /* RESTORED: the number of consumed positions */
	/* BOUND: sample; OPENED: the reader's number; BEGUN, RESTORED: number of bindings in the
	 * order file with which the epoch continues */
	uint32_t value;
};

_Static_assert(sizeof(struct disk_head) == 64, "no holes");
_Static_assert(sizeof(struct disk_record) == 16, "no holes");

/* A READER has one of the three numbers of a struct reader in its bytes 8 to 15; its `detail` tells
 * which. Three READERs describe a reader: script, rank, and last the thread. The readers of a
 * segment are numbered from 1 on, and an OPENED refers to a reader by this number. A SEGMENT occurs
 * only in memory, before the head and the BEGUN of a segment. */
enum { RECORD_READER = 64, RECORD_SEGMENT = 255 };
enum { READER_THREAD, READER_RANK, READER_SCRIPT, READER_PARTS };
/* SKIPPED: the next `value` numbers of readers are not used. SEAM: see journal_compact.c. */
enum { READER_SKIPPED = 64, READER_SEAM };

#define DETAIL_LABEL 0x80

uint32_t record_checksum(const struct disk_record *record, uint32_t before);
/* segment: the first epoch of the segment to which the record belongs. number: the number of the
 * record's reader in this segment; 0: no reader. */
struct disk_record record_encode(
	const struct record *record, uint32_t segment, uint32_t number);
struct disk_record record_encode_reader(uint64_t id, uint8_t part);
uint64_t record_reader(const struct disk_record *record);

/* The part of a segment's head that does not identify the job. */
struct segment {
	uint32_t number, before, lag;
	uint64_t journal;
};
struct disk_head head_encode(
	const struct journal_identity *identity, const struct segment *segment);
uint64_t head_journal(const struct disk_head *head);
uint32_t head_checksum(const struct disk_head *head);

struct journal_path {
	char text[PATH_MAX];
};
/* Endings of the order files beside a segment that begins with RESTORED. */
extern const char *const journal_order_endings[2];

/* Makes the path <directory>/journal-NNNN<ending>. epoch: the segment's number, NNNN.
 * -ENAMETOOLONG, logged. */
must_check int journal_path(const char *directory, uint32_t epoch, const char *ending,
	struct journal_path *ret);

/* The end of the newest segment, as a replay has found it. New records are appended there. */
struct journal_end {
	uint32_t first, last; /* numbers of the oldest and the newest segment */
	uint64_t offset;
	uint32_t checksum; /* checksum of the last record */
	uint32_t readers;  /* number of readers that have numbers in the segment */
	uint32_t lag;	   /* the newest segment's number minus its first epoch */
	uint64_t journal;
};

enum head_found {
	HEAD_GOOD,
	HEAD_TORN,    /* the head is missing or incomplete */
	HEAD_REFUSED, /* no journal, another version or a damaged head; logged */
};

uint32_t journal_most_positions(const struct journal_identity *identity);

/* Reads and checks the head of a segment. epoch: the segment's number. -errno, logged: the head
 * can't be read. */
must_check int head_read(int fd, const char *path, uint32_t epoch, struct disk_head *ret,
	enum head_found *ret_found);

#define JOURNAL_REFUSED                                                                  \
	"; no file was changed; to begin anew, move the directory's journals away"

/* Checks the heads of all segments. *ret_torn: the head of the last segment is incomplete. -EINVAL,
 * logged: a head is refused, or a segment is missing. */
must_check int journal_read_heads(const char *directory,
	const struct journal_identity *identity, const uint32_t *segments, size_t n,
	enum journal_found *ret_found, bool *ret_torn);

/* Replays all segments. *ret: the end of the newest segment. *ret_found is JOURNAL_NEW if there is
 * no segment, or no record is readable. */
must_check int journal_replay(const char *directory,
	const struct journal_identity *identity, journal_replayed *replayed,
	void *context, enum journal_found *ret_found, struct journal_end *ret);

must_check int journal_open_segment(const char *directory, uint32_t epoch, int flags,
	struct journal_path *ret_path, int *ret_fd);

/* Cuts the segment's file off at the offset. epoch: the segment's number. The removed bytes are
 * appended to journal-NNNN.damaged. Removes the segment's file if no record is left. */
must_check int journal_cut(const char *directory, uint32_t epoch, uint64_t offset);

/* Undoes a journal_set_aside during which the process has ended. */
must_check int journal_undo_aside(const char *directory);

struct record_buffer {
	uint8_t *bytes;
	size_t n, capacity;
	size_t done; /* bytes that are written to the file */
};

#define READER_SETS 64
#define READER_WAYS 4

/* The readers that have lately got numbers in the segment. A reader belongs to the set of number
 * `thread % READER_SETS`. A new reader replaces the oldest reader of a full set. The replaced
 * reader gets a new number at its next open. */
struct reader_numbers {
	struct {
		struct reader id;
		uint32_t number; /* 0: no reader */
	} sets[READER_SETS][READER_WAYS];
	uint32_t n;
};

/* Gives the reader the next number, in place of the oldest number in its set. */
uint32_t reader_give_number(struct reader_numbers *readers, const struct reader *id);

/*
 * A loss of records after memory ran out. Records of positions of the epochs that had begun by then
 * are omitted; the ends of these epochs are recorded, so that the next epoch can begin.
 *
 *  ... BOUND BOUND | BOUND CONSUMED ENDED          | BEGUN ...
 *                  ^ no memory      ^ owed: written before the next BEGUN
 */
#define OWED_MAX 8

struct loss {
	bool now;   /* records are being omitted, until a BEGUN can be appended */
	bool begun; /* an epoch has begun since the loss; its BEGUN was omitted, too */
	/* the journal has the BEGUNs of epochs before this one, but not of this one or later
	 * ones */
	uint32_t known_below;
	/* all records of this and later epochs are in the journal; 0: none was lost */
	uint32_t whole_from;
	struct record owed[OWED_MAX];
	unsigned n_owed;
};

struct journal {
	char *directory;
	struct journal_identity identity;
	uint32_t most_positions; /* number of positions of the largest epoch so far */

	/* only for the functions that are called under the caller's lock (journal.h): */
	uint64_t id;
	bool begun;	/* there is a segment */
	uint32_t epoch; /* first epoch of the last segment */
	uint32_t lag;	/* last segment's number minus `epoch` */
	struct reader_numbers readers;
	struct loss loss;

	/* the buffer for new records; NULL while the appending thread holds it */
	struct record_buffer *_Atomic filling;
	/* appended bytes, including those that a replay has read */
	_Atomic uint64_t appended;
	atomic_bool incomplete; /* the last append failed for lack of memory */

	struct lock lock;
	/* (lock) signalled when a thread has ended writing or compacting */
	pthread_cond_t changed;
	uint64_t written; /* (lock) appended bytes that are in the file */
	uint64_t synced;  /* (lock) appended bytes on the disk */
	/* (lock) created: number of files created so far. entered: number of these files whose
	 * names are on the disk. */
	uint32_t created, entered;
	uint32_t first; /* (lock) number of the oldest segment */
	/* (lock) the number of the segment `file` minus its first epoch */
	uint32_t file_lag;
	bool busy;	 /* (lock) a thread writes */
	bool compacting; /* (lock) a thread compacts the last segment */
	/* a segment is compacted only if its size in bytes is at least this number plus
	 * LONG_POSITION (journal_compact.c) for each of the segment's positions */
	uint64_t long_from;
	/* (lock) size in bytes of the last segment after it was last compacted, or when compacting
	 * it last failed; 0: never tried */
	uint64_t compacted;
	bool abandoned;	   /* (lock) no thread writes any more */
	int write_error;   /* (lock) -errno of the last attempt to write; 0: success */
	int sync_error;	   /* (lock) -errno of a sync since the segment began; 0: none */
	uint64_t retry_ns; /* (lock) time before which no thread writes; 0: none */

	/* used only by the thread that writes (`busy`). Other threads may read `fd` and `file`
	 * under the lock, because the writing thread changes `fd` and `file` only under the
	 * lock. */
	struct record_buffer *writing;
	uint32_t checksum; /* checksum of the last record */
	int fd;
	uint32_t file; /* number of the segment in `fd` */
	uint64_t offset;

	struct record_buffer buffers[2];
};

/* Size in bytes of a SEGMENT in memory, with the head and the BEGUN that follow it. */
#define BUFFER_SEGMENT (2 * sizeof(struct disk_record) + sizeof(struct disk_head))

bool buffer_grow(struct record_buffer *buffer, size_t n);

static inline bool buffer_make_room(struct record_buffer *buffer, size_t n)
{
	return buffer->capacity - buffer->n >= n || buffer_grow(buffer, n);
}

/* Tells whether the next record to write is a SEGMENT, which begins another file. */
bool buffer_at_segment(const struct record_buffer *buffer);
/* Returns the offset in the buffer at which the records for the present file end: the next SEGMENT,
 * or the end of the buffer. */
size_t buffer_run_end(const struct record_buffer *buffer);
/* Sets the records' checksums. *checksum: the previous record's; on return, the last record's. */
void buffer_seal(struct record_buffer *buffer, uint32_t *checksum);
/* Empties the buffer, and frees its memory if this is more than 1 MiB. */
void buffer_reset(struct record_buffer *buffer);
