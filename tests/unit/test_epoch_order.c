// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "epoch/order.h"
#include "journal_helpers.h"

#include <limits.h>

TestSuite(epoch_order, .init = make_directory, .fini = remove_directory);

#define FINGERPRINT UINT64_C(0xabcdef0123456789)

/* Position p holds sample 3 p. Positions were bound from the last one to the first, except for
 * each third. */
struct made {
	uint32_t *samples, *log, *reads; /* reads: every second bound position was read */
	struct order order;
};

static int list_orders(
	const char *path, uint32_t positions, uint32_t **ret, size_t *ret_n)
{
	const struct order_set set = {positions, FINGERPRINT};
	return order_list(path, &set, 1, ret, ret_n);
}

static struct made make_order(uint32_t positions)
{
	struct made made = {.samples = calloc(positions, sizeof(uint32_t)),
		.log = calloc(positions, sizeof(uint32_t)),
		.reads = calloc(positions, sizeof(uint32_t))};
	uint32_t bound = 0, consumed = 0;
	cr_assert(made.samples && made.log && made.reads);
	for (uint32_t position = positions; position-- > 0;) {
		if (position % 3 == 2)
			continue;
		made.samples[position] = 3 * position + 1;
		if (bound % 2)
			made.reads[consumed++] = position;
		made.log[bound++] =
			order_log_entry(position, (enum served)(position % 3));
	}
	made.order = (struct order){
		positions, bound, consumed, made.samples, made.log, made.reads};
	return made;
}

static void free_order(struct made *made)
{
	free(made->samples);
	free(made->log);
	free(made->reads);
}

static void save(uint32_t epoch, uint32_t positions)
{
	struct made made = make_order(positions);
	cr_assert_eq(0, order_save(directory, epoch, FINGERPRINT, &made.order));
	free_order(&made);
}

Test(epoch_order, gives_back_what_was_saved)
{
	enum { POSITIONS_HERE = 5000 };
	struct made made = make_order(POSITIONS_HERE);
	struct binding *bindings = calloc(POSITIONS_HERE, sizeof(*bindings));
	uint32_t n;
	cr_assert_eq(0, order_save(directory, 12, FINGERPRINT, &made.order));
	for (uint32_t position = 0; position < POSITIONS_HERE; position++) {
		sample_id sample;
		cr_assert_eq(0, order_look_up(directory, 12, position, &sample));
		cr_assert_eq(order_sample_at(&made.order, position), sample);
	}
	cr_assert_eq(0, order_bindings(directory, 12, 0, POSITIONS_HERE, bindings, &n));
	cr_assert_eq(made.order.bound, n);
	for (uint32_t k = 0; k < n; k++) {
		struct binding expected = order_binding(&made.order, k);
		cr_assert_eq(expected.position, bindings[k].position);
		cr_assert_eq(expected.sample, bindings[k].sample);
		cr_assert_eq(expected.served, bindings[k].served);
	}
	cr_assert_eq(0, order_bindings(directory, 12, n - 2, 5, bindings, &n));
	cr_assert_eq(2, n);
	cr_assert_eq(1, bindings[0].position);
	cr_assert_eq(3, bindings[0].sample);
	cr_assert_eq(0, order_bindings(directory, 12, POSITIONS_HERE, 5, bindings, &n));
	cr_assert_eq(0, n);
	free(bindings);
	free_order(&made);
}

static void check_same(const struct order *expected, const struct order *found)
{
	cr_assert_eq(expected->positions, found->positions);
	cr_assert_eq(expected->bound, found->bound);
	cr_assert_eq(expected->consumed, found->consumed);
	cr_assert_arr_eq(expected->samples, found->samples, 4 * expected->positions);
	cr_assert_arr_eq(expected->log, found->log, 4 * expected->bound);
	cr_assert_arr_eq(expected->reads, found->reads, 4 * expected->consumed);
}

