// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/preparation.h"

/*
 * The sections [tensor NAME] of a job. They prepare some of the job's files in another way than the
 * section [tensor]. The key `from` of a section tells which of two purposes the section has:
 *
 *   a rule (no `from`): NAME is a glob. The section prepares the samples whose paths match.
 *   a pair (`from` is the path of a second file, such as a mask): the section prepares the second
 *       file, which the mount calls NAME. The tensor of the second file follows the tensor of the
 *       first file.
 *
 *   Owns: the results of sections_keep. They live until the process ends, so that preparations can
 *         be copied with their pointers to sections.
 *   Threads: any. Errors: lack of memory.
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

/* Returns a copy that lives until the process ends. Equal sections get the same copy. Returns NULL
 * if there is no memory. */
const struct tensor_sections *sections_keep(const struct tensor_sections *sections);

/* Tells whether both are NULL, or have equal `from` and equal sections in the same order. */
bool sections_equal(const struct tensor_sections *a, const struct tensor_sections *b);

/* Returns the index of the first section whose glob matches, or -1. A star also matches slashes. */
int sections_find(const struct tensor_sections *sections, const char *path);

/* Returns the section for second files, or NULL if samples have no second files. */
const struct tensor_section *preparation_pair(const struct preparation *preparation);

/* Returns the preparation of the section whose glob matches the sample's path, relative to the
 * dataset, or `preparation` itself if no glob matches. */
const struct preparation *preparation_at(
	const struct preparation *preparation, const char *path);
