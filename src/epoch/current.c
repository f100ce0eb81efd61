// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

/*
 * Decides which epoch's sample a file of current/ holds.
 *
 *     script      a process with its relatives         Scripts have no order of their own:
 *       rank      a process with its workers           all share the job's epochs, and each
 *         worker  a thread; keeps the rank's order     goes through them by itself.
 *
 * A pass opens different files; it is exact if they hold different samples. Nobody tells where a
 * pass begins. So a file holds the same sample at each open, until the script turns to the next
 * epoch. The run is the longest row of opens of different files that ends now.
 *
 *   Theorem. Between two turns every row of opens of different files is exact. A row that goes on
 *   across a turn stays exact if the next epoch keeps the samples of the files which the row has
 *   opened before the turn.
 *   Proof. After the turn all files of the row hold samples of the next epoch: the files opened
 *   before the turn because their samples were kept, the other files because the script has turned.
 *   An epoch binds a sample only once.
 *
 * So the guess where a pass begins only decides how fresh samples are. A turn is exact if no pass
 * goes on across it, or if the next epoch keeps all files that this pass has opened. A script turns
 * when:
 *
 *   - The run has all files, and a file of it is opened again: a pass over all files is over.
 *     But the run may have all files before the pass is over, if other opens came just before the
 *     pass, such as a sanity check of the validation set. The rest of the pass then opens files of
 *     the run's first half once more. Therefore an open of a file of the first half makes no turn,
 *     and the next turn keeps this file. (The first half is 9/16 of the files here, because the run
 *     may begin with kept files.) A file that the last turn has kept makes no turn either. A
 *     shuffled pass soon opens another file, so this hardly costs freshness.
 *     The run may also have all files too late: the previous pass has left J files out, and the
 *     next pass has begun with these J files. So the J files that were opened last before the run
 *     had all files are kept. A shuffled pass of N files begins with J given files with a chance of
 *     1 / (N over J), here less than 1 in a million. A pass may also begin with the validation
 *     set, in the same order as before. Then its first open comes after the last file that was new
 *     to the epoch. The files opened after this file are kept, too.
 *   - Files are opened in order, half of the epoch has been opened, and a worker goes back to a
 *     file that this epoch has given. A worker's row is a series of opens that go on in steps from
 *     batch to batch, and belongs to one pass. Rows that begin after the end of other rows may
 *     belong to the next pass, and their files are kept. Files opened after the last file that was
 *     new to the epoch are kept, too: workers of a multiprocessing.Pool begin a pass anywhere.
 *     If the file begins no row, or if a worker has made a step of another length since the file
 *     was opened last, files may be shuffled, and the files of the run are kept.
 *     Workers that go on with their rows are late: they are given the previous epoch. If a row has
 *     just ended a batch, it goes on with a step, not with the next file.
 *   - Each rank has opened its part of the files, and no file was opened twice, except as padding.
 *     Files that a rank has opened beyond its part belong to its next pass, and are kept.
 *     script_ranks.c has the theorem.
 *   - Nearly all files have been opened, and then 3 sqrt(N) of them once more in a row of different
 *     files: by the birthday bound these are no random opens, but another pass. (With drop_last no
 *     pass has all files.) The files of the run are kept.
 *
 * A thread that opens its last file again gets the same sample. The open may be the first one of a
 * pass if the thread has opened this file as often as its previous file: then the file counts as
 * opened just now, and the next turn keeps it.
 *
 * A process that has workers may look at files between and during passes, or read files itself,
 * such as the validation set. Opens by the process itself count as a part of a pass in three cases:
 * a pass may begin; or the opens go on with a row; or the process opens two files that the script
 * has not opened since it turned. All other opens by the process are looks, which begin and end no
 * row.
 *
 * A new script begins with the running epoch if less than half of it was bound, else with the next
 * epoch. A program that only looks at files is such a new script, too.
 */

/* --- which epochs there are ---------------------------------------------------------- */

/* Tells whether the file has a sample in the epoch, or can get one. */
static bool can_give(
	const struct epochs *epochs, uint32_t number, const struct open_request *request)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch && has_file(epoch, request) &&
	       (!epoch->over || epoch_has_bound(epoch, request->position));
}

/* Returns the first epoch that has not begun; the last epoch if all have begun. If no epoch runs,
 * the search begins at epoch 0: orders of earlier epochs may have outlived a lost journal. */
