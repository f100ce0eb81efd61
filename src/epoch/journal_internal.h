// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "epoch/journal.h"
#include "epoch/disk.h"

#include <endian.h>
#include <limits.h>
#include <stdatomic.h>

/*
 * Declarations that the files of the journal share.
 *
 *   journal_format.c   records and heads <-> bytes
 *   journal_heads.c    checks the heads of segments
 *   journal_replay.c   files -> records
 *   journal_torn.c     cuts a torn tail off
 *   journal_aside.c    the directory before/
 *   journal_buffer.c   records -> bytes in memory
 *   journal.c          bytes in memory -> files
 *   journal_compact.c  compacts a long segment
 */

/* --- bytes: all numbers are little endian --- */

#define JOURNAL_PREFIX "journal-"
#define JOURNAL_MAGIC "JOADERJ\n"
#define JOURNAL_VERSION 1
/* value of `before` in a head: there is no earlier segment */
#define JOURNAL_FIRST UINT32_MAX

/* The head of a segment. */
struct disk_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t id; /* number of the job */
	uint32_t positions;
	uint32_t samples;
	uint64_t fingerprint;
	/* The time in ns since 1970; it makes equal records of two files differ. */
	uint64_t begun_ns;
	uint32_t epoch;	     /* the number of the segment */
	uint32_t before;     /* the number of the segment before it */
	uint32_t lag;	     /* the segment's number minus the first epoch in it */
	uint32_t journal[2]; /* equal in all segments; the lower half first */
	/* Checksum of the 60 bytes before it. The checksum of the first record continues it. */
	uint32_t checksum;
};

/* A record. Its checksum is that of bytes 4 to 15, and continues the checksum of the previous
 * record. */
struct disk_record {
	uint32_t checksum;
	uint8_t kind;
	uint8_t detail;	   /* BOUND: served; BEGUN: rolls; OPENED: how, DETAIL_LABEL;
			   RESTORED: drains */
	uint16_t back;	   /* the segment's epoch minus the record's */
	uint32_t position; /* RESTORED: number of consumed positions */
	/* BOUND: the sample; OPENED: the reader's number; BEGUN and RESTORED: number of
	 * bindings */
	uint32_t value;
};

_Static_assert(sizeof(struct disk_head) == 64, "no holes");
_Static_assert(sizeof(struct disk_record) == 16, "no holes");

/* READER has a number of the caller's in its bytes 8 to 15; its detail tells whether it is a
 * thread's, a rank's or a script's. A thread's READER gives the next number, from 1 on, to this
 * thread with the rank and the script before it. SEGMENT is only in memory: a head and its
 * BEGUN follow. */
enum { RECORD_READER = 64, RECORD_SEGMENT = 255 };
enum { READER_THREAD, READER_RANK, READER_SCRIPT, READER_PARTS };
/* SKIPPED: the next `value` numbers belong to no reader. SEAM: see journal_compact.c. */
enum { READER_SKIPPED = 64, READER_SEAM };

#define DETAIL_LABEL 0x80

uint32_t record_checksum(const struct disk_record *record, uint32_t before);
/* Encodes a record. segment: the epoch of the segment. number: the reader's number. */
struct disk_record record_encode(
	const struct record *record, uint32_t segment, uint32_t number);
struct disk_record record_encode_reader(uint64_t id, uint8_t part);
uint64_t record_reader(const struct disk_record *record);

/* A segment, without its identity. */
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

/* Makes the path <directory>/journal-NNNN<ending>; -ENAMETOOLONG, logged. */
must_check int journal_path(const char *directory, uint32_t epoch, const char *ending,
	struct journal_path *ret);

/* --- what was there --- */

/* The end of the newest segment. */
struct journal_end {
	uint32_t first, last; /* numbers of segments */
	uint64_t offset;
	uint32_t checksum; /* checksum of the last record */
	uint32_t readers;  /* numbers that the segment has given to readers */
	uint32_t lag;	   /* lag of the last segment */
	uint64_t journal;
};

enum head_found {
	HEAD_GOOD,
	HEAD_TORN, /* the head is missing or incomplete */
	/* this is no journal, or one of another version, or damaged; logged */
	HEAD_REFUSED,
};

/* Returns the largest number of positions that an epoch in a segment may have. */
uint32_t journal_most_positions(const struct journal_identity *identity);

/* Reads the head of a segment. 0 or -errno, logged. */
must_check int head_read(int fd, const char *path, uint32_t epoch, struct disk_head *ret,
	enum head_found *ret_found);

#define JOURNAL_REFUSED                                                                  \
	"; no file was changed; to begin anew, move the directory's journals away"

/* Checks the heads of all segments. *ret_torn: the last head is incomplete. */
must_check int journal_read_heads(const char *directory,
	const struct journal_identity *identity, const uint32_t *segments, size_t n,
	enum journal_found *ret_found, bool *ret_torn);

/* Replays the segments as journal_open does, without a journal. *ret_found is JOURNAL_NEW also if
 * no segment had a readable part. */
