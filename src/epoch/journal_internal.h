// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "epoch/journal.h"
#include "epoch/disk.h"

#include <endian.h>
#include <limits.h>

/*
 * Inside the journal.
 *
 *   journal_format.c   records and heads <-> bytes
 *   journal_replay.c   files -> records; journal_heads.c: those of segments
 *   journal_torn.c     a torn tail is cut off
 *   journal_aside.c    before/
 *   journal_buffer.c   records -> bytes in memory
 *   journal.c          bytes in memory -> files
 *   journal_compact.c  a segment that has grown long is written anew
 */

/* --- bytes: all numbers are little endian --- */

#define JOURNAL_PREFIX "journal-"
#define JOURNAL_MAGIC "JOADERJ\n"
#define JOURNAL_VERSION 1
#define JOURNAL_FIRST UINT32_MAX /* a head's `before`: there is no segment before it */

/* A segment begins with it. */
struct disk_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t id; /* of the job */
	uint32_t positions;
	uint32_t samples;
	uint64_t fingerprint;
	uint64_t begun_ns; /* ns since 1970: equal records of two files differ by it */
	uint32_t epoch;	   /* the number of the segment */
	uint32_t before;   /* the number of the segment before it */
	uint32_t lag; /* the epoch that it begins with is so much less than its number */
	uint32_t journal[2]; /* the same in all segments; the lower half first */
	uint32_t checksum;   /* of the 60 bytes before it; the first record's goes on */
};

/* The checksum is that of bytes 4 to 15, continued from the record before. */
struct disk_record {
	uint32_t checksum;
	uint8_t kind;
	uint8_t detail;	   /* BOUND: served; BEGUN: rolls; OPENED: how, DETAIL_LABEL;
			   RESTORED: drains */
	uint16_t back;	   /* so many epochs before that of the segment */
	uint32_t position; /* RESTORED: how many were consumed */
	uint32_t value;	   /* BOUND: the sample; OPENED: the reader's number; BEGUN and
			      RESTORED: how many were bound */
};

_Static_assert(sizeof(struct disk_head) == 64, "no holes");
_Static_assert(sizeof(struct disk_record) == 16, "no holes");

/*
 * READER has a number of the caller's in its bytes 8 to 15; its detail says which. That of
 * a thread gets the next number, from 1 on, together with the rank and the script that
 * were told before it. SEGMENT is only in memory: a head and its BEGUN follow.
 */
enum { RECORD_READER = 64, RECORD_SEGMENT = 255 };
enum { READER_THREAD, READER_RANK, READER_SCRIPT, READER_PARTS };
/* SKIPPED: so many numbers, the value, stand for nobody any more. SEAM: journal_compact.c. */
enum { READER_SKIPPED = 64, READER_SEAM };

#define DETAIL_LABEL 0x80

uint32_t record_checksum(const struct disk_record *record, uint32_t before);
/* segment: its epoch. number: the reader's. */
struct disk_record record_encode(
	const struct record *record, uint32_t segment, uint32_t number);
struct disk_record record_encode_reader(uint64_t id, uint8_t part);
uint64_t record_reader(const struct disk_record *record);

/* What a segment is, but for its identity. */
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
/* Orders that a segment which begins with RESTORED goes on with are beside it. */
extern const char *const journal_order_endings[2];

/* <directory>/journal-NNNN<ending>; -ENAMETOOLONG, logged. */
must_check int journal_path(const char *directory, uint32_t epoch, const char *ending,
	struct journal_path *ret);

/* --- what was there --- */

/* Where the newest segment ends. */
struct journal_end {
	uint32_t first, last; /* segments */
	uint64_t offset;
	uint32_t checksum; /* of the last record */
	uint32_t readers;  /* numbers that it has given */
	uint32_t lag;	   /* of the last segment */
	uint64_t journal;
};

enum head_found {
	HEAD_GOOD,
	HEAD_TORN,    /* not written, or not to its end */
	HEAD_REFUSED, /* not ours, of another version or damaged: logged */
};

/* Of any epoch that a segment may be of. */
uint32_t journal_most_positions(const struct journal_identity *identity);

/* 0 or -errno, logged. */
must_check int head_read(int fd, const char *path, uint32_t epoch, struct disk_head *ret,
	enum head_found *ret_found);

#define JOURNAL_REFUSED                                                                  \
	"; nothing was changed; to begin anew, move the directory's journals away"

/* *ret_torn: the last one was not written to the end of its head. */
must_check int journal_read_heads(const char *directory,
	const struct journal_identity *identity, const uint32_t *segments, size_t n,
	enum journal_found *ret_found, bool *ret_torn);

