// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * Functions for a program of [preparation NAME] in C: joaderfs-prepare(7). Nothing but these
 * functions may write to the program's standard output.
 *
 *     int main(void)
 *     {
 *         struct joaderfs_sample sample = {0};
 *         joaderfs_ready();
 *         while (joaderfs_next(&sample)) {
 *             if (is_fine(sample.data, sample.size))
 *                 joaderfs_array(&sample, "<f4", "128, 80", numbers, bytes);
 *             else
 *                 joaderfs_error(&sample, "no sound");
 *         }
 *     }
 *
 * A sample stays in memory until the next one is read. The functions end the program if there is no
 * memory, or if the daemon has ended.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct joaderfs_sample {
	char *name;    /* with its extension */
	uint8_t *data; /* the sample's bytes, followed by a zero */
	size_t size;
	char number[32]; /* identifies the sample in the answer */
};

static inline void joaderfs_ready(void)
{
	fputs("joaderfs-prepare 1\n", stdout);
	fflush(stdout);
}

static inline void *joaderfs_read(void *buffer, size_t size)
{
	char *bytes = (char *)realloc(buffer, size + 1);
	if (!bytes || fread(bytes, 1, size, stdin) != size)
		exit(EXIT_FAILURE);
	bytes[size] = '\0';
	return bytes;
}

/* Reads the next sample. Returns 0 if the daemon has ended. */
static inline int joaderfs_next(struct joaderfs_sample *sample)
{
	char line[80];
	size_t name_size;
	if (!fgets(line, sizeof(line), stdin) ||
		sscanf(line, "sample %31s %zu %zu", sample->number, &name_size,
			&sample->size) != 3)
		return 0;
	sample->name = (char *)joaderfs_read(sample->name, name_size);
	sample->data = (uint8_t *)joaderfs_read(sample->data, sample->size);
	return 1;
}

/* Answers with an array. type: NumPy's name, such as "<f4"; shape: without brackets, such as "128,
 * 80", or "128," for one axis; size: in bytes. */
static inline void joaderfs_array(const struct joaderfs_sample *sample, const char *type,
	const char *shape, const void *numbers, size_t size)
{
	char head[256];
	int n = snprintf(head + 10, sizeof(head) - 10,
		"{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
	if (n < 0 || n > 180)
		exit(EXIT_FAILURE);
	size_t length = ((size_t)n + 10 + 64) / 64 * 64;
	memset(head + 10 + n, ' ', length - 10 - (size_t)n);
	memcpy(head, "\x93NUMPY\x01\x00", 8);
	head[8] = (char)(length - 10);
	head[9] = 0;
	head[length - 1] = '\n';
	printf("array %s %zu\n", sample->number, length + size);
	fwrite(head, 1, length, stdout);
	fwrite(numbers, 1, size, stdout);
	if (fflush(stdout) != 0)
		exit(EXIT_FAILURE);
}

static inline void joaderfs_error(const struct joaderfs_sample *sample, const char *text)
{
	size_t n = strlen(text);
	printf("error %s %zu\n%.*s", sample->number, n < 1024 ? n : 1024, 1024, text);
	fflush(stdout);
}
