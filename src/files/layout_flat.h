// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"

#include <stdbool.h>
#include <stddef.h>

/* The layout "flat": NNNNNNNN.<extension> is the sample of a position, NNNNNNNN.cls its label,
 * NNNNNNNN.json its row in the catalogue, NNNNNNNN.<ending> a file beside it (beside.h). The files
 * lie in the epoch's directory or, with `shard`, in its directories 000, 001, ... Threads: any. */

#define FLAT_NAME 64 /* enough for any name */

struct flat_name {
	/* INODE_SAMPLE, _LABEL, _JSON, _PAIR, or INODE_BESIDE + the number of an ending */
	enum inode_kind kind;
	uint32_t position;
};

void flat_print(
	struct flat_name name, const struct job_config *config, char ret[FLAT_NAME]);

/* Returns false if the name belongs to no position below n_positions. */
bool flat_parse(const char *name, const struct job_config *config, uint32_t n_positions,
	struct flat_name *ret);

#define FLAT_DIGITS 10 /* most digits of a number */
/* Prints the number with at least `digits` digits, and \0. `digits` is at most FLAT_DIGITS. Returns
 * the number of printed digits. */
size_t flat_print_number(uint32_t number, unsigned digits, char *ret);
/* Reads a number that flat_print_number has printed. Returns the number of its digits; 0: the text
 * does not begin with such a number, or the number is not below `bound`. */
size_t flat_parse_number(
	const char *text, unsigned digits, uint32_t bound, uint32_t *ret);
