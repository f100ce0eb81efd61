// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <errno.h>
#include <string.h>

/*
 * Which epoch's sample a file of current/ is.
 *
 *     script      a process with its relatives         an order of its own: no. All
 *       rank      a process with its workers           scripts share the job's epochs;
 *         worker  a thread: first in, first out        each goes through them by itself
 *
 * A rank makes passes. A file that its pass has not had is the epoch's sample. One that it
 * has had begins a new pass: of the next epoch if the script has had at least half of the
 * files, else of the same one. So does any file when the pass has had all, or as many as
 * two passes before it. All is decided when a file is opened, and a release
 * changes nothing.
 *
 *     pass p    . . x x x x x x . |              x had by the rank   . not yet
 *     pass p+1              x x . . . .  ^ the first worker has come to p + 1
 *
 * Four things must not be mistaken for a new pass:
 *
 *   - A file that is opened twice: by OpenCV, or for its label. It is the same sample if a
 *     thread opens it again at once. At the end of a pass this may also be its first file
 *     of the next one; then what the script is used to decides.
 *   - A worker that is still at p when another one has begun p + 1. Workers do their files
 *     in order, so what p has not had is given to those that have not come to p + 1 yet.
 *   - A pass that only tried some batches: the pass that follows is given the same samples
 *     again. It began after the last of those that it repeats.
 *   - A file had twice in a pass: DistributedSampler pads, mixup opens others. It is the
 *     same sample again, until too many follow one another.
 *
 * A script that comes new begins with the running epoch if less than half of it was had,
 * else with the next. Who looks at files is such a script, and takes nothing from others.
 */

#define REPEATS_MAX 8
#define PAUSE_NS UINT64_C(60000000000)

/* --- how long a pass is -------------------------------------------------------------- */

/* The files that are the rank's if all are read. */
static uint32_t part_of(
	const struct epochs *epochs, const struct rank *rank, uint32_t epoch)
{
	return (n_files(epochs, epoch) - 1) / n_ranks(&epochs->current, rank) + 1;
}

static bool is_full(
	const struct epochs *epochs, const struct rank *rank, enum file_kind kind)
{
	return rank->regular[kind] ? rank->since_next[kind] - rank->pass.extra[kind] >=
					     rank->pass.length[kind]
				   : count_of(&rank->pass, kind) >=
					     part_of(epochs, rank, rank->pass.epoch);
}

/* Files that had been read when the job went back to the epoch. */
static uint32_t read_before(const struct epochs *epochs, uint32_t epoch)
{
	const struct current *current = &epochs->current;
	return current->before && current->before_epoch == epoch ? current->n_before : 0;
}

/* The pass is none that only tried. */
static bool had_half(const struct epochs *epochs, const struct script *script,
	const struct rank *rank, enum file_kind kind)
{
	uint64_t ranks = n_ranks(&epochs->current, rank);
	uint64_t before = read_before(epochs, rank->pass.epoch);
	uint32_t n = n_files(epochs, rank->pass.epoch);
	return 2 * (ranks * count_of(&rank->pass, kind) + before) >= n ||
	       most_had(find_had(script, rank->pass.epoch)) == n;
}

/* Of the pass before: nobody can be late. */
static bool is_over(const struct epochs *epochs, const struct script *script,
	const struct rank *rank, enum file_kind kind)
{
	const struct had *had = find_had(script, rank->last.epoch);
	return !rank->has_last || rank->regular[kind] || !had ||
	       had->n[kind] == had->files ||
	       count_of(&rank->last, kind) >= part_of(epochs, rank, rank->last.epoch);
}

/* --- which epochs there are ---------------------------------------------------------- */

/* The file has a sample in the epoch, or will get one. */
static bool can_give(
	const struct epochs *epochs, uint32_t number, const struct open_request *request)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch && has_file(epoch, request) &&
	       (!epoch->over || epoch_has_bound(epoch, request->position));
}

/* The first that has not begun; after the last epoch that one is read again. If none runs,
 * none has begun, or all that have are in files: the journal's end was lost. */
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

/* Also if it does not have the position: that begins no other epoch. */
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

/*
 * A script that came before, and has come from one pass to another, still reads the epoch
 * that drains. For one that comes new, as somebody who looks does again and again, any
 * script counts, and a minute without opening anything is none.
 */
