// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"
#include "epoch_world.h"

/* Behaviour that needs more positions than a trace should have, or has no visible effect. */

static struct epochs_config config_of(enum epochs_kind kind, uint32_t positions)
{
	return (struct epochs_config){.kind = kind,
		.set.positions = positions,
		.limit = 3,
		.lookahead = 1,
		.file = 1,
		.idle_ns = UINT64_C(1000000000)};
}

static struct world_request *open_position(struct epoch_world *world, uint32_t position)
{
	struct world_request *request = world_request_new(world, 0, position, 1, false);
	world_open(world, request);
	cr_assert_eq(request->answers, 1);
	return request;
}

/* A pin is given back when the reader is 4 * lookahead + 256 positions further on. The position
 * keeps its sample. */
Test(epoch, who_reads_labels_only_pins_nothing_that_is_far)
{
	enum { N = 600, FAR = 260 };
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, N);
	world_begin(&world, &config, 1);
	struct world_request *held = open_position(&world, 0);
	for (uint32_t i = 1; i < N; i++) {
		world_read(&world, 0, i, 1, true);
		epochs_validate(world.epochs);
		uint32_t pins = i < FAR ? i + 1 : FAR + 1; /* these, and the open file */
		cr_assert_eq(pins, epochs_pins(world.epochs), "%u: %u pins", i,
			epochs_pins(world.epochs));
	}
	cr_assert_eq(1, epochs_pins_of(world.epochs, NULL, held->request.sample));
	world_release(&world, held, true);
	cr_assert_eq(FAR, epochs_pins(world.epochs));
	for (uint32_t i = 0; i < N; i++)
		cr_assert_neq(SAMPLE_NONE, epochs_bound(world.epochs, 0, i));
	world_end(&world);
}

static void open_current(
	struct epoch_world *world, uint32_t position, uint64_t thread, bool looks)
{
	struct world_request *request = world_request_by(
		world, EPOCH_CURRENT, position, (struct reader){thread, 1, 1}, false);
	request->request.done = true;
	request->request.looks = looks;
	world_open(world, request);
	cr_assert_eq(0, request->request.status);
	world_release(world, request, true);
}

/* A program may show the same image after each step of its training. */
Test(epoch, a_process_that_looks_again_is_not_noted_again)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 64);
	unsigned looks = 0;
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < 32; i++) {
		open_current(&world, i, 2, false);
		open_current(&world, 40, 1, true);
		open_current(&world, i, 1, true);
	}
	for (size_t i = 0; i < world.n_records; i++)
		looks += world.journal[i].kind == RECORD_OPENED &&
			 world.journal[i].how == OPENED_LOOKED;
	cr_assert_eq(1, looks, "%u looks are noted", looks);
	world_end(&world);
}

Test(epoch, a_position_is_given_for_the_first_time_once)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 8);
	world_begin(&world, &config, 1);
	cr_assert_not(epochs_given(world.epochs, 0, 3));
	struct world_request *first = open_position(&world, 3);
	struct world_request *second = open_position(&world, 3);
	cr_assert(epochs_given(world.epochs, 0, 3));
	cr_assert_not(epochs_given(world.epochs, 0, 3));
	world_release(&world, first, true);
	cr_assert_not(epochs_given(world.epochs, 0, 3));
	world_release(&world, second, true);
	world_end(&world);
}

Test(epoch, of_a_mirror_each_time_counts)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_MIRRORED, 8);
	world_begin(&world, &config, 1);
	cr_assert(epochs_given(world.epochs, 0, 3));
	cr_assert(epochs_given(world.epochs, 0, 3));
	cr_assert_eq(6, epochs_bound(world.epochs, 0, 3));
	world_end(&world);
}

/* The sample of an unbound position is known, too, and the question has no effect. */
Test(epoch, what_a_fixed_position_holds_is_known_before)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_FIXED, 8);
	world_begin(&world, &config, 1);
	cr_assert_eq(6, epochs_bound(world.epochs, 0, 3));
	cr_assert_eq(6, epochs_bound(world.epochs, EPOCH_CURRENT, 3));
	cr_assert_eq(SAMPLE_NONE, epochs_bound(world.epochs, 0, 8));
	cr_assert_eq(EPOCH_UNKNOWN, epochs_state(world.epochs, 0));
	world_end(&world);
}

/* epochs_print, which prints all that a replay knows, is the same before and after. */
Test(epoch, questions_change_nothing)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 16);
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < 20; i++)
		world_read(&world, EPOCH_CURRENT, i % 16, 1, false);
	auto_free char *before = world_print(world.epochs);
	for (uint32_t i = 0; i < 16; i++) {
		epochs_bound(world.epochs, EPOCH_CURRENT, i);
		epochs_current(world.epochs, i);
		epochs_state(world.epochs, i);
	}
	auto_free char *after = world_print(world.epochs);
	cr_assert_str_eq(before, after);
	world_end(&world);
}

