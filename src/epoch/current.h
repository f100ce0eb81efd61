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
/* a number of opens: other_half ignores a thread that has made none of the job's last RECENT_OPENS
 * opens */
#define RECENT_OPENS 256
/* epochs with fewer files than this are too small for the rules of current.c that need
 * many files */
#define FEW_MOST 16
#define LOOKED_AT 1024 /* largest number of files whose opens misuse.c compares */

/* The ways in which the sampler of a training script, such as a DistributedSampler, divides the
 * files into equal parts, one for each rank, if the number of files is no multiple of the number of
 * ranks: PADS repeats files, DROPS leaves files out. See script_ranks.c. */
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
 * Counted opens: opens of files by the script's threads, with four exceptions:
 *  - an open of a file again (OPENED_AGAIN); but an image counts if the open of its label did not;
 *  - an open by a late worker, which still reads the previous epoch;
 *  - an open of a label by a thread that opens only labels;
 *  - a look at a file (OPENED_LOOKED).
 * Many fields below are a number of counted opens: the value that `opens` had at a certain time.
 */
struct script {
	uint64_t id;
	/* since: value of current.opened, the number of recorded opens, at the script's first open.
	 * used: value of current.opened at the script's last open. */
	uint64_t since, used;
	/* time of the script's last open, except looks (OPENED_LOOKED); 0 if that was before a
	 * restart of the daemon */
	uint64_t used_ns;
	/* all processes of the script have ended; not in the journal */
	bool ended;
	/* the epoch to which the script has turned last, and which it reads now */
	uint32_t epoch;
	uint32_t turns;
	const struct epoch_set *set; /* the set of samples that `epoch` has */
	uint32_t files;		     /* number of files of `epoch` */
	/* marks[f]: number of the last counted open of file f, from 1 on; 0: not opened */
	uint32_t *marks;
	/* up to LOOKED_AT elements of `marks`, copied when the script had opened all files
	 * (misuse.c) */
	uint32_t *seen;
	uint32_t opens; /* number of the script's counted opens so far */
	/* begun: number of counted opens before this epoch. The last open of each kept file
	 * counts as an open of this epoch: a file was opened or kept in this epoch if its mark
	 * is larger than `begun`. A file that a late worker opens gets the mark `begun`, and so
	 * counts as opened in the previous epoch.
	 * begun_before: the value of `begun` in the previous epoch. */
	uint32_t begun, begun_before;
	/* number of counted opens before the run */
	uint32_t run;
	/* If a thread opens a file again, and this open may begin a pass, the file gets a new mark,
	 * although the open is not counted (note_again). doubted: the last mark that was given in
	 * this way; 0: none. */
	uint32_t doubted;
	uint32_t turned;  /* value of `opens` when the script turned last */
	uint32_t opened;  /* number of files that were opened or kept in this epoch */
	uint32_t adopted; /* number of files that this epoch has kept */
	/* number of files that were neither opened nor kept in the previous epoch */
	uint32_t left;
	/* This epoch's first run that had all files.
	 * first: number of counted opens before this run.
	 * whole: number of counted opens after which the run had all files; 0: no run has had all
	 * files yet. */
	uint32_t first, whole;
	/* A streak is a row of opens of different files. When a file occurs twice, the streak ends,
	 * and another one begins. (A run, in contrast, goes on with the opens after the earlier
	 * open of this file.) streak_begun: number of counted opens before the present streak. */
	uint32_t streak_begun;
	/* streak: how many files of the present streak this epoch had already given before.
	 * fresh: how many files of the present streak this epoch gave for the first time. */
	uint32_t streak, fresh;
	/* value of `opens` when the script last opened a file that was new in this epoch */
	uint32_t newest;
	/* number of streaks that have ended in the epoch */
	uint32_t streaks;
	/* number of counted opens up to the end of the epoch's last long streak, one of more than a
	 * quarter of all files; `begun` if no long streak has ended */
	uint32_t rows_begun;
	/* number of the script's ranks at the script's last counted open */
	uint32_t n_ranks;
	/* parts[f]: a bit for each division, set if a rank has opened file f within the rank's part
	 * of the pass; and further bits (script_ranks.c) */
	uint8_t *parts;
	/* parted[d]: number of files whose bit of division d is set in `parts`.
	 * refuted[d]: division d can't end this pass (division_over), because opens contradict the
	 * division, or because opens of two passes may be counted as one pass. */
	uint32_t parted[DIVISIONS];
	bool refuted[DIVISIONS];
	/* Opens in their order. The rank of each of these opens had already opened all files of its
	 * part in the division DROPS. */
	struct beyond *beyond;
	uint32_t n_beyond;
	size_t room_beyond;
	/* up: how often in this epoch a thread has gone on to a file with a higher number.
	 * down: how often in this epoch a thread has gone back to a file with a lower number. */
	uint32_t up, down;
	/* A step is the distance from the last file of a worker's batch to the first file of the
	 * worker's next batch.
	 * step: the newest step; 0: none is known.
	 * last_step: the newest distance forward, above 1, that was not known as a step. If a worker
	 * makes this distance again, it is a step, and becomes `step`. */
	uint32_t step, last_step;
	/* number of files in a batch, as found at the last turn; 0: not known */
	uint32_t batch;
	/* A distance forward is odd while it is not known as a step.
	 * odd: number of the counted open that has made the last odd distance; 0: none.
	 * odds: number of odd distances in the epoch. */
	uint32_t odd, odds;
	bool was_in_order; /* the previous epoch's files were opened in the order of names */
	/* labels: how many opens of labels the script has made in this epoch, in threads that open
	 * only labels.
	 * labels_before: the same for the previous epoch. */
	uint32_t labels, labels_before;
	/* habit[k]: how often a thread has opened one file as kind k before it went on to
	 * another file; the largest such number of all the script's threads so far */
	uint32_t habit[FILE_KINDS];
	bool labels_after;     /* a thread has opened an image, and then its label */
	bool labels_of_images; /* a thread opens both images and their labels */
	/* a thread has opened a label, and later another thread the label's image */
	bool labels_first;
	/* The script's epoch was over before the script's first turn, so the script has joined the
	 * running epoch (OPENED_BEHIND). Set until the next turn. */
	bool behind;
};

