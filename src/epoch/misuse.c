// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <stdlib.h>

/*
 * What a script does with current/ that is probably not what it means, although each file
 * is given as the rule says. Seen when an epoch is all had, or turns, from what was had of it and of the
 * one before. Of many files only so many are looked at.
 */

#define LOOKED_AT 1024
#define LEAST_FILES 64

#define BY_OTHERS UINT32_MAX

/* The how-manieth open of its epoch that was, and of the epoch before; 0: none; or by
 * another rank. */
struct seen {
	uint32_t now, before;
};

struct sight {
	struct seen files[LOOKED_AT]; /* of the first ones of the job to the last */
	uint32_t n;
};

static uint32_t stamp_of(
	const struct had *had, uint32_t file, enum file_kind kind, uint32_t place)
{
	uint32_t mark = mark_of(had, file, kind);
	return mark && mark >> STAMP_BITS != place ? BY_OTHERS : mark & STAMP_MAX;
}

static void look_at(const struct epochs *epochs, const struct script *script,
	uint32_t place, uint32_t epoch, struct sight *ret)
{
	const struct had *now = find_had(script, epoch);
	const struct had *before = find_had(script, epoch - 1);
	uint32_t n = n_files(epochs, epoch), step = (n - 1) / LOOKED_AT + 1;
	ret->n = 0;
	for (uint32_t file = 0; file < n; file += step)
		ret->files[ret->n++] =
			(struct seen){stamp_of(now, file, FILE_IMAGE, place),
				stamp_of(before, file, FILE_IMAGE, place)};
}

/* Some readers may each read a part of the files in order. */
static bool are_shuffled(const struct seen *files, uint32_t n)
{
	uint32_t up = 0;
	for (uint32_t i = 1; i < n; i++)
		up += files[i].now > files[i - 1].now;
	return up < n - n / 4;
}

/* The same files in both epochs, and not only the last ones of all in order, as drop_last
 * leaves them. */
static bool leaves_out(const struct sight *sight)
{
	struct seen had[LOOKED_AT];
	uint32_t now = 0, both = 0, between = 0, n_had = 0;
	for (uint32_t i = 0; i < sight->n; i++) {
		const struct seen *seen = &sight->files[i];
		now += !seen->now;
		both += !seen->now && !seen->before;
		if (!seen->now)
			continue;
		between = both;
		had[n_had++] = *seen;
	}
	return both > sight->n / 64 && both >= now - now / 4 &&
	       (between >= both / 2 || are_shuffled(had, n_had));
}

static int compare_now(const void *a, const void *b)
{
	uint32_t x = ((const struct seen *)a)->now, y = ((const struct seen *)b)->now;
	return (x > y) - (x < y);
}

static uint32_t only_had(struct sight *sight)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < sight->n; i++) {
		struct seen seen = sight->files[i];
		bool own = seen.now != BY_OTHERS && seen.before != BY_OTHERS;
		if (own && seen.now && seen.before)
			sight->files[n++] = seen;
	}
	return n;
}

/*
 * Shuffled files, and then others that come after all of these, in both epochs: a part for
 * training and one for validation.
 *
 *     this epoch       3 1 4 2 0 | 5 6        the first place before which are
 *     the one before   0 2 3 1 4 | 5 6        the same files in both
 */
static bool comes_apart(struct sight *sight)
{
	uint32_t least[LOOKED_AT + 1];
	uint32_t n = only_had(sight), last = 0;
	if (n < LEAST_FILES || !are_shuffled(sight->files, n))
		return false;
	qsort(sight->files, n, sizeof(sight->files[0]), compare_now);
	least[n] = UINT32_MAX;
	for (uint32_t i = n; i > 0; i--)
		least[i - 1] = sight->files[i - 1].before < least[i]
				       ? sight->files[i - 1].before
				       : least[i];
	for (uint32_t i = 0; i < n - n / 16; i++) {
		last = sight->files[i].before > last ? sight->files[i].before : last;
		if (last < least[i + 1])
			return i + 1 >= n / 4;
	}
	return false;
}

/* Of all positions before, and now images alone. */
static bool keeps_labels(
	const struct epochs *epochs, const struct script *script, const struct rank *rank)
{
	const struct had *before = find_had(script, rank->last.epoch);
	uint32_t n = n_files(epochs, rank->pass.epoch);
	return epochs->config.kind == EPOCHS_DRAWN && n >= 16 && rank->has_last &&
	       rank->pass.opens[FILE_LABEL] == 0 &&
	       rank->pass.opens[FILE_IMAGE] > n / 4 && before &&
	       before->n[FILE_LABEL] >= n / 2;
}

static enum notice misuse_of_turn(const struct epochs *epochs,
	const struct script *script, uint32_t place, uint32_t epoch)
{
	struct sight sight;
	if (epoch == 0 || !find_had(script, epoch - 1) ||
		set_of(epochs, epoch) != set_of(epochs, epoch - 1))
		return NOTICES;
	look_at(epochs, script, place, epoch, &sight);
	return leaves_out(&sight) || comes_apart(&sight) ? NOTICE_PARTS : NOTICES;
}

/* The last image of the epoch that its script has not had. */
static bool is_last(const struct epochs *epochs, const struct script *script,
	const struct record *opened)
{
	const struct had *had = find_had(script, opened->epoch);
	uint32_t file = opened->position / epochs->config.file;
	return !opened->label && had && had->n[FILE_IMAGE] + 1 == had->files &&
	       mark_of(had, file, FILE_IMAGE) == 0;
}

enum notice misuse_of(const struct epochs *epochs, const struct record *opened)
{
	const struct current *current = &epochs->current;
	uint32_t s = script_place(current, opened->reader.script);
	uint32_t r = s == NOBODY ? s : rank_place(current, s, opened->reader.rank);
	if (epochs->config.kind == EPOCHS_FIXED || r == NOBODY)
		return NOTICES;
	const struct script *script = &current->scripts[s];
	const struct rank *rank = &current->ranks[r];
	uint32_t had = most_had(find_had(script, rank->pass.epoch));
	if (is_last(epochs, script, opened))
		return misuse_of_turn(epochs, script, r, opened->epoch);
	switch (opened->how) {
	case OPENED_NEXT:
		return misuse_of_turn(epochs, script, r, rank->pass.epoch);
	case OPENED_ANEW:
		return rank->pass.opens[FILE_IMAGE] / 4 >= had ? NOTICE_LITTLE : NOTICES;
	case OPENED_GIVEN:
		return !opened->label && keeps_labels(epochs, script, rank)
			       ? NOTICE_LABELS
			       : NOTICES;
	default:
		return NOTICES;
	}
}
