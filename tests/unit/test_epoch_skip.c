// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch_world.h"

/* Samples that an epoch leaves out. */

enum { N = 24, SKIPPED = 3 };

static const sample_id bad[SKIPPED] = {0, 8, 14};

static struct epochs_config config_of(enum epochs_kind kind)
{
	return (struct epochs_config){.kind = kind,
		.set.positions = N,
		.limit = 4,
		.lookahead = 2,
		.file = 1,
		.idle_ns = UINT64_C(1000000000)};
}

/* Returns the position that the i-th bad sample leaves without a file. The world's samples are 2 *
 * position; where samples are drawn, the last positions have none. */
static uint32_t position_of(const struct epoch_world *world, uint32_t i)
{
	return world->config.kind == EPOCHS_FIXED ? bad[i] / 2 : N - 1 - i;
}

static void skip(struct epoch_world *world, uint32_t epoch)
{
	for (uint32_t i = 0; i < SKIPPED; i++) {
		struct effects effects;
		effects_init(&effects);
		cr_assert_eq(0, epochs_skip(world->epochs, epoch, position_of(world, i),
					bad[i], &effects));
		world_execute(world, &effects);
		epochs_validate(world->epochs);
	}
}

/* Begins the epoch by its first open, which is answered when the stream has come. */
static void begin(
	struct epoch_world *world, uint32_t epoch, uint32_t position, bool skips)
{
	struct world_request *first = world_request_new(world, epoch, position, 1, false);
	world->by_hand = true;
	world_open(world, first);
	cr_assert_eq(first->answers, 0);
	if (skips)
		skip(world, epoch);
	world_begun(world, epoch, 0);
	world_release(world, first, true);
	world->by_hand = false;
	if (epoch > 0 && world->streams[epoch - 1].saving)
		world_saved(world, epoch - 1);
}

static bool is_skipped(const struct epoch_world *world, uint32_t position)
{
	for (uint32_t i = 0; i < SKIPPED; i++)
		if (position == position_of(world, i))
			return true;
	return false;
}

static void read_others(struct epoch_world *world, uint32_t epoch)
{
	for (uint32_t position = 0; position < N; position++)
		if (!is_skipped(world, position))
			world_read(world, epoch, position, 1, false);
}

/* Checks that the epoch has ended, and that each other sample came once. */
static void check_order(const struct epoch_world *world, uint32_t epoch)
{
	const struct order *order = &world->streams[epoch].file;
	roaring_bitmap_t *seen = roaring_bitmap_create();
	cr_assert_eq(order->bound, N);
	cr_assert_eq(order->consumed, N);
	for (uint32_t position = 0; position < N; position++)
		cr_assert(roaring_bitmap_add_checked(seen, order->samples[position]));
	for (uint32_t i = 0; i < SKIPPED; i++) {
		cr_assert_eq(order->samples[position_of(world, i)], bad[i] + 1);
		cr_assert_eq(order->log[i] >> ORDER_POSITION_BITS, SERVED_SKIPPED);
	}
	roaring_bitmap_free(seen);
}

static void read_epochs(enum epochs_kind kind)
{
	struct epoch_world world;
	struct epochs_config config = config_of(kind);
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < N; i++)
		world_read(&world, 0, i, 1, false);
	cr_assert_null(epochs_skipped(world.epochs, 0));
	for (uint32_t epoch = 1; epoch < 3; epoch++) {
		begin(&world, epoch, 5, true);
		read_others(&world, epoch);
		cr_assert_eq(SKIPPED, roaring_bitmap_get_cardinality(
					      epochs_skipped(world.epochs, epoch)));
	}
	begin(&world, 3, 5, false); /* the order of the previous epoch is saved */
	check_order(&world, 1);
	check_order(&world, 2);
	cr_assert_null(epochs_skipped(world.epochs, 3));
	cr_assert_eq(EPOCH_SAVED, epochs_state(world.epochs, 2));
	world_end(&world);
}

Test(epoch_skip, the_other_samples_come_once_each)
{
	read_epochs(EPOCHS_DRAWN);
	read_epochs(EPOCHS_FIXED);
}

/* Replays the records up to each of them. The new engine also counts left-out samples as read. */
Test(epoch_skip, a_replay_knows_what_is_left_out)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN);
	world_begin(&world, &config, 1);
	begin(&world, 0, 5, true);
	for (uint32_t i = 6; i < 12; i++)
		world_read(&world, 0, i, 1, false);
	auto_free char *before = world_print(world.epochs);
	world_restart(&world, world.n_records);
	world_replayed(&world);
	auto_free char *after = world_print(world.epochs);
	cr_assert_str_eq(before, after);
	cr_assert_eq(
		SKIPPED, roaring_bitmap_get_cardinality(epochs_skipped(world.epochs, 0)));
	read_others(&world, 0);
	struct epochs_status status;
	epochs_status(world.epochs, &status);
	cr_assert_not(status.running);
	world_end(&world);
}

Test(epoch_skip, what_was_forgotten_is_not_kept)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN);
	world_begin(&world, &config, 1);
	epochs_was_skipped(world.epochs, 2, 7);
	epochs_was_skipped(world.epochs, 3, 7);
	epochs_forget_before(world.epochs, 3);
	cr_assert_null(epochs_skipped(world.epochs, 2));
	cr_assert(roaring_bitmap_contains(epochs_skipped(world.epochs, 3), 7));
	world_end(&world);
}
