// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch_world.h"

/* Epochs with other samples than earlier ones, after another scan of the dataset. */

enum { N = 24, MORE = 32, FEWER = 16 };

static const struct epochs_config config = {.kind = EPOCHS_DRAWN,
	.set.positions = N,
	.limit = 8,
	.lookahead = 4,
	.file = 1,
	.idle_ns = UINT64_MAX / 2};

/* Returns the set of the samples first, first + 1 ... */
static struct epoch_set set_from(uint32_t first, uint32_t n)
{
	roaring_bitmap_t *selection = roaring_bitmap_from_range(first, first + n, 1);
	cr_assert(selection);
	return (struct epoch_set){.selection = selection, .positions = n};
}

static void set_free(struct epoch_set *set)
{
	roaring_bitmap_free((roaring_bitmap_t *)(uintptr_t)set->selection);
}

/* Checks that the epoch has bound each sample of the selection once. */
static void check_epoch(const struct epoch_world *world, uint32_t epoch,
	const roaring_bitmap_t *selection)
{
	roaring_bitmap_t *seen = roaring_bitmap_create();
	for (size_t i = 0; i < world->n_records; i++) {
		const struct record *record = &world->journal[i];
		if (record->kind == RECORD_BOUND && record->epoch == epoch)
			cr_assert(roaring_bitmap_add_checked(seen, record->sample));
	}
	cr_assert(roaring_bitmap_equals(seen, selection), "epoch %u", epoch);
	roaring_bitmap_free(seen);
}

static void read_pass(struct epoch_world *world, uint32_t from, uint32_t to)
{
	for (uint32_t position = from; position < to; position++)
		world_read(world, EPOCH_CURRENT, position, 1, false);
}

/* Opens a position of current/. Returns the status, and the epoch in *ret_epoch. */
static int open_one(struct epoch_world *world, uint32_t position, uint64_t thread,
	uint32_t *ret_epoch)
{
	struct world_request *request =
		world_request_new(world, EPOCH_CURRENT, position, thread, false);
	world_open(world, request);
	int status = request->request.status;
	*ret_epoch = request->request.found_epoch;
	world_release(world, request, true);
	return status;
}

static void use(struct epoch_world *world, struct epoch_set *set)
{
	epochs_use_set(world->epochs, epochs_first_new(world->epochs), set);
	epochs_validate(world->epochs);
}

/* Replays the records by an engine that knows the sets and their first epochs, and compares. */
static void check_replay(const struct epoch_world *world, struct epoch_set *sets,
	const uint32_t *first, size_t n)
{
	struct epoch_set copies[4];
	struct epochs *epochs;
	cr_assert_eq(0, epochs_new(&world->config, &epochs));
	for (size_t i = 0; i < n; i++) {
		copies[i] = sets[i];
		epochs_use_set(epochs, first[i], &copies[i]);
	}
	for (size_t i = 0; i < world->n_records; i++)
		world_replay_record(world, epochs, i);
	world_tell_orders(world, epochs);
	epochs_validate(epochs);
	char *expected = world_print(world->epochs), *found = world_print(epochs);
	cr_assert_str_eq(found, expected);
	free(expected);
	free(found);
	epochs_free(&epochs);
}

Test(epoch_sets, a_set_is_that_of_the_epochs_that_begin_after)
{
	struct epoch_world world;
	struct epoch_set sets[] = {set_from(10, MORE), set_from(3, FEWER)};
	world_begin(&world, &config, 1);
	read_pass(&world, 0, 10);
	use(&world, &sets[0]);
	cr_assert_eq(epochs_set(world.epochs, 0)->positions, N);
	cr_assert_eq(epochs_set(world.epochs, 1)->positions, MORE);
	read_pass(&world, 10, N);
	read_pass(&world, 0, MORE / 2);
	use(&world, &sets[1]);
	read_pass(&world, MORE / 2, MORE);
	read_pass(&world, 0, FEWER);
	check_epoch(&world, 0, world.selection);
	check_epoch(&world, 1, sets[0].selection);
	check_epoch(&world, 2, sets[1].selection);
	check_replay(&world, sets, (const uint32_t[]){1, 2}, 2);
	world_end(&world);
	set_free(&sets[0]);
	set_free(&sets[1]);
}

