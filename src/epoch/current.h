// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/questions.h"

/* Declares the scripts that read current/, and the functions of the files that know them. */

#define CURRENT_SCRIPTS 16
#define CURRENT_RANKS 31
#define CURRENT_WORKERS 256

#define NOBODY UINT32_MAX
#define NO_FILE UINT32_MAX

enum file_kind { FILE_IMAGE, FILE_LABEL, FILE_KINDS };

/* A script that has opened nothing for this time has gone. */
#define PAUSE_NS UINT64_C(60000000000)
#define ROW_MOST 64	/* opens of one file in a row that are noted: repeats.c */
#define RECENT_OPENS 64 /* opens of the job during which a thread still has its file */
#define FEW_MOST 16	/* smaller numbers of files have bounds of their own */
#define LOOKED_AT 1024	/* files that misuse.c looks at */

/* The ways of a sampler to divide files into parts that have the same size: ranks.c. */
enum division { PADS, DROPS, DIVISIONS };

struct beyond {
	uint64_t rank, thread;
	uint32_t file;
	uint32_t count; /* opens of the rank's pass before this one */
	uint32_t mark;	/* by this open */
};

/* A script that reads current/. Its opens are counted, except opens of the file that the thread
 * opened last, of a late worker, or of a label by a thread that opens only labels. */
struct script {
	uint64_t id;
	uint64_t since, used; /* current.opened at the script's first and last open */
	uint64_t used_ns; /* time of the last open in this process; not in the journal */
	bool ended;	  /* none of its processes lives; not in the journal */
	uint32_t epoch;	  /* the last epoch that the script has turned to */
	uint32_t turns;
	const struct epoch_set *set; /* the epoch's */
	uint32_t files;		     /* number of files of the set */
	uint32_t *marks;	     /* ordinal of each file's last open; 0: none */
	/* LOOKED_AT marks of the moment when all files had been opened last */
	uint32_t *seen;
	uint32_t opens; /* counted opens */
	/* Opens before the first one of the epoch, and of the epoch before. A file that a late
	 * worker opens gets the mark `begun`. */
	uint32_t begun, begun_before;
	uint32_t run;	  /* opens before the first one of the run (current.c) */
	uint32_t doubted; /* the last mark by note_again; 0: none */
	uint32_t turned;  /* opens when the script turned to the epoch */
	uint32_t opened;  /* files opened in the epoch */
	uint32_t adopted; /* files kept from the epoch before, of `opened` */
	uint32_t left;	  /* files that were not opened in the epoch before */
	/* Values of `run` and `opens` when the run had all files; 0: it has not. */
	uint32_t first, whole;
	uint32_t last_whole;   /* `whole` in the epoch before */
	bool was_whole;	       /* the epoch began because a run was whole */
	uint32_t streak_begun; /* opens before the streak, a row of different files */
	/* Files of the streak that the epoch had opened before, and others. */
	uint32_t streak, fresh;
	uint32_t newest;  /* opens when the epoch last gave a file for the first time */
	uint32_t streaks; /* streaks that have ended in the epoch */
	/* Opens before the streak that follows the last one longer than a quarter of the
	 * files. */
	uint32_t rows_begun;
	uint32_t n_ranks; /* the number of ranks when one of them opened a file last */
	/* Bits of each file: the ranks have opened it in their parts of the pass. ranks.c */
	uint8_t *parts;
	uint32_t parted[DIVISIONS]; /* number of files with the bit */
	bool refuted[DIVISIONS];
	/* Opens by ranks that had opened the smaller part, in their order. */
	struct beyond *beyond;
	uint32_t n_beyond, room_beyond;
	/* Steps of threads to a later file, and to an earlier one, in the epoch. */
	uint32_t up, down;
	/* Step from a worker's batch to its next one, seen twice; another step, seen once. */
	uint32_t step, last_step;
	uint32_t batch; /* files of a batch, when the epoch began; 0: not known */
	/* Opens of the script at the last step that is like no other one; number of such steps
	 * in the epoch. */
	uint32_t odd, odds;
	bool was_in_order; /* is_in_order in the epoch before */
	/* Labels opened by threads that open only labels, in the epoch and in the one before. */
	uint32_t labels, labels_before;
	bool labels_of_images; /* threads of the script open labels beside images */
	bool labels_first; /* a thread has opened a label before another one its image */
	/* The script's first turn was OPENED_BEHIND; the next turn clears this. */
	bool behind;
};

