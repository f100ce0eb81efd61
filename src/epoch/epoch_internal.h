// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/questions.h"

/*
 * Declarations that the files of the engine share.
 *
 *   opens.c    the way of an open, from the request to its answer
 *   epochs.c   the other events of a job; questions.c
 *   epoch.c    one epoch: binding, consuming, pins, its end
 *   skip.c     samples that epochs leave out; sets.c: the samples that epochs have
 *   adopt.c    samples that an epoch keeps from the one before
 *   current.c  the epoch that current/ means; scripts.c: facts about scripts that read it;
 *              misuse.c: notices for them; repeats.c: opens that repeat others
 *   restore.c  back to an earlier place; epochs that begin again
 *   replay.c   from records to the same state; validate.c, print.c: for tests
 */

TAILQ_HEAD(requests, open_request);

enum stream_state { STREAM_ABSENT, STREAM_BEGINNING, STREAM_READY };

/* The order of an epoch that has begun again is in a file. */
enum load_state { LOAD_DONE, LOAD_WANTED, LOAD_FAILED };

struct epoch {
	LIST_ENTRY(epoch) link; /* links the epochs in memory */
	uint32_t number;
	const struct epoch_set *set;
	uint32_t *samples; /* sample + 1 by position, 0 while unbound */
	uint32_t *log;	   /* order_log_entry by binding, room for log_room */
	uint32_t log_room;
	uint32_t bound;
	uint32_t adopted; /* bindings that were kept from the epoch before */
	uint8_t *consumed_bits;
	uint32_t *reads; /* positions, in the order in which they were consumed */
	uint32_t consumed;
	uint64_t reads_hash;
	uint32_t first_unread; /* position */
	/* All positions before it are bound; kept by epochs_had. */
	uint32_t first_unbound;
	uint32_t read_end; /* end of the consumed positions */
	/* draining: `bound` of the running epoch at the last open in this one */
	uint32_t read_at;
	bool over;   /* nothing is bound any more */
	bool saving; /* the order is being saved */
	bool saved;  /* the order is in a file */
	enum load_state load;
	enum stream_state stream;
	/* Samples that are drawn and not bound; no ring without a stream. */
	struct drawn_queue queue;
	struct pins pins; /* bound and not consumed, in the order of binding */
	/* The pins, hashed by position. An empty table would be freed: `none` is always in it. */
	struct pin *pin_table;
	struct pin none;
	roaring_bitmap_t *replayed; /* samples bound so far, during a replay */
	/* Set by epochs_prepare: bits of the files whose positions were all consumed. */
	uint8_t *files_read;
	uint32_t n_files_read;
};
LIST_HEAD(epoch_list, epoch);

/* --- who reads current/; current.c ---------------------------------------------------- */

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
	/* Opens of files that the epoch had opened, by ranks within their parts; note_rank
	 * weighs them. */
	uint32_t repeats;
	/* Opens of files that the epoch has kept, by ranks within their parts; how many of
	 * these are not of the epoch's pass. */
	uint32_t kept_again, excused;
	/* Opens before the first repeat near the end of a part; NOBODY: none. */
	uint32_t repeated;
	/* Steps of threads to a later file, and to an earlier one, in the epoch. */
	uint32_t up, down;
	/* Step from a worker's batch to its next one, seen twice; another step, seen once. */
	uint32_t step, last_step;
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
	uint32_t script; /* index in current.scripts; NOBODY: forgotten */
	uint32_t count;	 /* opens in the rank's pass */
	/* Opens of the script when the rank had opened as many files as the smallest part has,
	 * and the largest; 0: it has not. */
	uint32_t at_least, at_most;
	uint32_t habit[FILE_KINDS]; /* opens in a row of the last file, by kind */
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
	uint32_t row[FILE_KINDS];   /* opens in a row of `file`, by kind */
	uint32_t habit[FILE_KINDS]; /* `row` of the file before */
	bool images;		    /* the worker opens images, not only labels */
	/* The worker has opened no file yet of the epoch that its script has turned to. */
	bool late;
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

/* An epoch that has just begun keeps samples of the one before (`from`): the samples of the
 * files that the script opened after `since`. Then the open that began the epoch is noted. */
struct adopting {
	bool active;
	uint32_t script; /* index in current.scripts */
	uint32_t since, from;
	uint32_t position; /* the next position to look at */
	struct record opened;
};

struct choice {
	uint32_t epoch; /* the epoch may have to begin */
	enum opened_how how;
	enum notice notice; /* NOTICES: none */
};

