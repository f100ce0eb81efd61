// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "image/image.h"

/*
 * Runs programs that make arrays from samples: processes of each [preparation NAME], which get one
 * sample after another, and answer each with an array or an error (joaderfs-prepare(7)).
 *
 *   Flow: programs_new reads the commands. A thread calls programs_run for each sample; as many
 *         calls run at once as there are processes. A process is started when it is first needed.
 *         If a process dies, hangs or sends an invalid answer, it is killed, and another one gets
 *         the sample; if this one fails, too, the call fails. programs_stop ends processes and
 *         calls.
 *   Owns: the processes, and the descriptions of their arrays. Jobs point to these.
 *   Threads: any. Errors: 0 or -errno, with a message that names the cause.
 *   Trust: a process runs as an ordinary user, without network, without a way to gain rights, with
 *         only three descriptors, and with limits of memory and time. Its answers are checked.
 */

struct programs;

/* Logs each command that can't be run. If `stops` is set, fails at the first such command. */
must_check int programs_new(
	const struct daemon_config *config, bool stops, struct programs **ret);
void programs_stop(struct programs *programs);
void programs_free(struct programs **programs);

/* Returns the array that [preparation `name`] makes, or NULL if there is no such section. */
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

/* Waits for a free process, and for its answer to the sample. *ret: the array, which the caller
 * owns. -EIO: the program refused the sample, or failed twice; -ENOMEM; -EINTR: programs_stop was
 * called. */
must_check int programs_run(struct programs *programs, const struct prepared_array *array,
	const struct program_sample *sample, struct tensor **ret,
	char message[static IMAGE_MESSAGE]);
