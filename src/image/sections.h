// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/preparation.h"

/*
 * The sections [tensor NAME] of a job. They prepare some of the job's files in
 * another way than [tensor].
 *
 *   rules (if `from` is ""): NAME is a glob. The section prepares the samples whose paths match.
 *   a pair (if `from` is the path of the second file): the section prepares the second file,
 *       whose tensor follows that of the first file. NAME is the name of the second file.
 *
 *   Owns: the results of sections_keep, which live until the process ends, so that a preparation
 *         can be copied with its pointer to them. Equal sections are stored once.
 *   Threads: any.   Errors: lack of memory.
 */

#define SECTIONS_MOST 4
#define SECTION_NAME 64	 /* bytes that suffice for a name */
#define SECTION_FROM 160 /* bytes that suffice for `from` */

struct tensor_section {
	char name[SECTION_NAME];
	struct preparation preparation; /* a preparation without sections */
};

struct tensor_sections {
	const struct tensor_sections *next; /* next result in the list of sections_keep */
	char from[SECTION_FROM];
	size_t n; /* number of sections; 1 for a pair */
	struct tensor_section section[SECTIONS_MOST];
};

/* Returns a copy of the sections that lives as long as the process, the same one for
 * equal sections. Returns NULL if there is no memory. */
const struct tensor_sections *sections_keep(const struct tensor_sections *sections);

/* Tells whether both are NULL, or have equal names and preparations in equal order. */
bool sections_equal(const struct tensor_sections *a, const struct tensor_sections *b);

/* Returns the index of the first section whose glob matches the path, or -1 if none
 * does. A star also matches slashes. */
int sections_find(const struct tensor_sections *sections, const char *path);

/* Returns the section for the second files of samples, or NULL if samples are not
 * pairs. */
const struct tensor_section *preparation_pair(const struct preparation *preparation);

/* Returns the preparation of a sample: that of the section for its path, or
 * `preparation` itself. path: relative to the dataset. */
const struct preparation *preparation_at(
	const struct preparation *preparation, const char *path);
