// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "image/image.h"

/*
 * Runs programs that make arrays from samples. The daemon keeps processes of each
 * [preparation NAME]. A process gets one sample after another on its standard input, and
 * answers each with a NumPy array or an error, as joaderfs-prepare(7) describes.
 *
 *   Flow: programs_new reads the commands. A thread calls programs_run for each sample;
 *         as many calls run at the same time as there are processes. A process is
 *         started when it is first needed. A process that dies, hangs or sends an
 *         invalid answer is killed, and another process gets the sample. If the second
 *         process fails, too, the call fails. programs_stop ends the processes; running
 *         calls fail.
 *   Owns: the processes, and the descriptions of their arrays. Jobs point to these.
 *   Threads: any.   Errors: 0 or -errno, with a message that names the cause.
 *   Trust: a process runs as an ordinary user, without network, without a way to gain
 *         rights, with only three descriptors, and with limits of memory and time
 *         (process.h). Each byte of an answer is checked.
 */

struct programs;

/* Logs a message for each command that can't be run. If `stops` is true, programs_new
 * then fails. Otherwise the message is only a warning. */
must_check int programs_new(
	const struct daemon_config *config, bool stops, struct programs **ret);
void programs_stop(struct programs *programs);
void programs_free(struct programs **programs);

/* Returns the description of the array that [preparation `name`] makes, or NULL if there
 * is no such section. */
const struct prepared_array *programs_find(
	const struct programs *programs, const char *name);
size_t programs_count(const struct programs *programs);
/* Returns how many processes program n has. Each prepares one sample at a time. */
unsigned programs_processes(const struct programs *programs, size_t n);

struct program_sample {
	const char *name; /* name of the sample's file, with its extension */
	const uint8_t *data;
	size_t size;
};

/* Waits for a free process, sends the sample to it, and waits for the answer. *ret: the
 * array, which the caller owns. Errors: -EIO: the program refused the sample, or failed
 * twice; -ENOMEM; -EINTR: programs_stop was called. */
must_check int programs_run(struct programs *programs, const struct prepared_array *array,
	const struct program_sample *sample, struct tensor **ret,
	char message[static IMAGE_MESSAGE]);
