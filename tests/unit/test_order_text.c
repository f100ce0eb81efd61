// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "files/order_text.h"

#include <criterion/criterion.h>
#include <string.h>

/* Lines of very different lengths, and counts of printed and measured ones. */
struct fake {
	uint32_t n;
	uint64_t printed, measured;
};

static void print_line(uint32_t k, FILE *out)
{
	struct rng rng;
	rng_seed(&rng, k);
	fprintf(out, "%u %.*s\n", k, (int)rng_below(&rng, 40),
		"........................................");
}

static uint32_t print(void *context, uint32_t first, uint32_t n, FILE *out)
{
	struct fake *fake = context;
	uint32_t i;
	for (i = 0; i < n && first + i < fake->n; i++)
		print_line(first + i, out);
	fake->printed += i;
	return i;
}

static uint32_t measure(void *context, uint32_t first, uint32_t n, uint64_t *ret_bytes)
{
	struct fake *fake = context;
	uint64_t printed = fake->printed;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	uint32_t lines = print(context, first, n, out);
	fclose(out);
	free(text);
	fake->printed = printed;
	fake->measured += lines;
	*ret_bytes += bytes;
	return lines;
}

static char *whole(uint32_t n, size_t *ret_bytes)
{
	char *text;
	FILE *out = open_memstream(&text, ret_bytes);
	for (uint32_t k = 0; k < n; k++)
		print_line(k, out);
	fclose(out);
	return text;
}

static struct order_texts *texts_new(void)
{
	struct order_texts *texts = NULL;
	cr_assert_eq(order_texts_new(&texts), 0);
	return texts;
}

static void check_read(struct order_texts *texts, const struct order_source *source,
	const char *expected, size_t bytes, uint64_t offset, size_t size)
{
	auto_free char *buffer = malloc(size + 1);
	size_t left = offset < bytes ? bytes - offset : 0;
	ssize_t n = order_text_read(texts, source, offset, buffer, size);
	cr_assert_eq(n, (ssize_t)(size < left ? size : left));
	cr_assert_eq(memcmp(buffer, expected + (left ? offset : 0), (size_t)n), 0);
}

Test(order_text, any_read_in_any_order_gives_what_the_whole_text_has_there)
{
	static const uint32_t lines[] = {
		0, 1, ORDER_CHUNK - 1, ORDER_CHUNK, ORDER_CHUNK + 1, 7 * ORDER_CHUNK + 3};
	struct rng rng;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct order_texts *texts = texts_new();
		struct fake fake = {.n = lines[i]};
		struct order_source source = {
			.print = print, .measure = measure, .context = &fake};
		size_t bytes;
		auto_free char *expected = whole(fake.n, &bytes);
		for (int k = 0; k < 300; k++)
			check_read(texts, &source, expected, bytes,
				rng_below(&rng, bytes + 20), rng_below(&rng, 30000));
		order_texts_free(&texts);
	}
}

Test(order_text, reading_from_the_start_to_the_end_renders_each_line_about_once)
{
	struct order_texts *texts = texts_new();
	struct fake fake = {.n = 100000};
	struct order_source source = {
		.print = print, .measure = measure, .context = &fake};
	char buffer[65536];
	uint64_t offset = 0;
	ssize_t n;
	while ((n = order_text_read(texts, &source, offset, buffer, sizeof(buffer))) > 0)
		offset += (uint64_t)n;
	cr_assert_eq(n, 0);
	cr_assert_lt(fake.printed, 2 * fake.n);
	order_texts_free(&texts);
}

Test(order_text, the_end_of_a_long_text_is_read_without_rendering_what_is_before)
{
	struct order_texts *texts = texts_new();
	struct fake fake = {.n = 100 * ORDER_CHUNK + 7};
	struct order_source source = {
		.print = print, .measure = measure, .context = &fake};
	size_t bytes;
	auto_free char *expected = whole(fake.n, &bytes);
	check_read(texts, &source, expected, bytes, bytes - 100, 4096);
	cr_assert_leq(fake.printed, 2 * ORDER_CHUNK);
	order_texts_free(&texts);
}

Test(order_text, the_size_grows_with_the_lines_and_costs_only_the_new_ones)
{
	struct order_texts *texts = texts_new();
	struct fake fake = {.n = 0};
	struct order_source source = {
		.print = print, .measure = measure, .context = &fake};
	for (fake.n = 0; fake.n < 3000; fake.n += 100) {
		size_t bytes;
		uint64_t size;
		auto_free char *expected = whole(fake.n, &bytes);
		fake.printed = fake.measured = 0;
		size = order_text_size(texts, &source, 100);
		cr_assert_eq(size, bytes);
		cr_assert_leq(fake.measured, ORDER_CHUNK + 100);
		cr_assert_eq(fake.printed, 0);
		check_read(texts, &source, expected, bytes, bytes / 2, bytes);
	}
	order_texts_free(&texts);
}

Test(order_text, the_size_of_a_long_text_is_found_in_bounded_steps)
{
	struct order_texts *texts = texts_new();
	struct fake fake = {.n = 10 * ORDER_CHUNK};
	struct order_source source = {
		.key = 3, .print = print, .measure = measure, .context = &fake};
	size_t bytes;
	free(whole(fake.n, &bytes));
	uint64_t size, before = 0;
	for (int step = 0; step < 3; step++) {
		fake.measured = 0;
		size = order_text_size(texts, &source, 4);
		cr_assert_leq(fake.measured, 4 * ORDER_CHUNK);
		cr_assert_gt(size, before);
		before = size;
	}
	cr_assert_eq(size, bytes);
	cr_assert_eq(order_text_known_size(texts, 3), bytes);
	cr_assert_eq(order_text_known_size(texts, 4), 0);
	order_texts_free(&texts);
}

static uint32_t print_dots(void *context, uint32_t first, uint32_t n, FILE *out)
{
	(void)context;
	(void)first;
	for (uint32_t i = 0; i < n; i++)
		fputs(".\n", out);
	return n;
}

static uint32_t measure_dots(
	void *context, uint32_t first, uint32_t n, uint64_t *ret_bytes)
{
	(void)context;
	(void)first;
	*ret_bytes += 2 * (uint64_t)n;
	return n;
}

/* A job is removed, and another one of the same name is added. */
Test(order_text, nothing_is_left_of_a_forgotten_text)
{
	struct order_texts *texts = texts_new();
	struct fake fake = {.n = 5 * ORDER_CHUNK};
	struct order_source old = {.print = print_dots, .measure = measure_dots};
	struct order_source new = {.print = print, .measure = measure, .context = &fake};
	size_t bytes;
	uint64_t size;
	auto_free char *expected = whole(fake.n, &bytes);
	size = order_text_size(texts, &old, 20);
	cr_assert_eq(size, (uint64_t)20 * 2 * ORDER_CHUNK);
	order_texts_forget(texts);
	check_read(texts, &new, expected, bytes, bytes / 2, bytes);
	size = order_text_size(texts, &new, 20);
	cr_assert_eq(size, bytes);
	order_texts_free(&texts);
}
