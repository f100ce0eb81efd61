// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/questions.h"

/* Declares the scripts that read current/, and the functions that decide what their opens mean.
 * Words such as turn, run and pass are explained in current.c. */

#define CURRENT_SCRIPTS 16
#define CURRENT_RANKS 31
#define CURRENT_WORKERS 256

#define NOBODY UINT32_MAX
#define NO_FILE UINT32_MAX

enum file_kind { FILE_IMAGE, FILE_LABEL, FILE_KINDS };

/* A script that has opened nothing for this time counts as one that reads no more. */
#define PAUSE_NS UINT64_C(60000000000)
#define ROW_MOST 64 /* the most opens of one file in a row that are recorded */
/* The file that a thread opened last is forgotten after this many further opens of the job. */
#define RECENT_OPENS 256
#define FEW_MOST 16    /* an epoch with fewer files is judged by other limits */
#define LOOKED_AT 1024 /* the most files that misuse.c examines */

/* The ways in which a training's sampler makes the parts of all ranks equally large: it repeats
 * files (PADS), or leaves files out (DROPS). See script_ranks.c. */
enum division { PADS, DROPS, DIVISIONS };

/* An open by a rank beyond its part of the pass. */
struct beyond {
	uint64_t rank, thread;
	uint32_t file;
	uint32_t count; /* number of opens in the rank's pass before this open */
	uint32_t mark;	/* ordinal of this open among the script's counted opens */
};

/* A script that reads current/. Its opens are counted, except opens of the file that the thread
 * opened last, of a late worker, or of a label by a thread that opens only labels. */
struct script {
	uint64_t id;
	uint64_t since, used; /* current.opened at the script's first and last open */
	uint64_t used_ns; /* time of the last open in this process; not in the journal */
	bool ended;	  /* all its processes have ended; not in the journal */
	/* the epoch that the script reads: the last one that it turned to */
	uint32_t epoch;
	uint32_t turns;
	const struct epoch_set *set; /* set of `epoch` */
	uint32_t files;		     /* number of files of the set */
	/* The ordinal of the last counted open of each file; 0: there was none. */
	uint32_t *marks;
	/* Copies of up to LOOKED_AT marks, made when the script had opened all files (misuse.c). */
	uint32_t *seen;
	uint32_t opens; /* number of counted opens */
	/* Values of `opens` before the script's first open in this epoch, and before its first open
	 * in the previous epoch. A file that a late worker opens gets the mark `begun`. */
	uint32_t begun, begun_before;
	uint32_t run; /* number of opens before the first open of the run (current.c) */
	/* the last mark of a file that a thread opened again, perhaps for a new pass; 0: none */
	uint32_t doubted;
	uint32_t turned; /* number of opens when the script turned to the epoch */
	uint32_t opened; /* number of files opened in the epoch */
	/* how many files of `opened` were kept from the previous epoch */
	uint32_t adopted;
	uint32_t left; /* number of files that were not opened in the previous epoch */
	/* Values of `run` and of `opens` when the run first had all files in this epoch. 0: it has
	 * not had all files. */
	uint32_t first, whole;
	uint32_t last_whole; /* value of `whole` before, perhaps in the previous epoch */
	bool was_whole; /* last_whole is the end of the pass before that of `whole` */
	/* number of opens before the streak; a streak is a row of opens of different files */
	uint32_t streak_begun;
	/* streak: number of files in the streak that were opened in the epoch before. fresh: number
	 * of all other files in the streak. */
	uint32_t streak, fresh;
	/* number of opens when a file was last opened for the first time in the epoch */
	uint32_t newest;
	uint32_t streaks; /* number of streaks that have ended in the epoch */
	/* Number of opens before the streak that followed the last long one. A streak is long if it
	 * has more than a quarter of the files. */
	uint32_t rows_begun;
	uint32_t n_ranks; /* number of ranks when a rank last opened a file */
	/* A bit for each file and division: set if a rank has opened the file within its part of
	 * the pass (script_ranks.c). */
	uint8_t *parts;
	/* number of files whose bit for the division is set */
	uint32_t parted[DIVISIONS];
	bool refuted[DIVISIONS];
	/* Opens by ranks that had already opened as many files as a part has with DROPS, in the
	 * order of the opens. */
	struct beyond *beyond;
	uint32_t n_beyond, room_beyond;
	/* Number of opens in the epoch for which a thread went to a later file (up) or to an
	 * earlier file (down). */
	uint32_t up, down;
	/* Distances from the last file of a worker's batch to the first file of its next batch.
	 * step: the last distance that was seen twice; last_step: the last one that was seen
	 * once. */
	uint32_t step, last_step;
	/* number of files of a batch, when the epoch began; 0: not known */
	uint32_t batch;
	/* A step is odd if its distance was not seen before. odd: ordinal of the open of the last
	 * odd step; odds: number of odd steps in the epoch. */
	uint32_t odd, odds;
	bool was_in_order; /* value of is_in_order in the previous epoch */
	/* Numbers of labels opened by threads that open only labels, in this epoch and the
	 * previous one. */
	uint32_t labels, labels_before;
	/* for each kind, the largest number of opens of one file in a row by a thread */
	uint32_t habit[FILE_KINDS];
	bool labels_after; /* a thread has opened the label of a file after the image */
	/* a thread opens both images and their labels */
	bool labels_of_images;
	/* a thread has opened a label before another thread opened the image */
	bool labels_first;
	/* The script's first turn was OPENED_BEHIND; the next turn clears this. */
	bool behind;
};

