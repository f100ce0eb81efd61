// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_mutant.h"

#include <stdlib.h>

/* Linked into a daemon: leaves out the step with the number $COORD_MUTANT of coord_mutant.h. */

__attribute__((constructor)) static void choose_mutant(void)
{
	const char *text = getenv("COORD_MUTANT");
	if (text)
		coord_mutants = (unsigned)strtoul(text, NULL, 10);
}