static bool strands_another(const struct epochs *epochs, const struct script *script)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; epochs->draining && i < current->n_ranks; i++) {
		const struct rank *rank = &current->ranks[i];
		if (rank->script == NOBODY ||
			rank->pass.epoch != epochs->draining->number)
			continue;
		bool older = !script ||
			     (rank->number > 0 && current->scripts[rank->script].since <
							  script->since);
		bool pauses = !script && rank->used_ns + PAUSE_NS >= epochs->last_read_ns;
		if (older && (rank->used > current->begun || pauses))
			return true;
	}
	return false;
}

bool epochs_current_is_read(const struct epochs *epochs, uint64_t now_ns)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; i < current->n_ranks; i++)
		if (current->ranks[i].script != NOBODY &&
			current->ranks[i].used_ns + PAUSE_NS >= now_ns)
			return true;
	return false;
}

bool current_needs_draining(const struct epochs *epochs)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; epochs->draining && i < current->n_ranks; i++) {
		const struct rank *rank = &current->ranks[i];
		if (rank->script != NOBODY &&
			rank->pass.epoch == epochs->draining->number &&
			rank->used_ns + PAUSE_NS >= epochs->last_read_ns)
			return true;
	}
	return false;
}

/*
 * The job went back, and nobody has begun another epoch since. A script that comes goes on
 * with what was left, unless it begins with what had been read, and that was most of it.
 */
static bool goes_on(const struct epochs *epochs, const struct open_request *request)
{
	const struct current *current = &epochs->current;
	uint32_t file = request->position / epochs->config.file;
	if (!current->went_back || !epochs->running ||
		current->before_epoch != epochs->running->number ||
		!has_file(epochs->running, request))
		return false;
	uint32_t n = n_files(epochs, current->before_epoch);
	uint32_t before = read_before(epochs, current->before_epoch);
	bool was_read = before > 0 && current->before[file / 8] >> file % 8 & 1;
	return !was_read || 8 * (uint64_t)(n - before) >= n;
}

static uint32_t first_epoch(
	const struct epochs *epochs, const struct open_request *request)
{
	const struct epoch *running = epochs->running;
	if (goes_on(epochs, request))
		return running_epoch(epochs, request);
	if (!running || running->bound < running->set->positions - running->bound ||
		strands_another(epochs, NULL))
		return running_epoch(epochs, request);
	return next_epoch(epochs);
}

/* --- what an open is ----------------------------------------------------------------- */

struct opener {
	const struct epochs *epochs;
	const struct script *script;
	const struct rank *rank;
	uint32_t place;		     /* of the rank; NOBODY: a new one */
	const struct worker *worker; /* or NULL */
	const struct open_request *request;
	uint32_t file;
	enum file_kind kind;
	bool few_labels; /* it is one of them: judged as an image */
};

/* The first file of the next pass, or once more the last one of this? */
static bool is_used_to_more(const struct opener *opener)
{
	const struct worker *worker = opener->worker;
	enum file_kind kind = opener->kind;
	uint32_t habit = opener->rank->habit[kind];
	if (worker->row[kind] == 0)
		return true;
	return habit > 0 ? worker->row[kind] < habit : !opener->request->done;
}

static bool opens_again(const struct opener *opener)
{
	const struct worker *worker = opener->worker;
	if (!worker || worker->file != opener->file)
		return false;
	/* If its order is in a file, a file of one position was bound, unless its reader had
	 * given up. */
	bool saved = opener->epochs->config.file == 1 && !opener->request->lost &&
		     epochs_state(opener->epochs, worker->epoch) == EPOCH_SAVED;
	if (!saved && !can_give(opener->epochs, worker->epoch, opener->request))
		return false;
	bool whole = worker->number == opener->rank->number
			     ? is_full(opener->epochs, opener->rank, opener->kind)
			     : is_over(opener->epochs, opener->script, opener->rank,
				       opener->kind);
	return !whole || is_used_to_more(opener);
}

/* A worker of the next pass has opened it just before that became clear. */
static bool was_taken(const struct opener *opener)
{
	const struct current *current = &opener->epochs->current;
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		if (worker->rank == opener->place &&
			worker->number == opener->rank->number &&
			worker->boundary == opener->file)
			return true;
	}
	return false;
}

