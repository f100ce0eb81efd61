// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/open_files.h"
#include "base/clock.h"

#include <errno.h>

/* A failed insertion leaves hash.tbl NULL; nothing exits. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct open_inode {
	UT_hash_handle hash;
	uint64_t number;
	LIST_HEAD(, open_file) files; /* at least one */
};

static struct open_inode *find(const struct open_files *files, uint64_t number)
{
	struct open_inode *inode;
	HASH_FIND(hash, files->inodes, &number, sizeof(number), inode);
	return inode;
}

static struct open_inode *add_inode(struct open_files *files, uint64_t number)
{
	struct open_inode *inode = calloc(1, sizeof(*inode));
	if (!inode)
		return NULL;
	inode->number = number;
	HASH_ADD(hash, files->inodes, number, sizeof(inode->number), inode);
	if (inode->hash.tbl)
		return inode;
	free(inode);
	return NULL;
}

int open_files_add(struct open_files *files, uint64_t number, struct open_file *file)
{
	struct open_inode *inode = find(files, number);
	if (!inode)
		inode = add_inode(files, number);
	if (!inode)
		return -ENOMEM;
	LIST_INSERT_HEAD(&inode->files, file, link);
	file->inode = inode;
	file->since_ns = clock_now_ns();
	return 0;
}

void open_files_remove(struct open_files *files, struct open_file *file)
{
	struct open_inode *inode = file->inode;
	LIST_REMOVE(file, link);
	if (!LIST_EMPTY(&inode->files))
		return;
	HASH_DELETE(hash, files->inodes, inode);
	free(inode);
}

struct open_file *open_files_of(const struct open_files *files, uint64_t number)
{
	const struct open_inode *inode = find(files, number);
	return inode ? LIST_FIRST(&inode->files) : NULL;
}

struct open_file *open_files_any(const struct open_files *files)
{
	return files->inodes ? LIST_FIRST(&files->inodes->files) : NULL;
}
