// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supervisor/death.h"
#include "base/clock.h"
#include "base/kept.h"
#include "base/log.h"

#include <string.h>
#include <sys/wait.h>

void death_log(void)
{
	struct kept *kept_ = kept();
	int status = atomic_load(&kept_->died);
	uint64_t ms = (clock_now_ns() - (uint64_t)atomic_load(&kept_->died_ns)) / 1000000;
	if (status == 0)
		return;
	if (atomic_exchange(&kept_->hung, false))
		snprintf(kept_->reason, sizeof(kept_->reason),
			"the engine hung for a minute and was killed");
	else if (WIFSIGNALED(status))
		snprintf(kept_->reason, sizeof(kept_->reason),
			"the engine was ended by signal %d (%s)%s%s", WTERMSIG(status),
			strsignal(WTERMSIG(status)), kept_->error[0] ? "; " : "",
			kept_->error);
	else
		snprintf(kept_->reason, sizeof(kept_->reason), "the engine ended%s%s",
			kept_->error[0] ? "; " : "", kept_->error);
	log_warn("%s, %llu ms ago; this is another one", kept_->reason,
		(unsigned long long)ms);
}