struct rank {
	uint64_t id;
	uint64_t used;
	/* index of the rank's script in current.scripts; NOBODY: this entry is not used */
	uint32_t script;
	uint32_t count; /* number of opens in the present pass */
	bool pads;	/* the rank has opened its padding, a file of another rank */
	bool padded;	/* another rank has opened a file of this rank as padding */
};

/* A thread of a rank. The thread opens files in the order in which the rank has passed
 * them to the thread. */
struct worker {
	uint64_t id, used;
	/* index of the worker's rank in current.ranks; NOBODY: this entry is not used */
	uint32_t rank;
	/* file: the file that the worker opened last; NO_FILE: none.
	 * epoch: the epoch of this open. */
	uint32_t file, epoch;
	/* A worker's row is a series of opens of ascending files that goes on in steps from
	 * batch to batch.
	 * began: number of the script's counted opens before the worker's present row.
	 * last: number of the script's counted opens up to the worker's last counted open.
	 * row_began: the value of `began` when the worker last went back: opened a file that
	 * does not come after the worker's previous file. */
	uint32_t began, last;
	uint32_t row_began;
	/* the file that the worker opened when it last went back, or its first file */
	uint32_t start;
	/* number of files so far in the worker's present batch, a series of consecutive files */
	uint32_t batch;
	/* row[k]: how often `file` was opened as kind k in this pass */
	uint32_t row[FILE_KINDS];
	uint32_t stays; /* how often `file` was opened in a row */
	/* habit[k]: row[k] of the last earlier file that the worker has opened as kind k; 0: none */
	uint32_t habit[FILE_KINDS];
	bool images; /* the worker has opened images, not only labels */
	/* the worker has opened `file` again, and `file` has got a new mark for this
	 * (note_again) */
	bool doubted;
	/* The worker's last open, an open of a label, was not counted. So if the worker opens the
	 * label's image next, this open is counted. */
	bool is_owed;
	/* looked: the file at which the worker has only looked (OPENED_LOOKED); NO_FILE: none.
	 * looked_turns: the script's `turns` when the worker looked at this file. */
	uint32_t looked, looked_turns;
	/* the worker had not begun the new pass when the script turned, and has opened no file of
	 * the script's epoch since */
	bool late;
	/* 1 + the script's `turns` when the worker last opened a file within its rank's part of a
	 * pass; 0: never */
	uint32_t pass;
};

