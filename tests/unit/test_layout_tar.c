// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "files/layout_tar.h"
#include "world.h"

static const struct tar_sizes sizes = {.label = 3, .json = 700, .sample = 5000};

static char a_name[] = "a";

/* The header of the k-th member of a record. */
static void header(const struct composite *tar, uint32_t record, unsigned k,
	char ret[COMPOSITE_CONSTANT])
{
	struct segment segment;
	uint64_t at = record * tar->stride;
	for (unsigned seen = 0; seen <= k; at = segment.begin + segment.bytes) {
		composite_segment(tar, at, &segment);
		seen += segment.kind == SEGMENT_CONSTANT;
	}
	composite_constant(tar, &segment, (uint8_t *)ret);
}

Test(layout_tar, members_of_a_sample_have_the_name_of_its_position)
{
	static const char *const names[] = {
		"00001002.cls", "00001002.json", "00001002.jpg"};
	struct composite tar = tar_composite(1000, 5, sizes, "jpg");
	for (unsigned k = 0; k < 3; k++) {
		char block[COMPOSITE_CONSTANT];
		header(&tar, 2, k, block);
		cr_assert_str_eq(block, names[k]);
	}
}

Test(layout_tar, a_header_has_the_checksum_and_fields_of_posix)
{
	struct composite tar = tar_composite(0, 5, sizes, "npy");
	char block[COMPOSITE_CONSTANT];
	header(&tar, 4, 2, block);
	unsigned sum = 0;
	for (int i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? ' ' : (uint8_t)block[i];
	cr_assert_eq(strtoul(block + 148, NULL, 8), sum);
	cr_assert_eq(strtoul(block + 100, NULL, 8), 0444);
	cr_assert_eq(strtoul(block + 124, NULL, 8), sizes.sample);
	cr_assert_eq(strtoul(block + 136, NULL, 8), 315532800); /* 1980-01-01 */
	cr_assert_eq(block[156], '0');
	cr_assert_eq(memcmp(block + 257, "ustar\00000", 8), 0);
}

Test(layout_tar, the_end_is_two_blocks_of_zeros_and_a_whole_record)
{
	for (uint64_t bytes = 1; bytes < 40000; bytes += 371) {
		struct tar_sizes any = {.label = 3, .sample = bytes};
		struct composite tar = tar_composite(0, 3, any, "ppm");
		uint64_t end = 3 * tar.stride;
		cr_assert_eq(tar.bytes % 10240, 0);
		cr_assert_geq(tar.bytes - end, 1024);
		cr_assert_lt(tar.bytes - end, 1024 + 10240);
	}
}

Test(layout_tar, every_name_leads_to_its_file_and_no_other_does)
{
	static const char *const wrong[] = {"shard-000003.tar", "shard-00000.tar",
		"shard-0000001.tar", "shard-000001.tar.gz", "shard-000001",
		"00000001.ppm", "xshard-000001.tar", ""};
	struct world world;
	world_begin(&world, 24, 100);
	struct job_config config = world_job_config(a_name);
	config.layout = LAYOUT_TAR;
	config.shard = 10;
	struct sched_job *job = world_add_config(&world, &config);
	const struct layout *layout = layout_of(job);
	struct inode directory = {.kind = INODE_EPOCH, .job = 5, .epoch = 2}, found;
	cr_assert_eq(layout->entries(job, directory), 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct layout_entry entry;
		cr_assert(layout->entry(job, directory, i, &entry));
		cr_assert_eq(0, layout->lookup(job, directory, entry.name, &found));
		cr_assert_eq(inode_pack(found), inode_pack(entry.inode));
		cr_assert(found.kind == INODE_TAR && found.position == i);
		cr_assert(layout->exists(job, found));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_eq(-ENOENT, layout->lookup(job, directory, wrong[i], &found));
	sched_job_put(job);
	world_end(&world);
}