/* Scripts with the fewest samples are forgotten first; of ranks and threads, those that have not
 * come for longest. */
Test(epoch, a_script_that_trains_is_not_forgotten_for_those_who_look)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 256);
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < 100; i++)
		world_read(&world, EPOCH_CURRENT, i, 1, false);
	for (uint32_t i = 2; i < 3 * CURRENT_SCRIPTS; i++)
		world_read_by(&world, EPOCH_CURRENT, i, (struct reader){i, i, i}, false);
	auto_free char *text = world_print(world.epochs);
	cr_assert_not_null(strstr(text, "script 1 "), "%s", text);
	cr_assert_null(strstr(text, "script 2 "), "%s", text);
	cr_assert_not_null(strstr(text, "script 47 "), "%s", text);
	world_end(&world);
}

Test(epoch, threads_that_have_not_read_for_the_longest_time_are_forgotten)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 512);
	world_begin(&world, &config, 1);
	for (uint32_t i = 1; i <= CURRENT_WORKERS; i++)
		world_read(&world, EPOCH_CURRENT, i, 1000 + i, false);
	world_read(&world, EPOCH_CURRENT, 400, 1001, false);
	world_read(&world, EPOCH_CURRENT, 401, 2000, false);
	auto_free char *text = world_print(world.epochs);
	cr_assert_not_null(strstr(text, "worker 1001 "), "%s", text);
	cr_assert_null(strstr(text, "worker 1002 "), "%s", text);
	cr_assert_not_null(strstr(text, "worker 2000 "), "%s", text);
	world_end(&world);
}

static void read_epoch(struct epoch_world *world, uint32_t epoch)
{
	for (uint32_t i = 0; i < world->config.set.positions; i++)
		world_read(world, epoch, i, 1, false);
}

static int status_of(struct epoch_world *world, uint32_t epoch)
{
	struct world_request *request = world_request_new(world, epoch, 0, 1, false);
	world_open(world, request);
	int status = request->request.status;
	world_release(world, request, true);
	return status;
}

/* Epochs that have begun exist, and the next one. */
Test(epoch, epochs_come_one_after_the_other)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 8);
	world_begin(&world, &config, 1);
	cr_assert_eq(-ENOENT, status_of(&world, 1));
	read_epoch(&world, 0);
	cr_assert_eq(-ENOENT, status_of(&world, 2));
	read_epoch(&world, 1);
	cr_assert_eq(0, status_of(&world, 2));
	cr_assert_eq(-ENOENT, status_of(&world, 3));
	cr_assert_eq(EPOCH_SAVED, epochs_state(world.epochs, 0));
	cr_assert_eq(EPOCH_SAVED, epochs_state(world.epochs, 1));
	cr_assert_eq(2, epochs_first_unsaved(world.epochs));
	world_end(&world);
}

Test(epoch, what_the_clerk_asks_for_is_what_the_effects_said)
{
	struct epoch_world world;
	uint32_t epoch;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 8);
	world_begin(&world, &config, 1);
	world.by_hand = true;
	cr_assert_not(epochs_wants(world.epochs, EFFECT_BEGIN, &epoch));
	struct world_request *request = world_request_new(&world, 0, 0, 1, false);
	world_open(&world, request);
	cr_assert(epochs_wants(world.epochs, EFFECT_BEGIN, &epoch));
	cr_assert_eq(0, epoch);
	cr_assert(epochs_wants_stream_of(world.epochs, 0));
	world_begun(&world, 0, 0);
	cr_assert_not(epochs_wants(world.epochs, EFFECT_BEGIN, &epoch));
	cr_assert_not(epochs_wants_stream_of(world.epochs, 0));
	for (uint32_t i = 1; i < 6; i++)
		world_read(&world, 0, i, 1, false);
	world_open(&world, world_request_new(&world, 1, 0, 1, false));
	world_begun(&world, 1, 0);
	cr_assert_not(epochs_wants(world.epochs, EFFECT_SAVE, &epoch));
	for (uint32_t i = 1; i < 5; i++)
		world_read(&world, 1, i, 1, false);
	cr_assert(epochs_wants(world.epochs, EFFECT_SAVE, &epoch));
	cr_assert_eq(0, epoch);
	world_saved(&world, 0);
	cr_assert_not(epochs_wants(world.epochs, EFFECT_SAVE, &epoch));
	world_end(&world);
}

static unsigned released_before(struct epochs *epochs, uint32_t position)
{
	struct effects effects;
	unsigned consumed = 0;
	effects_init(&effects);
	epochs_released_before(epochs, 0, position, 1, &effects);
	for (unsigned i = 0; i < effects.n; i++)
		consumed += effects.list[i].kind == EFFECT_RECORD &&
			    effects.list[i].record.kind == RECORD_CONSUMED;
	epochs_validate(epochs);
	return consumed;
}