struct current {
	/* number of recorded opens; a replay counts only those that the journal still has */
	uint64_t opened;
	uint64_t begun; /* value of `opened` when the running epoch began */
	/* went_back: the job has gone back to an earlier point of its progress, in the epoch
	 * before_epoch.
	 * n_before: number of this epoch's files that had been read at this point. A new script
	 * goes on with the other files. */
	bool went_back;
	uint32_t before_epoch, n_before;
	uint8_t *before; /* a bit for each file that had been read; NULL: none */
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

/* Tells whether the engine had chosen an epoch for a resent request before the restart, and stores
 * this epoch in *ret. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret);
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
/* Returns N: the script's last pass has begun after the script's first N counted opens, or later. N
 * is rather too small than too large, because the passes of several workers may overlap. */
uint32_t since_run(const struct script *script);
/* Returns the least number J such that J given files come last in a random order of all files with
 * a chance below one in a million. If there are few files, returns an eighth of them. */
uint32_t n_hedged(const struct script *script);

/* --- reading.c --- */

/* Tells whether a script other than the request's reads current/, and has opened at least two
 * files. Then no open in the directory epoch-NNNN/ of the next epoch may begin this epoch. */
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

/* Tells whether the open need not be recorded (repeats.c). */
bool current_says_it(struct epochs *epochs, const struct record *opened);

/* --- misuse.c --- */

/* Returns the notice that the user gets about the script because of this open, which is not
 * recorded yet; NOTICES: none. */
enum notice misuse_of(const struct epochs *epochs, const struct record *opened);
/* Copies the marks of a script that has opened all files of the epoch, for misuse_of. */
void misuse_look(struct script *script);

/* --- scripts.c --- */

void current_destroy(struct epochs *epochs);
/* Records the open in its script, rank and worker. -ENOMEM: nothing is recorded. */
must_check int current_note(struct epochs *epochs, const struct record *opened);

/* --- known.c --- */

uint32_t n_files(const struct epochs *epochs, uint32_t epoch);
uint32_t files_of(const struct epochs *epochs, const struct epoch_set *set);
/* The next three functions return an index in current->scripts, ranks or workers. NOBODY: not
 * found. */
uint32_t script_place(const struct current *current, uint64_t id);
uint32_t rank_place(const struct current *current, uint32_t script, uint64_t id);
uint32_t worker_place(const struct current *current, uint32_t rank, uint64_t id);
bool is_worker_of(const struct current *current, const struct worker *worker,
	const struct script *script);
/* Tells whether the open begins an epoch that may keep files of the previous epoch, or was recorded
 * again for such an epoch (OPENED_BEYOND). */
bool may_keep(const struct record *opened);
/* Tells whether the file was opened or kept in the script's epoch. */
bool is_opened(const struct script *script, uint32_t file);
bool opened_since_turn(const struct script *script, uint32_t file);
/* Tells whether three conditions hold: the worker's last recorded open was a look at a file
 * (OPENED_LOOKED); the script has not turned since this look; and no thread of the script has read
 * this file since the script's last turn. */
bool has_looked(const struct script *script, const struct worker *worker);
bool is_new_image(
	const struct script *script, const struct record *opened, uint32_t file);
/* Tells whether the script's run has all files. */
bool is_whole(const struct script *script);
/* Tells whether the script's threads open files in the order of their names. */
bool is_in_order(const struct script *script);
/* Finds the other thread if two threads of a rank open the image and the label of the same files.
 * label = true: finds the thread that has opened the image of `file`, but not the label. label =
 * false: finds the thread that has opened the label of `file`, and opens only labels. Returns the
 * thread's index in current.workers. NOBODY: there is no such thread, or it has opened another file
 * since, or no file for long (RECENT_OPENS). */
uint32_t other_half(
	const struct current *current, uint32_t rank, uint32_t file, bool label);
/* Tells whether the open is that of a label, by a thread that opens no images. worker: NULL if the
 * engine does not know the thread. */
bool is_only_label(const struct script *script, const struct worker *worker, bool label);

/* --- script_ranks.c --- */

/* Returns the number of the script's ranks that are still reading, at least 1. */
uint32_t n_ranks(const struct current *current, const struct script *script);
/* Tells whether the open with this mark is one of the first n_ranks * n_hedged opens of the epoch's
 * first run that had all files; if there is no such run, of the epoch. */
bool is_first(const struct current *current, const struct script *script, uint32_t mark);
uint32_t files_of_part(
	const struct script *script, uint32_t ranks, enum division division);
/* Returns the division in which each rank has opened its whole part, so that the pass is over.
 * DIVISIONS: there is no such division. */
enum division division_over(const struct current *current, const struct script *script);
/* Returns N: the files that the script has opened after its first N counted opens are those which
 * may belong to the next pass. division: the division in which the present pass is over. */
uint32_t division_since(const struct script *script, enum division division);
/* Searches script->beyond, from index *i on, for an open by a rank that had already opened as many
 * files as a part of the division has. Returns this entry, and sets *i to the index after it. NULL:
 * there is none. */
const struct beyond *next_beyond(
	const struct script *script, enum division division, uint32_t *i);
/* Begins the next pass of the ranks. over: the division in which the last pass is over. Opens by
 * ranks that had already opened their parts in this division are counted in the new pass.
 * DIVISIONS: the engine does not know where the new pass has begun. Then both divisions are refuted
 * if there are several ranks, because the ranks' counts of opens do not begin with the pass. */
void begin_parts(struct current *current, struct script *script, enum division over);
void note_beyond(struct script *script, const struct beyond *beyond);
void note_rank(struct current *current, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file, uint32_t mark);
