// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "config/config.h"

void config_report_to_log(void *context, const char *message)
{
	(void)context;
	log_error("%s", message);
}
