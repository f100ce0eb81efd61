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
 *   journal_torn.c     cuts an incomplete end off
 *   journal_aside.c    the directory before/
 *   journal_buffer.c   records -> bytes in memory
 *   journal.c          bytes in memory -> files
 *   journal_compact.c  compacts a long segment
 */

/* --- bytes: all numbers are little endian --- */

#define JOURNAL_PREFIX "journal-"
#define JOURNAL_MAGIC "JOADERJ\n"
#define JOURNAL_VERSION 1
/* the value of disk_head.before in the first segment of a journal, which has no previous segment */
#define JOURNAL_FIRST UINT32_MAX

/* The head of a segment. */
struct disk_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t id; /* number of the job */
	uint32_t positions;
	uint32_t samples;
	uint64_t fingerprint;
	/* The time in ns since 1970, so that equal records in different files have different
	 * checksums. */
	uint64_t begun_ns;
	uint32_t epoch;	 /* number of the segment */
	uint32_t before; /* number of the previous segment */
	/* Number of the segment minus its first epoch. It is above 0 if the job has gone back to an
	 * earlier epoch: segments then still get new numbers, while the epochs repeat. */
	uint32_t lag;
	uint32_t journal[2]; /* journal_id, equal in all segments; lower half first */
	/* Checksum of the previous 60 bytes. The checksum of the first record continues it. */
	uint32_t checksum;
};

/* A record. `checksum` is the checksum of bytes 4 to 15, continued from that of the previous
 * record. */
struct disk_record {
	uint32_t checksum;
	uint8_t kind;
	uint8_t detail; /* BOUND: served; BEGUN: rolls; OPENED: how, DETAIL_LABEL;
			   RESTORED: drains */
	uint16_t back;	/* first epoch of the segment minus epoch of the record */
	/* the record's position; in a RESTORED, the number of consumed positions */
	uint32_t position;
	/* BOUND: the sample; OPENED: the reader's number; BEGUN and RESTORED: number of
	 * bindings */
	uint32_t value;
};

_Static_assert(sizeof(struct disk_head) == 64, "no holes");
_Static_assert(sizeof(struct disk_record) == 16, "no holes");

/* A READER contains one number of a struct reader in its bytes 8 to 15, and in its detail whether
 * that is the number of a script, a rank or a thread. Three READERs, the last one with the thread,
 * describe a reader. The segment's readers are numbered from 1 on in their order, and an OPENED
 * refers to such a number. A SEGMENT occurs only in memory, before a head and its BEGUN. */
enum { RECORD_READER = 64, RECORD_SEGMENT = 255 };
enum { READER_THREAD, READER_RANK, READER_SCRIPT, READER_PARTS };
/* SKIPPED: the next `value` numbers of readers are not used. SEAM: see journal_compact.c. */
enum { READER_SKIPPED = 64, READER_SEAM };

#define DETAIL_LABEL 0x80

uint32_t record_checksum(const struct disk_record *record, uint32_t before);
/* Encodes a record. segment: first epoch of the segment. number: number of the record's reader in
 * the segment; 0: none. */
struct disk_record record_encode(
	const struct record *record, uint32_t segment, uint32_t number);
struct disk_record record_encode_reader(uint64_t id, uint8_t part);
uint64_t record_reader(const struct disk_record *record);

/* The members of a segment's head that do not identify the job. */
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
/* Endings of the names of order files beside a segment that begins with RESTORED. */
extern const char *const journal_order_endings[2];

/* Sets *ret to the path <directory>/journal-NNNN<ending>. -ENAMETOOLONG, logged. */
must_check int journal_path(const char *directory, uint32_t epoch, const char *ending,
	struct journal_path *ret);

/* --- what was there --- */

/* The end of the newest segment, after which records are appended. */
struct journal_end {
	uint32_t first, last; /* numbers of the oldest and the newest segment */
	uint64_t offset;
	uint32_t checksum; /* checksum of the last record */
	/* number of readers to which the segment has given numbers */
	uint32_t readers;
	uint32_t lag; /* number of the newest segment minus its first epoch */
	uint64_t journal;
};

enum head_found {
	HEAD_GOOD,
	HEAD_TORN, /* the head is missing or incomplete */
	/* The file is no journal, has another version, or has a damaged head; this is logged. */
	HEAD_REFUSED,
};

/* Returns the largest number of positions that an epoch in any segment may have. */
uint32_t journal_most_positions(const struct journal_identity *identity);

/* Reads the head of a segment. *ret_found tells whether the head is good. -errno, logged: the head
 * can't be read. */
must_check int head_read(int fd, const char *path, uint32_t epoch, struct disk_head *ret,
	enum head_found *ret_found);

#define JOURNAL_REFUSED                                                                  \
	"; no file was changed; to begin anew, move the directory's journals away"

/* Checks the heads of all segments. *ret_torn: the last head is incomplete. -EINVAL, logged: a head
 * is refused, or a segment is missing. */
must_check int journal_read_heads(const char *directory,
	const struct journal_identity *identity, const uint32_t *segments, size_t n,
	enum journal_found *ret_found, bool *ret_torn);

/* Replays the segments, for journal_open. *ret: the end of the newest segment. *ret_found is
 * JOURNAL_NEW also if no record of any segment can be read. */
must_check int journal_replay(const char *directory,
	const struct journal_identity *identity, journal_replayed *replayed,
	void *context, enum journal_found *ret_found, struct journal_end *ret);

must_check int journal_open_segment(const char *directory, uint32_t epoch, int flags,
	struct journal_path *ret_path, int *ret_fd);

/* Cuts the segment's file off at the offset. Removes the file if no record is left. Appends the
 * bytes that are cut off to the file journal-NNNN.damaged. */