/* As journal_open, without the journal. *ret_found is JOURNAL_NEW also when nothing that
 * could be read was left of one. */
must_check int journal_replay(const char *directory,
	const struct journal_identity *identity, journal_replayed *replayed,
	void *context, enum journal_found *ret_found, struct journal_end *ret);

must_check int journal_open_segment(const char *directory, uint32_t epoch, int flags,
	struct journal_path *ret_path, int *ret_fd);

/* Logs that the file can't be `what`; returns err. */
int journal_cant(const char *path, const char *what, int err);
/*
 * The segment ends at the offset afterwards; without a record in it, it is not there any
 * more. What is cut off is added to what was cut off earlier.
 */
must_check int journal_cut(
	const char *directory, uint32_t epoch, uint64_t offset, uint64_t size);
must_check int journal_file_size(const char *directory, uint32_t epoch, uint64_t *ret);

/* A journal_set_aside that was interrupted is undone. */
must_check int journal_undo_aside(const char *directory);

/* --- bytes in memory --- */

struct record_buffer {
	uint8_t *bytes;
	size_t n, capacity;
	size_t done; /* of n: written */
};

#define READER_SETS 64
#define READER_WAYS 4

/* Numbers that the segment has given to ids. Whoever falls out gets another number. */
struct reader_numbers {
	struct {
		struct reader id;
		uint32_t number; /* 0: free */
	} sets[READER_SETS][READER_WAYS];
	uint32_t n;
};

/* The reader takes the place of the one that was given its number first. */
uint32_t reader_give_number(struct reader_numbers *readers, const struct reader *id);

/*
 * There was no memory. What happens to positions of epochs that had begun by then is not
 * recorded any more; that they end is, so that the next one may begin.
 *
 *   ... BOUND BOUND | BOUND CONSUMED ENDED          | BEGUN ...
 *                   ^ no memory      ^ owed: written before the next BEGUN
 */
#define OWED_MAX 8

struct loss {
	bool now;	      /* and no epoch has begun since */
	bool begun;	      /* one has, and was lost too */
	uint32_t known_below; /* of epochs before it the journal has the BEGUN */
	uint32_t whole_from;  /* the first that is recorded in full again; 0: all are */
	struct record owed[OWED_MAX];
	unsigned n_owed;
};

struct journal {
	char *directory;
	struct journal_identity identity;
	uint32_t most_positions; /* of any epoch so far */

	/* Those who append: */
	uint64_t id;	   /* constant */
	bool begun;	   /* there is a segment */
	uint32_t epoch;	   /* of it */
	uint32_t lag;	   /* so much less than the segment's number that is */
	uint32_t checksum; /* of its last record */
	struct reader_numbers readers;
	struct loss loss;

	struct lock lock;
	pthread_cond_t changed;	      /* (lock) a writer has ended */
	struct record_buffer filling; /* (lock) */
	uint64_t appended;	      /* (lock) bytes, ever */
	uint64_t written;	      /* (lock) of them */
	uint64_t synced;	      /* (lock) of them */
	uint32_t created, entered; /* (lock) files; those that the directory has on disk
				    */
	uint32_t first;		   /* (lock) the oldest segment */
	uint32_t file_lag;	   /* (lock) that of the segment `file` */
	bool incomplete;	   /* (lock) there was no memory */
	bool busy;		   /* (lock) somebody writes */
	bool compacting;	   /* (lock) somebody writes the last segment anew */
	uint64_t long_from; /* bytes of a segment, beside what its positions take */
	uint64_t compacted; /* (lock) bytes that it had after that; 0: not yet */
	bool abandoned;	    /* (lock) nobody writes */
	int write_error;    /* (lock) of the last attempt */
	int sync_error;	    /* (lock) since the segment began */
	uint64_t retry_ns;  /* (lock) not before */

	/* Whoever is busy; fd and file also change under the lock: */
	struct record_buffer writing;
	int fd;
	uint32_t file; /* its number */
	uint64_t offset;
};

/* What one SEGMENT takes in memory. */
#define BUFFER_SEGMENT (2 * sizeof(struct disk_record) + sizeof(struct disk_head))

bool buffer_make_room(struct record_buffer *buffer, size_t n);
bool buffer_push(struct record_buffer *buffer, const void *bytes, size_t n);
/* The next bytes to write are a SEGMENT's. */
bool buffer_at_segment(const struct record_buffer *buffer);
/* Up to where they are records of the same segment. */
size_t buffer_run_end(const struct record_buffer *buffer);
/* For what comes next; much memory is given back. */
void buffer_reset(struct record_buffer *buffer);
