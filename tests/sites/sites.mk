# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# The daemon, with calls that fail on demand: tests/sites/sites.c.

SITES := $(BUILD)/tests/sites/joaderfs
$(SITES): WRAP := malloc calloc realloc reallocarray aligned_alloc strdup strndup asprintf \
	vasprintf open_memstream mmap memfd_create open openat fopen fdopen opendir read pread \
	pwrite fstat ftruncate fsync fdatasync rename unlink unlinkat fuse_reply_attr \
	fuse_reply_buf fuse_reply_iov fuse_reply_entry fuse_reply_open fuse_reply_readlink \
	fuse_reply_statfs

$(SITES): $(BUILD)/src/main.o $(BUILD)/tests/sites/sites.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -rdynamic -o $@ $^ $(ALL_LIBS)
