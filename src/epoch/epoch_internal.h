// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"

/*
 * What the files of the engine share.
 *
 *   opens.c    the way of an open, from the request to its answer
 *   epochs.c   the other events of a job; questions.c
 *   epoch.c    one epoch: binding, consuming, pins, its end
 *   skip.c     samples that epochs leave out; sets.c: which ones they have at all
 *   adopt.c    samples that an epoch has from the one before
 *   current.c  which epoch current/ means; scripts.c: what is known of who reads;
 *              misuse.c: what they should know; repeats.c: what they say once more
 *   restore.c  back to an earlier place; epochs that begin again
 *   replay.c   from records to the same state; validate.c, print.c: for tests
 */

TAILQ_HEAD(requests, open_request);

enum stream_state { STREAM_ABSENT, STREAM_BEGINNING, STREAM_READY };

/* It has begun again, and its order is in a file. */
enum load_state { LOAD_DONE, LOAD_WANTED, LOAD_FAILED };

struct epoch {
	LIST_ENTRY(epoch) link; /* of those in memory */
	uint32_t number;
	const struct epoch_set *set;
	uint32_t *samples; /* by position: sample + 1, 0 while unbound */
	uint32_t *log;	   /* by binding, room for log_room */
	uint32_t log_room;
	uint32_t bound;
	uint32_t adopted; /* of these, from the epoch before */
	uint8_t *consumed_bits;
	uint32_t *reads; /* positions, in the order in which they were consumed */
	uint32_t consumed;
	uint64_t reads_hash;
	uint32_t first_unread;	/* position */
	uint32_t first_unbound; /* none before it is unbound; kept by epochs_had */
	uint32_t read_end;	/* none that was consumed is at this position, or after */
	uint32_t read_at; /* it drains: bound of the next when a file was opened last */
	bool over;	  /* nothing will be bound any more */
	bool saving;	  /* its order goes to a file */
	bool saved;	  /* and is there */
	enum load_state load;
	enum stream_state stream;
	struct drawn_queue queue;   /* drawn and not bound; no ring without a stream */
	struct pins pins;	    /* bound and not consumed, in the order of binding */
	struct pin *pin_table;	    /* the same, a hash by position */
	roaring_bitmap_t *replayed; /* samples bound so far, during a replay */
	/* Of one that was made by epochs_prepare: files all of whose positions were
	 * consumed. */
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

#define PAUSE_NS                                                                         \
	UINT64_C(60000000000) /* a script that opens nothing for so long has gone */
#define ROW_MOST 64	      /* opens of one file in a row that are noted: repeats.c */
#define RECENT_OPENS 64	      /* of all, within which a thread still has its file */
#define FEW_MOST 16	      /* fewer are given by other bounds */
#define LOOKED_AT 1024	      /* files, for what misuse.c has to tell */

/* Opens that are counted: not those of the file that the thread opened last, of a late worker,
 * or of a label by a thread that opens only labels. */
struct script {
	uint64_t id;
	uint64_t since,
		used;	  /* its first and its last open, in terms of current.opened */
	uint64_t used_ns; /* of this process; not in the journal */
	bool ended;	  /* no process of it is alive; not in the journal */
	uint32_t epoch;	  /* the last one that it has turned to */
	uint32_t turns;
	const struct epoch_set *set; /* the epoch's */
	uint32_t files;		     /* of the set */
	uint32_t *marks; /* by file: the how-manieth open its last one was; 0: none */
	uint32_t *seen;	 /* LOOKED_AT marks, when all files had been opened last */
	uint32_t opens;	 /* so far */
	uint32_t begun,
		begun_before; /* opens before the epoch's first, and before that of
					 the epoch before; late ones have this mark */
	uint32_t run;	      /* opens before the first one of the run */
	uint32_t turned;      /* opens when it turned to the epoch */
	uint32_t opened;      /* files, in the epoch */
	uint32_t adopted;     /* of these, kept from the epoch before */
	uint32_t left;	      /* files that were not opened in the epoch before */
	uint32_t first,
		whole;	     /* run and opens when the run had all files; 0: it has not */
	uint32_t last_whole; /* of the epoch before */
	bool was_whole;	     /* the epoch began as a run was whole */
	uint32_t streak_begun;	/* opens before a row of different files; in which are */
	uint32_t streak, fresh; /* files that had been opened in the epoch, and others */
	uint32_t streaks;	/* such rows, in the epoch */
	uint32_t
		rows_begun; /* opens before the first of those that are near each other */
	uint32_t
		repeats; /* opens of opened files in the epoch, by ranks in their parts */
	uint32_t kept_again,
		excused;   /* repeats of files that the epoch has kept; how many
					 of these are not of its pass */
	uint32_t repeated; /* opens before the first of these near the end of a part */
	uint32_t up,
		down; /* of the epoch: next files of a thread in, and against the order */
	uint32_t step,
		last_step; /* from a worker's batch to its next one, as seen twice; and
			      another one, once */
	uint32_t odd,
		odds; /* its opens at the last step that no other one is like, and how
				 many of these are in the epoch */
	bool was_in_order;		/* in the epoch before */
	uint32_t labels, labels_before; /* opened by threads that open only labels */
	bool labels_of_images;		/* its threads open labels beside images */
	bool labels_first; /* a thread has opened a label before another one its image */
	bool behind;	   /* in its first pass; cleared by the next that it begins */
};

struct rank {
	uint64_t id;
	uint64_t used;
	uint32_t script; /* its place; NOBODY: forgotten */
	uint32_t count;	 /* opens in its pass */
	uint32_t at_least,
		at_most; /* opens of its script when it had opened so many files
				       as parts have at least, and at most; 0: it has not */
	uint32_t habit[FILE_KINDS]; /* opens of a file in a row, of the last one */
};

/* A thread: first in, first out. */
struct worker {
	uint64_t id, used;
	uint32_t rank;	      /* its place; NOBODY: forgotten */
	uint32_t file, epoch; /* that it opened last */
	uint32_t began, last; /* opens of its script before its first file that comes in
				 order, and up to its last file */
	uint32_t row_began;
	uint32_t start;		    /* the file that it went back to, or began with */
	uint32_t row[FILE_KINDS];   /* opens of this file, one after the other */
	uint32_t habit[FILE_KINDS]; /* of the one before */
	bool images;		    /* it does not only open labels */
	bool late; /* it has not opened a file of the epoch yet that its script has turned to */
};

struct current {
	uint64_t opened; /* files, since the job was added */
	uint64_t begun;	 /* that when the running epoch began */
	/* The job went back to this epoch, of which these files had been read: each script
	 * goes on from there. */
	bool went_back;
	uint32_t before_epoch, n_before;
	uint8_t *before; /* or NULL */
	uint32_t n_scripts, n_ranks, n_workers;
	struct script scripts[CURRENT_SCRIPTS];
	struct rank ranks[CURRENT_RANKS];
	struct worker workers[CURRENT_WORKERS];
};

/* Files whose samples an epoch that has just begun keeps from the one before: those that the
 * script opened after `since`. Then its open is noted. */
struct adopting {
	bool active;
	uint32_t script; /* its place */
	uint32_t since, from;
	uint32_t position; /* the next one */
	struct record opened;
};

struct choice {
	uint32_t epoch; /* it may have to begin */
	enum opened_how how;
	enum notice notice; /* NOTICES: none */
};

/* What an epoch leaves out. It stays when its order is in a file. */
struct skipped {
	LIST_ENTRY(skipped) link;
	uint32_t epoch;
	roaring_bitmap_t *positions;
};

struct epochs {
	struct epochs_config config;
	TAILQ_HEAD(epoch_sets, epoch_set) sets; /* by their first epochs */
	struct epoch_list live;
	struct epoch_list dead;	 /* to be reaped */
	roaring_bitmap_t *saved; /* numbers of the epochs whose order is in a file */
	LIST_HEAD(, skipped) skipped;
	struct epoch *running;	/* the last that has begun */
	struct epoch *draining; /* the one before, which current/ may still give */
	bool drains_on;		/* a script was still in it at the last open */
	uint32_t
		drained; /* fed: 1 + positions of it that were consumed, and since when */
	uint64_t drained_ns;
	struct current current;
	struct adopting adopting;
	struct requests waiting;  /* for a stream */
	struct requests resuming; /* what they waited for is there, has failed or ended */
	struct open_request *drawing; /* the next drawn sample is for this one */
	uint32_t drawing_epoch;
	struct epochs_order_file *known; /* of epochs that have not begun yet, again */
	size_t n_known;
	bool held;    /* opens wait until the job has gone back */
	uint32_t era; /* times that it has */
	bool idle, left;
	int starved; /* what is not fed is answered with it; 0: it waits */
	bool lent;   /* what has been fed is not bound, as if it had not come */
	uint64_t last_read_ns;
	uint64_t needed; /* samples that streams need: neither drawn nor bound */
	uint32_t pins;	 /* queued and bound ones that are pinned */
};

struct effect *effect_add(struct effects *effects, enum effect_kind kind);
void effect_unpin(struct effects *effects, uint32_t epoch, sample_id sample);
void effect_record(struct effects *effects, struct record record);
void effect_notice(struct effects *effects, enum notice notice, uint32_t epoch);

/* --- epochs.c --- */

struct epoch *find_epoch(const struct epochs *epochs, uint32_t number);
/* It runs from now on; the one before, if there is one, drains, or is over. -ENOMEM */
must_check int epochs_begin(struct epochs *epochs, uint32_t number, bool drains,
	struct effects *effects, struct epoch **ret);
/* From the live ones to the dead ones, if nothing of it is held any more. */
void kill_if_saved(struct epochs *epochs, struct epoch *epoch);
/* The epoch that drains, if there is one, ends. */
void let_go_of_draining(struct epochs *epochs, struct effects *effects);

/* --- restore.c --- */

/* How many bindings the order has that is known of the epoch; 0: none is. */
uint32_t known_bound(const struct epochs *epochs, uint32_t number);
void known_remove(struct epochs *epochs, uint32_t number);
/* All that there is goes to the dead ones; the job runs and drains these. */
void restore_live(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* --- sets.c --- */

/* The epoch is no EPOCH_CURRENT. */
const struct epoch_set *set_of(const struct epochs *epochs, uint32_t number);
bool has_position(const struct epoch *epoch, uint32_t position);
/* The file that it opens is one of the epoch's. */
bool has_file(const struct epoch *epoch, const struct open_request *request);

/* --- skip.c --- */

/* All that the bindings of the epoch tell. begins: again, so none of its positions is read. */
void skip_take(struct epochs *epochs, struct epoch *epoch, bool begins);
/* Of epochs before this one. */
void skip_forget(struct epochs *epochs, uint32_t before);

/* --- opens.c --- */

/* Of a position that decides which sample it is. */
sample_id fixed_sample(const struct epoch_set *set, uint32_t position);
/* Requests that wait for the epoch's stream are taken up next, or fail with the status. */
void resume_waiting(struct epochs *epochs, uint32_t number, int status);

/* --- epoch.c --- */

must_check int epoch_alloc(
	const struct epoch_set *set, uint32_t number, struct epoch **ret);
/* Among the live ones. */
must_check int epoch_new(struct epochs *epochs, uint32_t number, struct epoch **ret);
/* From the live ones to the dead ones. */
void epoch_kill(struct epochs *epochs, struct epoch *epoch);
bool epoch_has_bound(const struct epoch *epoch, uint32_t position);
bool epoch_has_consumed(const struct epoch *epoch, uint32_t position);
/* Room for one more binding. -ENOMEM */
must_check int epoch_reserve(struct epoch *epoch);
/* The position is unbound; there is room. */
void epoch_bind(
	struct epoch *epoch, uint32_t position, sample_id sample, enum served served);
void epoch_mark_consumed(struct epoch *epoch, uint32_t position);
/* Asks for the order of one that has begun again. */
void epoch_load(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* It becomes the running one; drains: the one before does, else it must have ended. */
void epoch_run(struct epochs *epochs, struct epoch *epoch, bool drains);

struct pin *epoch_pin(const struct epoch *epoch, uint32_t position); /* or NULL */
/* Of the position that was bound last; given back if there is no memory to keep it. */
void epoch_keep_pin(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	sample_id sample, struct effects *effects);
void epoch_drop_pin(struct epochs *epochs, struct epoch *epoch, struct pin *pin,
	struct effects *effects);
/* Those that are not open; all: these too. */
void epoch_drop_pins(
	struct epochs *epochs, struct epoch *epoch, bool all, struct effects *effects);
/* Those of positions that the job is far past: bound for their label only, perhaps. */
void epoch_drop_far_pins(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);

void epoch_push(struct epoch *epoch, const struct drawn *drawn);
struct drawn epoch_pop(struct epoch *epoch);

/* Asks for a stream, unless that is under way; it is there, or failed; gives it back. */
must_check int epoch_begin_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
void epoch_begun(struct epochs *epochs, struct epoch *epoch, int status);
void epoch_end_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Nothing will be bound any more. */
void epoch_end(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Its order goes to a file, if nothing else will come. */
void epoch_save(struct epochs *epochs, struct epoch *epoch, struct effects *effects);

/* --- adopt.c--- */

/* The epoch that begins with the open keeps the files that its script opened after so many
 * opens; UINT32_MAX: none. */
uint32_t adopt_since(const struct epochs *epochs, const struct record *opened);
/* Whether the epoch that has begun with the open keeps anything: then the open is noted when
 * epochs_resume has called adopt_some often enough. */
bool adopt_begin(
	struct epochs *epochs, const struct record *opened, struct effects *effects);
void adopt_some(struct epochs *epochs, struct effects *effects);

/* --- current.c --- */

/* Another script than the request's reads current/, and has opened more than one file of its
 * epoch. So only a script begins the next one: its number begins it for nobody. */
bool current_belongs_to_another(
	const struct epochs *epochs, const struct open_request *request, uint64_t now_ns);
/* Whether a script that reads is still in the epoch that drains. */
bool current_needs_draining(const struct epochs *epochs, uint64_t now_ns);
/* Whether the epoch of a request that was sent before is chosen already. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret);
/* What the open of a file is, and which epoch's sample it gets. */
struct choice current_choose(
	const struct epochs *epochs, const struct open_request *request);
/* The turn that opens the file keeps what the script opened after so many opens. worker: or
 * NULL, a new one. */
uint32_t current_since(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened);

/* --- repeats.c --- */

/* The open says the same as the one that was noted of the thread last. */
bool current_says_it(struct epochs *epochs, const struct record *opened);

/* --- misuse.c --- */

/* What the open of a file tells of its script, before it is noted; NOTICES: nothing. */
enum notice misuse_of(const struct epochs *epochs, const struct record *opened);
/* The script has opened all files of the epoch. */
void misuse_look(struct script *script);

/* --- scripts.c --- */

/* Of all scripts nothing is known any more. */
void current_destroy(struct epochs *epochs);
/* -ENOMEM, and nothing is noted. */
must_check int current_note(struct epochs *epochs, const struct record *opened);
uint32_t n_files(const struct epochs *epochs, uint32_t epoch);
uint32_t files_of(const struct epochs *epochs, const struct epoch_set *set);
/* Or NOBODY. */
uint32_t script_place(const struct current *current, uint64_t id);
uint32_t rank_place(const struct current *current, uint32_t script, uint64_t id);
uint32_t worker_place(const struct current *current, uint32_t rank, uint64_t id);
bool is_worker_of(const struct current *current, const struct worker *worker,
	const struct script *script);
/* The script has opened the file in its epoch. */
bool is_opened(const struct script *script, uint32_t file);
/* The open is the first of an image of the epoch, by its script. */
bool is_new_image(
	const struct script *script, const struct record *opened, uint32_t file);
/* Its run has all files. */
bool is_whole(const struct script *script);
/* Its threads open files in the order of names. */
bool is_in_order(const struct script *script);
/* A thread of the rank that opened the image of the file last, but not its label. Without
 * `label`: one that opens labels only, and opened the label of the file. NOBODY: there is none. */
uint32_t other_half(
	const struct current *current, uint32_t rank, uint32_t file, bool label);
/* label: that is all that is opened. worker: NULL, one that is new. */
bool is_only_label(const struct script *script, const struct worker *worker, bool label);
/* Counts the ranks of the script, but those that have gone. */
uint32_t n_ranks(const struct current *current, const struct script *script);
/* Parts of the files, one for each rank. The next pass of any rank has begun after `since`;
 * NOBODY: that is not known. */
struct parts {
	uint32_t n, least, most, since;
	uint32_t beyond; /* after so many opens a rank may open files of the next pass */
	bool all;	 /* files are in parts */
};
/* The file was one of the first that were opened in the epoch: a look, perhaps. */
bool is_first(const struct current *current, const struct script *script, uint32_t mark);
struct parts parts_of(const struct current *current, const struct script *script);
/* The least number of files that a random row of all has in one place, given in advance, with
 * a chance of less than one in a million. */
uint32_t n_hedged(const struct script *script);
