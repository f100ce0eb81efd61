// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "files/inode.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>

static void expect_same(struct inode inode)
{
	struct inode back;
	cr_assert(inode_unpack(inode_pack(inode), &back));
	cr_assert(eq(int, back.kind, inode.kind));
	cr_assert(eq(u32, back.job, inode.job));
	cr_assert(eq(u32, back.epoch, inode.epoch));
	cr_assert(eq(u32, back.names, inode.names));
	cr_assert(eq(u32, back.position, inode.position));
}

Test(inode, every_kind_comes_back_with_the_least_and_greatest_numbers)
{
	expect_same((struct inode){.kind = INODE_ROOT});
	for (int kind = INODE_ROOT + 1; kind < INODE_KINDS; kind++) {
		struct inode inode = {.kind = (enum inode_kind)kind};
		expect_same(inode);
		inode.job = INODE_MAX_JOB;
		expect_same(inode);
		inode.epoch = INODE_MAX_EPOCH;
		expect_same(inode);
		inode.names = INODE_MAX_NAMES;
		expect_same(inode);
		inode.position = INODE_MAX_POSITION;
		expect_same(inode);
	}
}

Test(inode, any_number_is_refused_or_comes_back_as_itself)
{
	struct rng rng;
	struct inode inode;
	unsigned accepted = 0;
	rng_seed(&rng, 1);
	for (int i = 0; i < 100000; i++) {
		uint64_t number = rng_next(&rng) >> rng_below(&rng, 64);
		if (!inode_unpack(number, &inode))
			continue;
		accepted++;
		cr_assert(eq(u64, inode_pack(inode), number));
	}
	cr_assert(gt(u32, accepted, 5000));
}

Test(inode, the_root_is_1_and_nothing_else_is)
{
	struct inode inode;
	cr_assert(eq(u64, inode_pack((struct inode){.kind = INODE_ROOT}), 1));
	cr_assert(not(inode_unpack(0, &inode)));
	cr_assert(not(inode_unpack(2, &inode)));
	cr_assert(not(inode_unpack((UINT64_C(1) << 58) - 1, &inode)));
	for (int kind = INODE_ROOT + 1; kind < INODE_KINDS; kind++) {
		inode = (struct inode){.kind = (enum inode_kind)kind, .position = 1};
		cr_assert(gt(u64, inode_pack(inode), 1));
	}
}

Test(inode, unknown_kinds_are_refused)
{
	struct inode inode;
	cr_assert(inode_unpack((uint64_t)(INODE_KINDS - 1) << 58, &inode));
	for (uint64_t kind = INODE_KINDS; kind < 64; kind++)
		cr_assert(not(inode_unpack(kind << 58, &inode)));
	cr_assert(not(inode_unpack(UINT64_MAX, &inode)));
}

Test(inode, numbers_are_the_same_after_a_restart)
{
	struct inode inode = {INODE_SAMPLE, .job = 5, .epoch = 3, .position = 1234};
	cr_assert(eq(u64, inode_pack(inode),
		(uint64_t)INODE_SAMPLE << 58 | UINT64_C(5) << 44 | UINT64_C(3) << 30 |
			1234));
}

Test(inode, a_number_out_of_range_is_a_bug, .signal = SIGABRT)
{
	inode_pack((struct inode){.kind = INODE_JOB, .job = INODE_MAX_JOB + 1});
}
