// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* Mutants are deliberate mistakes that tests switch on. Each mutant breaks one rule of the
 * protocol, and the simulation (tests/dst/cluster) must notice the broken rule. */

enum coord_mutant {
	MUTANT_NONE,
	MUTANT_NO_TOKEN = 1,	/* an append does not compare the leader's token */
	MUTANT_NO_NEXT = 2,	/* an append does not compare the log's length */
	MUTANT_NO_REPAIR = 4,	/* no node offers its journal */
	MUTANT_NO_RECOMMIT = 8, /* a cursor that has not moved is not sent again */
	MUTANT_NO_NEWS = 16	/* an idle leader does not see changes by other nodes */
};

extern unsigned coord_mutants; /* exists in tests only */

#ifdef COORD_MUTANTS
#define mutant(kind) (coord_mutants & (kind))
#else
#define mutant(kind) 0
#endif