struct rank {
	uint64_t id;
	uint64_t used;
	uint32_t script;	    /* index in current.scripts; NOBODY: forgotten */
	uint32_t count;		    /* opens in the rank's pass */
	uint32_t habit[FILE_KINDS]; /* most opens of a file in a row, by kind */
	bool labels_after; /* a thread has opened a file's label after its image */
};

/* A thread of a rank. It opens files in the order in which they were handed to it. */
struct worker {
	uint64_t id, used;
	uint32_t rank;	      /* index in current.ranks; NOBODY: forgotten */
	uint32_t file, epoch; /* file and epoch of the last open */
	/* Opens of the script before the worker's row of files in order, and up to its last
	 * file. */
	uint32_t began, last;
	uint32_t row_began;
	uint32_t start; /* the file that the worker went back to, or began with */
	uint32_t batch; /* files opened in a row, each the one after the one before */
	uint32_t row[FILE_KINDS];   /* opens of `file` in the pass, by kind */
	uint32_t stays;		    /* opens in a row of `file` */
	uint32_t habit[FILE_KINDS]; /* `row` of the file before */
	bool images;		    /* the worker opens images, not only labels */
	bool doubted;		    /* note_again has marked `file` */
	bool is_owed;		    /* the last open was of a label, and not counted */
	/* OPENED_LOOKED: the file, and script.turns at that time; NO_FILE: none. */
	uint32_t looked, looked_turns;
	/* The worker has opened no file yet of the epoch that its script has turned to. */
	bool late;
	uint32_t
		pass; /* script.turns + 1 at the worker's last open within a part; 0: none */
};

struct current {
	uint64_t opened; /* noted opens since the job was added */
	uint64_t begun;	 /* `opened` when the running epoch began */
	/* The job went back to before_epoch. The n_before files whose bits are set in `before`
	 * had been read; each script goes on from there. */
	bool went_back;
	uint32_t before_epoch, n_before;
	uint8_t *before; /* NULL: no file */
	uint32_t n_scripts, n_ranks, n_workers;
	struct script scripts[CURRENT_SCRIPTS];
	struct rank ranks[CURRENT_RANKS];
	struct worker workers[CURRENT_WORKERS];
};

struct choice {
	uint32_t epoch; /* the epoch may have to begin */
	enum opened_how how;
	enum notice notice; /* NOTICES: none */
};

/* --- current.c --- */

/* Tells whether the epoch of a request that is sent again was chosen before; *ret: the
 * epoch. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret);
/* Decides the meaning of an open for its script, and the epoch whose sample the file gives. */
struct choice current_choose(
	const struct epochs *epochs, const struct open_request *request);

/* --- since.c --- */

/* Returns after how many opens of the script the turn with `opened` keeps files. worker: the
 * opener; NULL: a new one. */
uint32_t current_since(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened);
/* Tells whether a worker of the script has begun its row with the file. */
bool begins_row(
	const struct current *current, const struct script *script, uint32_t file);
/* Returns after how many opens the script's last pass has begun. */
uint32_t since_run(const struct script *script);
/* Tells whether a run had all files once more, exactly as many opens after the last time as
 * there are files. */
bool is_regular(const struct script *script);
/* Returns the least J for which a random row of all files has J of them, given in advance, in
 * one place with a chance of less than one in a million; an eighth of the files if they are few. */
uint32_t n_hedged(const struct script *script);

/* --- readers.c --- */

/* Tells whether another script than the request's reads current/, and has opened more than one
 * file of its epoch. Then only a script begins the next epoch; an open by its number does
 * not. */
bool current_belongs_to_another(
	const struct epochs *epochs, const struct open_request *request, uint64_t now_ns);
/* Tells whether a script that reads is still in the draining epoch. */
bool current_needs_draining(const struct epochs *epochs, uint64_t now_ns);
/* Tells whether another script is in the middle of the draining epoch, which the next one ends.
 * An older script that has turned before counts if it has opened a file since the running epoch
 * began. script: NULL: a new one; then all scripts count, also if they have read within a
 * minute. */