static uint32_t next_epoch(const struct epochs *epochs)
{
	const struct epoch *running = epochs->running;
	uint32_t number = running ? running->number : 0;
	while (number < epochs->config.limit &&
		epochs_state(epochs, number) != EPOCH_UNKNOWN)
		number++;
	if (number < epochs->config.limit)
		return number;
	return running ? running->number : epochs->config.limit - 1;
}

/* Returns the running epoch if it can give the file, or if the position is too large for it (a
 * wrong position must not begin an epoch); otherwise the next epoch. */
static uint32_t running_epoch(
	const struct epochs *epochs, const struct open_request *request)
{
	const struct epoch *running = epochs->running;
	bool lacks = running && !running->over && request->names == running->set->names &&
		     !has_position(running, request->position);
	return running && (lacks || can_give(epochs, running->number, request))
		       ? running->number
		       : next_epoch(epochs);
}

/* Tells whether a new script continues the epoch to which the job went back. Two conditions must
 * hold. First, no later epoch has begun. Second, either the script's first file or at least an
 * eighth of the epoch's files had not been read at the point to which the job went back. */
static bool goes_on(const struct epochs *epochs, const struct open_request *request)
{
	const struct current *current = &epochs->current;
	uint32_t file = request->position / epochs->config.file;
	if (!current->went_back || !epochs->running ||
		current->before_epoch != epochs->running->number ||
		!has_file(epochs->running, request))
		return false;
	uint32_t n = n_files(epochs, current->before_epoch);
	bool was_read = current->before && current->before[file / 8] >> file % 8 & 1;
	return !was_read || 8 * (uint64_t)(n - current->n_before) >= n;
}

/* Tells whether at least half of the running epoch is bound. In a fed job (its samples are drawn
 * for all ranks of a group), queued samples count as bound, so that all ranks decide the same. */
static bool is_past_half(const struct epochs *epochs)
{
	const struct epoch *running = epochs->running;
	uint32_t n = running->bound + (epochs->config.fed ? running->queue.length : 0);
	return n >= running->set->positions - n;
}

static uint32_t first_epoch(
	const struct epochs *epochs, const struct open_request *request)
{
	if (goes_on(epochs, request) || !epochs->running || !is_past_half(epochs) ||
		strands_another(epochs, NULL))
		return running_epoch(epochs, request);
	return next_epoch(epochs);
}

/* --- where a pass is over ------------------------------------------------------------ */

struct opener {
	const struct epochs *epochs;
	const struct script *script;
	const struct rank *rank;
	/* the thread that opens; NULL: it has not opened a file before */
	const struct worker *worker;
	const struct open_request *request;
	uint32_t file;
};

/* Tells whether the script has opened at least half of the epoch's files that were not kept. */
static bool had_half(const struct script *script)
{
	return script->opened - script->adopted >= script->files - script->opened;
}

/* Tells whether the next epoch can keep samples of the script's epoch. The script's epoch must be
 * the running one, and its order in memory. The next epoch must have the same set of samples, and
 * no saved order. Fed jobs keep no samples. */
static bool can_keep(const struct opener *opener)
{
	const struct epochs *epochs = opener->epochs;
	const struct epoch *running = epochs->running;
	return running && running->number == opener->script->epoch &&
	       running->load == LOAD_DONE && !epochs->config.fed &&
	       next_epoch(epochs) == running->number + 1 &&
	       set_of(epochs, running->number + 1) == running->set &&
	       epochs_known_bound(epochs, running->number + 1) == 0;
}

/* Tells whether an open of the file begins another pass, because a run has had all files (see the
 * head of current.c). Files that the run opened first, here 9/16 of all, do not begin a pass; nor
 * do kept files. Three cases let all files but the run's first J files (n_hedged) begin a pass:
 * there are few files; the next epoch can't keep samples; another script may begin the next epoch
 * first. */
static bool ends_whole(const struct opener *opener)
{
	const struct script *script = opener->script;
	uint32_t mark = script->marks[opener->file];
	if (script->whole == 0 || !is_opened(script, opener->file))
		return false;
	if (mark > script->whole)
		return true;
	bool waits = script->files >= FEW_MOST && can_keep(opener) &&
		     !shares_epoch(opener->epochs, script);
	uint64_t first = waits ? (uint64_t)script->files * 9 / 16 : n_hedged(script);
	if (waits && !opened_since_turn(script, opener->file))
		return false;
	return mark - script->first > first;
}

/* Tells whether each rank has opened its part of the files, so that the pass is over. An open of
 * one of the epoch's first files does not end the pass, because the ranks may only have looked at
 * these files. */
