// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sim.h"

#define TOLD_NS UINT64_C(200000000)
#define QUIET_NS UINT64_C(500000000) /* shorter runs show no progress */
#define LOOK 4096		     /* samples between two looks at the clock */

void sim_progress_begin(struct sim_progress *progress, FILE *out, double all)
{
	*progress =
		(struct sim_progress){.out = out, .all = all, .begun_ns = clock_now_ns()};
	progress->told_ns = progress->begun_ns + QUIET_NS - TOLD_NS;
}

static void tell(struct sim_progress *progress, uint64_t now_ns)
{
	double seconds = (double)(now_ns - progress->begun_ns) / 1e9;
	double left = progress->all - progress->done;
	progress->told_ns = now_ns;
	fprintf(progress->out, "\rjoader-sim: %3.0f %%, %.0f s left \033[K",
		left > 0 ? 100 * progress->done / progress->all : 100,
		left > 0 ? seconds * left / progress->done : 0);
	fflush(progress->out);
}

void sim_progress_add(struct sim_progress *progress, size_t n)
{
	double before = progress->done;
	progress->done += (double)n;
	if (!progress->out || (uint64_t)before / LOOK == (uint64_t)progress->done / LOOK)
		return;
	uint64_t now_ns = clock_now_ns();
	if (now_ns - progress->told_ns >= TOLD_NS)
		tell(progress, now_ns);
}

/* Clears the progress on the terminal, so that the table begins on an empty line. */
void sim_progress_end(struct sim_progress *progress)
{
	if (progress->out)
		fputs("\r\033[K", progress->out);
}
