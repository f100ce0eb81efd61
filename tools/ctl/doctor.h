// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

/* The files of joaderctl doctor share these declarations. */

enum verdict { FINE, COSTS, BREAKS };

struct findings {
	unsigned n[BREAKS + 1];
	const struct daemon_config *config; /* NULL: no ini was given */
};

/* Counts and prints a finding. remedy: a command or advice; NULL: nothing is to be mended. */
void found(struct findings *findings, enum verdict verdict, const char *remedy,
	const char *format, ...) printf_like(4, 5);

void check_fuse(struct findings *findings);
void check_readers(struct findings *findings);
void check_limits(struct findings *findings);
void check_memory(struct findings *findings);
void check_datasets(struct findings *findings);
void check_jobs(struct findings *findings);
void check_cluster(struct findings *findings);
