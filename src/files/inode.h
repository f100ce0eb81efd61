// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Inode numbers: kind | job | epoch | names | position in 64 bits. There is no table, and they
 * are the same after a restart.
 *
 *   63..58   57..44           43..30   29..28   27..0
 *   kind     job or dataset   epoch    names    position
 *
 * FUSE_ROOT_ID (1) is the root.
 */

enum inode_kind {
	INODE_ROOT,
	INODE_README,
	INODE_STATS,
	INODE_STATS_JSON,
	INODE_METRICS,
	INODE_DATASETS, /* directory */
	INODE_DATASET,	/* directory; job field: index of the dataset */
	INODE_DATASET_INFO,
	INODE_DATASET_CLASSES,
	INODE_JOBS, /* directory */
	INODE_JOB,  /* directory */
	INODE_JOB_INI,
	INODE_JOB_STATUS,
	INODE_JOB_CLASSES,
	INODE_EPOCH_ORDER,
	INODE_EPOCH, /* directory; with epoch INODE_CURRENT: current/ */
	INODE_SAMPLE,
	INODE_LABEL, /* .cls */
	/* directory in an epoch's; position: its number (shard, label ...) */
	INODE_SHARD,
	INODE_JSON, /* .json */
	INODE_TAR,  /* position: index of the file, also of the next two */
	INODE_BATCH,
	INODE_BATCH_LABELS,
	INODE_DATA, /* directory data/ */
	/* directory below data/; job, epoch, names, position: hash of the path */
	INODE_DATA_DIRECTORY,
	INODE_DATA_LINK, /* symlink; epoch: how deep it lies below data/ */
	INODE_JOB_STATE,
	INODE_DATASET_BAD,
	INODE_DASHBOARD,
	INODE_OTHER, /* layout mirror, no sample; position: number of the file */
	INODE_PAIR,  /* layout flat: the second file of a pair, as 00000000.mask.png */
	INODE_BESIDE, /* a file beside a sample, by its number (beside.h), and those behind */
	INODE_BESIDE_LAST = INODE_BESIDE + CONFIG_MOST_ENDINGS,
	INODE_KINDS
};

#define INODE_MAX_JOB ((1u << 14) - 1)
#define INODE_MAX_EPOCH ((1u << 14) - 1)
#define INODE_CURRENT INODE_MAX_EPOCH /* no epoch has this number */
_Static_assert(CONFIG_MOST_EPOCHS == INODE_CURRENT, "each epoch has a number");
#define INODE_MAX_NAMES 3u
#define INODE_MAX_POSITION (CONFIG_MOST_SAMPLES - 1)

struct inode {
	enum inode_kind kind;
	uint32_t job; /* the job's, or the dataset's index */
	uint32_t epoch;
	uint32_t names; /* struct sched_edition */
	uint32_t position;
};

/* Tells whether the file holds pixels of its position's sample, of either file of a pair. */
static inline bool inode_is_sample(struct inode inode)
{
	return inode.kind == INODE_SAMPLE || inode.kind == INODE_PAIR;
}

static inline bool inode_is_beside(enum inode_kind kind)
{
	return kind >= INODE_BESIDE && kind <= INODE_BESIDE_LAST;
}

/* Tells whether the file is a text of its position's sample: a worker makes it. */
static inline bool inode_is_text_of_sample(enum inode_kind kind)
{
	return kind == INODE_JSON || inode_is_beside(kind);
}

/* Tells whether the file holds several positions. */
static inline bool inode_is_composite(enum inode_kind kind)
{
	return kind == INODE_TAR || kind == INODE_BATCH || kind == INODE_BATCH_LABELS;
}

/* Returns sched's number of the inode's epoch. */
uint32_t inode_sched_epoch(struct inode inode);

uint64_t inode_pack(struct inode inode);
/* Unpacks a number. false: it is no inode of ours. */
bool inode_unpack(uint64_t number, struct inode *ret);