/* A late worker gets the rest of the previous epoch, and the others get the next epoch. */
Test(epoch_sets, two_epochs_of_different_sets_run_at_once)
{
	struct epoch_world world;
	struct epoch_set more = set_from(10, MORE);
	uint32_t epoch;
	world_begin(&world, &config, 2);
	for (uint32_t position = 0; position < N; position += 2) {
		cr_assert_eq(
			0, open_one(&world, position, position == 2 ? 3 : 1, &epoch));
		if (position < N - 6)
			cr_assert_eq(0, open_one(&world, position + 1, 2, &epoch));
	}
	use(&world, &more);
	for (uint32_t position = 0; position < MORE; position += 2) {
		cr_assert_eq(0, open_one(&world, position, 1, &epoch));
		cr_assert_eq(epoch, 1);
		/* a third worker, which is not late, opens a file of this epoch */
		if (position == 6) {
			cr_assert_eq(0, open_one(&world, MORE - 3, 3, &epoch));
			cr_assert_eq(epoch, 1);
		}
		if (position >= 6 && position < 12) {
			cr_assert_eq(0, open_one(&world, N - 11 + position, 2, &epoch));
			cr_assert_eq(epoch, 0, "position %u", N - 11 + position);
		}
	}
	for (uint32_t position = MORE - 1; position < MORE; position -= 2) {
		if (position == MORE - 3)
			continue;
		cr_assert_eq(0, open_one(&world, position, 2, &epoch));
		cr_assert_eq(epoch, 1);
	}
	check_epoch(&world, 0, world.selection);
	check_epoch(&world, 1, more.selection);
	check_replay(&world, &more, (const uint32_t[]){1}, 1);
	world_end(&world);
	set_free(&more);
}

/* Before, the engine knew only passes of equal length. */
Test(epoch_sets, a_pass_is_as_long_as_its_epoch)
{
	struct epoch_world world;
	struct epoch_set more = set_from(10, MORE);
	world_begin(&world, &config, 5);
	for (uint32_t pass = 0; pass < 4; pass++)
		read_pass(&world, 0, N);
	use(&world, &more);
	for (uint32_t pass = 0; pass < 3; pass++)
		read_pass(&world, 0, MORE);
	for (uint32_t epoch = 0; epoch < 7; epoch++)
		check_epoch(&world, epoch, epoch < 4 ? world.selection : more.selection);
	check_replay(&world, &more, (const uint32_t[]){4}, 1);
	world_end(&world);
	set_free(&more);
}

Test(epoch_sets, a_file_of_the_next_epoch_does_not_begin_it_too_early)
{
	struct epoch_world world;
	struct epoch_set more = set_from(0, MORE), fewer = set_from(0, FEWER);
	uint32_t epoch;
	world_begin(&world, &config, 3);
	read_pass(&world, 0, 4);
	use(&world, &more);
	cr_assert_eq(-ENOENT, open_one(&world, N + 1, 1, &epoch));
	cr_assert_eq(-ENOENT, open_one(&world, MORE, 1, &epoch));
	struct world_request *other = world_request_by(&world, EPOCH_CURRENT, N + 1,
		(struct reader){.thread = 9, .rank = 9, .script = 9}, false);
	world_open(&world, other);
	cr_assert_eq(-ENOENT, other->request.status, "a script that comes new");
	world_release(&world, other, true);
	read_pass(&world, 4, N);
	cr_assert_eq(epochs_set(world.epochs, EPOCH_CURRENT), &more);
	cr_assert_eq(0, open_one(&world, N + 1, 1, &epoch));
	cr_assert_eq(epoch, 1);
	use(&world, &fewer);
	read_pass(&world, 0, N + 1);
	read_pass(&world, N + 2, MORE);
	cr_assert_eq(-ENOENT, open_one(&world, FEWER, 1, &epoch), "of no epoch any more");
	read_pass(&world, 0, FEWER);
	check_epoch(&world, 1, more.selection);
	check_epoch(&world, 2, fewer.selection);
	world_end(&world);
	set_free(&more);
	set_free(&fewer);
}

