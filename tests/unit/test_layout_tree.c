// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "world.h"

/* The rules that every layout obeys, on two classes of 7 and 6 images. */

#define N 13

static char name[] = "a";

static struct job_config config_with(enum view_layout layout)
{
	struct job_config config = world_job_config(name);
	config.layout = layout;
	config.batch = 5;
	config.preparation = (struct preparation){.crop_width = 4, .crop_height = 4};
	if (layout == LAYOUT_BATCH)
		config.format = FORMAT_NPY;
	return config;
}

struct seen {
	unsigned directories, files, samples[N];
};

/* Checks that each entry is found by its name, has its inode, and exists. */
static void walk(struct sched_job *job, struct inode directory, struct seen *seen)
{
	const struct layout *layout = layout_of(job);
	struct layout_entry entry;
	struct inode found;
	unsigned directories = 0;
	for (uint64_t i = 0; i < layout->entries(job, directory); i++) {
		if (!layout->entry(job, directory, i, &entry))
			continue;
		cr_assert_eq(0, layout->lookup(job, directory, entry.name, &found));
		cr_assert_eq(
			inode_pack(found), inode_pack(entry.inode), "%s", entry.name);
		cr_assert(layout->exists(job, found), "%s", entry.name);
		cr_assert_eq(found.epoch, directory.epoch);
		if (found.kind == INODE_SHARD) {
			directories++;
			walk(job, found, seen);
			continue;
		}
		seen->files++;
		if (found.kind == INODE_SAMPLE)
			seen->samples[found.position]++;
	}
	cr_assert_eq(directories, layout->subdirectories(job, directory));
	seen->directories += directories;
	cr_assert_eq(-ENOENT, layout->lookup(job, directory, "", &found));
	cr_assert_eq(-ENOENT, layout->lookup(job, directory, "..", &found));
	cr_assert_eq(-ENOENT, layout->lookup(job, directory, "00000099.ppm", &found));
}

static void expect_tree(
	struct job_config *config, unsigned directories, unsigned files, bool positions)
{
	struct world world;
	struct seen seen = {0};
	world_begin(&world, N, 100);
	struct sched_job *job = world_add_config(&world, config);
	walk(job,
		(struct inode){.kind = INODE_EPOCH, .job = sched_job_id(job), .epoch = 2},
		&seen);
	cr_assert_eq(seen.directories, directories);
	cr_assert_eq(seen.files, files);
	for (uint32_t i = 0; positions && i < sched_job_samples(job, 0); i++)
		cr_assert_eq(seen.samples[i], 1);
	struct inode beyond = {.kind = INODE_SAMPLE, .position = N};
	cr_assert_not(layout_of(job)->exists(job, beyond));
	beyond = (struct inode){.kind = INODE_SHARD, .position = INODE_MAX_POSITION};
	cr_assert_not(layout_of(job)->exists(job, beyond));
	beyond = (struct inode){.kind = INODE_DATASET};
	cr_assert_not(layout_of(job)->exists(job, beyond));
	sched_job_put(job);
	world_end(&world);
}

Test(layout_tree, flat)
{
	struct job_config config = config_with(LAYOUT_FLAT);
	expect_tree(&config, 0, 2 * N, true);
	config.json = true;
	expect_tree(&config, 0, 3 * N, true);
}

Test(layout_tree, flat_in_shards)
{
	static const uint32_t shards[] = {1, 5, N - 1, N, N + 1};
	static const unsigned directories[] = {N, 3, 2, 1, 1};
	for (int i = 0; i < 5; i++) {
		struct job_config config = config_with(LAYOUT_FLAT);
		config.shard = shards[i];
		expect_tree(&config, directories[i], 2 * N, true);
	}
}

Test(layout_tree, classes)
{
	static char where[] = "label = 1 and path <> 'class1/0003.png'";
	struct job_config config = config_with(LAYOUT_CLASSES);
	expect_tree(&config, 2, N, true);
	config.where = where;
	expect_tree(&config, 1, 5, true);
}

Test(layout_tree, mirror)
{
	static char where[] = "path = 'class1/0003.png' or path = 'class1/0005.png'";
	struct job_config config = config_with(LAYOUT_MIRROR);
	expect_tree(&config, 2, N, true);
	config.where = where;
	expect_tree(&config, 1, 2, true);
}

Test(layout_tree, tar)
{
	struct job_config config = config_with(LAYOUT_TAR);
	config.shard = 5;
	expect_tree(&config, 0, 3, false);
}

Test(layout_tree, batch)
{
	struct job_config config = config_with(LAYOUT_BATCH);
	expect_tree(&config, 0, 6, false);
}
