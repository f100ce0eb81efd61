// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../coord_canned.h"
#include "base/log.h"
#include "coord/coord.h"

/*
 * Replies of the engine's server to a node, one after the other, whatever the node asks. The first
 * byte says whether the node has a job. If a node accepts nonsense as an answer, or continues
 * after it, an assertion fails.
 */

#define SAMPLES 40
#define MOST_IDS (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fed(void *context, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t base, const sample_id *ids, uint32_t n)
{
	(void)context, (void)job, (void)epoch;
	ensure(rank < 2 && base <= SAMPLES && n <= SAMPLES);
	for (uint32_t i = 0; i < n; i++)
		if (ids[i] >= SAMPLES)
			return -EINVAL;
	return 0;
}

static uint32_t known(void *context, const char *job)
{
	(void)context, (void)job;
	return 1;
}

static uint32_t tail(
	void *context, struct coord_tail *tail, sample_id *ids, uint32_t most)
{
	(void)context;
	if (tail->base > 0 || most == 0)
		return 0;
	ids[0] = tail->rank;
	return 1;
}

static void forget(void *context, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t base, uint32_t n)
{
	(void)context, (void)job, (void)rank, (void)epoch, (void)base, (void)n;
}

static void resident(void *context, const char *dataset, roaring_bitmap_t *ids)
{
	(void)context, (void)dataset;
	roaring_bitmap_add(ids, 3);
}

static void add_job(struct coord *coord)
{
	roaring_bitmap_t *ids = roaring_bitmap_from_range(0, SAMPLES, 1);
	const struct coord_job job = {.name = "job0",
		.dataset = "photos",
		.fingerprint = 17,
		.ids = ids,
		.ranks = 2,
		.batch = 4,
		.kind = SAMPLER_EXCHANGE};
	ensure(ids && coord_add_job(coord, &job) == 0);
	ensure(coord_take_rank(coord, "job0", 1, 0, COORD_AT_CURSOR) == 0);
	roaring_bitmap_free(ids);
}

/* Makes steps until all replies were read. */
static void step_all(struct coord *coord, const struct canned *canned)
{
	uint64_t now_ns = SECOND;
	for (unsigned i = 0; i < 1000 && canned->resp->link; i++) {
		struct coord_rank_status status;
		(void)coord_step(coord, now_ns);
		now_ns += SECOND;
		if (coord_rank_status(coord, "job0", 1, &status) == 0) {
			(void)coord_commit(
				coord, "job0", 1, status.epoch, status.position);
			(void)coord_want(coord, "job0", status.epoch + 1);
		}
	}
	struct coord_status status;
	coord_status(coord, &status);
	ensure(canned->resp->link || status.away_since_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct canned canned;
	static const struct coord_engine *engine;
	struct coord *coord;
	if (!engine) {
		ensure(log_to_file("/dev/null") == 0);
		engine = canned_begin(&canned);
	}
	if (size < 1 || size > CANNED_MOST)
		return 0;
	const struct coord_options options = {
		.self = {.name = "node0", .incarnation = 5, .capacity = 1},
		.ttl_ns = 10 * SECOND,
		.seed = 1,
		.most_ids = MOST_IDS,
		.calls = {.fed = fed,
			.known = known,
			.tail = tail,
			.forget = forget,
			.resident = resident}};
	ensure(coord_new(&options, engine, &coord) == 0);
	canned_say(&canned, data + 1, size - 1);
	if (data[0] & 1)
		add_job(coord);
	step_all(coord, &canned);
	coord_free(&coord);
	return 0;
}
