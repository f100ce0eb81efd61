// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/inode.h"
#include "sched/positions.h"

#define FUSE_ROOT 1 /* FUSE_ROOT_ID, without libfuse's headers */

#define KIND_SHIFT 58
#define JOB_SHIFT 44
#define EPOCH_SHIFT 30
#define NAMES_SHIFT 28
_Static_assert(INODE_KINDS <= 1 << (64 - KIND_SHIFT), "each kind has a number");

uint32_t inode_sched_epoch(struct inode inode)
{
	return inode.epoch == INODE_CURRENT ? SCHED_CURRENT : inode.epoch;
}

uint64_t inode_pack(struct inode inode)
{
	ensure(inode.kind < INODE_KINDS);
	ensure(inode.job <= INODE_MAX_JOB);
	ensure(inode.epoch <= INODE_MAX_EPOCH);
	ensure(inode.names <= INODE_MAX_NAMES);
	ensure(inode.position <= INODE_MAX_POSITION);
	if (inode.kind == INODE_ROOT) {
		ensure(inode.job == 0 && inode.epoch == 0 && inode.names == 0 &&
			inode.position == 0);
		return FUSE_ROOT;
	}
	return (uint64_t)inode.kind << KIND_SHIFT | (uint64_t)inode.job << JOB_SHIFT |
	       (uint64_t)inode.epoch << EPOCH_SHIFT |
	       (uint64_t)inode.names << NAMES_SHIFT | inode.position;
}

bool inode_unpack(uint64_t number, struct inode *ret)
{
	uint64_t kind = number >> KIND_SHIFT;
	if (kind >= INODE_KINDS || (kind == INODE_ROOT && number != FUSE_ROOT))
		return false;
	*ret = (struct inode){.kind = (enum inode_kind)kind};
	if (kind == INODE_ROOT)
		return true;
	ret->job = number >> JOB_SHIFT & INODE_MAX_JOB;
	ret->epoch = number >> EPOCH_SHIFT & INODE_MAX_EPOCH;
	ret->names = number >> NAMES_SHIFT & INODE_MAX_NAMES;
	ret->position = number & INODE_MAX_POSITION;
	return true;
}
