// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

/* joaderfs --try: a daemon with one dataset and a job per layout. Threads: any. Errors:
 * config.h. */

/* Configures a daemon with the dataset in `directory`, which may also be a URL. The state directory
 * is named after the dataset. */
must_check int config_try_daemon(const char *directory, config_report *report,
	void *context, struct daemon_config *ret);
/* Makes the configuration of job i. -ENOENT: there is no job of this number. */
must_check int config_try_job(size_t i, const char *dataset, config_report *report,
	void *context, struct job_config *ret);
void config_try_print(FILE *out, const char *mountpoint);
