// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * Parts of the protocol that the simulation leaves out, one at a time, to see that it
 * notices. Only tests are built with COORD_MUTANTS.
 */

enum coord_mutant {
	MUTANT_NONE,
	MUTANT_NO_TOKEN = 1,   /* any leader may append */
	MUTANT_NO_NEXT = 2,    /* wherever the log ends */
	MUTANT_NO_REPAIR = 4,  /* nobody offers what its journal knows */
	MUTANT_NO_RECOMMIT = 8 /* a cursor that did not move is not sent again */
};

extern unsigned coord_mutants; /* of tests only */

#ifdef COORD_MUTANTS
#define mutant(kind) (coord_mutants & (kind))
#else
#define mutant(kind) 0
#endif