static bool had_parts(const struct opener *opener)
{
	const struct current *current = &opener->epochs->current;
	const struct script *script = opener->script;
	return !is_first(current, script, script->marks[opener->file]) &&
	       division_over(current, script) != DIVISIONS;
}

/* Tells whether the pass of a fed job is over. It must not end before its ranks have opened all
 * files, because a fed epoch keeps no samples. */
static bool had_all_fed(const struct opener *opener)
{
	const struct script *script = opener->script;
	return opener->epochs->config.fed && script->opened == script->files;
}

static bool ends_part(const struct opener *opener)
{
	uint32_t n = n_ranks(&opener->epochs->current, opener->script);
	return n > 1 && opener->rank->count >= files_of_part(opener->script, n, DROPS);
}

static bool goes_back(const struct opener *opener)
{
	const struct script *script = opener->script;
	const struct worker *worker = opener->worker;
	if (!is_in_order(script) || !had_half(script) ||
		!opened_since_turn(script, opener->file))
		return false;
	if (!worker || worker->file == NO_FILE || opener->file < worker->file)
		return true;
	return opener->file == worker->file && script->whole > 0;
}

/* Tells whether the thread opens its last file again, and there are so many files that such an open
 * hardly ever begins a pass. */
static bool opens_last_again(const struct opener *opener)
{
	const struct worker *worker = opener->worker;
	return worker && worker->file == opener->file &&
	       opener->script->files >= FEW_MOST;
}

static bool is_late(const struct opener *opener)
{
	const struct script *script = opener->script;
	const struct worker *worker = opener->worker;
	/* the id 0 stands for all threads that are not known: some of them may be late */
	bool several = worker && worker->id == 0 && script->was_in_order &&
		       8 * (uint64_t)script->left <= script->files;
	bool in_batch = script->batch == 0 || (worker && worker->batch < script->batch);
	bool late = worker && worker->late && opener->file > worker->file &&
		    ((in_batch && opener->file == worker->file + 1) ||
			    opener->file == worker->file + script->step);
	return (late || several) && script->marks[opener->file] <= script->begun_before &&
	       can_give(opener->epochs, script->epoch - 1, opener->request);
}

static bool may_turn(const struct opener *opener)
{
	const struct script *script = opener->script;
	return script->whole > 0 || is_whole(script) || ends_part(opener) ||
	       (is_in_order(script) && had_half(script));
}

/* --- what an open means -------------------------------------------------------------- */

static struct choice choice_of(uint32_t epoch, enum opened_how how)
{
	return (struct choice){epoch, how, NOTICES};
}

static struct choice noticed(uint32_t epoch, enum opened_how how, enum notice notice)
{
	return (struct choice){epoch, how, notice};
}

static bool opens_again(const struct opener *opener)
{
	const struct worker *worker = opener->worker;
	enum file_kind kind = opener->request->label && !opener->request->images;
	if (!worker || worker->file != opener->file)
		return false;
	/* If each file has one position, the thread's earlier open of this file has bound the
	 * position, unless the reader gave up (lost). So an epoch whose order is saved can give the
	 * file. */
	bool saved = opener->epochs->config.file == 1 && !opener->request->lost &&
		     epochs_state(opener->epochs, worker->epoch) == EPOCH_SAVED;
	if (!saved && !can_give(opener->epochs, worker->epoch, opener->request))
		return false;
	uint32_t habit = worker->habit[kind], row = worker->row[kind];
	/* the script has turned since the worker's last open */
	bool left = worker->epoch != opener->script->epoch;
	if (habit == 0)
		habit = opener->script->habit[kind];
	if (row == 0 && left && kind == FILE_LABEL && !opener->script->labels_after)
		return false;
	if (row == 0 || (!left && !may_turn(opener)))
		return true;
	if (worker->stays >= ROW_MOST)
		/* the count `row` has stopped, because further opens are not recorded */
		return true;
	return habit > 0 ? row < habit : !opener->request->done;
}

/* Tells whether the script only looks at files: it has opened at most one file, or has one thread
 * that opens files in order, each once, as cat does. */
static bool only_looks(const struct opener *opener)
{
	const struct current *current = &opener->epochs->current;
	const struct script *script = opener->script;
	uint32_t threads = 0;
	for (uint32_t i = 0; i < current->n_workers; i++)
		threads += is_worker_of(current, &current->workers[i], script);
	return script->opens <= 1 ||
	       (script->turns == 0 && threads == 1 && is_in_order(script) &&
		       script->habit[FILE_IMAGE] <= 1 && script->opens == script->opened);
}

