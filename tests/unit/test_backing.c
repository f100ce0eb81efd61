// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/backing.h"
#include "base/fault.h"
#include "image/tensor.h"
#include "load/file_head.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

/* A kernel that keeps the files it is told of. */
struct kernel {
	int fds[64];
	int n, removed;
};

static int add(void *context, int fd)
{
	struct kernel *kernel = context;
	int id = ++kernel->n;
	kernel->fds[id] = dup(fd);
	return id;
}

static void remove_again(void *context, int id)
{
	struct kernel *kernel = context;
	cr_assert(id > 0 && id <= kernel->n && kernel->fds[id] >= 0);
	close(kernel->fds[id]);
	kernel->fds[id] = -1;
	kernel->removed++;
}

static struct kernel kernel;
static struct backings *backings;

static void begin(void)
{
	kernel = (struct kernel){.n = 0};
	cr_assert_eq(0, backings_new(3, &backings));
	backings_begin(backings,
		&(struct backing_kernel){
			.add = add, .remove = remove_again, .context = &kernel});
}

static void end(void)
{
	fault_clear();
	backings_end(backings);
	backings_free(&backings);
}

static struct tensor *tensor_of(uint8_t value)
{
	struct tensor *tensor =
		tensor_new((struct tensor_shape){.height = 10, .width = 20}, 600);
	cr_assert(tensor);
	memset(tensor->data, value, 600);
	return tensor;
}

static struct tensor *in_file(uint8_t value)
{
	return tensor_to_file(
		tensor_of(value), backings, (const uint8_t *)"head of it", 10);
}

static void expect_bytes(const struct tensor *tensor, uint8_t value)
{
	cr_assert(tensor->bytes == 600 && tensor->shape.width == 20);
	for (size_t i = 0; i < 600; i++)
		cr_assert(tensor->data[i] == value);
}

static bool is_in_file(const struct tensor *tensor)
{
	return tensor->file.store != NULL;
}

/* --- the content of a file --------------------------------------------------------- */

Test(backing, a_tensor_moves_into_a_file_behind_its_head, .init = begin, .fini = end)
{
	char bytes[700];
	struct tensor *tensor = in_file(7);
	expect_bytes(tensor, 7);
	cr_assert(is_in_file(tensor) && tensor->file.id == 1);
	cr_assert_eq(610, pread(kernel.fds[1], bytes, sizeof(bytes), 0));
	cr_assert_arr_eq(bytes, "head of it", 10);
	cr_assert_arr_eq(bytes + 10, tensor->data, 600);
	tensor_free(tensor);
	cr_assert_eq(1, kernel.removed);
}

Test(backing, nobody_can_change_a_file, .init = begin, .fini = end)
{
	struct tensor *tensor = in_file(7);
	cr_assert(pwrite(kernel.fds[1], "x", 1, 0) < 0 && errno == EPERM);
	cr_assert(ftruncate(kernel.fds[1], 3) < 0 && errno == EPERM);
	cr_assert(
		mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, kernel.fds[1], 0) == MAP_FAILED);
	tensor_free(tensor);
}

Test(backing, our_descriptor_of_a_file_is_closed, .init = begin, .fini = end)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct tensor *tensor = in_file(7);
	close(kernel.fds[1]);
	close(before);
	int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(before, after);
	close(after);
	kernel.fds[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tensor_free(tensor);
}

Test(backing, small_ones_are_not_counted, .init = begin, .fini = end)
{
	char text[] = "12\n", bytes[8];
	int id;
	for (int i = 1; i <= 5; i++) {
		cr_assert_eq(0, backing_add(backings, text, 3, &id));
		cr_assert_eq(i, id);
		cr_assert_eq(3, pread(kernel.fds[id], bytes, sizeof(bytes), 0));
	}
	backing_remove(backings, 2);
	cr_assert_eq(1, kernel.removed);
}

/* --- without files ----------------------------------------------------------------- */

static void expect_plain(uint8_t value)
{
	struct tensor *tensor = in_file(value);
	cr_assert(!is_in_file(tensor));
	expect_bytes(tensor, value);
	tensor_free(tensor);
}

Test(backing, without_a_session_it_stays_a_tensor)
{
	cr_assert_eq(0, backings_new(0, &backings));
	expect_plain(1);
	backings_free(&backings);
}

Test(backing, beyond_the_limit_it_stays_a_tensor, .init = begin, .fini = end)
{
	struct tensor *tensors[3];
	for (uint8_t i = 0; i < 3; i++) {
		tensors[i] = in_file(i);
		cr_assert(is_in_file(tensors[i]));
	}
	expect_plain(9);
	tensor_free(tensors[1]);
	tensors[1] = in_file(1);
	cr_assert(is_in_file(tensors[1]));
	for (uint8_t i = 0; i < 3; i++) {
		expect_bytes(tensors[i], i);
		tensor_free(tensors[i]);
	}
}

Test(backing, a_failure_leaves_a_tensor_and_nothing_else, .init = begin, .fini = end)
{
	cr_assert_eq(0, fault_add("backing.memory:ENOMEM:times=1"));
	expect_plain(1);
	cr_assert_eq(0, fault_add("backing.add:ENOMEM:times=1"));
	expect_plain(2);
	cr_assert_eq(0, kernel.n);
	struct tensor *tensor = in_file(3);
	cr_assert(is_in_file(tensor));
	tensor_free(tensor);
}

Test(backing, who_is_not_permitted_does_not_ask_again, .init = begin, .fini = end)
{
	cr_assert_eq(0, fault_add("backing.add:EPERM:times=1"));
	expect_plain(1);
	expect_plain(2);
	cr_assert_eq(0, kernel.n);
}

Test(backing, an_empty_tensor_has_no_file, .init = begin, .fini = end)
{
	struct tensor *tensor = tensor_to_file(tensor_new((struct tensor_shape){0}, 0),
		backings, (const uint8_t *)"", 0);
	cr_assert(tensor && !is_in_file(tensor));
	tensor_free(tensor);
}

/* --- the end of the session --------------------------------------------------------- */

Test(backing, a_tensor_outlives_the_session)
{
	begin();
	struct tensor *tensor = in_file(5);
	backings_end(backings);
	expect_bytes(tensor, 5);
	expect_plain(6);
	tensor_free(tensor);
	cr_assert_eq(0, kernel.removed);
	backings_free(&backings);
}

/* --- heads -------------------------------------------------------------------------- */

Test(head, is_as_the_format_wants_it)
{
	uint8_t head[FILE_HEAD_SIZE];
	struct tensor_shape shape = {.height = 300, .width = 4};
	cr_assert_eq(
		0, file_head_make((struct file_head){.kind = HEAD_EMPTY}, shape, head));
	cr_assert_eq(
		13, file_head_make((struct file_head){.kind = HEAD_PPM}, shape, head));
	cr_assert_arr_eq(head, "P6\n4 300\n255\n", 13);
	cr_assert_eq(HEAD_SIZE,
		file_head_make((struct file_head){.kind = HEAD_NPY}, shape, head));
	cr_assert_arr_eq(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	cr_assert(strstr((char *)head + 10, "'|u1'"));
	cr_assert(strstr((char *)head + 10, "(300, 4, 3)"));
}
