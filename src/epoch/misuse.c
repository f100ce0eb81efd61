// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "epoch/epoch_internal.h"

#include <stdlib.h>

/* Finds scripts that probably do not get from current/ the samples that they intend, although each
 * open follows the rules. When a script has opened all files, the order of these opens in this
 * epoch and in the previous one tells whether the script splits the files into parts. If there are
 * more than LOOKED_AT files, only every k-th file is compared (step_of). */

#define LEAST_FILES 64

/* A file's marks: the numbers of its last counted opens (`marks` of struct script) in this epoch
 * and in the previous one; 0: the file was not opened in that epoch. */
struct seen {
	uint32_t now; /* first, for compare_u32 */
	uint32_t before;
};

static uint32_t step_of(const struct script *script)
{
	return (script->files - 1) / LOOKED_AT + 1;
}

static uint32_t mark_of(const struct script *script, uint32_t file)
{
	return opened_since_turn(script, file) ? script->marks[file] : 0;
}

void misuse_look(struct script *script)
{
	uint32_t step = step_of(script);
	for (uint32_t i = 0; i * step < script->files; i++)
		script->seen[i] = mark_of(script, i * step);
}

/* Collects the files that were opened in both epochs, and returns their number. */
static uint32_t look_at(const struct script *script, struct seen *ret)
{
	uint32_t step = step_of(script), n = 0;
	for (uint32_t i = 0; i * step < script->files; i++) {
		struct seen seen = {mark_of(script, i * step), script->seen[i]};
		if (seen.now > 0 && seen.before > 0)
			ret[n++] = seen;
	}
	return n;
}

/* Tells whether a script has opened the same part of the files first in both epochs, shuffled, and
 * then the other files: one part for training, one for validation.
 *
 *     this epoch       3 1 4 2 0 | 5 6        |: the first point before which both epochs
 *     previous epoch   0 2 3 1 4 | 5 6           have the same files */
static bool comes_apart(const struct script *script)
{
	struct seen files[LOOKED_AT];
	uint32_t least[LOOKED_AT + 1];
	uint32_t n = look_at(script, files), last = 0;
	if (n < LEAST_FILES || is_in_order(script))
		return false;
	qsort(files, n, sizeof(files[0]), compare_u32);
	least[n] = UINT32_MAX;
	for (uint32_t i = n; i > 0; i--)
		least[i - 1] =
			files[i - 1].before < least[i] ? files[i - 1].before : least[i];
	for (uint32_t i = 0; i < n - n / 16; i++) {
		last = files[i].before > last ? files[i].before : last;
		if (last < least[i + 1])
			return i + 1 >= n / 4;
	}
	return false;
}

/* Tells whether the script opened labels in the previous epoch, and opens only images now. */
static bool keeps_labels(const struct epochs *epochs, const struct script *script)
{
	uint32_t n = script->files;
	return epochs->config.kind == EPOCHS_DRAWN && n >= 16 && script->labels == 0 &&
	       !script->labels_of_images && script->opened > n / 4 &&
	       script->labels_before >= n / 2;
}

enum notice misuse_of(const struct epochs *epochs, const struct record *opened)
{
	uint32_t s = script_place(&epochs->current, opened->reader.script);
	uint32_t file = opened->position / epochs->config.file;
	if (s == NOBODY || opened->how != OPENED_GIVEN)
		return NOTICES;
	const struct script *script = &epochs->current.scripts[s];
	if (opened->epoch != script->epoch || file >= script->files)
		return NOTICES;
	bool last = script->opened + 1 == script->files && !is_opened(script, file);
	if (last && script->turns > 0 && comes_apart(script))
		return NOTICE_PARTS;
	return !opened->label && keeps_labels(epochs, script) ? NOTICE_LABELS : NOTICES;
}