/* Of the pass before: by a worker that has not left it. */
static bool is_late(const struct opener *opener, enum opened_how *ret)
{
	const struct rank *rank = opener->rank;
	const struct worker *worker = opener->worker;
	const struct pass *last = &rank->last;
	if (!worker || is_over(opener->epochs, opener->script, rank, opener->kind) ||
		!can_give(opener->epochs, last->epoch, opener->request))
		return false;
	const struct had *had = find_had(opener->script, last->epoch);
	bool behind = worker->number != rank->number || worker->id == 0;
	bool mark = mark_of(had, opener->file, opener->kind) != 0;
	*ret = mark ? OPENED_TAKEN : OPENED_LATE;
	return behind && (!mark || was_taken(opener));
}

static struct choice choice_of(uint32_t epoch, enum opened_how how)
{
	return (struct choice){epoch, how, NOTICES};
}

static struct choice noticed(uint32_t epoch, enum opened_how how, enum notice notice)
{
	return (struct choice){epoch, how, notice};
}

/* Its epoch is over, since another script is further. Who only looks is not told: that is
 * who makes no second pass. */
static struct choice catch_up(const struct opener *opener)
{
	uint32_t epoch = running_epoch(opener->epochs, opener->request);
	bool looks = opener->rank->number == 0;
	return noticed(epoch, OPENED_BEHIND, looks ? NOTICES : NOTICE_SCRIPTS);
}

static struct choice begin_pass(const struct opener *opener)
{
	const struct epochs *epochs = opener->epochs;
	uint32_t epoch = opener->rank->pass.epoch;
	bool runs = epochs->running && epochs->running->number == epoch;
	enum notice notice = opener->rank->behind ? NOTICE_SCRIPTS : NOTICES;
	if (!had_half(epochs, opener->script, opener->rank, opener->kind))
		return choice_of(epoch, OPENED_ANEW);
	if (!runs && can_give(epochs, epoch + 1, opener->request))
		return noticed(epoch + 1, OPENED_NEXT, notice);
	if (!runs)
		return catch_up(opener);
	if (next_epoch(epochs) == epoch)
		return noticed(epoch, OPENED_ANEW, NOTICE_LAST);
	if (strands_another(epochs, opener->script))
		return noticed(epoch, OPENED_ANEW, NOTICE_SCRIPTS);
	return noticed(next_epoch(epochs), OPENED_NEXT, notice);
}

/* A file that the pass has had, and perhaps goes on. */
static bool only_repeats(const struct opener *opener, uint32_t mark)
{
	const struct rank *rank = opener->rank;
	enum file_kind kind = opener->kind;
	const struct had *had = find_had(opener->script, rank->pass.epoch);
	uint32_t n = had->files, count = count_of(&rank->pass, kind);
	uint32_t known = rank->pass.length[kind];
	uint32_t part = part_of(opener->epochs, rank, rank->pass.epoch);
	if (rank->tries >= TRIES_MAX)
		return had->n[kind] >= n - had->n[kind] && had->n[kind] < n &&
		       rank->pass.opens[kind] / 4 < n;
	if (known > 0 && count + known / 4 < known)
		return rank->repeats < REPEATS_MAX;
	return n % n_ranks(&opener->epochs->current, rank) != 0 &&
	       mark >> STAMP_BITS != opener->place && !rank->padded && count < part &&
	       count + part / 8 >= part;
}

/*
 * All who read now came later than the pass had the file, and before half was had: those
 * before them have only tried. stamp: of that.
 */
static bool was_tried(const struct opener *opener, uint32_t stamp)
{
	const struct current *current = &opener->epochs->current;
	uint32_t begun = opener->rank->pass.opens[opener->kind];
	uint32_t before = opener->rank->pass.before[opener->kind];
	uint64_t since = UINT64_MAX, used = 0;
	if (stamp <= opener->rank->tried[opener->kind])
		return true;
	uint32_t n = n_files(opener->epochs, opener->rank->pass.epoch);
	if (before == 0 &&
		most_had(find_had(opener->script, opener->rank->pass.epoch)) == n)
		return false;
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		if (worker->rank != opener->place)
			continue;
		if (worker->came[opener->kind] < stamp ||
			worker->since < opener->rank->since) {
			used = worker->used > used ? worker->used : used;
			continue;
		}
		since = worker->since < since ? worker->since : since;
		if (worker->came[opener->kind] < begun)
			begun = worker->came[opener->kind];
	}
	return since != UINT64_MAX && used <= since && 2 * (begun - before) < n;
}

