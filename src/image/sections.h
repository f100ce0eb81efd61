// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/preparation.h"

/*
 * [tensor NAME] sections of a job: what is prepared in another way than [tensor] says.
 *
 *   rules (from is ""): NAME is a glob; samples whose paths match are prepared by the section.
 *   a pair (from is where the second file of a sample lies): the section prepares the second
 *       file, whose tensor lies behind that of the first one; NAME is what the pair calls it.
 *
 *   Owns: what sections_keep returns stays until the process ends, so that preparations can be
 *         copied; sections that are equal are kept once.
 *   Threads: any.   Errors: none but the lack of memory.
 */

#define SECTIONS_MOST 4
#define SECTION_NAME 64	 /* bytes that hold a name */
#define SECTION_FROM 160 /* bytes that hold from */

struct tensor_section {
	char name[SECTION_NAME];
	struct preparation preparation; /* without sections */
};

struct tensor_sections {
	const struct tensor_sections *next; /* of those that are kept */
	char from[SECTION_FROM];
	size_t n; /* of a pair 1 */
	struct tensor_section section[SECTIONS_MOST];
};

/* Sections that live as long as the process, equal to these; NULL: no memory. */
const struct tensor_sections *sections_keep(const struct tensor_sections *sections);

/* true: both are NULL, or have equal names and preparations, in one order. */
bool sections_equal(const struct tensor_sections *a, const struct tensor_sections *b);

/* The first section of the rules whose glob matches the path, in which * stands for / too; -1: none. */
int sections_find(const struct tensor_sections *sections, const char *path);

/* The section that prepares the second file of each sample; NULL: samples are no pairs. */
const struct tensor_section *preparation_pair(const struct preparation *preparation);

/* The preparation of the sample with this path, relative to its dataset. */
const struct preparation *preparation_at(
	const struct preparation *preparation, const char *path);
