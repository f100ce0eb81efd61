// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Inode numbers: kind | job | epoch | names | position in 64 bits. There is no table of inodes, so
 * a file keeps its number after a restart.
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
	INODE_DATASET,	/* directory; the job field is the index of the dataset */
	INODE_DATASET_INFO,
	INODE_DATASET_CLASSES,
	INODE_JOBS, /* directory */
	INODE_JOB,  /* directory */
	INODE_JOB_INI,
	INODE_JOB_STATUS,
	INODE_JOB_CLASSES,
	INODE_EPOCH_ORDER,
	INODE_EPOCH, /* directory; if the epoch is INODE_CURRENT: current/ */
	INODE_SAMPLE,
	INODE_LABEL, /* .cls */
	/* A directory in an epoch's directory. position: in layout flat the number of the shard, in
	 * classes the label, in mirror the number of the dataset's directory. */
	INODE_SHARD,
	INODE_JSON, /* .json */
	/* position of INODE_TAR, INODE_BATCH and INODE_BATCH_LABELS: number of the file in the
	 * epoch */
	INODE_TAR,
	INODE_BATCH,
	INODE_BATCH_LABELS,
	INODE_DATA, /* directory data/ */
	/* A directory below data/. The fields job, epoch, names and position together hold a hash
	 * of the directory's path. */
	INODE_DATA_DIRECTORY,
	INODE_DATA_LINK, /* symlink; epoch: depth of the link below data/ */
	INODE_JOB_STATE,
	INODE_DATASET_BAD,
	INODE_DASHBOARD,
	/* Layout mirror: a file that is no sample; position: number of the file. */
	INODE_OTHER,
	/* layout flat: the second file of a pair, such as 00000000.mask.png */
	INODE_PAIR,
	/* A file beside a sample has the kind INODE_BESIDE + the number of the ending
	 * (beside.h). */
	INODE_BESIDE,
	INODE_BESIDE_LAST = INODE_BESIDE + CONFIG_MOST_ENDINGS,
	INODE_KINDS
};

#define INODE_MAX_JOB ((1u << 14) - 1)
#define INODE_MAX_EPOCH ((1u << 14) - 1)
#define INODE_CURRENT INODE_MAX_EPOCH /* stands for current/; no epoch has this number */
_Static_assert(CONFIG_MOST_EPOCHS == INODE_CURRENT, "each epoch has a number");
#define INODE_MAX_NAMES 3u
#define INODE_MAX_POSITION (CONFIG_MOST_SAMPLES - 1)

struct inode {
	enum inode_kind kind;
	uint32_t job; /* id of the job, or index of the dataset */
	uint32_t epoch;
	/* Version of the file names (layout_classes.c). After a rescan a name may stand for another
	 * file. */
	uint32_t names;
	uint32_t position;
};

/* Tells whether the file holds the pixels of the sample at its position. If samples are pairs, this
 * is true of both files of a pair. */
static inline bool inode_is_sample(struct inode inode)
{
	return inode.kind == INODE_SAMPLE || inode.kind == INODE_PAIR;
}

static inline bool inode_is_beside(enum inode_kind kind)
{
	return kind >= INODE_BESIDE && kind <= INODE_BESIDE_LAST;
}

/* Tells whether the file is a text about the sample at its position. A worker makes such a text. */
static inline bool inode_is_text_of_sample(enum inode_kind kind)
{
	return kind == INODE_JSON || inode_is_beside(kind);
}

/* Tells whether the file holds several positions. */
static inline bool inode_is_composite(enum inode_kind kind)
{
	return kind == INODE_TAR || kind == INODE_BATCH || kind == INODE_BATCH_LABELS;
}

/* Returns the inode's epoch as the scheduler expects it: SCHED_CURRENT for INODE_CURRENT. */
uint32_t inode_sched_epoch(struct inode inode);

uint64_t inode_pack(struct inode inode);
/* Unpacks a number. false: no inode has this number. */
bool inode_unpack(uint64_t number, struct inode *ret);