bool strands_another(const struct epochs *epochs, const struct script *script);

/* --- repeats.c --- */

/* Tells whether the open repeats the thread's noted opens, so that it is not noted. */
bool current_says_it(struct epochs *epochs, const struct record *opened);

/* --- misuse.c --- */

/* Returns what the open tells about its script, before it is noted; NOTICES: nothing. */
enum notice misuse_of(const struct epochs *epochs, const struct record *opened);
/* Keeps the marks of a script that has opened all files of the epoch. */
void misuse_look(struct script *script);

/* --- scripts.c --- */

/* Frees the marks of all scripts. */
void current_destroy(struct epochs *epochs);
/* Notes the open in its script, rank and worker. -ENOMEM: nothing is noted. */
must_check int current_note(struct epochs *epochs, const struct record *opened);

/* --- known.c --- */

uint32_t n_files(const struct epochs *epochs, uint32_t epoch);
uint32_t files_of(const struct epochs *epochs, const struct epoch_set *set);
/* Returns the index in current->scripts, or NOBODY. */
uint32_t script_place(const struct current *current, uint64_t id);
/* Returns the index in current->ranks, or NOBODY. */
uint32_t rank_place(const struct current *current, uint32_t script, uint64_t id);
/* Returns the index in current->workers, or NOBODY. */
uint32_t worker_place(const struct current *current, uint32_t rank, uint64_t id);
bool is_worker_of(const struct current *current, const struct worker *worker,
	const struct script *script);
/* Tells whether the open begins an epoch that may keep files of the one before. */
bool may_keep(const struct record *opened);
/* Tells whether the script has opened the file in its epoch. */
bool is_opened(const struct script *script, uint32_t file);
/* Tells whether the worker has looked at a file of the epoch that nobody has opened since. */
bool has_looked(const struct script *script, const struct worker *worker);
/* Tells whether the open is its script's first one of an image of the epoch. */
bool is_new_image(
	const struct script *script, const struct record *opened, uint32_t file);
/* Tells whether the script's run has all files. */
bool is_whole(const struct script *script);
/* Tells whether the script's threads open files in the order of names. */
bool is_in_order(const struct script *script);
/* Returns the thread of the rank that opened the file's image last, but not its label. Without
 * `label`: a thread that opens only labels, and opened the file's label. NOBODY: there is
 * none. */
uint32_t other_half(
	const struct current *current, uint32_t rank, uint32_t file, bool label);
/* Tells whether the open is of a label (`label`), by a thread that opens only labels. worker:
 * NULL: a new one. */
bool is_only_label(const struct script *script, const struct worker *worker, bool label);

/* --- ranks.c --- */

/* Returns the number of the script's ranks that have not gone; at least 1. */
uint32_t n_ranks(const struct current *current, const struct script *script);
/* Tells whether a file with this mark was one of the first opens of the epoch: a look,
 * perhaps. */
bool is_first(const struct current *current, const struct script *script, uint32_t mark);
/* Returns the number of files in each of the parts. */
uint32_t files_of_part(
	const struct script *script, uint32_t ranks, enum division division);
/* Returns the division of the pass that is over; DIVISIONS: none is. */
enum division division_over(const struct current *current, const struct script *script);
/* Returns after how many opens files may be of the pass that follows the one that is over. */
uint32_t division_since(const struct script *script, enum division division);
/* Returns the open beyond the part, from the i-th of the list on; NULL: there is none. */
const struct beyond *next_beyond(
	const struct script *script, enum division division, uint32_t *i);
/* Begins the next pass of the ranks, with the opens beyond the parts of the division that is
 * over. DIVISIONS: it is not known where the pass began, so both divisions are refuted unless
 * the script has one rank. */
void begin_parts(struct current *current, struct script *script, enum division over);
/* Puts an open on the list of those beyond a part. */
void note_beyond(struct script *script, const struct beyond *beyond);
/* Counts an open of a rank. mark: the one that the open has given its file. */
void note_rank(struct current *current, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file, uint32_t mark);
