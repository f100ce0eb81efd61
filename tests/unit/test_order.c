// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/order.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/stat.h>

static char directory[] = "/tmp/joaderfs-test.XXXXXX";

static void make_directory(void)
{
	cr_assert(mkdtemp(directory));
}

static void remove_directory(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	cr_assert_eq(0, system(command));
}

TestSuite(order, .init = make_directory, .fini = remove_directory);

static char *file(const char *name)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

Test(order, bindings_are_kept_in_their_order)
{
	struct order order;
	struct binding binding;
	cr_assert_eq(-ENOENT, order_open(directory, 7, 5, false, &order));
	cr_assert_eq(0, order_open(directory, 7, 5, true, &order));
	order_bind(&order, 4, 100, SERVED_HIT);
	order_bind(&order, 0, 200, SERVED_SHARED);
	order_close(&order);
	cr_assert_eq(0, order_open(directory, 7, 5, false, &order));
	cr_assert_eq(2, order.bound);
	order_binding(&order, 0, &binding);
	cr_assert_eq(4, binding.position);
	cr_assert_eq(100, binding.sample);
	cr_assert_eq(SERVED_HIT, binding.served);
	order_binding(&order, 1, &binding);
	cr_assert_eq(0, binding.position);
	cr_assert_eq(200, binding.sample);
	cr_assert_eq(SERVED_SHARED, binding.served);
	cr_assert_eq(SAMPLE_NONE, order_sample(&order, 1));
	order_close(&order);
}

Test(order, the_ids_are_little_endian_words_per_position)
{
	struct order order;
	uint8_t bytes[12];
	cr_assert_eq(0, order_open(directory, 0, 3, true, &order));
	order_bind(&order, 1, 0x01020304, SERVED_DECODED);
	order_close(&order);
	FILE *in = fopen(file("epoch-0000.ids"), "r");
	cr_assert(in);
	cr_assert_eq(sizeof(bytes), fread(bytes, 1, sizeof(bytes), in));
	fclose(in);
	const uint8_t expected[12] = {255, 255, 255, 255, 4, 3, 2, 1, 255, 255, 255, 255};
	cr_assert_arr_eq(expected, bytes, sizeof(bytes));
}

Test(order, a_lost_log_is_made_anew_from_the_ids)
{
	struct order order;
	struct binding binding;
	cr_assert_eq(0, order_open(directory, 0, 4, true, &order));
	order_bind(&order, 3, 33, SERVED_HIT);
	order_bind(&order, 1, 11, SERVED_HIT);
	order_close(&order);
	cr_assert_eq(0, unlink(file("epoch-0000.log")));
	cr_assert_eq(0, order_open(directory, 0, 4, false, &order));
	cr_assert_eq(2, order.bound);
	order_binding(&order, 0, &binding);
	cr_assert_eq(1, binding.position);
	cr_assert_eq(11, binding.sample);
	order_close(&order);
}

Test(order, another_number_of_positions_is_refused)
{
	struct order order;
	cr_assert_eq(0, order_open(directory, 0, 4, true, &order));
	order_close(&order);
	cr_assert_eq(-ESTALE, order_open(directory, 0, 5, true, &order));
}