/* The positions that an epoch leaves out. They are kept after its order is in a file. */
struct skipped {
	LIST_ENTRY(skipped) link;
	uint32_t epoch;
	roaring_bitmap_t *positions;
};

struct epochs {
	struct epochs_config config;
	TAILQ_HEAD(epoch_sets, epoch_set) sets; /* ordered by their first epochs */
	struct epoch_list live;
	struct epoch_list dead;	 /* epochs_reap takes these */
	roaring_bitmap_t *saved; /* numbers of the epochs whose order is in a file */
	LIST_HEAD(, skipped) skipped;
	struct epoch *running;	/* the last epoch that has begun */
	struct epoch *draining; /* the epoch before, which current/ may still give */
	bool drains_on; /* a script was still in the draining epoch at the last open */
	/* 1 + consumed positions of a fed job's draining epoch, and since when there are so
	 * many. */
	uint32_t drained;
	uint64_t drained_ns;
	struct current current;
	struct adopting adopting;
	struct requests waiting; /* requests that wait for a stream */
	/* Requests whose stream is made, has failed or has ended. */
	struct requests resuming;
	struct open_request *drawing; /* the request that gets the next drawn sample */
	uint32_t drawing_epoch;
	/* Orders in files of epochs that have not begun (again). */
	struct epochs_order_file *known;
	size_t n_known;
	bool held;    /* opens wait until the job has gone back */
	uint32_t era; /* how many times the job has gone back */
	bool idle, left;
	int starved; /* status of requests that a fed job has no sample for; 0: they wait */
	/* Another process binds positions: samples that were fed are not bound. */
	bool lent;
	uint64_t last_read_ns;
	uint64_t needed; /* samples that streams still need: neither drawn nor bound */
	uint32_t pins;	 /* pinned samples, queued or bound */
};

struct effect *effect_add(struct effects *effects, enum effect_kind kind);
void effect_unpin(struct effects *effects, uint32_t epoch, sample_id sample);
void effect_record(struct effects *effects, struct record record);
void effect_notice(struct effects *effects, enum notice notice, uint32_t epoch);

/* --- epochs.c --- */

struct epoch *find_epoch(const struct epochs *epochs, uint32_t number);
/* Makes the epoch run. drains: the epoch that ran before drains; else it must be over.
 * -ENOMEM */
must_check int epochs_begin(struct epochs *epochs, uint32_t number, bool drains,
	struct effects *effects, struct epoch **ret);
/* Moves the epoch to the dead ones if its order is saved and nothing of it is pinned. */
void kill_if_saved(struct epochs *epochs, struct epoch *epoch);
/* Ends the draining epoch, if there is one. */
void let_go_of_draining(struct epochs *epochs, struct effects *effects);

/* --- restore.c --- */

/* Returns the number of bindings in the epoch's known order; 0: there is none. */
uint32_t known_bound(const struct epochs *epochs, uint32_t number);
/* Removes the epoch's known order, if there is one. */
void known_remove(struct epochs *epochs, uint32_t number);
/* Moves all live epochs to the dead ones and forgets all scripts; then these epochs run and
 * drain. */