Test(epoch_order, loads_all_of_it)
{
	struct made made = make_order(5000);
	struct order data;
	uint32_t bound;
	cr_assert_eq(0, order_save(directory, 12, FINGERPRINT, &made.order));
	cr_assert_eq(0, order_load(directory, 12, 5000, FINGERPRINT, &data));
	check_same(&made.order, &data);
	order_free(&data);
	cr_assert_eq(0, order_bound(directory, 12, &bound));
	cr_assert_eq(made.order.bound, bound);
	cr_assert_eq(-ENOENT, order_load(directory, 11, 5000, FINGERPRINT, &data));
	cr_assert_eq(-EINVAL, order_load(directory, 12, 4999, FINGERPRINT, &data));
	cr_assert_eq(-EINVAL, order_load(directory, 12, 5000, FINGERPRINT + 1, &data));
	free_order(&made);
}

Test(epoch_order, orders_follow_one_another_in_a_file)
{
	char path[PATH_MAX];
	struct made made[2] = {make_order(30), make_order(30)};
	struct order data;
	uint64_t offset = 100, end;
	uint32_t epoch;
	snprintf(path, sizeof(path), "%s/both", directory);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	made[1].order.consumed = 3;
	for (uint32_t i = 0; i < 2; i++)
		cr_assert_eq(0,
			order_write_to(fd, 7 + i, FINGERPRINT, &made[i].order, &offset));
	end = offset;
	offset = 100;
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(0, order_read_from(fd, path, 30, FINGERPRINT, &offset,
					&epoch, &data));
		cr_assert_eq(7 + i, epoch);
		check_same(&made[i].order, &data);
		order_free(&data);
		free_order(&made[i]);
	}
	cr_assert_eq(end, offset);
	close(fd);
}

Test(epoch_order, is_as_the_manual_has_it)
{
	size_t size;
	save(0x01020304, 3);
	cr_assert(exists("epoch-16909060.order"));
	uint8_t *bytes = read_file("epoch-16909060.order", &size);
	static const uint8_t expected[] = {'J', 'O', 'A', 'D', 'E', 'R', 'O', '\n', 2, 0,
		0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 4, 3, 2, 1, 0x89, 0x67, 0x45, 0x23, 0x01,
		0xef, 0xcd, 0xab};
	static const uint8_t words[] = {1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x40,
		0, 0, 0, 0, 0, 0, 0, 0};
	cr_assert_eq(64 + sizeof(words), size);
	cr_assert_arr_eq(expected, bytes, sizeof(expected));
	cr_assert_arr_eq(words, bytes + 64, sizeof(words));
	cr_assert_eq(1, bytes[36]);
	free(bytes);
}

Test(epoch_order, there_is_none_before_it_is_saved)
{
	sample_id sample;
	struct binding binding;
	uint32_t n, *epochs;
	size_t n_epochs;
	cr_assert_eq(-ENOENT, order_look_up(directory, 0, 0, &sample));
	cr_assert_eq(-ENOENT, order_bindings(directory, 0, 0, 1, &binding, &n));
	cr_assert_eq(0, list_orders(directory, 3, &epochs, &n_epochs));
	cr_assert_eq(0, n_epochs);
	free(epochs);
}

static void expect_listed(uint32_t positions, size_t n)
{
	uint32_t *epochs;
	size_t n_epochs;
	cr_assert_eq(0, list_orders(directory, positions, &epochs, &n_epochs));
	cr_assert_eq(n, n_epochs);
	free(epochs);
}

