// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <errno.h>
#include <string.h>

/* Notes the opens of the scripts that read current/. Only records of opens change these notes, so a
 * replay of the records rebuilds them. If there are too many scripts, the engine forgets one that
 * has opened few files, or no file for long. If a forgotten script opens a file again, it counts as
 * a new script. */

/* A number of opens of the job. If there are too many scripts, the engine forgets the script whose
 * last open is the oldest. In this comparison, the last open of a script counts as later by this
 * number for each file that the script has opened. */
#define OPENED_LONGER 4

void current_destroy(struct epochs *epochs)
{
	for (uint32_t i = 0; i < epochs->current.n_scripts; i++) {
		free(epochs->current.scripts[i].marks);
		free(epochs->current.scripts[i].beyond);
	}
}

/* --- new scripts, ranks and workers -------------------------------------------------- */

/* Called for a new script. If the job has gone back to a point in the script's epoch, marks the
 * files that were read before this point as opened. So the script goes on with the other files. */
static void mark_before(const struct current *current, struct script *script)
{
	if (!current->before || current->before_epoch != script->epoch)
		return;
	uint32_t last = 0;
	for (uint32_t file = 0; file < script->files; file++)
		if (current->before[file / 8] >> file % 8 & 1) {
			script->marks[file] = ++script->opens;
			last = file;
		}
	script->opened = script->adopted = script->opens;
	/* If the files that were read are the first files of the epoch, they were probably read in
	 * order. Then `up` counts each of them but the first. */
	script->up = last + 1 == script->opened ? last : 0;
}

/* Called for a new script that has begun the epoch by a turn. This happens in a replay of a journal
 * that begins with this epoch, and so lacks the earlier opens of the script's pass, which goes on.
 * Marks as opened the files that the epoch has kept, in the order in which they were bound. Other
 * files are not bound yet. */
static void mark_kept(const struct epochs *epochs, struct script *script)
{
	const struct epoch *epoch = find_epoch(epochs, script->epoch);
	for (uint32_t k = 0; epoch && k < epoch->bound; k++) {
		uint32_t position = order_log_entry_position(epoch->log[k]);
		uint32_t *mark = &script->marks[position / epochs->config.file];
		if (*mark == 0)
			*mark = ++script->opens;
	}
	script->opened = script->adopted = script->opens;
}

/* Allocates the script's arrays for the files of the epoch's set. No file counts as opened.
 * -ENOMEM */
static int new_marks(const struct epochs *epochs, struct script *script, uint32_t epoch)
{
	uint32_t files = n_files(epochs, epoch);
	size_t n_marks = (size_t)files + LOOKED_AT;
	uint32_t *marks = calloc(n_marks * sizeof(*marks) + files, 1);
	if (!marks)
		return -ENOMEM;
	free(script->marks);
	script->marks = marks;
	script->seen = marks + files;
	script->parts = (uint8_t *)(marks + n_marks);
	script->n_beyond = 0;
	script->files = files;
	script->set = set_of(epochs, epoch);
	return 0;
}

/* Returns the index of the script that the engine forgets. A script that only looks at a few files
 * is soon forgotten; a training may pause for long. */
static uint32_t place_for_script(const struct current *current)
{
	uint32_t place = 0;
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < CURRENT_SCRIPTS; i++) {
		const struct script *script = &current->scripts[i];
		uint64_t until = script->used + OPENED_LONGER * (uint64_t)script->opened;
		if (until >= least)
			continue;
		least = until;
		place = i;
	}
	return place;
}

/* Returns the index in current.scripts of the script that has made the open. Adds the script if the
 * engine does not know it. NOBODY: no memory */
static uint32_t get_script(struct epochs *epochs, const struct record *opened)
{
	struct current *current = &epochs->current;
	uint32_t place = script_place(current, opened->reader.script);
	if (place != NOBODY)
		return place;
	struct script script = {.id = opened->reader.script,
		.n_ranks = 1,
		.since = current->opened,
		.epoch = opened->epoch};
	if (new_marks(epochs, &script, opened->epoch) != 0)
		return NOBODY;
	if (may_keep(opened))
		mark_kept(epochs, &script);
	else
		mark_before(current, &script);
	place = current->n_scripts < CURRENT_SCRIPTS ? current->n_scripts++
						     : place_for_script(current);
	free(current->scripts[place].marks);
	free(current->scripts[place].beyond);
	for (uint32_t i = 0; i < current->n_ranks; i++)
		if (current->ranks[i].script == place)
			current->ranks[i] = (struct rank){.script = NOBODY};
	current->scripts[place] = script;
	return place;
}