void restore_live(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* --- sets.c --- */

/* Returns the set of the epoch, which is not EPOCH_CURRENT. */
const struct epoch_set *set_of(const struct epochs *epochs, uint32_t number);
bool has_position(const struct epoch *epoch, uint32_t position);
/* Tells whether the request's file is one of the epoch's. */
bool has_file(const struct epoch *epoch, const struct open_request *request);

/* --- skip.c --- */

/* Notes the left-out positions that the epoch's bindings tell of. begins: the epoch begins
 * again, so these become consumed. */
void skip_take(struct epochs *epochs, struct epoch *epoch, bool begins);
/* Forgets the left-out positions of epochs before this one. */
void skip_forget(struct epochs *epochs, uint32_t before);

/* --- opens.c --- */

/* Returns the sample of a position that decides its sample. */
sample_id fixed_sample(const struct epoch_set *set, uint32_t position);
/* Lets epochs_resume take up the requests that wait for the epoch's stream, or fail them with
 * the status. */
void resume_waiting(struct epochs *epochs, uint32_t number, int status);

/* --- epoch.c --- */

must_check int epoch_alloc(
	const struct epoch_set *set, uint32_t number, struct epoch **ret);
/* Makes an epoch and adds it to the live ones. -ENOMEM */
must_check int epoch_new(struct epochs *epochs, uint32_t number, struct epoch **ret);
/* Moves the epoch from the live ones to the dead ones. */
void epoch_kill(struct epochs *epochs, struct epoch *epoch);
bool epoch_has_bound(const struct epoch *epoch, uint32_t position);
bool epoch_has_consumed(const struct epoch *epoch, uint32_t position);
/* Makes room for one more binding. -ENOMEM */
must_check int epoch_reserve(struct epoch *epoch);
/* Binds a position that is unbound; epoch_reserve has made room. */
void epoch_bind(
	struct epoch *epoch, uint32_t position, sample_id sample, enum served served);
void epoch_mark_consumed(struct epoch *epoch, uint32_t position);
/* Asks for the order of an epoch that has begun again. */
void epoch_load(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Makes the epoch the running one. drains: the one before drains; else it must have ended. */
void epoch_run(struct epochs *epochs, struct epoch *epoch, bool drains);

struct pin *epoch_pin(const struct epoch *epoch, uint32_t position); /* NULL: none */
/* Keeps the pin of the position that was bound last; without memory it unpins the sample. */
void epoch_keep_pin(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	sample_id sample, struct effects *effects);
void epoch_drop_pin(struct epochs *epochs, struct epoch *epoch, struct pin *pin,
	struct effects *effects);
/* Drops the pins of samples that are not open; all: of open ones too. */
void epoch_drop_pins(
	struct epochs *epochs, struct epoch *epoch, bool all, struct effects *effects);
/* Drops the pins of closed positions that the job is far past: perhaps only their labels were
 * wanted. */
void epoch_drop_far_pins(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);

void epoch_push(struct epoch *epoch, const struct drawn *drawn);
struct drawn epoch_pop(struct epoch *epoch);

/* Asks for the epoch's stream, unless it is made or asked for already. -ENOMEM */
must_check int epoch_begin_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Notes that the stream is made (0), or has failed. */
void epoch_begun(struct epochs *epochs, struct epoch *epoch, int status);
/* Gives the stream back, and the queue to the caller (EFFECT_END). */
void epoch_end_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Ends the epoch: nothing is bound any more. */
void epoch_end(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Asks for the order to be saved, if the epoch is over and neither runs nor drains. */
void epoch_save(struct epochs *epochs, struct epoch *epoch, struct effects *effects);

/* --- adopt.c--- */

/* Returns after how many opens of the script the epoch that begins with `opened` keeps files;
 * UINT32_MAX: it keeps none. */
uint32_t adopt_since(const struct epochs *epochs, const struct record *opened);
/* Tells whether the epoch that has begun with `opened` keeps samples. Then epochs_resume calls
 * adopt_some until all are kept and the open is noted. */
bool adopt_begin(
	struct epochs *epochs, const struct record *opened, struct effects *effects);
/* Keeps as many more samples as there is room for effects; after the last one notes the
 * open. */
void adopt_some(struct epochs *epochs, struct effects *effects);

/* --- current.c --- */

/* Tells whether another script than the request's reads current/, and has opened more than one
 * file of its epoch. Then only a script begins the next epoch; an open by its number does
 * not. */
bool current_belongs_to_another(
	const struct epochs *epochs, const struct open_request *request, uint64_t now_ns);
/* Tells whether a script that reads is still in the draining epoch. */
bool current_needs_draining(const struct epochs *epochs, uint64_t now_ns);
/* Tells whether the epoch of a request that is sent again was chosen before; *ret: the
 * epoch. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret);
/* Decides the meaning of an open for its script, and the epoch whose sample the file gives. */
struct choice current_choose(
	const struct epochs *epochs, const struct open_request *request);
/* Returns after how many opens of the script the turn with `opened` keeps files. worker: the
 * opener; NULL: a new one. */
uint32_t current_since(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened);

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
/* Tells whether the script has opened the file in its epoch. */
bool is_opened(const struct script *script, uint32_t file);
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
/* Returns the number of the script's ranks that have not gone; at least 1. */
uint32_t n_ranks(const struct current *current, const struct script *script);
/* The files in n parts, one for each rank, of `least` to `most` files. The next pass of any
 * rank has begun after `since` opens; NOBODY: not known. */
struct parts {
	uint32_t n, least, most, since;
	uint32_t beyond; /* opens after which a rank may open files of the next pass */
	bool all;	 /* all files are in parts */
};
/* Tells whether a file with this mark was one of the first opens of the epoch: a look,
 * perhaps. */
bool is_first(const struct current *current, const struct script *script, uint32_t mark);
struct parts parts_of(const struct current *current, const struct script *script);
/* Returns the least J for which a random row of all files has J of them, given in advance, in
 * one place with a chance of less than one in a million. */
uint32_t n_hedged(const struct script *script);
