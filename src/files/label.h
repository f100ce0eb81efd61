// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

struct sched_job;

/* A label file holds the label in ASCII, and then newlines. All label files of a dataset have the
 * same length: the number of digits of the largest label, plus one. Threads: any. */

#define LABEL_BYTES 16 /* enough for any label file */

uint32_t label_bytes(uint32_t n_classes);
uint32_t label_bytes_of(struct sched_job *job, uint32_t epoch);
void label_print(uint32_t label, uint32_t bytes, char ret[LABEL_BYTES]);
