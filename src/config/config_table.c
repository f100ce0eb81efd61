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
		"Without this section a training has ranks on this machine only."},
	[SECTION_DATASET] = {"dataset", INI_DAEMON, true,
		"A dataset that jobs can read, one section for each, at least one.\n"
		"Jobs refer to it by NAME: " NAME_RULE "."},
	[SECTION_TEMPLATE] = {"template", INI_DAEMON, true,
		"A job that joaderctl add --template NAME makes.\n"
		"Its keys are those of a job's ini, as SECTION.KEY: tensor.resize = "
		"256."},
	[SECTION_PREPARATION] = {"preparation", INI_DAEMON, true,
		"A program that makes an array of each sample, for jobs with prepare = "
		"NAME.\n"
		"joaderfs-prepare(7) explains how the program gets samples, and its "
		"limits."},
	[SECTION_JOB] = {"job", INI_JOB, false,
		"The samples that the job gets, and their order."},
	[SECTION_TENSOR] = {"tensor", INI_JOB, false,
		"How images are prepared before the job reads them.\n"
		"Jobs whose resize, filter, crop, pad, fill, channels, accuracy and exif "
		"are equal share the prepared images.\n"
		"Sections [tensor GLOB] prepare the files whose paths match; see "
		"SECTIONS BY PATH."},
	[SECTION_AUGMENT] = {"augment", INI_JOB, false,
		"How the shared image is changed for this job alone, anew in each "
		"epoch.\n"
		"Jobs with different sections share the prepared images.\n"
		"Random choices depend only on the seed, the epoch and the position: a "
		"file that is read again holds the same bytes."},
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