Test(epoch_order, those_of_the_same_samples_are_listed)
{
	uint32_t *epochs;
	size_t n;
	struct made made = make_order(30);
	save(10000, 30);
	save(2, 30);
	save(9, 30);
	save(4, 31);
	cr_assert_eq(0, order_save(directory, 5, FINGERPRINT + 1, &made.order));
	free_order(&made);
	write_file("epoch-0006.order.new", "x", 1);
	write_file("epoch-00007.order", "x", 1);
	write_file("epoch-0008.orders", "x", 1);
	catch_log();
	cr_assert_eq(0, list_orders(directory, 30, &epochs, &n));
	cr_assert_eq(3, n);
	cr_assert_eq(2, epochs[0]);
	cr_assert_eq(9, epochs[1]);
	cr_assert_eq(10000, epochs[2]);
	cr_assert_eq(1, logged("\n"));
	cr_assert_eq(1, logged("2 orders of epochs are not used"));
	free(epochs);
	order_prune(directory, 9);
	cr_assert(!exists("epoch-0002.order") && !exists("epoch-0006.order.new"));
	cr_assert(exists("epoch-0009.order") && exists("epoch-10000.order"));
	cr_assert(exists("epoch-00007.order") && exists("epoch-0008.orders"));
}

Test(epoch_order, a_damaged_one_is_not_used_and_not_removed)
{
	enum { HEAD = 64 };
	size_t size;
	struct binding bindings[30];
	uint32_t n;
	save(1, 30);
	uint8_t *bytes = read_file("epoch-0001.order", &size);
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 4;
		write_file("epoch-0001.order", bytes, size);
		cr_assert_eq(-EINVAL, order_bindings(directory, 1, 0, 30, bindings, &n));
		cr_assert_eq(0, n);
		if (at < HEAD)
			expect_listed(30, 0);
		bytes[at] ^= 4;
	}
	for (size_t end = 0; end < size; end++) {
		write_file("epoch-0001.order", bytes, end);
		cr_assert_eq(-EINVAL, order_bindings(directory, 1, 0, 30, bindings, &n));
		expect_listed(30, 0);
	}
	cr_assert(exists("epoch-0001.order"));
	write_file("epoch-0001.order", bytes, size);
	expect_listed(30, 1);
	free(bytes);
}

/* A failed order leaves no file, and can be saved later. */
Test(epoch_order, one_that_can_not_be_written_is_not_there)
{
	struct made made = make_order(30);
	for (unsigned after = 0; after < 6; after++) {
		char fault[64];
		snprintf(fault, sizeof(fault), "order.write:ENOSPC:after=%u:times=1",
			after);
		cr_assert_eq(0, fault_add(fault));
		catch_log();
		cr_assert_eq(-ENOSPC, order_save(directory, 1, FINGERPRINT, &made.order));
		cr_assert_eq(0, logged("No space left"));
		cr_assert(!exists("epoch-0001.order.new"));
		/* after the last step the file was renamed, but its directory was not synced */
		cr_assert_eq(after == 5, exists("epoch-0001.order"));
		fault_clear();
	}
	cr_assert_eq(0, order_save(directory, 1, FINGERPRINT, &made.order));
	expect_listed(30, 1);
	free_order(&made);
}

static double cpu_seconds(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

/* A restart lists the orders of 64 jobs that have read 300 epochs each. */
Test(epoch_order, thousands_of_them_are_listed_quickly)
{
	enum { JOBS = 64, EPOCHS = 300 };
	char path[128], to[160];
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
		save(epoch, 3);
	for (unsigned job = 0; job < JOBS; job++) {
		snprintf(path, sizeof(path), "%s/%u", directory, job);
		cr_assert_eq(0, mkdir(path, 0755));
		for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
			snprintf(to, sizeof(to), "%s/epoch-%04u.order", path, epoch);
			cr_assert_eq(0, link(file(strrchr(to, '/') + 1), to));
		}
	}
	double begin = cpu_seconds();
	for (unsigned job = 0; job < JOBS; job++) {
		uint32_t *epochs;
		size_t n;
		snprintf(path, sizeof(path), "%s/%u", directory, job);
		cr_assert_eq(0, list_orders(path, 3, &epochs, &n));
		cr_assert_eq(EPOCHS, n);
		free(epochs);
	}
	double took = cpu_seconds() - begin;
	cr_assert(took < 3, "%.2f s", took);
}
