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
/* If a thread opens one file more often than this in a row, further opens are not
 * recorded (repeats.c). */
#define ROW_MOST 64
/* other_half ignores a thread whose last open is more than this many opens of the job
 * ago */
#define RECENT_OPENS 256
/* epochs with fewer files than this are too small for the rules of current.c that need
 * many files */
#define FEW_MOST 16
#define LOOKED_AT 1024 /* largest number of files whose opens misuse.c compares */

/* The ways in which a training's sampler makes the parts of all ranks equally large: it repeats
 * files (PADS), or leaves files out (DROPS). See script_ranks.c. */
enum division { PADS, DROPS, DIVISIONS };

/* An open by a rank that has already opened all files of its part of the pass (script_ranks.c). The
 * open may belong to the rank's next pass. */
struct beyond {
	uint64_t rank, thread;
	uint32_t file;
	/* number of opens that the rank had made in the pass before this open */
	uint32_t count;
	/* number of this open among the script's counted opens, from 1 on */
	uint32_t mark;
};

/*
 * A script that reads current/, and facts that the engine has found in its opens.
 *
 * Counted opens: opens of files by the script's threads. Not counted are: an open of the
 * file that the same thread opened last; an open by a late worker, which still reads the
 * previous epoch; an open of a label by a thread that opens only labels; a look at a
 * file (OPENED_LOOKED). Many fields below are a number of counted opens: the value that
 * `opens` had at a certain time.
 */
struct script {
	uint64_t id;
	/* since: value of current.opened at the script's first open. used: its value at
	 * the script's last open. */
	uint64_t since, used;
	/* time of the script's last open; 0 if that was before a restart of the daemon */
	uint64_t used_ns;
	/* all processes of the script have ended; not in the journal */
	bool ended;
	/* the epoch to which the script has turned last, and which it reads now */
	uint32_t epoch;
	uint32_t turns;
	const struct epoch_set *set; /* the set of samples that `epoch` has */
	uint32_t files;		     /* number of files of `epoch` */
	/* marks[f] is the number of the last counted open of file f, where the script's first
	 * counted open has the number 1. 0: file f was not opened. */
	uint32_t *marks;
	/* Copies of up to LOOKED_AT elements of `marks`. They are made when the script has opened
	 * all files of an epoch, and are compared with `marks` in the next epoch (misuse.c). */
	uint32_t *seen;
	uint32_t opens; /* number of the script's counted opens so far */
	/* begun: number of counted opens before this epoch. begun_before: number of
	 * counted opens before the previous epoch. If this epoch has kept a file's
	 * sample, the last open of the file before the turn counts as an open in this
	 * epoch. A file that a late worker opens gets the mark `begun`, so it counts as
	 * opened in the previous epoch. */
	uint32_t begun, begun_before;
	/* number of counted opens before the run: the longest row of opens of different files that
	 * ends with the last open */
	uint32_t run;
	/* A file gets a new mark if a thread opens it again, and this open may begin a pass
	 * (note_again). doubted: the last mark that was given in this way; 0: none. */
	uint32_t doubted;
	uint32_t turned; /* value of `opens` when the script turned last */
	/* number of files that the script has opened in this epoch, or whose samples the
	 * epoch has kept */
	uint32_t opened;
	/* number of files whose samples this epoch has kept from the previous epoch */
	uint32_t adopted;
	/* number of files that the script did not open in the previous epoch */
	uint32_t left;
	/* A run of this epoch that had all files. first: number of counted opens before
	 * this run. whole: number of counted opens by which it had all files; 0: no run
	 * has had all files yet. */
	uint32_t first, whole;
	/* A streak is a row of opens of different files that begins anew when a file
	 * occurs twice: an open of a file that the streak already has ends it, and
	 * begins the next streak. (A run then loses only its first opens.) streak_begun:
	 * number of counted opens before the present streak. */
	uint32_t streak_begun;
	/* Numbers of files in the present streak. streak: files that the script had already opened
	 * in this epoch. fresh: files that it opened for the first time in this epoch. */
	uint32_t streak, fresh;
	/* value of `opens` when the script last opened a file that was new in this epoch */
	uint32_t newest;
	/* number of streaks that have ended in the epoch */
	uint32_t streaks;
	/* A streak is long if it has more than a quarter of the files. rows_begun: number of
	 * counted opens up to the end of the epoch's last long streak; if there was none,
	 * `begun`. */
	uint32_t rows_begun;
	/* number of the script's ranks at the script's last counted open */
	uint32_t n_ranks;
	/* parts[f] has a bit for each division, which is set if a rank has opened file f within the
	 * rank's part of the pass. The other bits of parts[f] are explained in script_ranks.c. */
	uint8_t *parts;
	/* for each division, the number of files whose bit is set in `parts` */
	uint32_t parted[DIVISIONS];
	bool refuted[DIVISIONS];
	/* A list of opens, the oldest first. Each open was made by a rank that had
	 * already opened as many files as a part has in the division DROPS. */
	struct beyond *beyond;
	uint32_t n_beyond, room_beyond;
	/* Numbers of opens in this epoch. up: opens by threads whose last file was an earlier one.
	 * down: opens by threads whose last file was a later one. */
	uint32_t up, down;
	/* A step is the distance from the last file of a worker's batch to the first
	 * file of the worker's next batch. last_step: the newest distance that was not
	 * seen before. If a worker goes on over the same distance again, this distance
	 * becomes `step`. */
	uint32_t step, last_step;
	/* number of files in a batch, as found at the script's last turn; 0: not known */
	uint32_t batch;
	/* A worker makes an odd step if it goes on over a distance that was not seen before. odd:
	 * number of the counted open that made the last odd step. odds: number of odd steps in the
	 * epoch. */
	uint32_t odd, odds;
	/* the script opened the files of the previous epoch in the order of their
	 * names */
	bool was_in_order;
	/* Numbers of labels that were opened by threads which open only labels. labels: in this
	 * epoch. labels_before: in the previous epoch. */
	uint32_t labels, labels_before;
	/* for images and for labels, the largest number of opens of one file in a row by one
	 * thread */
	uint32_t habit[FILE_KINDS];
	/* a thread has opened an image, and then the label of this image */
	bool labels_after;
	/* a thread opens both images and their labels */
	bool labels_of_images;
	/* a thread has opened the label of an image before another thread opened this
	 * image */
	bool labels_first;
	/* The script's epoch was over before the script's first turn, so the script
	 * joined the running epoch (OPENED_BEHIND). The next turn clears this. */
	bool behind;
};

