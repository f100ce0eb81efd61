// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supervisor/death.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/kept.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size_text.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Tells whether the kernel killed the engine because memory ran out. SIGKILL can also come from an
 * operator, so the kernel's count of kills for lack of memory must have grown. */
static bool was_of_memory(int status, uint64_t kills_before, uint64_t kills)
{
	bool any = kills > kills_before || fault_hit("death.memory");
	return any && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void find_reason(int status, bool of_memory, char *ret, size_t size)
{
	const char *error = kept()->error, *between = error[0] ? "; " : "";
	struct machine_memory memory = machine_memory("");
	if (atomic_exchange(&kept()->hung, false))
		snprintf(ret, size, "the engine hung for a minute and was killed");
	else if (of_memory)
		snprintf(ret, size,
			"the engine was killed because memory ran out (%s has %s): set a "
			"smaller cache or fewer workers in [joaderfs]",
			memory.limit[0] ? memory.limit : "this machine",
			size_text(memory.most).text);
	else if (WIFSIGNALED(status))
		snprintf(ret, size, "the engine was ended by signal %d (%s)%s%s",
			WTERMSIG(status), strsignal(WTERMSIG(status)), between, error);
	else
		snprintf(ret, size, "the engine ended%s%s", between, error);
}

void death_tell(bool has_died)
{
	struct kept *kept_ = kept();
	int status = atomic_load(&kept_->died);
	uint64_t ms = (clock_now_ns() - (uint64_t)atomic_load(&kept_->died_ns)) / 1000000;
	uint64_t kills = machine_memory_kills("");
	uint64_t kills_before = atomic_exchange(&kept_->oom_kills, kills);
	if (!has_died || status == 0)
		return;
	find_reason(status, was_of_memory(status, kills_before, kills), kept_->reason,
		sizeof(kept_->reason));
	log_warn("%s, %llu ms ago; a new engine takes over", kept_->reason,
		(unsigned long long)ms);
}
