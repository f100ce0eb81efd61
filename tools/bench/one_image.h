// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/*
 * A dataset for programs that measure what the scheduler does: names of one small image, in
 * a directory of its own on a tmpfs, where the daemon's state is, too.
 *
 *   Life: until the program exits, which removes all of it.
 *   Errors: said on stderr, and the program ends.
 */

#define ONE_IMAGE_SIDE 8 /* pixels */

/* Ends the program if err, a negative errno, is not 0. */
void one_image_check(int err, const char *what);

struct dataset *one_image_new(uint32_t samples);
/* Where the image is, until the end. */
char *one_image_directory(void);

struct sched;
struct sched_job;
/* config: its name, and what is the program's own. The caller puts the job. */
struct sched_job *one_image_add(struct sched *sched, struct job_config config);
/* Opens a position, waits for it and releases it. */
void one_image_read(struct sched_job *job, uint32_t epoch, uint32_t position);