struct rank {
	uint64_t id;
	uint64_t used;
	/* index of the rank's script in current.scripts; NOBODY: this entry is not used */
	uint32_t script;
	/* number of opens that the rank has made in the present pass */
	uint32_t count;
	/* The rank has opened a file with which another rank began the pass. This one file counts
	 * as padding (PADS), so it does not refute the division. */
	bool pads;
	/* Another rank has opened, as its padding, a file with which this rank began the pass. */
	bool padded;
};

/* A thread of a rank. The thread opens files in the order in which the rank has passed
 * them to the thread. */
struct worker {
	uint64_t id, used;
	/* index of the worker's rank in current.ranks; NOBODY: this entry is not used */
	uint32_t rank;
	/* the worker's last file, and the epoch to which this file belonged */
	uint32_t file, epoch;
	/* A worker's row is a series of opens of ascending files. began: number of the script's
	 * counted opens before the worker's present row. last: number of the script's counted opens
	 * up to the worker's last one. */
	uint32_t began, last;
	uint32_t row_began;
	/* the worker's last file that did not follow its previous file in the order of names; if
	 * there is none, the worker's first file */
	uint32_t start;
	/* number of files in the worker's present batch: the last files that the worker
	 * has opened, each of which follows the file before it in the order of names */
	uint32_t batch;
	/* for images and for labels, how often the worker has opened `file` in this pass */
	uint32_t row[FILE_KINDS];
	/* how often the worker has opened `file` in a row */
	uint32_t stays;
	/* for images and for labels, how often the worker opened its previous file */
	uint32_t habit[FILE_KINDS];
	bool images; /* the worker has opened images, not only labels */
	/* `file` has a new mark, because the worker has opened it again (note_again) */
	bool doubted;
	/* the worker's last open was that of a label, and was not counted; so the next
	 * open of the label's image will be counted */
	bool is_owed;
	/* looked: the file at which the worker has only looked (OPENED_LOOKED); NO_FILE: none.
	 * looked_turns: number of the script's turns at that time. */
	uint32_t looked, looked_turns;
	/* The worker may still read the previous epoch: it has opened no file of the script's epoch
	 * since the script turned. */
	bool late;
	/* 1 + the number of the script's turns when the worker last opened a file within the rank's
	 * part of a pass; 0: it has opened no such file. */
	uint32_t pass;
};