struct rank {
	uint64_t id;
	uint64_t used;
	uint32_t script; /* index in current.scripts; NOBODY: the rank is forgotten */
	uint32_t count;	 /* number of opens in the rank's pass */
	bool pads;	 /* the rank has opened padding in the pass */
	bool padded;	 /* another rank has opened this rank's first file as padding */
};

/* A thread of a rank. It opens files in the order in which the rank has passed them to it. */
struct worker {
	uint64_t id, used;
	/* index in current.ranks; NOBODY: the worker is forgotten */
	uint32_t rank;
	uint32_t file, epoch; /* file and epoch of the last open */
	/* A worker's row is its series of opens of ascending files. began: number of opens of the
	 * script before the row; last: the same number after the worker's last open. */
	uint32_t began, last;
	uint32_t row_began;
	/* the file to which the worker went back last; before it went back, its first file */
	uint32_t start;
	/* length of the worker's last series of files that follow one another without a gap */
	uint32_t batch;
	/* for each kind, the number of opens of `file` in the pass */
	uint32_t row[FILE_KINDS];
	uint32_t stays;		    /* number of opens of `file` in a row */
	uint32_t habit[FILE_KINDS]; /* values of `row` for the previous file */
	bool images;		    /* the worker also opens images */
	bool doubted;		    /* note_again has renewed the mark of `file` */
	bool is_owed; /* the last open was that of a label, and did not count */
	/* The file of the last OPENED_LOOKED, or NO_FILE; and the value of script.turns at that
	 * time. */
	uint32_t looked, looked_turns;
	/* The script has turned to an epoch of which this worker has not opened a file yet. */
	bool late;
	/* Value of script.turns + 1 at the worker's last open within the rank's part; 0: none. */
	uint32_t pass;
};

struct current {
	uint64_t opened; /* number of recorded opens since the job was added */
	uint64_t begun;	 /* value of `opened` when the running epoch began */
	/* The job went back to the epoch before_epoch. `before` has a bit for each file, which is
	 * set for the n_before files that had been read; a new script continues after these. */
	bool went_back;
	uint32_t before_epoch, n_before;
	uint8_t *before; /* NULL: no file had been read */
	uint32_t n_scripts, n_ranks, n_workers;
	struct script scripts[CURRENT_SCRIPTS];
	struct rank ranks[CURRENT_RANKS];
	struct worker workers[CURRENT_WORKERS];
};

struct choice {
	uint32_t epoch; /* the epoch of the open; it may have to begin first */
	enum opened_how how;
	enum notice notice; /* NOTICES: none */
};

/* --- current.c --- */

/* Tells whether the epoch of a resent request was chosen before the restart; if so, sets *ret to
 * the epoch. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret);
/* Decides what an open means for its script, and which epoch's sample the file gives. */
struct choice current_choose(
	const struct epochs *epochs, const struct open_request *request);

/* --- since.c --- */

/* Returns N such that, if the script turns with `opened`, the next epoch keeps the files which the
 * script has opened after its first N opens. worker: the thread that opens; NULL: a new one. */
uint32_t current_since(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened);
/* Tells whether a worker of the script has begun its row with the file. */
bool begins_row(
	const struct current *current, const struct script *script, uint32_t file);
/* Returns the number of opens before the script's last pass; if the passes of workers overlap, a
 * smaller number. */
uint32_t since_run(const struct script *script);
/* Tells whether the last two runs had all files, the second one exactly as many opens after the
 * first as there are files. */
bool is_regular(const struct script *script);
/* Returns the least J such that J given files come last in a random order of all files with a
 * probability of less than one in a million; if there are few files, an eighth of them. */
uint32_t n_hedged(const struct script *script);

/* --- reading.c --- */

/* Tells whether a script other than that of the request reads current/, and has opened more than
 * one file of its epoch. In this case only an open in current/ may begin the next epoch, and an
 * open in the epoch's own directory, epoch-NNNN/, may not. */
bool current_belongs_to_another(
	const struct epochs *epochs, const struct open_request *request, uint64_t now_ns);
