// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_internal.h"

#include <errno.h>
#include <string.h>

/* The leader's lease decides which node should draw. The token decides from which node the engine
 * accepts samples. A leader that was replaced notices this at its next call of the engine, and
 * forgets the samples that it has drawn. */

void coord_resign(struct coord *coord)
{
	coord->leads = false;
	coord->waits_since_ns = 0;
	coord_drop_drawn(coord);
}

static int elect(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	int err = engine->elect(engine->context, &coord->self, rng_next(&coord->rng),
		ttl_ms(coord), &coord->token);
	if (err == -EBUSY)
		return 0;
	if (err)
		return err;
	coord->leads = true;
	coord->renewed_ns = coord->now_ns;
	coord->draw_ns = 0;
	coord->view.leader = coord->self.incarnation;
	coord->view.term = coord->token.term;
	memcpy(coord->view.leader_name, coord->self.name, COORD_NAME);
	return 0;
}

int coord_lead(struct coord *coord)
{
	int err = 0;
	bool vacant =
		!coord->view.leader || coord->view.leader == coord->self.incarnation;
	if (!coord->leads && vacant)
		err = elect(coord);
	if (err || !coord->leads)
		return err;
	return coord->view.ready ? coord_draw(coord) : coord_repair(coord);
}
