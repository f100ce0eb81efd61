// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "files/layout_tar.h"
#include "world.h"

static const struct tar_sizes sizes = {.label = 3, .json = 700, .sample = 5000};

static char a_name[] = "a";

/* Returns the header of the k-th member of a record. */
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

/* A reader finds a text of any size in the room of the largest one. */
Test(layout_tar, a_text_of_any_size_fills_the_room_of_the_largest)
{
	struct tar_sizes any = {
		.label = 3, .sample = 100, .n_beside = 2, .beside = {5, 1600}};
	struct composite tar = tar_composite(40, 3, any, "ppm");
	struct segment segment;
	char text[1600], room[8192];
	memset(text, 'x', sizeof(text));
	composite_segment(&tar, tar.stride + 1024 + 2048, &segment);
	cr_assert_eq(segment.kind, SEGMENT_BESIDE);
	cr_assert_eq(segment.constant, 1);
	cr_assert_eq(segment.begin, tar.stride + 1024 + 2048);
	for (size_t bytes = 0; bytes <= sizeof(text); bytes++) {
		size_t at = 512 + (bytes + 511) / 512 * 512, line = 0;
		memset(room, 'r', sizeof(room));
		tar_beside(&tar, &segment, "txt", text, bytes, (uint8_t *)room);
		cr_assert_str_eq(room, "00000041.txt");
		cr_assert_eq(strtoul(room + 124, NULL, 8), bytes);
		cr_assert_eq(memcmp(room + 512, text, bytes), 0);
		for (size_t i = 512 + bytes; i < at; i++)
			cr_assert_eq(room[i], '\0');
		cr_assert_eq(room[at + 156], 'x');
		line = strtoul(room + at + 124, NULL, 8);
		cr_assert_eq(at + 512 + line, segment.bytes);
		cr_assert_eq(strtoul(room + at + 512, NULL, 10), line);
		cr_assert(strstr(room + at + 512, " comment= "));
		cr_assert_eq(room[segment.bytes - 1], '\n');
		cr_assert_eq(room[segment.bytes], 'r');
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