/* Tells whether a script that is still reading is in the draining epoch. */
bool current_needs_draining(const struct epochs *epochs, uint64_t now_ns);
/* Tells whether another script is in the middle of the draining epoch, which would end if the next
 * epoch began. If `script` is not NULL, only scripts count that are older, have turned before, and
 * have opened a file since the running epoch began. NULL stands for a new script: all scripts count
 * that have opened a file since then or within a minute. */
bool strands_another(const struct epochs *epochs, const struct script *script);

/* --- repeats.c --- */

/* Tells whether the open only repeats recorded opens of the thread, and need not be recorded. */
bool current_says_it(struct epochs *epochs, const struct record *opened);

/* --- misuse.c --- */

/* Returns the notice that the open causes for its script, before it is recorded; NOTICES: none. */
enum notice misuse_of(const struct epochs *epochs, const struct record *opened);
/* Saves the marks of a script that has opened all files of the epoch, for misuse_of. */
void misuse_look(struct script *script);

/* --- scripts.c --- */

/* Frees the memory of all scripts. */
void current_destroy(struct epochs *epochs);
/* Records the open in its script, rank and worker. -ENOMEM: nothing is recorded. */
must_check int current_note(struct epochs *epochs, const struct record *opened);

/* --- known.c --- */

uint32_t n_files(const struct epochs *epochs, uint32_t epoch);
uint32_t files_of(const struct epochs *epochs, const struct epoch_set *set);
/* Returns the script's index in current->scripts, or NOBODY. */
uint32_t script_place(const struct current *current, uint64_t id);
/* Returns the rank's index in current->ranks, or NOBODY. */
uint32_t rank_place(const struct current *current, uint32_t script, uint64_t id);
/* Returns the worker's index in current->workers, or NOBODY. */
uint32_t worker_place(const struct current *current, uint32_t rank, uint64_t id);
bool is_worker_of(const struct current *current, const struct worker *worker,
	const struct script *script);
/* Tells whether the open begins an epoch that may keep files of the previous epoch. */
bool may_keep(const struct record *opened);
/* Tells whether the script has opened the file in its epoch. */
bool is_opened(const struct script *script, uint32_t file);
/* Tells whether the worker has looked at a file in the epoch that the script has not opened. */
bool has_looked(const struct script *script, const struct worker *worker);
/* Tells whether the open is the first open of an image in the epoch by its script. */
bool is_new_image(
	const struct script *script, const struct record *opened, uint32_t file);
/* Tells whether the script's run has all files. */
bool is_whole(const struct script *script);
/* Tells whether the script's threads open files in the order of their names. */
bool is_in_order(const struct script *script);
/* Finds the thread that has opened the other half of a file, its image or its label. label = true:
 * returns the index of the rank's thread that opened the file's image last, but not its label;
 * false: the index of the thread that opens only labels, and opened that of the file last. NOBODY:
 * there is none. */
uint32_t other_half(
	const struct current *current, uint32_t rank, uint32_t file, bool label);
/* Tells whether an open is one of a label (`label`), by a thread that opens only labels. worker:
 * the thread; NULL: a new one. */
bool is_only_label(const struct script *script, const struct worker *worker, bool label);

/* --- script_ranks.c --- */

/* Returns the number of the script's ranks that are still reading, at least 1. */
uint32_t n_ranks(const struct current *current, const struct script *script);
/* Tells whether the open with this mark was one of the first of the epoch, and so perhaps only a
 * look at a file. */
bool is_first(const struct current *current, const struct script *script, uint32_t mark);
/* Returns the number of files of each part, if the files are divided among so many ranks. */
uint32_t files_of_part(
	const struct script *script, uint32_t ranks, enum division division);
/* Returns the division whose parts the ranks have opened completely, so that the pass is over.
 * DIVISIONS: there is none. */
enum division division_over(const struct current *current, const struct script *script);
/* Returns N such that files which the script has opened after its first N opens may belong to the
 * pass that follows the complete one. */
uint32_t division_since(const struct script *script, enum division division);
/* Returns the next entry of script->beyond that is beyond the part, from index *i on, and sets *i
 * to the index after it. NULL: there is none. */
const struct beyond *next_beyond(
	const struct script *script, enum division division, uint32_t *i);
/* Begins the next pass of the ranks. over: the division by which the last pass is complete; opens
 * beyond its parts are counted in the new pass. DIVISIONS: it is unknown where the pass begins, so
 * both divisions are refuted unless the script has only one rank. */
void begin_parts(struct current *current, struct script *script, enum division over);
/* Adds an open to script->beyond. */
void note_beyond(struct script *script, const struct beyond *beyond);
/* Counts an open of a rank. mark: the mark that the open has given to its file. */
void note_rank(struct current *current, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file, uint32_t mark);