struct current {
	uint64_t opened; /* number of recorded opens since the job was added */
	uint64_t begun;	 /* number of recorded opens when the running epoch began */
	/* went_back: the job went back to an earlier point, which lies in the epoch
	 * before_epoch. n_before: number of files that had been read up to this point.
	 * `before` has a bit for each file, set if the file is one of these. A new
	 * script goes on with the other files. */
	bool went_back;
	uint32_t before_epoch, n_before;
	uint8_t *before; /* NULL: no file of before_epoch had been read */
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

/* Tells whether the engine chose the epoch of a resent request before the restart. If it did, sets
 * *ret to this epoch. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret);
/* Decides what the open means for the script that makes it, and to which epoch the file
 * belongs. */
struct choice current_choose(
	const struct epochs *epochs, const struct open_request *request);

/* --- since.c --- */

/* Returns N: if the open `opened` makes the script turn, the next epoch keeps the files that the
 * script has opened after its first N counted opens. worker: the thread that opens; NULL: the
 * engine does not know the thread. */
uint32_t current_since(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened);
/* Tells whether one of the script's workers began its present row, a series of ascending
 * files, with this file. */
bool begins_row(
	const struct current *current, const struct script *script, uint32_t file);
/* Returns the number of counted opens before the script's last pass, or a smaller
 * number: if several workers read, the passes may overlap, and the beginning of a pass
 * is not known exactly. */
uint32_t since_run(const struct script *script);
/* Returns the least number J such that J given files come last in a random order of all
 * files with a chance below one in a million. If there are few files, returns an eighth
 * of them. */
uint32_t n_hedged(const struct script *script);

/* --- reading.c --- */

/* Tells whether a script other than the request's reads current/, and has opened at
 * least two files. Then only an open in current/ may begin the next epoch; an open in
 * the directory epoch-NNNN/ of the next epoch may not. */
bool current_belongs_to_another(
	const struct epochs *epochs, const struct open_request *request, uint64_t now_ns);
/* Tells whether a script still reads the draining epoch. */
bool current_needs_draining(const struct epochs *epochs, uint64_t now_ns);
/* Tells whether another script reads the same epoch, has not ended, and has opened a
 * file within the job's last N opens, where N is the number of files. */
bool shares_epoch(const struct epochs *epochs, const struct script *script);
/* Tells whether a turn of `script` to the next epoch would end the draining epoch in the
 * middle of another script's pass. Other scripts count only if they are older than
 * `script`, have turned before, and have opened a file since the running epoch began.
 * script = NULL: a new script wants to begin the next epoch. Then each script counts
 * that has opened a file since the running epoch began, or within the last minute. */
bool strands_another(const struct epochs *epochs, const struct script *script);

/* --- repeats.c --- */

/* Tells whether the open need not be recorded, because the thread has opened the same file before,
 * and enough of these opens are recorded. */
bool current_says_it(struct epochs *epochs, const struct record *opened);

/* --- misuse.c --- */

/* Returns the notice that the user gets about the script because of this open; NOTICES:
 * none. The caller calls this function before it records the open. */
enum notice misuse_of(const struct epochs *epochs, const struct record *opened);
/* Copies the marks of a script that has opened all files of the epoch. misuse_of compares them with
 * the marks of the next epoch. */
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
/* Tells whether the script has opened the file in its epoch, or the epoch has kept the file's
 * sample. */
bool is_opened(const struct script *script, uint32_t file);
/* Tells whether the script has opened the file since it turned to its epoch. */
bool opened_since_turn(const struct script *script, uint32_t file);
/* Tells whether the worker has only looked at a file (OPENED_LOOKED) since the script turned, and
 * no thread of the script has read the file since then. */
bool has_looked(const struct script *script, const struct worker *worker);
/* Tells whether the open is the script's first open of this image in the script's
 * epoch. */
bool is_new_image(
	const struct script *script, const struct record *opened, uint32_t file);
/* Tells whether the script's run has all files. The run is the longest row of opens of different
 * files that ends with the last open. */
bool is_whole(const struct script *script);
/* Tells whether the script's threads open files in the order of their names. */
bool is_in_order(const struct script *script);
/* Finds the thread of a rank whose last file is `file`, and which has opened only the
 * image or only the label of this file. label = true: the label is missing. label =
 * false: the image is missing, and the thread has opened only labels. Returns the
 * thread's index in current.workers; NOBODY: there is no such thread. */
uint32_t other_half(
	const struct current *current, uint32_t rank, uint32_t file, bool label);
/* Tells whether the open is that of a label, by a thread that opens no images. worker:
 * the thread; NULL: the engine does not know the thread. */
bool is_only_label(const struct script *script, const struct worker *worker, bool label);

/* --- script_ranks.c --- */

/* Returns the number of the script's ranks that are still reading, at least 1. */
uint32_t n_ranks(const struct current *current, const struct script *script);
/* Tells whether the open with this number (script->marks) is one of the script's first opens in
 * the epoch. The script may only have looked at the file then. */
bool is_first(const struct current *current, const struct script *script, uint32_t mark);
/* Returns the number of files of each part, if the files are divided among so many ranks. */
uint32_t files_of_part(
	const struct script *script, uint32_t ranks, enum division division);
/* Returns the division in which each rank has opened its whole part, so that the pass is over.
 * DIVISIONS: there is no such division. */
enum division division_over(const struct current *current, const struct script *script);
/* Returns N: the files that the script has opened after its first N counted opens may belong to the
 * next pass. division: the division in which the present pass is over. */
uint32_t division_since(const struct script *script, enum division division);
/* Returns the next entry of script->beyond whose rank had already opened a whole part of the
 * division. The search begins at index *i; on return, *i is the index after the entry. NULL: there
 * is no such entry. */
const struct beyond *next_beyond(
	const struct script *script, enum division division, uint32_t *i);
/* Begins the next pass of the ranks. over: the division in which the last pass is over; opens that
 * ranks have made after their parts are counted in the new pass. over = DIVISIONS: the engine does
 * not know where the new pass begins, so it refutes both divisions if the script has several
 * ranks. */
void begin_parts(struct current *current, struct script *script, enum division over);
/* Adds an open to script->beyond. */
void note_beyond(struct script *script, const struct beyond *beyond);
/* Counts an open of a rank. mark: the number that the open has among the script's counted opens. */
void note_rank(struct current *current, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file, uint32_t mark);
