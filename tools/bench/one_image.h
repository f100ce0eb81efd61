// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/* A dataset for programs that measure the scheduler: many links to one small image, in a directory
 * on a tmpfs, which also has the daemon's state. The program removes the directory when it exits.
 * After an error, which is printed to stderr, the program ends. */

#define ONE_IMAGE_SIDE 8 /* pixels */

/* Ends the program with a message, unless err is 0. err: a negative errno. */
void one_image_check(int err, const char *what);

struct dataset *one_image_new(uint32_t samples);
/* Returns the directory of the image and of the daemon's state. */
char *one_image_directory(void);

struct sched;
struct sched_job;
/* Adds a job. config: the job's name and further settings. The caller must give the job back by
 * sched_job_put. */
struct sched_job *one_image_add(struct sched *sched, struct job_config config);
/* Opens a position, waits until its sample is prepared, and releases the position. */
void one_image_read(struct sched_job *job, uint32_t epoch, uint32_t position);
