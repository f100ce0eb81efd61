// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/label.h"
#include "sched/jobs.h"

#include <string.h>

uint32_t label_bytes(uint32_t n_classes)
{
	uint32_t digits = 1;
	for (uint32_t label = n_classes ? n_classes - 1 : 0; label >= 10; label /= 10)
		digits++;
	return digits + 1;
}

uint32_t label_bytes_of(struct sched_job *job, uint32_t epoch)
{
	auto_edition *edition = sched_edition(job, epoch);
	return label_bytes(dataset_classes(edition->dataset));
}

void label_print(uint32_t label, uint32_t bytes, char ret[LABEL_BYTES])
{
	ensure(bytes < LABEL_BYTES);
	int n = snprintf(ret, LABEL_BYTES, "%u", label);
	ensure(n > 0 && (uint32_t)n < bytes);
	memset(ret + n, '\n', bytes - (uint32_t)n);
}
