// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

/*
 * Samples that programs prepare (prepare/prepare.h) pass a third stage beside reading and
 * decoding, so that a program that is slow, or hangs, holds up no decoder and no other
 * program. Each program prepares as many samples at once as it has processes, and as many
 * more are read ahead for it. Thus samples that wait for a program do not take the room
 * of samples that decoders could decode.
 */

#define TAKEN_PER_PROCESS 2

static const struct prepared_array *array_of(const struct wanted *wanted)
{
	return wanted->key.space->preparation.array;
}

static struct program_load *load_of_locked(const struct wanted *wanted)
{
	const struct prepared_array *array = array_of(wanted);
	struct sched *sched = wanted->key.space->source->sched;
	lock_assert_held(&sched->lock);
	return array ? &sched->program_loads[array->number] : NULL;
}

int program_loads_new(struct sched *sched)
{
	size_t n = programs_count(sched->programs);
	sched->program_loads = calloc(n + 1, sizeof(*sched->program_loads));
	if (!sched->program_loads)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sched->program_loads[i].processes =
			programs_processes(sched->programs, i);
	return 0;
}

void program_change_taken_locked(const struct wanted *wanted, int taken)
{
	struct program_load *load = load_of_locked(wanted);
	lock_assert_held(&wanted->key.space->source->sched->lock);
	if (load)
		load->taken += (unsigned)taken;
}

bool program_has_room_locked(const struct wanted *wanted)
{
	const struct program_load *load = load_of_locked(wanted);
	lock_assert_held(&wanted->key.space->source->sched->lock);
	return !load || load->taken < TAKEN_PER_PROCESS * load->processes;
}

bool program_may_run_locked(const struct wanted *wanted)
{
	const struct program_load *load = load_of_locked(wanted);
	lock_assert_held(&wanted->key.space->source->sched->lock);
	return load && load->running < load->processes;
}

void program_begin_locked(struct wanted *wanted)
{
	struct program_load *load = load_of_locked(wanted);
	lock_assert_held(&wanted->key.space->source->sched->lock);
	if (load)
		load->running++;
}

void program_end_locked(struct wanted *wanted, struct aftermath *aftermath)
{
	struct program_load *load = load_of_locked(wanted);
	lock_assert_held(&wanted->key.space->source->sched->lock);
	if (!load)
		return;
	ensure(load->running > 0);
	load->running--;
	aftermath->kick = true; /* there is room to read ahead for the program */
}

/* --- jobs ------------------------------------------------------------------------------- */

static int unknown(const struct sched *sched, const struct job_config *config,
	config_report *report, void *context)
{
	const struct daemon_config *daemon = sched->config;
	const char *names[32];
	size_t n = 0;
	while (n < daemon->n_preparations && n < 32) {
		names[n] = daemon->preparations[n].name;
		n++;
	}
	const char *near = n > 0 ? config_nearest(config->prepare, names, n) : NULL;
	sched_report(report, context,
		"%s:[tensor]:prepare: found \"%s\", allowed: a [preparation NAME] of the "
		"daemon's ini%s%s%s",
		config->file, config->prepare,
		near	 ? "; did you mean \""
		: n == 0 ? ", which has none"
			 : "",
		near ? near : "", near ? "\"?" : "");
	return -EINVAL;
}

static int refuse(const struct job_config *config, const struct prepared_array *array,
	const char *key, const char *allowed, config_report *report, void *context)
{
	char type[ARRAY_TEXT];
	array_print(&array->type, type);
	sched_report(report, context,
		"%s:[%s]:%s: found it with prepare = %s, which gives arrays of %s, "
		"allowed: %s",
		config->file, strcmp(key, "random_crop") == 0 ? "augment" : "tensor", key,
		config->prepare, type, allowed);
	return -EINVAL;
}

static bool augments(const struct job_config *config)
{
	const struct augment_config *augment = &config->augment;
	return augment->random_crop.width || augment->random_resized_crop.width ||
	       augment->hflip > 0 || augment->normalize.given;
}

/* Refuses keys that change pixels or need them, for arrays that are no pixels. -EINVAL */
static int check_array(const struct job_config *config,
	const struct prepared_array *array, config_report *report, void *context)
{
	if (!config_holds_arrays(config->format))
		return refuse(config, array, "format",
			"npy, record or raw; other formats hold uint8 and a shape of H W "
			"3",
			report, context);
	if (config->pixels.dtype != DTYPE_UINT8 || config->pixels.axes != AXES_HWC)
		return refuse(config, array,
			config->pixels.axes != AXES_HWC ? "axes" : "dtype",
			"neither dtype nor axes, which the program decides about", report,
			context);
	if (augments(config))
		return refuse(config, array, "random_crop",
			"no key of [augment], which is for uint8 and a shape of H W 3",
			report, context);
	return 0;
}

int program_adopt(struct sched *sched, struct job_config *config, config_report *report,
	void *context)
{
	if (!config->prepare)
		return 0;
	const struct prepared_array *array =
		programs_find(sched->programs, config->prepare);
	if (!array)
		return unknown(sched, config, report, context);
	config->preparation = (struct preparation){.array = array};
	if (array->pixels.height > 0)
		return 0;
	config->pixels.array = &array->type;
	return check_array(config, array, report, context);
}
