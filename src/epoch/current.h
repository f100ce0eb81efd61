// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/questions.h"

/* Declares the scripts that read current/, and the functions that decide about their opens. */

#define CURRENT_SCRIPTS 16
#define CURRENT_RANKS 31
#define CURRENT_WORKERS 256

#define NOBODY UINT32_MAX
#define NO_FILE UINT32_MAX

enum file_kind { FILE_IMAGE, FILE_LABEL, FILE_KINDS };

/* A script that has opened nothing for this time has ended its reading. */
#define PAUSE_NS UINT64_C(60000000000)
#define ROW_MOST 64 /* recorded opens of one file in a row (repeats.c) */
/* A thread still has its file after this many opens of the job. */
#define RECENT_OPENS 256
#define FEW_MOST 16    /* fewer files have separate bounds */
#define LOOKED_AT 1024 /* files that misuse.c examines */

/* The ways of a sampler to divide files into parts that have the same size: script_ranks.c. */
enum division { PADS, DROPS, DIVISIONS };

struct beyond {
	uint64_t rank, thread;
	uint32_t file;
	uint32_t count; /* opens of the rank's pass before this one */
	uint32_t mark;	/* mark of this open */
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
	const struct epoch_set *set; /* set of `epoch` */
	uint32_t files;		     /* number of files of the set */
	uint32_t *marks;	     /* ordinal of each file's last open; 0: none */
	/* LOOKED_AT marks, as they were when the script last had opened all files */
	uint32_t *seen;
	uint32_t opens; /* counted opens */
	/* Numbers of counted opens before the first open of this epoch, and before that of the
	 * previous one. A file that a late worker opens gets the mark `begun`. */
	uint32_t begun, begun_before;
	uint32_t run; /* number of opens before the first open of the run (current.c) */
	uint32_t doubted; /* the last mark that note_again gave; 0: none */
	uint32_t turned;  /* number of opens when the script turned to the epoch */
	uint32_t opened;  /* files opened in the epoch */
	uint32_t adopted; /* files of `opened` that were kept from the previous epoch */
	uint32_t left;	  /* files that the previous epoch left unopened */
	/* Values of `run` and `opens` when the run had all files; 0: it never had. */
	uint32_t first, whole;
	uint32_t last_whole; /* value of `whole` before, also in the previous epoch */
	bool was_whole;	     /* last_whole is the end of the pass before `whole` */
	/* number of opens before the streak; a streak is a row of different files */
	uint32_t streak_begun;
	/* Files of the streak that the epoch had opened before; other files of it. */
	uint32_t streak, fresh;
	/* number of opens when a file was last opened for the first time in the epoch */
	uint32_t newest;
	uint32_t streaks; /* number of streaks that have ended in the epoch */
	/* Number of opens before the streak after the last streak longer than a quarter of the
	 * files. */
	uint32_t rows_begun;
	uint32_t n_ranks; /* number of ranks when a rank last opened a file */
	/* A bit for each file and division: ranks have opened the file in their parts of the pass
	 * (script_ranks.c). */
	uint8_t *parts;
	uint32_t parted[DIVISIONS]; /* number of files that have the bit */
	bool refuted[DIVISIONS];
	/* Opens by ranks that had already opened all of the smaller part, in order. */
	struct beyond *beyond;
	uint32_t n_beyond, room_beyond;
	/* Numbers of steps by threads to a later and to an earlier file, in the epoch. */
	uint32_t up, down;
	/* Step from one batch of a worker to the next, seen twice; another step, seen once. */
	uint32_t step, last_step;
	uint32_t batch; /* files of a batch, when the epoch began; 0: not known */
	/* Number of opens at the last step that fits no other step; number of such steps in the
	 * epoch. */
	uint32_t odd, odds;
	bool was_in_order; /* value of is_in_order in the previous epoch */
	/* Numbers of labels opened by threads that open only labels, in this epoch and the
	 * previous one. */
	uint32_t labels, labels_before;
	/* largest number of opens of a file in a row by a thread, by kind */
	uint32_t habit[FILE_KINDS];
	bool labels_after; /* a thread has opened the label of a file after the image */
	/* threads of the script open the labels beside their images */
	bool labels_of_images;
	/* a thread has opened a label before another thread opened the image */
	bool labels_first;
	/* The script's first turn was OPENED_BEHIND; the next turn clears this. */
	bool behind;
};