must_check int journal_cut(
	const char *directory, uint32_t epoch, uint64_t offset, uint64_t size);
must_check int journal_file_size(const char *directory, uint32_t epoch, uint64_t *ret);

/* Undoes a journal_set_aside during which the process has ended. */
must_check int journal_undo_aside(const char *directory);

/* --- bytes in memory --- */

struct record_buffer {
	uint8_t *bytes;
	size_t n, capacity;
	size_t done; /* number of bytes that are written to the file */
};

#define READER_SETS 64
#define READER_WAYS 4

/* The readers to which the segment has lately given numbers, in READER_SETS sets of READER_WAYS
 * readers. A new reader may replace another one in its set; the replaced reader gets a new number
 * at its next open. */
struct reader_numbers {
	struct {
		struct reader id;
		uint32_t number; /* 0: this entry has no reader */
	} sets[READER_SETS][READER_WAYS];
	uint32_t n;
};

/* Gives the reader the next number, and returns the number. In its set, the reader replaces the one
 * with the oldest number. */
uint32_t reader_give_number(struct reader_numbers *readers, const struct reader *id);

/*
 * A loss of records after memory ran out. Records of positions of the epochs that had begun by then
 * are omitted; the ends of these epochs are recorded, so that the next epoch can begin.
 *
 *   ... BOUND BOUND | BOUND CONSUMED ENDED          | BEGUN ...
 *                   ^ no memory      ^ owed: written before the next BEGUN
 */
#define OWED_MAX 8

struct loss {
	/* there was no memory for a record; until a BEGUN can be appended, records are omitted */
	bool now;
	bool begun; /* an epoch has begun since then, and its BEGUN was omitted, too */
	/* the journal has the BEGUNs of epochs before this one, and no others */
	uint32_t known_below;
	/* The journal has all records of this epoch and of later epochs, but lacks records of
	 * earlier epochs. 0: no record was lost. */
	uint32_t whole_from;
	struct record owed[OWED_MAX];
	unsigned n_owed;
};

struct journal {
	char *directory;
	struct journal_identity identity;
	uint32_t most_positions; /* largest number of positions of an epoch so far */

	/* Members that only the appending thread uses: */
	uint64_t id;	/* journal_id; constant */
	bool begun;	/* the journal has a segment */
	uint32_t epoch; /* first epoch of the last segment */
	/* number of the last segment minus its first epoch; gives the number of a new segment:
	 * epoch + lag */
	uint32_t lag;
	struct reader_numbers readers;
	struct loss loss;

	/* The buffer to which records are appended; NULL while the appending thread holds it. */
	struct record_buffer *_Atomic filling;
	/* number of bytes appended so far, including those that a replay has read */
	_Atomic uint64_t appended;
	atomic_bool incomplete; /* the last append failed, as there was no memory */

	struct lock lock;
	pthread_cond_t changed; /* (lock) signalled when a thread has ended to write */
	/* (lock) number of appended bytes that are written to the file */
	uint64_t written;
	/* (lock) number of appended bytes that are synced to the disk */
	uint64_t synced;
	/* (lock) created: number of files created so far. entered: number of these files whose
	 * names are on the disk. */
	uint32_t created, entered;
	uint32_t first; /* (lock) number of the oldest segment */
	/* (lock) `lag` of the segment in `file`; gives the segment of an epoch: epoch + file_lag */
	uint32_t file_lag;
	bool busy;	 /* (lock) a thread writes */
	bool compacting; /* (lock) a thread compacts the last segment */
	/* A segment is compacted only if it has at least so many bytes besides those of its
	 * positions. */
	uint64_t long_from;
	/* (lock) size of the last segment when it was compacted; 0: it was not compacted */
	uint64_t compacted;
	bool abandoned; /* (lock) no thread writes any more */
	/* (lock) -errno of the last attempt to write; 0: it succeeded */
	int write_error;
	/* (lock) -errno of a sync since the segment began; 0: none failed */
	int sync_error;
	/* (lock) earliest time of the next attempt to write; 0: any time */
	uint64_t retry_ns;

	/* Members of the thread that writes (`busy`). Other threads read only fd and file, while
	 * they hold the lock. So the writing thread holds the lock while it changes these two. */
	struct record_buffer *writing;
	uint32_t checksum; /* checksum of the last record */
	int fd;
	uint32_t file; /* number of the segment */
	uint64_t offset;

	struct record_buffer buffers[2]; /* `filling` and `writing` */
};

/* Number of bytes of a SEGMENT in memory, with its head and its BEGUN. */
#define BUFFER_SEGMENT (2 * sizeof(struct disk_record) + sizeof(struct disk_head))

bool buffer_grow(struct record_buffer *buffer, size_t n);

/* Makes room for n more bytes. Returns false if there is no memory. */
static inline bool buffer_make_room(struct record_buffer *buffer, size_t n)
{
	return buffer->capacity - buffer->n >= n || buffer_grow(buffer, n);
}

/* Tells whether the next record to write is a SEGMENT, which begins another file. */
bool buffer_at_segment(const struct record_buffer *buffer);
/* Returns the end of the records that can be written next to the same file: the offset of the next
 * SEGMENT, or the end of the buffer. */
size_t buffer_run_end(const struct record_buffer *buffer);
/* Sets the checksums of the records in the buffer; each checksum continues that of the previous
 * record. *checksum: the checksum of the record before the buffer; on return, that of the last
 * record in the buffer. */
void buffer_seal(struct record_buffer *buffer, uint32_t *checksum);
/* Empties the buffer. Also frees its memory if it has more than 1 MiB. */
void buffer_reset(struct record_buffer *buffer);