static uint32_t get_rank(struct current *current, uint32_t script, uint64_t id)
{
	uint32_t place = rank_place(current, script, id);
	if (place != NOBODY)
		return place;
	place = 0;
	for (uint32_t i = 1; i < current->n_ranks; i++)
		if (current->ranks[i].used < current->ranks[place].used)
			place = i;
	if (current->n_ranks < CURRENT_RANKS)
		place = current->n_ranks++;
	for (uint32_t i = 0; i < current->n_workers; i++)
		if (current->workers[i].rank == place)
			current->workers[i] = (struct worker){.rank = NOBODY};
	current->ranks[place] = (struct rank){.id = id, .script = script};
	return place;
}

static uint32_t get_worker(struct current *current, uint32_t rank, uint64_t id)
{
	uint32_t place = worker_place(current, rank, id);
	if (place != NOBODY)
		return place;
	place = 0;
	for (uint32_t i = 1; i < current->n_workers; i++)
		if (current->workers[i].used < current->workers[place].used)
			place = i;
	if (current->n_workers < CURRENT_WORKERS)
		place = current->n_workers++;
	current->workers[place] = (struct worker){
		.id = id, .rank = rank, .file = NO_FILE, .looked = NO_FILE};
	return place;
}

/* --- an open ------------------------------------------------------------------------- */

/* Returns the number of files in a batch of a DataLoader, or 0 if it is not known. It is known if a
 * worker has begun its row with the file that follows another worker's batch. */
static uint32_t batch_of(const struct current *current, const struct script *script)
{
	uint32_t batch = 0;
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		if (is_worker_of(current, worker, script) && worker->batch > batch &&
			begins_row(current, script, worker->file + 1))
			batch = worker->batch;
	}
	return batch;
}

/* Marks as late the workers that have not begun the new pass. first: the worker that began it
 * before all others. since: number of counted opens before the new pass; 0: no worker is late. */
static void note_late(struct current *current, struct script *script,
	const struct worker *first, uint32_t since)
{
	script->batch = batch_of(current, script);
	for (uint32_t i = 0; i < current->n_workers; i++) {
		struct worker *worker = &current->workers[i];
		if (is_worker_of(current, worker, script))
			worker->late = worker != first && worker->began < since;
	}
}

/* Turns the script to the epoch of the open. -ENOMEM */
static int note_turn(struct epochs *epochs, const struct rank *rank,
	const struct worker *worker, const struct record *opened, uint32_t file)
{
	uint32_t place = rank->script;
	struct script *script = &epochs->current.scripts[place];
	/* in a new script all marks, made by mark_kept or mark_before, count as opens of this
	 * epoch */
	bool is_new = script->used == 0;
	uint32_t since = is_new			? 0
			 : file < script->files ? current_since(epochs, worker, opened)
						: script->opens;
	enum division over = is_new ? DIVISIONS : division_over(&epochs->current, script);
	if (is_new && opened->how == OPENED_NEXT)
		over = PADS; /* all opens in the list `beyond` belong to the new pass */
	if (set_of(epochs, opened->epoch) != script->set) {
		if (new_marks(epochs, script, opened->epoch) != 0)
			return -ENOMEM;
		since = script->opens;
		over = DIVISIONS;
	}
	bool in_order = is_in_order(script);
	bool alone = n_ranks(&epochs->current, script) == 1;
	uint32_t run = file < script->files && script->marks[file] > script->run
			       ? script->marks[file]
			       : script->run;
	if (in_order && alone &&
		(opened->how == OPENED_NEXT || opened->how == OPENED_JOINS))
		note_late(&epochs->current, script, worker, since > run ? since : 0);
	script->behind = script->turns == 0 && opened->how == OPENED_BEHIND;
	script->whole = 0;
	script->begun_before = script->begun;
	script->begun = since;
	script->run = script->run > since ? script->run : since;
	script->left = script->files - script->opened;
	script->opened = 0;
	for (uint32_t i = 0; since < script->opens && i < script->files; i++)
		script->opened += script->marks[i] > since;
	script->adopted = script->opened;
	script->was_in_order = in_order;
	script->streak_begun = script->rows_begun = since;
	script->odds = script->odd = 0;
	script->streak = script->streaks = script->fresh = script->up = script->down = 0;
	script->labels_before = script->labels;
	script->labels = 0;
	script->epoch = opened->epoch;
	script->turned = script->newest = script->opens;
	script->turns++;
	begin_parts(&epochs->current, script, over);
	return 0;
}

/* Notes that the script's run has all files, for the first time in this epoch. again: the run's
 * last open was not the first one of its file in this epoch. */
static void note_whole(struct script *script, bool again)
{
	if (script->whole > 0)
		return;
	script->first = script->run;
	script->whole = script->opens - again;
}

