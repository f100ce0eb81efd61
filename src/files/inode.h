// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Inode numbers of 64 bits, without a table of inodes: a file keeps its number after a restart.
 *
 *   63..58   57..44           43..30   29..28   27..0
 *   kind     job or dataset   epoch    names    position
 *
 * The root has the number that FUSE demands, FUSE_ROOT_ID (1).
 */

enum inode_kind {
	INODE_ROOT,
	INODE_README,
	INODE_STATS,
	INODE_STATS_JSON,
	INODE_METRICS,
	INODE_DATASETS, /* directory */
	INODE_DATASET,	/* directory; job: index of the dataset */
	INODE_DATASET_INFO,
	INODE_DATASET_CLASSES,
	INODE_JOBS, /* directory */
	INODE_JOB,  /* directory */
	INODE_JOB_INI,
	INODE_JOB_STATUS,
	INODE_JOB_CLASSES,
	INODE_EPOCH_ORDER,
	INODE_EPOCH, /* directory; current/ if the epoch is INODE_CURRENT */
	INODE_SAMPLE,
	INODE_LABEL, /* .cls */
	/* A directory in an epoch's directory. position: in layout flat the number of the shard, in
	 * classes the label, in mirror the number of the dataset's directory. */
	INODE_SHARD,
	INODE_JSON,
	/* the position of the next three kinds is the number of the file in the epoch */
	INODE_TAR,
	INODE_BATCH,
	INODE_BATCH_LABELS,
	INODE_DATA, /* data/ */
	/* directory below data/: the fields after `kind` together hold a hash of its path */
	INODE_DATA_DIRECTORY,
	INODE_DATA_LINK, /* symlink; `epoch` holds the depth of the link below data/ */
	INODE_JOB_STATE,
	INODE_DATASET_BAD,
	INODE_DASHBOARD,
	INODE_OTHER,  /* layout mirror: a file that is no sample; position: its number */
	INODE_PAIR,   /* layout flat: a second file, such as 00000000.mask.png */
	INODE_BESIDE, /* INODE_BESIDE + n: ending number n (beside.h) */
	INODE_BESIDE_LAST = INODE_BESIDE + CONFIG_MOST_ENDINGS,
	INODE_KINDS
};

#define INODE_MAX_JOB ((1u << 14) - 1)
#define INODE_MAX_EPOCH ((1u << 14) - 1)
#define INODE_CURRENT INODE_MAX_EPOCH /* means current/; no epoch has this number */
_Static_assert(CONFIG_MOST_EPOCHS == INODE_CURRENT, "each epoch has a number");
#define INODE_MAX_NAMES 3u
#define INODE_MAX_POSITION (CONFIG_MOST_SAMPLES - 1)

struct inode {
	enum inode_kind kind;
	uint32_t job; /* id of the job, or index of the dataset */
	uint32_t epoch;
	/* version of the names: after a rescan a name may stand for another file
	 * (layout_classes.c) */
	uint32_t names;
	uint32_t position;
};

/* Tells whether the file holds a sample's pixels, as both files of a pair do. */
static inline bool inode_is_sample(struct inode inode)
{
	return inode.kind == INODE_SAMPLE || inode.kind == INODE_PAIR;
}

static inline bool inode_is_beside(enum inode_kind kind)
{
	return kind >= INODE_BESIDE && kind <= INODE_BESIDE_LAST;
}

/* Tells whether the file is a text about one sample, which a worker makes. */
static inline bool inode_is_text_of_sample(enum inode_kind kind)
{
	return kind == INODE_JSON || inode_is_beside(kind);
}

static inline bool inode_is_composite(enum inode_kind kind)
{
	return kind == INODE_TAR || kind == INODE_BATCH || kind == INODE_BATCH_LABELS;
}

/* Returns SCHED_CURRENT for INODE_CURRENT. */
uint32_t inode_sched_epoch(struct inode inode);

uint64_t inode_pack(struct inode inode);
/* Returns false if no inode has this number. */
bool inode_unpack(uint64_t number, struct inode *ret);
