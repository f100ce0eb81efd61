// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/open_files.h"
#include "base/clock.h"
#include "fuse/handle.h"

#include <errno.h>

struct open_inode {
	UT_hash_handle hash;
	uint64_t number;
	LIST_HEAD(, open_file) files; /* at least one file */
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

static void remove_from_inode(struct open_files *files, struct open_file *file)
{
	struct open_inode *inode = file->inode;
	LIST_REMOVE(file, link);
	if (!LIST_EMPTY(&inode->files))
		return;
	HASH_DELETE(hash, files->inodes, inode);
	free(inode);
}

int open_files_add(struct open_files *files, struct open_file *file)
{
	struct open_inode *inode = find(files, file->number);
	if (!inode)
		inode = add_inode(files, file->number);
	if (!inode)
		return -ENOMEM;
	LIST_INSERT_HEAD(&inode->files, file, link);
	file->inode = inode;
	file->since_ns = clock_now_ns();
	file->serial = file->handle & HANDLE_SERIAL;
	HASH_ADD(hash, files->handles, serial, sizeof(file->serial), file);
	if (file->hash.tbl)
		return 0;
	remove_from_inode(files, file);
	return -ENOMEM;
}

void open_files_remove(struct open_files *files, struct open_file *file)
{
	HASH_DELETE(hash, files->handles, file);
	remove_from_inode(files, file);
}

struct open_file *open_files_find(const struct open_files *files, uint64_t handle)
{
	uint64_t serial = handle & HANDLE_SERIAL;
	struct open_file *file;
	HASH_FIND(hash, files->handles, &serial, sizeof(serial), file);
	return file;
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