/* What was read when the job went back may be read again, as long as much was left, of
 * which not half has been had. */
static bool reads_before_again(const struct opener *opener)
{
	const struct had *had = find_had(opener->script, opener->rank->pass.epoch);
	uint64_t n = had->files;
	uint64_t before = read_before(opener->epochs, had->epoch);
	return 8 * (n - before) >= n &&
	       2 * (uint64_t)(had->n[opener->kind] - before) < n - before;
}

/* Of few files: then images alone tell how far a worker is that opens both. */
static bool has_few_labels(const struct rank *rank)
{
	uint64_t labels = rank->pass.opens[FILE_LABEL],
		 images = rank->pass.opens[FILE_IMAGE];
	if (rank->has_last) {
		labels += rank->last.opens[FILE_LABEL];
		images += rank->last.opens[FILE_IMAGE];
	}
	return 2 * labels < images;
}

/* The pass's epoch has fewer files than a later one, or other ones. */
static bool lacks_file(const struct opener *opener)
{
	const struct epoch *epoch = find_epoch(opener->epochs, opener->rank->pass.epoch);
	return epoch && !has_file(epoch, opener->request);
}

static struct choice choose_in_pass(const struct opener *opener)
{
	const struct rank *rank = opener->rank;
	enum file_kind kind = opener->kind;
	uint32_t epoch = rank->pass.epoch;
	uint32_t mark = mark_of(find_had(opener->script, epoch), opener->file, kind);
	bool own = mark && mark >> STAMP_BITS == opener->place;
	uint32_t stamp = mark & STAMP_MAX;
	if (lacks_file(opener))
		return begin_pass(opener);
	if (!can_give(opener->epochs, epoch, opener->request))
		return catch_up(opener);
	if (!mark || opener->few_labels || (own && stamp <= rank->pass.before[kind]))
		return is_full(opener->epochs, rank, kind)
			       ? begin_pass(opener)
			       : choice_of(epoch, OPENED_GIVEN);
	if (own && was_tried(opener, stamp))
		return choice_of(epoch, OPENED_TRIED);
	if (mark == MARK_BEFORE && reads_before_again(opener))
		return choice_of(epoch, OPENED_TRIED);
	if (only_repeats(opener, mark))
		return noticed(epoch, OPENED_REPEATED,
			rank->tries < TRIES_MAX ? NOTICES : NOTICE_REPEATS);
	return begin_pass(opener);
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
	enum opened_how how;
	uint32_t s = script_place(current, reader->script);
	if (s == NOBODY)
		return choice_of(first_epoch(epochs, request), OPENED_GIVEN);
	uint32_t r = rank_place(current, s, reader->rank);
	if (r != NOBODY && request->looks)
		return look(epochs, current->ranks[r].pass.epoch, request);
	uint32_t w = r == NOBODY ? r : worker_place(current, r, reader->thread);
	struct rank fresh = {.script = s, .pass.epoch = current->scripts[s].epoch};
	struct opener opener = {.epochs = epochs,
		.script = &current->scripts[s],
		.rank = r == NOBODY ? &fresh : &current->ranks[r],
		.place = r,
		.worker = w == NOBODY ? NULL : &current->workers[w],
		.request = request,
		.file = request->position / epochs->config.file,
		.kind = request->label && !request->images ? FILE_LABEL : FILE_IMAGE};
	opener.few_labels = opener.kind == FILE_LABEL && opener.worker &&
			    opener.worker->images && has_few_labels(opener.rank);
	if (opens_again(&opener))
		return choice_of(opener.worker->epoch, OPENED_AGAIN);
	if (opener.few_labels)
		opener.kind = FILE_IMAGE;
	if (is_late(&opener, &how))
		return choice_of(opener.rank->last.epoch, how);
	return choose_in_pass(&opener);
}

uint32_t epochs_choice(const struct epochs *epochs, const struct open_request *request)
{
	uint32_t epoch;
	return current_was_chosen(epochs, request, &epoch)
		       ? epoch
		       : current_choose(epochs, request).epoch;
}

/* A thread waits for one open at a time. So if the last one that is known of it is of this
 * file, it is this. */
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