Test(epoch, what_was_open_before_a_restart_is_consumed_once)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 8);
	world_begin(&world, &config, 1);
	struct world_request *request = open_position(&world, 3);
	struct epochs *after = world_replay(&world, world.n_records);
	cr_assert_eq(1, released_before(after, 3));
	cr_assert_eq(0, released_before(after, 3), "a second time");
	cr_assert_eq(0, released_before(after, 4), "not bound");
	cr_assert_eq(0, released_before(after, 8), "no position");
	epochs_free(&after);
	world_release(&world, request, true);
	world_end(&world);
}

/* The reader's first file of the next epoch is its last file of this epoch. Only the chosen epoch,
 * which was noted when the request was first sent, tells which of the two it means. */
Test(epoch, an_open_of_current_that_is_sent_again_has_its_epoch)
{
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, 4);
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < 4; i++)
		world_read(&world, EPOCH_CURRENT, i, 1, false);
	struct world_request *next =
		world_request_new(&world, EPOCH_CURRENT, 0, 1, false);
	world_open(&world, next);
	cr_assert_eq(1, next->request.found_epoch);
	struct epochs *after = world_replay(&world, world.n_records);
	struct open_request again = next->request;
	uint32_t chosen = 7;
	again.resent = true;
	cr_assert(current_was_chosen(after, &again, &chosen));
	cr_assert_eq(1, chosen);
	again.position = 1;
	cr_assert_not(current_was_chosen(after, &again, &chosen), "another file");
	again.position = 0;
	again.resent = false;
	cr_assert_not(current_was_chosen(after, &again, &chosen), "not sent before");
	epochs_free(&after);
	world_release(&world, next, true);
	world_end(&world);
}

/* Returns the epoch with which a new script begins, at a rank that was fed 14 of 20 samples and
 * has opened this many. */
static uint32_t epoch_of_new_script(uint32_t opened)
{
	enum { N = 20, FED = 14 };
	struct epoch_world world;
	struct epochs_config config = config_of(EPOCHS_DRAWN, N);
	struct open_request request = {.epoch = EPOCH_CURRENT, .reader = {2, 2, 2}};
	config.lookahead = N;
	config.fed = true;
	world_begin(&world, &config, 1);
	for (uint32_t i = 0; i < FED; i++) {
		if (i < opened)
			world_open(&world,
				world_request_new(&world, EPOCH_CURRENT, i, 1, false));
		cr_assert(world_draw_ahead(&world, 0));
		world_resume(&world);
	}
	uint32_t epoch = epochs_choice(world.epochs, &request);
	world_end(&world);
	return epoch;
}

/* The ranks are killed together, one just before and one just after half of the epoch. */
Test(epoch, ranks_of_a_group_begin_again_with_one_epoch)
{
	uint32_t first = epoch_of_new_script(8);
	cr_assert_eq(first, epoch_of_new_script(11));
	cr_assert_eq(first, 1);
}

/* Reads a file of current/ of a rank, which is fed one more sample for it. */
static void read_fed(
	struct epoch_world *world, uint32_t epoch, uint32_t position, uint64_t script)
{
	struct reader reader = {.thread = script, .rank = script, .script = script};
	struct world_request *request =
		world_request_by(world, EPOCH_CURRENT, position, reader, false);
	world_open(world, request);
	cr_assert(world_draw_ahead(world, epoch));
	world_resume(world);
	cr_assert_eq(epoch, request->request.found_epoch);
	world_release(world, request, true);
}

static bool drains(const struct epoch_world *world)
{
	struct epochs_place place;
	epochs_place(world->epochs, &place);
	return place.drains;
}

/* A script leaves out the last two files of epoch 0, which drains, and reads epoch 1. Other ranks wait
 * until this one has left epoch 0. */
Test(epoch, a_rank_leaves_its_epoch_when_other_ranks_wait_for_it)
{
	enum { N = 20, SECOND = 1000000000 };
	for (unsigned scripts = 1; scripts <= 2; scripts++) {
		struct epoch_world world;
		struct epochs_config config = config_of(EPOCHS_DRAWN, N);
		config.lookahead = N;
		config.fed = true;
		config.idle_ns = 1000 * (uint64_t)SECOND;
		world_begin(&world, &config, 1);
		for (uint32_t i = 0; i < N - 2; i++) {
			read_fed(&world, 0, i, 1);
			if (i == 0 && scripts == 2)
				read_fed(&world, 0, N - 2, 2);
		}
		read_fed(&world, 1, 0, 1);
		world_time(&world, 2 * (uint64_t)SECOND);
		cr_assert(drains(&world), "nobody waits");
		epochs_hurry(world.epochs, true);
		world_time(&world, 2 * (uint64_t)SECOND);
		cr_assert_eq(drains(&world), scripts == 2, "%u scripts", scripts);
		world_time(&world, 61 * (uint64_t)SECOND);
		cr_assert_not(drains(&world), "no script has read it for a minute");
		world_end(&world);
	}
}