static void note_file(struct epochs *epochs, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file)
{
	uint32_t *mark = &script->marks[file];
	bool again = is_opened(script, file);
	if (!again) {
		script->opened++;
		script->fresh++;
	} else {
		script->streak++;
		if (*mark > script->streak_begun) {
			script->streak = script->fresh = 0;
			if (script->opens - script->streak_begun > script->files / 4)
				script->rows_begun = script->opens;
			script->streak_begun = script->opens;
			script->streaks++;
		}
	}
	if (*mark > script->run)
		script->run = *mark;
	*mark = ++script->opens;
	if (!again)
		script->newest = script->opens;
	note_rank(&epochs->current, script, rank, worker, file, *mark);
	if (is_whole(script))
		note_whole(script, again);
	if (!again && script->opened == script->files)
		misuse_look(script);
}

static void note_worker(struct worker *worker, struct script *script,
	const struct record *opened, uint32_t file)
{
	bool goes_on = opened->how == OPENED_AGAIN || opened->how == OPENED_LATE;
	if (worker->file != file || !goes_on)
		for (uint32_t i = 0; i < FILE_KINDS; i++) {
			if (worker->row[i] > 0)
				worker->habit[i] = worker->row[i];
			if (script->habit[i] < worker->row[i] && !worker->doubted)
				script->habit[i] = worker->row[i];
			worker->row[i] = 0;
		}
	worker->doubted &= worker->file == file;
	worker->stays = worker->file == file ? worker->stays + 1 : 1;
	script->labels_after |= opened->label && worker->row[FILE_IMAGE] > 0;
	worker->row[opened->label]++;
	worker->images |= !opened->label;
	worker->late &= opened->epoch != script->epoch;
	worker->file = file;
	worker->epoch = opened->epoch;
}

static void note_steps(struct script *script, const struct worker *worker, uint32_t file)
{
	if (worker->file == NO_FILE || worker->file == file ||
		worker->epoch != script->epoch)
		return;
	script->up += file > worker->file;
	script->down += file < worker->file;
}

static bool is_turn(const struct script *script, const struct record *opened)
{
	return opened->epoch > script->epoch || opened->how == OPENED_ANEW ||
	       opened->how == OPENED_BEHIND || opened->how == OPENED_NEXT ||
	       opened->how == OPENED_KEEPS || opened->how == OPENED_JOINS;
}

/* Notes the distance from the worker's last file to this one. A new distance begins another row. A
 * distance that comes again is the step from batch to batch. A step begins no row: the row then
 * also includes the opens before the first such step. */
static void note_row(struct script *script, struct worker *worker, uint32_t file)
{
	bool back = worker->file == NO_FILE || file <= worker->file;
	uint32_t step = back ? 0 : file - worker->file;
	if (step == 1) {
		worker->batch++;
		return;
	}
	bool known = !back && worker->batch > 0 && (step - 1) % worker->batch == 0 &&
		     (step == script->step || step == script->last_step);
	worker->batch = 1;
	if (back)
		worker->start = file;
	if (known) {
		worker->began = worker->row_began;
		if (step != script->step && script->odds > 0 && --script->odds == 0)
			script->odd = 0;
		script->step = step;
		return;
	}
	worker->began = script->opens;
	if (back)
		worker->row_began = worker->began;
	if (!back) {
		script->last_step = step;
		script->odd = script->opens + 1;
		script->odds++;
	}
}

/* Notes a counted or late open. -ENOMEM */
static int note_pass(struct epochs *epochs, uint32_t s, struct rank *rank,
	struct worker *worker, const struct record *opened, uint32_t file)
{
	struct script *script = &epochs->current.scripts[s];
	if (opened->how == OPENED_LATE) {
		worker->batch = file == worker->file + 1 ? worker->batch + 1 : 1;
		if (file < script->files && !is_opened(script, file))
			script->marks[file] = script->begun;
		return 0;
	}
	bool turns = is_turn(script, opened);
	int err = turns ? note_turn(epochs, rank, worker, opened, file) : 0;
	if (err)
		return err;
	if (!turns)
		note_steps(script, worker, file);
	note_row(script, worker, file);
	if (file < script->files)
		note_file(epochs, script, rank, worker, file);
	worker->last = script->opens;
	return 0;
}

static void note_look(struct current *current, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file)
{
	worker->looked = file;
	worker->looked_turns = script->turns;
	script->used = rank->used = worker->used = ++current->opened;
}

/* If a process has only looked at a file, and now opens another one, the process reads files
 * itself. Then the look counts as an open. */
static void count_look(struct epochs *epochs, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file)
{
	if (has_looked(script, worker) && worker->looked != file) {
		note_row(script, worker, worker->looked);
		note_file(epochs, script, rank, worker, worker->looked);
		worker->last = script->opens;
		worker->file = worker->looked;
		worker->epoch = script->epoch;
	}
	worker->looked = NO_FILE;
}

