// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "prepare/prepare.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "prepare/process.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define START_NS UINT64_C(60000000000) /* a process has at least this long to start */
#define TRIES 2
#define FIRST_PAUSE_NS UINT64_C(100000000)
#define MOST_PAUSE_NS UINT64_C(5000000000)

/* Room for one process of a program. Only the thread that has taken the slot uses the process, but
 * programs_stop, which holds programs.lock, may kill the process. (lock): the field changes only
 * under programs.lock. */
struct slot {
	struct process process;
	bool taken; /* (lock) */
	bool runs;  /* (lock) the process is running, so programs_stop must kill it */
};

struct program {
	const struct preparation_config *config;
	struct prepared_array array;
	struct command command;
	bool usable;
	struct slot *slots; /* (lock) one for each process */
	unsigned failures;  /* (lock) number of successive failed attempts */
	bool told;	    /* (lock) warned that processes can reach the network */
};

struct programs {
	struct lock lock;
	pthread_cond_t changed;
	bool stopping; /* (lock) programs_stop was called */
	struct program *programs;
	size_t n;
};

static int begin_program(const struct daemon_config *config, size_t number, bool stops,
	struct program *program)
{
	const struct preparation_config *preparation = &config->preparations[number];
	char message[COMMAND_MESSAGE];
	program->config = preparation;
	program->array = (struct prepared_array){.name = preparation->name,
		.number = (unsigned)number,
		.type = preparation->array,
		.pixels = array_pixels(&preparation->array)};
	program->slots = calloc(preparation->processes, sizeof(*program->slots));
	if (!program->slots)
		return -ENOMEM;
	int err = command_new(preparation, &program->command, message);
	program->usable = err == 0;
	memcpy(program->array.identity, program->command.identity,
		sizeof(program->array.identity));
	if (err == 0)
		return 0;
	(stops ? log_error : log_warn)(
		"%s:[preparation %s]:%s", config->file, preparation->name, message);
	return stops || err == -ENOMEM ? err : 0;
}

int programs_new(const struct daemon_config *config, bool stops, struct programs **ret)
{
	struct programs *programs = calloc(1, sizeof(*programs));
	int err = 0;
	*ret = NULL;
	if (!programs)
		return -ENOMEM;
	lock_init(&programs->lock, LOCK_RANK_PREPARE, "prepare");
	condition_init(&programs->changed);
	programs->programs = calloc(config->n_preparations + 1, sizeof(struct program));
	if (!programs->programs)
		err = -ENOMEM;
	while (!err && programs->n < config->n_preparations) {
		size_t i = programs->n++;
		err = begin_program(config, i, stops, &programs->programs[i]);
	}
	if (err)
		programs_free(&programs);
	*ret = programs;
	return err;
}

void programs_stop(struct programs *programs)
{
	LOCK_SCOPE(&programs->lock);
	programs->stopping = true;
	for (size_t i = 0; i < programs->n; i++) {
		const struct program *program = &programs->programs[i];
		for (unsigned k = 0; k < program->config->processes; k++)
			if (program->slots[k].runs)
				process_kill(&program->slots[k].process);
	}
	pthread_cond_broadcast(&programs->changed);
}

void programs_free(struct programs **programs_pointer)
{
	struct programs *programs = *programs_pointer;
	*programs_pointer = NULL;
	if (!programs)
		return;
	for (size_t i = 0; i < programs->n; i++) {
		struct program *program = &programs->programs[i];
		for (unsigned k = 0; program->slots && k < program->config->processes;
			k++)
			process_end(&program->slots[k].process);
		free(program->slots);
		command_free(&program->command);
	}
	free(programs->programs);
	pthread_cond_destroy(&programs->changed);
	lock_destroy(&programs->lock);
	free(programs);
}

const struct prepared_array *programs_find(
	const struct programs *programs, const char *name)
{
	for (size_t i = 0; i < programs->n; i++)
		if (strcmp(programs->programs[i].config->name, name) == 0)
			return &programs->programs[i].array;
	return NULL;
}

size_t programs_count(const struct programs *programs)
{
	return programs->n;
}

unsigned programs_processes(const struct programs *programs, size_t n)
{
	return programs->programs[n].config->processes;
}

/* Returns a slot that no thread has taken, if possible with a running process, or NULL. */
static struct slot *free_slot_locked(
	const struct programs *programs, const struct program *program)
{
	struct slot *found = NULL;
	lock_assert_held(&programs->lock);
	for (unsigned i = 0; i < program->config->processes; i++) {
		struct slot *slot = &program->slots[i];
		if (!slot->taken && (!found || slot->runs))
			found = slot;
		if (found && found->runs)
			break;
	}
	return found;
}

/* Waits for a free slot, and takes it. Returns NULL if the daemon is stopping. */
static struct slot *take_slot(struct programs *programs, const struct program *program)
{
	LOCK_SCOPE(&programs->lock);
	struct slot *slot = NULL;
	while (!programs->stopping && !(slot = free_slot_locked(programs, program)))
		lock_wait(&programs->lock, &programs->changed);
	if (programs->stopping)
		return NULL;
	slot->taken = true;
	return slot;
}

static void give_slot(struct programs *programs, struct slot *slot)
{
	LOCK_SCOPE(&programs->lock);
	slot->taken = false;
	pthread_cond_broadcast(&programs->changed);
}