struct rank {
	uint64_t id;
	uint64_t used;
	uint32_t script; /* index in current.scripts; NOBODY: forgotten */
	uint32_t count;	 /* number of opens in the rank's pass */
	bool pads;	 /* the rank has opened padding in the pass */
	bool padded;	 /* another rank has opened this rank's first file as padding */
};

/* A thread of a rank. It opens files in the order in which it received them. */
struct worker {
	uint64_t id, used;
	uint32_t rank;	      /* index in current.ranks; NOBODY: forgotten */
	uint32_t file, epoch; /* file and epoch of the last open */
	/* Numbers of opens of the script before the worker's row of files in order, and up to the
	 * row's last file. */
	uint32_t began, last;
	uint32_t row_began;
	/* the file to which the worker went back, or with which it began */
	uint32_t start;
	/* number of files opened in a row, each one after the previous one */
	uint32_t batch;
	uint32_t row[FILE_KINDS];   /* opens of `file` in the pass, by kind */
	uint32_t stays;		    /* number of opens of `file` in a row */
	uint32_t habit[FILE_KINDS]; /* `row` of the previous file */
	bool images;		    /* the worker also opens images */
	bool doubted;		    /* note_again has marked `file` */
	bool is_owed; /* the last open was that of a label, and was not counted */
	/* The file of an OPENED_LOOKED (NO_FILE: none), and the value of script.turns then. */
	uint32_t looked, looked_turns;
	/* The script has turned to an epoch of which this worker has not opened a file yet. */
	bool late;
	uint32_t
		/* value of script.turns + 1 at the worker's last open within a part; 0: none */
		pass;
};

struct current {
	uint64_t opened; /* number of recorded opens since the job was added */
	uint64_t begun;	 /* value of `opened` when the running epoch began */
	/* The job went back to before_epoch. `before` has a bit for each of the n_before files
	 * that had been read; each script continues from there. */
	bool went_back;
	uint32_t before_epoch, n_before;
	uint8_t *before; /* NULL: no file */
	uint32_t n_scripts, n_ranks, n_workers;
	struct script scripts[CURRENT_SCRIPTS];
	struct rank ranks[CURRENT_RANKS];
	struct worker workers[CURRENT_WORKERS];
};

struct choice {
	uint32_t epoch; /* an epoch that may have to begin */
	enum opened_how how;
	enum notice notice; /* NOTICES: there is none */
};

/* --- current.c --- */

/* Tells whether the epoch of a resent request was chosen before; if so, sets *ret to the epoch. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret);
/* Decides what an open means for its script, and which epoch's sample the file gives. */
struct choice current_choose(
	const struct epochs *epochs, const struct open_request *request);

/* --- since.c --- */

/* Returns the number of opens of the script after which opened files are kept, if the script turns
 * with `opened`. worker: the opener; NULL: a new one. */
uint32_t current_since(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened);
/* Tells whether a worker of the script has begun its row with the file. */
bool begins_row(
	const struct current *current, const struct script *script, uint32_t file);
/* Returns the number of opens before the script's last pass. */
uint32_t since_run(const struct script *script);
/* Tells whether a run had all files again after exactly as many opens as there are files. */
bool is_regular(const struct script *script);
/* Returns the least J such that a random row of all files has J given files in one place with a
 * probability of less than one in a million; an eighth of the files if they are few. */
uint32_t n_hedged(const struct script *script);

/* --- reading.c --- */

