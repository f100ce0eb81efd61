// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "files/layout_batch.h"
#include "world.h"

static const struct tensor_shape shape = {.height = 224, .width = 192};

static char a_name[] = "a";

static void check_head(
	const struct composite *composite, size_t bytes, const char *expected)
{
	uint8_t head[COMPOSITE_CONSTANT];
	struct segment segment;
	composite_segment(composite, 0, &segment);
	cr_assert_eq(segment.bytes, bytes);
	composite_constant(composite, &segment, head);
	cr_assert_eq(memcmp(head, "\x93NUMPY\x01\x00", 8), 0);
	cr_assert_eq(head[8] + 256 * head[9], bytes - 10);
	cr_assert_eq(head[bytes - 1], '\n');
	size_t n = strlen(expected);
	cr_assert_eq(memcmp(head + 10, expected, n), 0, "%.118s", (char *)head + 10);
	for (size_t i = 10 + n; i < bytes - 1; i++)
		cr_assert_eq(head[i], ' ');
}

Test(layout_batch, the_head_tells_type_and_shape)
{
	struct pixel_type type = {0};
	struct composite batch = batch_composite(0, 64, type, shape);
	check_head(&batch, 4096,
		"{'descr': '|u1', 'fortran_order': False, "
		"'shape': (64, 224, 192, 3), }");
	cr_assert_eq(batch.bytes, 4096 + 64 * 224 * 192 * 3);
	type = (struct pixel_type){.dtype = DTYPE_FLOAT32, .axes = AXES_CHW};
	batch = batch_composite(0, 1, type, shape);
	check_head(&batch, 4096,
		"{'descr': '<f4', 'fortran_order': False, "
		"'shape': (1, 3, 224, 192), }");
	cr_assert_eq(batch.bytes, 4096 + 4 * 224 * 192 * 3);
}

Test(layout_batch, the_largest_head_fits)
{
	struct pixel_type type = {.dtype = DTYPE_FLOAT16};
	struct tensor_shape largest = {.height = 65500, .width = 65500};
	struct composite batch = batch_composite(0, 65536, type, largest);
	check_head(&batch, 4096,
		"{'descr': '<f2', 'fortran_order': False, "
		"'shape': (65536, 65500, 65500, 3), }");
}

Test(layout_batch, labels_are_an_array_of_one_axis)
{
	struct composite labels = batch_labels_composite(0, 5, 0);
	check_head(&labels, 128,
		"{'descr': '<i8', 'fortran_order': False, 'shape': (5,), }");
	cr_assert_eq(labels.bytes, 128 + 5 * 8);
}

static struct sched_job *add_job(struct world *world, bool drop_last)
{
	static char extension[] = "npy";
	struct job_config config = world_job_config(a_name);
	config.layout = LAYOUT_BATCH;
	config.batch = 10;
	config.drop_last = drop_last;
	config.extension = extension;
	return world_add_config(world, &config);
}

Test(layout_batch, every_name_leads_to_its_file_and_no_other_does)
{
	static const char *const wrong[] = {"batch-000003.npy", "batch-00001.npy",
		"batch-000001.ppm", "batch-000001.labels", "batch-000001.labels.npy.npy",
		"batch-000001", "000001.npy", ""};
	struct world world;
	world_begin(&world, 24, 100);
	struct sched_job *job = add_job(&world, false);
	const struct layout *layout = layout_of(job);
	struct inode directory = {.kind = INODE_EPOCH, .job = 5, .epoch = 2}, found;
	cr_assert_eq(layout->entries(job, directory), 6);
	for (uint32_t i = 0; i < 6; i++) {
		struct layout_entry entry;
		cr_assert(layout->entry(job, directory, i, &entry));
		cr_assert_eq(0, layout->lookup(job, directory, entry.name, &found));
		cr_assert_eq(inode_pack(found), inode_pack(entry.inode));
		cr_assert(layout->exists(job, found));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_eq(-ENOENT, layout->lookup(job, directory, wrong[i], &found));
	sched_job_put(job);
	world_end(&world);
}

Test(layout_batch, the_last_file_is_short_or_left_out)
{
	struct world world;
	world_begin(&world, 24, 100);
	struct sched_job *job = add_job(&world, false);
	struct inode last = {.kind = INODE_BATCH, .position = 2};
	const struct sched_edition *edition = sched_edition(job, 0);
	struct composite batch = batch_file(job, edition, last);
	sched_edition_put(edition);
	cr_assert(batch.first == 20 && batch.n == 4);
	sched_job_put(job);
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	job = add_job(&world, true);
	cr_assert_not(layout_of(job)->exists(job, last));
	cr_assert_eq(layout_of(job)->entries(job, last), 4);
	sched_job_put(job);
	world_end(&world);
}