static bool stops(struct programs *programs)
{
	LOCK_SCOPE(&programs->lock);
	return programs->stopping;
}

static void end_process(struct programs *programs, struct slot *slot)
{
	lock_take(&programs->lock);
	slot->runs = false;
	lock_release(&programs->lock);
	process_end(&slot->process);
}

/* Waits before a failed program is started again. After one failure there is no pause, after two
 * successive failures a pause of FIRST_PAUSE_NS. Each further failure doubles the pause, up to
 * MOST_PAUSE_NS. */
static void pause_before_start(struct programs *programs, const struct program *program)
{
	LOCK_SCOPE(&programs->lock);
	if (program->failures < TRIES)
		return;
	uint64_t pause = MOST_PAUSE_NS;
	if (program->failures - TRIES < 6)
		pause = FIRST_PAUSE_NS << (program->failures - TRIES);
	uint64_t until = clock_now_ns() + (pause < MOST_PAUSE_NS ? pause : MOST_PAUSE_NS);
	while (!programs->stopping && clock_now_ns() < until)
		lock_wait_until(&programs->lock, &programs->changed, until);
}

static void tell_isolation(
	struct programs *programs, struct program *program, bool isolated)
{
	lock_take(&programs->lock);
	bool tell = !isolated && !program->told;
	program->told = program->told || tell;
	lock_release(&programs->lock);
	if (tell)
		log_warn(
			"preparation %s: its processes can reach the network, because "
			"this kernel has neither name spaces nor filters to isolate them",
			program->config->name);
}

/* Puts the process into the slot. If the daemon is stopping, kills the process, and returns
 * -EINTR. */
static int install(
	struct programs *programs, struct slot *slot, const struct process *process)
{
	LOCK_SCOPE(&programs->lock);
	slot->process = *process;
	slot->runs = true;
	if (programs->stopping)
		process_kill(process);
	return programs->stopping ? -EINTR : 0;
}

static int begin_process(struct programs *programs, struct program *program,
	struct slot *slot, char *message)
{
	char why[COMMAND_MESSAGE];
	struct process process;
	bool isolated = false;
	pause_before_start(programs, program);
	int err = program->usable ? 0 : -ENOENT;
	snprintf(why, sizeof(why), "its command can't be run");
	if (!err && command_has_changed(&program->command, why))
		err = -ESTALE;
	if (!err)
		err = process_start(&program->command, &process, &isolated, why);
	if (err) {
		snprintf(message, IMAGE_MESSAGE, "%.*s", IMAGE_MESSAGE - 1, why);
		return err;
	}
	tell_isolation(programs, program, isolated);
	err = install(programs, slot, &process);
	uint64_t timeout = program->config->timeout_s * UINT64_C(1000000000);
	if (!err)
		err = process_await_ready(
			&slot->process, timeout > START_NS ? timeout : START_NS, message);
	return err;
}

/* Makes the slot's process prepare the sample. If the slot has no running process, first starts
 * one. Returns -EBADMSG if the program refused the sample. */
static int try_once(struct programs *programs, struct program *program, struct slot *slot,
	const struct program_sample *sample, uint8_t *tensor, char *message)
{
	int err = 0;
	if (slot->runs && !process_is_good(&slot->process))
		end_process(programs, slot);
	if (!slot->runs)
		err = begin_process(programs, program, slot, message);
	if (!err)
		err = process_ask(&slot->process, sample, &program->array.type,
			program->config->timeout_s * UINT64_C(1000000000), tensor,
			message);
	bool failed = err != 0 && err != -EBADMSG;
	if (failed)
		end_process(programs, slot);
	LOCK_SCOPE(&programs->lock);
	program->failures = failed ? program->failures + 1 : 0;
	return err;
}

static int run(struct programs *programs, struct program *program,
	const struct program_sample *sample, uint8_t *tensor, char *message)
{
	struct slot *slot = take_slot(programs, program);
	int err = slot ? -EIO : -EINTR;
	for (int i = 0; slot && i < TRIES; i++) {
		err = try_once(programs, program, slot, sample, tensor, message);
		if (err == 0 || err == -EBADMSG || stops(programs))
			break;
		if (i + 1 < TRIES)
			log_warn("preparation %s: %s: %s; joaderfs will try again",
				program->config->name, sample->name, message);
	}
	if (slot)
		give_slot(programs, slot);
	return stops(programs) && err ? -EINTR : err;
}

int programs_run(struct programs *programs, const struct prepared_array *array,
	const struct program_sample *sample, struct tensor **ret,
	char message[static IMAGE_MESSAGE])
{
	struct program *program = &programs->programs[array->number];
	char why[IMAGE_MESSAGE] = "";
	struct tensor *tensor = tensor_new(array->pixels, array_bytes(&array->type));
	*ret = NULL;
	snprintf(message, IMAGE_MESSAGE, "no memory");
	if (!tensor)
		return -ENOMEM;
	int err = run(programs, program, sample, tensor->data, why);
	if (err == 0) {
		*ret = tensor;
		return 0;
	}
	tensor_free(tensor);
	snprintf(message, IMAGE_MESSAGE, "preparation %s: %.*s", array->name,
		(int)(IMAGE_MESSAGE - 16 - strlen(array->name)), why);
	if (err == -EINTR)
		snprintf(message, IMAGE_MESSAGE, "the daemon stops");
	return err == -EINTR || err == -ENOMEM ? err : -EIO;
}
