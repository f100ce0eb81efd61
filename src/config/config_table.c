// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

const struct section_spec config_sections[SECTION_COUNT] = {
	[SECTION_JOADERFS] = {"joaderfs", INI_DAEMON, false,
		"The daemon itself.\n"
		"The section may be left out: every key has a default."},
	[SECTION_CLUSTER] = {"cluster", INI_DAEMON, false,
		"The group of daemons to which this one belongs: the ranks of one "
		"training may run on all of its nodes.\n"
		"Without this section ranks are those of this machine."},
	[SECTION_DATASET] = {"dataset", INI_DAEMON, true,
		"A dataset that jobs can read, one section for each, at least one.\n"
		"NAME is how jobs refer to it: " NAME_RULE "."},
	[SECTION_TEMPLATE] = {"template", INI_DAEMON, true,
		"A job in advance, which joaderctl add --template NAME makes.\n"
		"Its keys are SECTION.KEY, those of a job's ini: tensor.resize = 256."},
	[SECTION_PREPARATION] = {"preparation", INI_DAEMON, true,
		"A program that makes an array of each sample, for jobs with prepare = "
		"NAME.\n"
		"joaderfs-prepare(7) says how the program gets samples, and under which "
		"limits it runs."},
	[SECTION_JOB] = {"job", INI_JOB, false,
		"Which samples the job gets, and in which order."},
	[SECTION_TENSOR] = {"tensor", INI_JOB, false,
		"What is done to an image before the job reads it.\n"
		"Jobs whose resize, filter, crop, pad, fill, channels, accuracy and exif "
		"are equal share the prepared images.\n"
		"[tensor GLOB], of which there may be several, says so of the files "
		"whose "
		"paths match; see SECTIONS BY PATH."},
	[SECTION_AUGMENT] = {"augment", INI_JOB, false,
		"What is done anew in each epoch, to the shared image, for this job "
		"alone.\n"
		"Jobs that differ in it share the prepared images.\n"
		"It depends on the seed, the epoch and the position only: a file that "
		"is read again holds the same bytes."},
	[SECTION_VIEW] = {"view", INI_JOB, false, "How the job's samples look as files."},
};

size_t config_n_options(void)
{
	return config_n_daemon_options + config_n_job_options;
}

const struct option *config_option(size_t i)
{
	return i < config_n_daemon_options
		       ? &config_daemon_options[i]
		       : &config_job_options[i - config_n_daemon_options];
}