/* Notes an open that a rank has made beyond its part before the script turned (OPENED_BEYOND). The
 * record of the turn follows. Only a replay that begins with the script's new epoch needs the
 * record: a script in memory has noted the open already. -ENOMEM */
static int note_moved(struct epochs *epochs, const struct record *opened, uint32_t file)
{
	struct current *current = &epochs->current;
	uint32_t s = script_place(current, opened->reader.script);
	if (s != NOBODY && current->scripts[s].used > 0)
		return 0;
	s = get_script(epochs, opened);
	if (s == NOBODY)
		return -ENOMEM;
	uint32_t r = get_rank(current, s, opened->reader.rank);
	get_worker(current, r, opened->reader.thread);
	current->ranks[r].used = current->opened;
	if (file < current->scripts[s].files)
		note_beyond(&current->scripts[s],
			&(struct beyond){.rank = opened->reader.rank,
				.thread = opened->reader.thread,
				.file = file,
				.count = NOBODY,
				/* the least mark, so that the turn keeps all files */
				.mark = 1});
	return 0;
}

/* Called when a worker opens its last file again, without a counted open. If the worker has already
 * opened the file as often as its previous file, this open may be the first one of a pass. Then the
 * file gets the mark of the script's last counted open, so it counts as opened just now, and the
 * next turn keeps it. */
static void note_again(struct script *script, struct worker *worker,
	const struct record *opened, uint32_t file)
{
	enum file_kind kind = opened->label;
	if (worker->file != file || opened->epoch != script->epoch ||
		file >= script->files || !is_opened(script, file) ||
		worker->row[kind] == 0 || worker->row[kind] < worker->habit[kind])
		return;
	worker->doubted = true;
	script->doubted = script->marks[file] = script->opens;
}

int current_note(struct epochs *epochs, const struct record *opened)
{
	struct current *current = &epochs->current;
	uint32_t file = opened->position / epochs->config.file;
	if (opened->how == OPENED_BEYOND)
		return note_moved(epochs, opened, file);
	uint32_t s = get_script(epochs, opened);
	if (s == NOBODY)
		return -ENOMEM;
	uint32_t r = get_rank(current, s, opened->reader.rank);
	uint32_t w = get_worker(current, r, opened->reader.thread);
	struct script *script = &current->scripts[s];
	struct rank *rank = &current->ranks[r];
	struct worker *worker = &current->workers[w];
	if (opened->how == OPENED_LOOKED) {
		note_look(current, script, rank, worker, file);
		return 0;
	}
	count_look(epochs, script, rank, worker, file);
	bool known = worker->file != NO_FILE;
	bool only_label = is_only_label(script, known ? worker : NULL, opened->label);
	int err = 0;
	bool again = opened->how == OPENED_AGAIN;
	uint32_t other = again && only_label == opened->label && worker->file != file
				 ? other_half(current, r, file, opened->label)
				 : NOBODY;
	if (other != NOBODY)
		current->workers[other].row[opened->label]++;
	/* An open that begins an epoch (may_keep) is counted even if its thread opens only labels. A
	 * replay that begins with this epoch does not know such threads, and so counts the open.
	 * The engine must have the same state as after such a replay. */
	bool counts = !only_label || script->labels_first || may_keep(opened);
	/* The image's file already counts as opened, because a thread that opens only labels is
	 * several files ahead. So labels_first ends, and opens by threads that open only labels are
	 * no longer counted. */
	bool ahead = opened->how == OPENED_GIVEN && !opened->label &&
		     file < script->files && is_opened(script, file);
	/* The thread opens the label's image after the label. If the open of the label was not
	 * counted (is_owed), the open of the image is. */
	bool has_label = again && !opened->label && worker->file == file &&
			 worker->row[FILE_LABEL] > 0 && worker->row[FILE_IMAGE] == 0;
	bool is_first = has_label && worker->is_owed && opened->epoch == script->epoch;
	if ((!again || is_first || is_new_image(script, opened, file)) && counts)
		err = note_pass(epochs, s, rank, worker, opened, file);
	else if (again)
		note_again(script, worker, opened, file);
	if (err)
		return err;
	worker->is_owed = only_label && !counts;
	script->labels += only_label;
	script->labels_first =
		(script->labels_first && !ahead) || (other != NOBODY && !opened->label);
	script->labels_of_images |= (opened->label && worker->images) || has_label;
	script->used = rank->used = worker->used = ++current->opened;
	script->used_ns = epochs->last_read_ns;
	script->ended = false;
	note_worker(worker, script, opened, file);
	/* two threads have opened the file now, one its image, the other its label */
	if (other != NOBODY)
		worker->row[!opened->label] = 1;
	return 0;
}

void epochs_script_ended(struct epochs *epochs, uint64_t id)
{
	uint32_t place = script_place(&epochs->current, id);
	if (place != NOBODY)
		epochs->current.scripts[place].ended = true;
}