/* Lets the script begin a pass over the running epoch, because its own epoch is over: another
 * script has begun later epochs. The user is told if the script has lost the rest of its pass. */
static struct choice catch_up(const struct opener *opener)
{
	uint32_t epoch = running_epoch(opener->epochs, opener->request);
	bool is_told = !only_looks(opener) && !is_whole(opener->script);
	return noticed(epoch, OPENED_BEHIND, is_told ? NOTICE_SCRIPTS : NOTICES);
}

/* Tells whether the script loses files: its pass goes on in the next epoch, but another script has
 * begun that epoch, and so the epoch has not kept the files of this pass. If several ranks read,
 * and nobody knows where their pass ends, the pass counts as going on. */
static bool loses_files(const struct opener *opener)
{
	const struct current *current = &opener->epochs->current;
	const struct script *script = opener->script;
	struct record opened = {.position = opener->request->position,
		.reader = opener->request->reader,
		.how = OPENED_NEXT};
	if (n_ranks(current, script) > 1 && !opener->epochs->config.fed &&
		division_over(current, script) == DIVISIONS)
		return true;
	if (n_ranks(current, script) > 1 || is_in_order(script))
		return current_since(opener->epochs, opener->worker, &opened) <
		       script->opens;
	return script->whole > 0 && script->opens > script->whole;
}

static struct choice begin_pass(const struct opener *opener, enum opened_how how)
{
	const struct epochs *epochs = opener->epochs;
	uint32_t epoch = opener->script->epoch;
	bool runs = epochs->running && epochs->running->number == epoch;
	enum notice notice = opener->script->behind ? NOTICE_SCRIPTS : NOTICES;
	if (how == OPENED_KEEPS &&
		(!can_keep(opener) || strands_another(epochs, opener->script)))
		return choice_of(epoch, OPENED_GIVEN);
	if (!runs && can_give(epochs, epoch + 1, opener->request))
		return noticed(epoch + 1, OPENED_JOINS,
			loses_files(opener) ? NOTICE_SCRIPTS : notice);
	if (!runs)
		return catch_up(opener);
	if (next_epoch(epochs) == epoch)
		return noticed(epoch, OPENED_ANEW, NOTICE_LAST);
	if (strands_another(epochs, opener->script))
		return noticed(epoch, OPENED_ANEW, NOTICE_SCRIPTS);
	return noticed(next_epoch(epochs), can_keep(opener) ? how : OPENED_JOINS, notice);
}

/* Tells whether the script has begun another pass, although no run had all files: random opens are
 * hardly ever a streak of so many different files (the birthday bound). */
static bool is_no_accident(const struct opener *opener)
{
	const struct script *script = opener->script;
	uint64_t streak = script->streak, fresh = script->fresh, n = script->files;
	uint64_t left = fresh + n - script->opened;
	uint64_t usual = 2 + 2 * ((script->opens - script->begun) / n);
	uint64_t rows = script->streaks > usual ? script->streaks - usual : 0;
	return is_opened(script, opener->file) && script->whole == 0 &&
	       4 * rows * rows <= n && 8 * (n - script->opened) <= n &&
	       streak * streak >= 9 * n && fresh * n <= 2 * streak * left &&
	       3 * (uint64_t)(script->opens - since_run(script)) <= n;
}

static bool lacks_file(const struct opener *opener)
{
	const struct epoch *epoch = find_epoch(opener->epochs, opener->script->epoch);
	return opener->file >= opener->script->files ||
	       (epoch && !has_file(epoch, opener->request));
}

static struct choice choose_in_pass(const struct opener *opener)
{
	const struct script *script = opener->script;
	struct choice given = choice_of(script->epoch, OPENED_GIVEN);
	if (is_late(opener))
		return choice_of(script->epoch - 1, OPENED_LATE);
	if (!can_give(opener->epochs, script->epoch, opener->request))
		return is_whole(script) ? begin_pass(opener, OPENED_JOINS)
					: catch_up(opener);
	if (n_ranks(&opener->epochs->current, script) > 1)
		return had_all_fed(opener) || had_parts(opener)
			       ? begin_pass(opener, OPENED_NEXT)
			       : given;
	if (opens_last_again(opener))
		return given;
	if (goes_back(opener))
		return begin_pass(opener, OPENED_NEXT);
	if (is_in_order(script))
		return given;
	if (ends_whole(opener))
		return begin_pass(opener, OPENED_NEXT);
	if (is_no_accident(opener))
		return begin_pass(opener, OPENED_KEEPS);
	return given;
}

