// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/sections.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* All results of sections_keep. Results are added at the head, and never removed. */
static _Atomic(const struct tensor_sections *) kept;

static const struct tensor_sections *find_kept(
	const struct tensor_sections *first, const struct tensor_sections *sections)
{
	while (first && !sections_equal(first, sections))
		first = first->next;
	return first;
}

const struct tensor_sections *sections_keep(const struct tensor_sections *sections)
{
	const struct tensor_sections *first = atomic_load(&kept);
	const struct tensor_sections *found = find_kept(first, sections);
	if (found)
		return found;
	struct tensor_sections *made = malloc(sizeof(*made));
	if (!made)
		return NULL;
	*made = *sections;
	do
		made->next = first;
	while (!atomic_compare_exchange_weak(&kept, &first, made));
	return made;
}

bool sections_equal(const struct tensor_sections *a, const struct tensor_sections *b)
{
	if (!a || !b || a == b)
		return a == b;
	if (a->n != b->n || strcmp(a->from, b->from) != 0)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->section[i].name, b->section[i].name) != 0 ||
			!preparation_equal(
				&a->section[i].preparation, &b->section[i].preparation))
			return false;
	return true;
}

int sections_find(const struct tensor_sections *sections, const char *path)
{
	for (size_t i = 0; sections && !*sections->from && i < sections->n; i++)
		if (fnmatch(sections->section[i].name, path, 0) == 0)
			return (int)i;
	return -1;
}

const struct tensor_section *preparation_pair(const struct preparation *preparation)
{
	const struct tensor_sections *sections = preparation->sections;
	return sections && *sections->from ? &sections->section[0] : NULL;
}

const struct preparation *preparation_at(
	const struct preparation *preparation, const char *path)
{
	int i = sections_find(preparation->sections, path);
	return i < 0 ? preparation : &preparation->sections->section[i].preparation;
}