/* With drop_last the pass ends before the epoch. */
Test(epoch_sets, a_file_of_the_next_epoch_begins_it_when_half_was_read)
{
	struct epoch_world world;
	struct epoch_set more = set_from(0, MORE);
	uint32_t epoch;
	world_begin(&world, &config, 6);
	read_pass(&world, 0, N - 2);
	use(&world, &more);
	cr_assert_eq(0, open_one(&world, N + 1, 1, &epoch));
	cr_assert_eq(epoch, 1);
	world_end(&world);
	set_free(&more);
}

Test(epoch_sets, a_set_is_dropped_with_the_last_epoch_that_is_kept)
{
	struct epoch_world world;
	struct epoch_set unused = set_from(0, FEWER), more = set_from(10, MORE);
	world_begin(&world, &config, 4);
	read_pass(&world, 0, N);
	use(&world, &unused);
	use(&world, &more);
	cr_assert_eq(epochs_drop_set(world.epochs), &unused);
	cr_assert_null(epochs_drop_set(world.epochs));
	read_pass(&world, 0, MORE);
	read_pass(&world, 0, 1);
	cr_assert_null(epochs_drop_set(world.epochs), "the order of epoch 0 is kept");
	epochs_forget_before(world.epochs, 1);
	const struct epoch_set *dropped = epochs_drop_set(world.epochs);
	cr_assert(dropped && dropped->positions == N);
	cr_assert_null(epochs_drop_set(world.epochs));
	world_end(&world);
	set_free(&unused);
	set_free(&more);
}

static int open_by_name(struct epoch_world *world, uint32_t epoch, uint32_t position,
	uint32_t names, uint32_t *ret_epoch)
{
	struct world_request *request =
		world_request_new(world, epoch, position, 1, false);
	request->request.names = names;
	world_open(world, request);
	int status = request->request.status;
	*ret_epoch = request->request.found_epoch;
	world_release(world, request, true);
	return status;
}

/* A position has another name in another epoch, so none is taken for that of the other epoch. */
Test(epoch_sets, positions_of_other_names_are_stale)
{
	struct epoch_world world;
	struct epoch_set other = set_from(10, MORE);
	uint32_t epoch;
	other.names = 2;
	world_begin(&world, &config, 7);
	for (uint32_t position = 0; position < 4; position++)
		cr_assert_eq(0, open_by_name(&world, 0, position, 0, &epoch));
	cr_assert_not(epochs_current_is_read(world.epochs, 1));
	use(&world, &other);
	cr_assert_eq(epochs_set(world.epochs, EPOCH_CURRENT), &other);
	cr_assert_eq(0, open_by_name(&world, 0, 4, 0, &epoch), "the epoch goes on");
	cr_assert_eq(-ESTALE, open_by_name(&world, 0, 5, 2, &epoch));
	cr_assert_eq(-ESTALE, open_by_name(&world, 0, MORE - 1, 2, &epoch));
	cr_assert_eq(-ESTALE, open_by_name(&world, EPOCH_CURRENT, 5, 0, &epoch));
	for (uint32_t position = 0; position < MORE; position++) {
		cr_assert_eq(0, open_by_name(&world, EPOCH_CURRENT, position, 2, &epoch));
		cr_assert_eq(epoch, 1, "the next one, also if the first is not read");
	}
	cr_assert(epochs_current_is_read(world.epochs, 1));
	cr_assert_eq(-ESTALE, open_by_name(&world, EPOCH_CURRENT, 5, 0, &epoch));
	cr_assert_eq(0, open_by_name(&world, EPOCH_CURRENT, 5, 2, &epoch));
	cr_assert_eq(epoch, 2);
	check_epoch(&world, 1, other.selection);
	world_end(&world);
	set_free(&other);
}