/* Tells whether another script than the request's reads current/, and has opened more than one
 * file of its epoch. In this case only a script begins the next epoch, and an open by the epoch's
 * number does not. */
bool current_belongs_to_another(
	const struct epochs *epochs, const struct open_request *request, uint64_t now_ns);
/* Tells whether a script that is still reading is in the draining epoch. */
bool current_needs_draining(const struct epochs *epochs, uint64_t now_ns);
/* Tells whether another script is in the middle of the draining epoch, which the next epoch ends.
 * An older script that has turned before counts only if it has opened a file since the running
 * epoch began. script: NULL: a new one; then all scripts count that have read within a minute. */
bool strands_another(const struct epochs *epochs, const struct script *script);

/* --- repeats.c --- */

/* Tells whether the open repeats recorded opens of the thread, so that it is not recorded. */
bool current_says_it(struct epochs *epochs, const struct record *opened);

/* --- misuse.c --- */

/* Returns the notice that the open causes for its script, before it is recorded; NOTICES: none. */
enum notice misuse_of(const struct epochs *epochs, const struct record *opened);
/* Saves the marks of a script that has opened all files of the epoch. */
void misuse_look(struct script *script);

/* --- scripts.c --- */

/* Frees the marks of all scripts. */
void current_destroy(struct epochs *epochs);
/* Records the open in its script, rank and worker. -ENOMEM: nothing is recorded. */
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
/* Tells whether the open begins an epoch that may keep files of the previous epoch. */
bool may_keep(const struct record *opened);
/* Tells whether the script has opened the file in its epoch. */
bool is_opened(const struct script *script, uint32_t file);
/* Tells whether the worker has looked at a file of the epoch that no program has opened since. */
bool has_looked(const struct script *script, const struct worker *worker);
/* Tells whether the open is the first open of an image in the epoch by its script. */
bool is_new_image(
	const struct script *script, const struct record *opened, uint32_t file);
/* Tells whether the script's run has all files. */
bool is_whole(const struct script *script);
/* Tells whether the script's threads open files in the order of their names. */
bool is_in_order(const struct script *script);
/* Returns the thread of the rank that last opened the file's image, but not its label. If `label`
 * is false: the thread that opens only labels, and has opened the file's label. NOBODY: there is
 * none. */
uint32_t other_half(
	const struct current *current, uint32_t rank, uint32_t file, bool label);
/* Tells whether the open is that of a label (`label`), by a thread that opens only labels. worker:
 * NULL: a new one. */
bool is_only_label(const struct script *script, const struct worker *worker, bool label);

/* --- script_ranks.c --- */

/* Returns the number of the script's ranks that are still reading, at least 1. */
uint32_t n_ranks(const struct current *current, const struct script *script);
/* Tells whether the file of this mark was one of the first opens of the epoch, and so perhaps only
 * a look. */
bool is_first(const struct current *current, const struct script *script, uint32_t mark);
/* Returns the number of files in each of the parts. */
uint32_t files_of_part(
	const struct script *script, uint32_t ranks, enum division division);
/* Returns the division by which the pass is complete; DIVISIONS: it is not complete. */
enum division division_over(const struct current *current, const struct script *script);
/* Returns the number of opens after which files may belong to the pass that follows the complete
 * one. */
uint32_t division_since(const struct script *script, enum division division);
/* Returns the next open beyond the part in the list, from index i on; NULL: there is none. */
const struct beyond *next_beyond(
	const struct script *script, enum division division, uint32_t *i);
/* Begins the next pass of the ranks, with the opens beyond the parts of the division by which the
 * pass is complete. DIVISIONS: the beginning of the pass is unknown, so both divisions are refuted
 * unless the script has one rank. */
void begin_parts(struct current *current, struct script *script, enum division over);
/* Adds an open to the list of opens beyond a part. */
void note_beyond(struct script *script, const struct beyond *beyond);
/* Counts an open of a rank. mark: the mark that the open has given to its file. */
void note_rank(struct current *current, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file, uint32_t mark);