must_check int journal_replay(const char *directory,
	const struct journal_identity *identity, journal_replayed *replayed,
	void *context, enum journal_found *ret_found, struct journal_end *ret);

must_check int journal_open_segment(const char *directory, uint32_t epoch, int flags,
	struct journal_path *ret_path, int *ret_fd);

/* Logs that the file can't be `what`; returns err. */
int journal_cant(const char *path, const char *what, int err);
/* Cuts the segment off at the offset. If no record is left, removes the file. Appends the removed
 * part to those of earlier cuts. */
must_check int journal_cut(
	const char *directory, uint32_t epoch, uint64_t offset, uint64_t size);
must_check int journal_file_size(const char *directory, uint32_t epoch, uint64_t *ret);

/* Undoes a journal_set_aside that was interrupted. */
must_check int journal_undo_aside(const char *directory);

/* --- bytes in memory --- */

struct record_buffer {
	uint8_t *bytes;
	size_t n, capacity;
	size_t done; /* number of written bytes */
};

#define READER_SETS 64
#define READER_WAYS 4

/* Numbers that the segment has given to readers. A reader that was replaced gets another number. */
struct reader_numbers {
	struct {
		struct reader id;
		uint32_t number; /* 0: free */
	} sets[READER_SETS][READER_WAYS];
	uint32_t n;
};

/* Gives the reader a number. It replaces the reader whose number is the oldest. */
uint32_t reader_give_number(struct reader_numbers *readers, const struct reader *id);

/*
 * The state after memory ran out. Records of positions of the epochs that had begun by then are
 * lost; the ends of these epochs are recorded, so that the next epoch can begin.
 *
 *   ... BOUND BOUND | BOUND CONSUMED ENDED          | BEGUN ...
 *                   ^ no memory      ^ owed: written before the next BEGUN
 */
#define OWED_MAX 8

struct loss {
	bool now;   /* records are being lost, until a BEGUN is recorded */
	bool begun; /* another epoch has begun meanwhile, and was lost, too */
	/* the journal has the BEGUN of the epochs before this one */
	uint32_t known_below;
	/* The first epoch that is recorded in full again; 0: all are. */
	uint32_t whole_from;
	struct record owed[OWED_MAX];
	unsigned n_owed;
};

struct journal {
	char *directory;
	struct journal_identity identity;
	uint32_t most_positions; /* largest number of positions of an epoch so far */

	/* Fields of threads that append: */
	uint64_t id;	/* constant */
	bool begun;	/* there is a segment */
	uint32_t epoch; /* epoch of the segment */
	uint32_t lag;	/* the segment's number minus its epoch */
	struct reader_numbers readers;
	struct loss loss;

	/* The buffer that gets the records; NULL: the appending thread has taken it. */
	struct record_buffer *_Atomic filling;
	_Atomic uint64_t appended; /* bytes appended, ever */
	atomic_bool incomplete;	   /* there was no memory */

	struct lock lock;
	pthread_cond_t changed; /* (lock) a writer has ended */
	uint64_t written;	/* (lock) bytes written */
	uint64_t synced;	/* (lock) bytes synced */
	/* (lock) files created so far; of these, files whose directory entries are on the
	 * disk */
	uint32_t created, entered;
	uint32_t first;	   /* (lock) the oldest segment */
	uint32_t file_lag; /* (lock) lag of the segment `file` */
	bool busy;	   /* (lock) a thread writes */
	bool compacting;   /* (lock) a thread writes the last segment anew */
	/* A segment counts as long from this number of bytes on, without those of its positions. */
	uint64_t long_from;
	/* (lock) bytes of the segment after it was compacted; 0: not yet */
	uint64_t compacted;
	bool abandoned;	   /* (lock) no thread writes any more */
	int write_error;   /* (lock) error of the last attempt */
	int sync_error;	   /* (lock) error since the segment began */
	uint64_t retry_ns; /* (lock) earliest time of the next attempt */

	/* Fields of the thread that is busy; fd and file also change under the lock: */
	struct record_buffer *writing;
	uint32_t checksum; /* checksum of the last record */
	int fd;
	uint32_t file; /* number of the segment */
	uint64_t offset;

	struct record_buffer buffers[2]; /* `filling` and `writing` */
};

/* Bytes of one SEGMENT in memory. */
#define BUFFER_SEGMENT (2 * sizeof(struct disk_record) + sizeof(struct disk_head))

bool buffer_make_room(struct record_buffer *buffer, size_t n);
bool buffer_push(struct record_buffer *buffer, const void *bytes, size_t n);
/* Tells whether the next bytes to write are a SEGMENT's. */
bool buffer_at_segment(const struct record_buffer *buffer);
/* Returns the end of the records in the segment that the next bytes belong to. */
size_t buffer_run_end(const struct record_buffer *buffer);
/* Sets the checksums of the records. Each continues the previous one. */
void buffer_seal(struct record_buffer *buffer, uint32_t *checksum);
/* Empties the buffer, and frees memory if it is large. */
void buffer_reset(struct record_buffer *buffer);