/* Chooses the epoch for a label whose thread opens only labels: the epoch of the label's image,
 * which another thread has usually opened before. The script's first label gets the script's
 * present epoch, because the thread may open labels before images. */
static struct choice choose_label(const struct opener *opener)
{
	const struct script *script = opener->script;
	bool before = script->labels + script->labels_before > 0 &&
		      !is_opened(script, opener->file) && script->epoch > 0 &&
		      script->marks[opener->file] > script->begun_before;
	uint32_t epoch = script->epoch - before;
	if (can_give(opener->epochs, epoch, opener->request))
		return choice_of(epoch, OPENED_GIVEN);
	epoch = running_epoch(opener->epochs, opener->request);
	return noticed(epoch, OPENED_GIVEN, NOTICE_SCRIPTS);
}

/* Tells whether a process only looks at this file, while its workers read files (see the head of
 * current.c). */
static bool is_look(const struct opener *opener)
{
	const struct script *script = opener->script;
	const struct worker *worker = opener->worker;
	if (script->whole > 0 || is_whole(script))
		return false;
	if (!worker)
		return true;
	bool reads = has_looked(script, worker) && worker->looked != opener->file &&
		     opener->file < script->files &&
		     !opened_since_turn(script, opener->file);
	return worker->last != script->opens && !reads;
}

static struct choice look(
	const struct epochs *epochs, uint32_t epoch, const struct open_request *request)
{
	if (!can_give(epochs, epoch, request))
		epoch = running_epoch(epochs, request);
	return choice_of(epoch, OPENED_LOOKED);
}

struct choice current_choose(
	const struct epochs *epochs, const struct open_request *request)
{
	const struct current *current = &epochs->current;
	const struct reader *reader = &request->reader;
	uint32_t s = script_place(current, reader->script);
	if (s == NOBODY)
		return choice_of(first_epoch(epochs, request), OPENED_GIVEN);
	uint32_t r = rank_place(current, s, reader->rank);
	uint32_t w = r == NOBODY ? r : worker_place(current, r, reader->thread);
	struct rank fresh = {.script = s};
	struct opener opener = {.epochs = epochs,
		.script = &current->scripts[s],
		.rank = r == NOBODY ? &fresh : &current->ranks[r],
		.worker = w == NOBODY ? NULL : &current->workers[w],
		.request = request,
		.file = request->position / epochs->config.file};
	if (r != NOBODY && request->looks && is_look(&opener))
		return look(epochs, opener.script->epoch, request);
	if (opens_again(&opener))
		return choice_of(opener.worker->epoch, OPENED_AGAIN);
	bool label = request->label && !request->images;
	bool only_label = is_only_label(opener.script, opener.worker, label);
	uint32_t other = r != NOBODY && only_label == label
				 ? other_half(current, r, opener.file, label)
				 : NOBODY;
	if (other != NOBODY && can_give(epochs, current->workers[other].epoch, request))
		return choice_of(current->workers[other].epoch, OPENED_AGAIN);
	if (lacks_file(&opener))
		return had_half(opener.script)
			       ? begin_pass(&opener, OPENED_JOINS)
			       : choice_of(opener.script->epoch, OPENED_GIVEN);
	if (only_label && !opener.script->labels_first)
		return choose_label(&opener);
	return choose_in_pass(&opener);
}

uint32_t epochs_choice(const struct epochs *epochs, const struct open_request *request)
{
	uint32_t epoch;
	return current_was_chosen(epochs, request, &epoch)
		       ? epoch
		       : current_choose(epochs, request).epoch;
}

/* A thread waits for one open at a time. So if the last recorded open of the request's thread is
 * of the request's file, this open was recorded for the request itself, before the restart. */
bool current_was_chosen(
	const struct epochs *epochs, const struct open_request *request, uint32_t *ret)
{
	const struct current *current = &epochs->current;
	const struct reader *reader = &request->reader;
	uint32_t s = script_place(current, reader->script), r = NOBODY, w = NOBODY;
	if (request->resent && reader->thread != 0 && s != NOBODY)
		r = rank_place(current, s, reader->rank);
	if (r != NOBODY)
		w = worker_place(current, r, reader->thread);
	if (w == NOBODY ||
		current->workers[w].file != request->position / epochs->config.file ||
		!can_give(epochs, current->workers[w].epoch, request))
		return false;
	*ret = current->workers[w].epoch;
	return true;
}
