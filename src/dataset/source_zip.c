// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source.h"

#include "base/byte_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lists zip and zip64 files from the directory at their end. libzip is not used, because it does
 * not tell the offsets of members, and only one thread may use its handle. */

#define END_MAGIC "PK\5\6"
#define END_BYTES 22
#define END64_LOCATOR_MAGIC "PK\6\7"
#define END64_LOCATOR_BYTES 20
#define END64_MAGIC "PK\6\6"
#define END64_BYTES 56
#define ENTRY_MAGIC "PK\1\2"
#define ENTRY_BYTES 46
#define LOCAL_MAGIC "PK\3\4"
#define LOCAL_BYTES 30
#define MOST_COMMENT 0xffff
#define MOST_ENTRIES_BYTES ((uint64_t)4 << 30)

#define FLAG_ENCRYPTED 0x2041 /* bits of `flags` that mean encryption */
#define MADE_ON_FAT 0
#define MADE_ON_UNIX 3
#define METHOD_STORED 0
#define METHOD_DEFLATED 8

struct zip {
	struct container_scan *container;
	uint64_t at, bytes; /* offset and size of the directory */
	uint64_t entries;   /* number of entries according to the end record */
	bool large;	    /* has an end record of zip64 */
	uint8_t *directory;
};

struct entry {
	char *name;
	size_t name_bytes;
	uint64_t at;	/* offset of the entry in the file, for messages */
	uint64_t local; /* offset of the member's header */
	uint64_t stored_bytes;
	uint64_t bytes;
	uint32_t checksum;
	uint32_t mode; /* Unix file mode; 0: not known */
	unsigned flags, method;
	unsigned made_on; /* file system on which the zip was made, such as MADE_ON_FAT */
};

/* Reads the end record of zip64, which precedes the ordinary end record, if the zip has one.
 * *ret_after: offset of the first end record, at which the directory must end. */
static int read_end64(struct zip *zip, uint64_t end, uint64_t *ret_after)
{
	uint8_t locator[END64_LOCATOR_BYTES], end64[END64_BYTES];
	*ret_after = end;
	if (end < END64_LOCATOR_BYTES)
		return 0;
	int err = container_read(
		zip->container, end - END64_LOCATOR_BYTES, locator, sizeof(locator));
	if (err || memcmp(locator, END64_LOCATOR_MAGIC, 4) != 0)
		return err;
	uint64_t at = get_le64(locator + 8);
	err = container_read(zip->container, at, end64, sizeof(end64));
	if (err)
		return err;
	if (memcmp(end64, END64_MAGIC, 4) != 0)
		return container_refuse(
			zip->container, at, "not the end of a zip64 directory");
	zip->entries = get_le64(end64 + 32);
	zip->bytes = get_le64(end64 + 40);
	zip->at = get_le64(end64 + 48);
	zip->large = true;
	*ret_after = at;
	return 0;
}

static int check_directory(struct zip *zip, uint64_t end)
{
	if (zip->at > end || zip->bytes > end - zip->at)
		return container_refuse(zip->container, end,
			"the directory does not lie in the file before its end (%llu "
			"bytes at %llu)",
			(unsigned long long)zip->bytes, (unsigned long long)zip->at);
	if (zip->at + zip->bytes != end)
		return container_refuse(zip->container, zip->at + zip->bytes,
			"%llu bytes lie between the directory and its end",
			(unsigned long long)(end - zip->at - zip->bytes));
	if (zip->bytes > MOST_ENTRIES_BYTES)
		return container_refuse(zip->container, end,
			"the directory has %llu bytes, allowed: at most %llu",
			(unsigned long long)zip->bytes,
			(unsigned long long)MOST_ENTRIES_BYTES);
	return 0;
}

static int take_end(struct zip *zip, const uint8_t *end, uint64_t at)
{
	if (get_le16(end + 4) != 0 || get_le16(end + 6) != 0)
		return container_refuse(zip->container, at,
			"one part of a zip that is split into several files");
	zip->entries = get_le16(end + 10);
	zip->bytes = get_le32(end + 12);
	zip->at = get_le32(end + 16);
	uint64_t after;
	int err = read_end64(zip, at, &after);
	return err ? err : check_directory(zip, after);
}

/* Finds the end record: the last one whose comment reaches exactly to the file's end. */
static int find_end(struct zip *zip)
{
	uint64_t all = zip->container->file->bytes;
	size_t size =
		all < END_BYTES + MOST_COMMENT ? (size_t)all : END_BYTES + MOST_COMMENT;
	auto_free uint8_t *tail = malloc(size + 1);
	if (!tail)
		return -ENOMEM;
	int err = container_read(zip->container, all - size, tail, size);
	for (size_t i = END_BYTES; !err && i <= size; i++) {
		const uint8_t *end = tail + size - i;
		if (memcmp(end, END_MAGIC, 4) == 0 && get_le16(end + 20) == i - END_BYTES)
			return take_end(zip, end, all - i);
	}
	return err ? err
		   : container_refuse(zip->container, all,
			     "is not a zip file, or is truncated: it has no directory "
			     "at its end");
}

/* If a size or offset of an entry does not fit into 32 bits, its field is UINT32_MAX, and its value
 * is in the extra field of zip64. The extra field has only such values, in the order of `values`.
 * Returns false if the extra field is too short. */
static bool read_large(struct entry *entry, const uint8_t *extra, size_t size)
{
	uint64_t *const values[] = {&entry->bytes, &entry->stored_bytes, &entry->local};
	size_t at = 0;
	for (size_t i = 0; i < 3; i++) {
		if (*values[i] != UINT32_MAX)
			continue;
		if (size - at < 8)
			return false;
		*values[i] = get_le64(extra + at);
		at += 8;
	}
	return true;
}

static bool read_extra(struct entry *entry, const uint8_t *extra, size_t size)
{
	while (size >= 4) {
		size_t bytes = get_le16(extra + 2);
		if (bytes > size - 4)
			return false;
		if (get_le16(extra) == 1)
			return read_large(entry, extra + 4, bytes);
		extra += 4 + bytes;
		size -= 4 + bytes;
	}
	return true;
}

/* Parses an entry. `at` and *ret_next are offsets in the directory. */
static int read_entry(struct zip *zip, uint64_t at, struct entry *ret, uint64_t *ret_next)
{
	const uint8_t *bytes = zip->directory + at;
	uint64_t left = zip->bytes - at;
	if (left < ENTRY_BYTES || memcmp(bytes, ENTRY_MAGIC, 4) != 0)
		return container_refuse(
			zip->container, zip->at + at, "not an entry of the directory");
	size_t name = get_le16(bytes + 28), extra = get_le16(bytes + 30);
	size_t comment = get_le16(bytes + 32);
	if (left - ENTRY_BYTES < name + extra + comment)
		return container_refuse(zip->container, zip->at + at,
			"an entry ends beyond the directory's end");
	*ret = (struct entry){.at = zip->at + at,
		.name_bytes = name,
		.flags = get_le16(bytes + 8),
		.method = get_le16(bytes + 10),
		.made_on = bytes[5],
		.checksum = get_le32(bytes + 16),
		.stored_bytes = get_le32(bytes + 20),
		.bytes = get_le32(bytes + 24),
		.mode = bytes[5] == MADE_ON_UNIX ? get_le32(bytes + 38) >> 16 : 0,
		.local = get_le32(bytes + 42)};
	if (!read_extra(ret, bytes + ENTRY_BYTES + name, extra))
		return container_refuse(
			zip->container, ret->at, "an entry with damaged extra fields");
	ret->name = strndup((const char *)bytes + ENTRY_BYTES, name);
	if (!ret->name)
		return -ENOMEM;
	*ret_next = at + ENTRY_BYTES + name + extra + comment;
	return 0;
}

/* Refuses the zip if the name in the member's header differs from the name in the directory. */
static int check_name(struct zip *zip, const struct entry *entry, size_t bytes)
{
	struct quoted quoted;
	auto_free char *name = calloc(bytes + 1, 1);
	if (!name)
		return -ENOMEM;
	int err = container_read(zip->container, entry->local + LOCAL_BYTES, name, bytes);
	if (!err && (bytes != entry->name_bytes || strcmp(name, entry->name) != 0))
		return container_refuse(zip->container, entry->local,
			"the header of another member than the directory says: %s",
			quote_name(&quoted, entry->name));
	return err;
}

/* Finds the member's bytes, which follow its header. */
static int find_part(struct zip *zip, const struct entry *entry, struct source_part *ret)
{
	uint8_t local[LOCAL_BYTES];
	int err = container_read(zip->container, entry->local, local, sizeof(local));
	if (err)
		return err;
	if (memcmp(local, LOCAL_MAGIC, 4) != 0)
		return container_refuse(
			zip->container, entry->local, "not the header of a member");
	err = check_name(zip, entry, get_le16(local + 26));
	if (err)
		return err;
	*ret = (struct source_part){.stored_bytes = entry->stored_bytes,
		.offset = entry->local + LOCAL_BYTES + get_le16(local + 26) +
			  get_le16(local + 28),
		.checksum = entry->checksum,
		.method =
			entry->method == METHOD_DEFLATED ? PART_DEFLATED : PART_CHECKED};
	if (ret->offset > zip->at || entry->stored_bytes > zip->at - ret->offset)
		return container_refuse(zip->container, entry->at,
			"a member of %llu bytes at %llu runs into the directory",
			(unsigned long long)entry->stored_bytes,
			(unsigned long long)ret->offset);
	return 0;
}

static int check_entry(struct zip *zip, const struct entry *entry, const char *path)
{
	if (entry->flags & FLAG_ENCRYPTED)
		return container_refuse(
			zip->container, entry->at, "a member is encrypted: %s", path);
	if (entry->method != METHOD_STORED && entry->method != METHOD_DEFLATED)
		return container_refuse(zip->container, entry->at,
			"a member is compressed by method %u, allowed: 0 (stored), 8 "
			"(deflated): %s",
			entry->method, path);
	/* deflate shrinks data by a factor of at most 1032, so a valid member passes this check */
	if ((entry->method == METHOD_STORED && entry->bytes != entry->stored_bytes) ||
		entry->bytes / 1033 > entry->stored_bytes)
		return container_refuse(zip->container, entry->at,
			"a member of %llu bytes can't be stored in %llu: %s",
			(unsigned long long)entry->bytes,
			(unsigned long long)entry->stored_bytes, path);
	return 0;
}

static bool is_link(const struct entry *entry)
{
	return (entry->mode & 0170000) == 0120000;
}

/* Turns backslashes of a Windows program into slashes, as unzip does. The caller frees *ret. */
static int name_with_slashes(struct zip *zip, const struct entry *entry, char **ret)
{
	struct quoted quoted;
	bool backslash = strchr(entry->name, '\\') != NULL;
	*ret = NULL;
	if (backslash && (entry->made_on != MADE_ON_FAT || strchr(entry->name, '/')))
		return container_refuse(zip->container, entry->at,
			"the name of a member has a backslash, allowed: / between "
			"directories: %s",
			quote_name(&quoted, entry->name));
	*ret = strdup(entry->name);
	if (!*ret)
		return -ENOMEM;
	for (char *at = *ret; *at; at++)
		*at = *at == '\\' ? '/' : *at;
	return 0;
}

static int take_entry(struct zip *zip, const struct entry *entry)
{
	struct source_part part;
	char path[PATH_MAX];
	auto_free char *name = NULL;
	int err = name_with_slashes(zip, entry, &name);
	if (!err)
		err = container_clean_name(zip->container, entry->at, name, path);
	if (err)
		return err < 0 ? err : 0;
	if (name[strlen(name) - 1] == '/')
		return listing_add_class(zip->container->listing, path);
	if (is_link(entry)) {
		container_issue(zip->container, ISSUE_LINK, path);
		return 0;
	}
	err = check_entry(zip, entry, path);
	if (!err)
		err = find_part(zip, entry, &part);
	return err ? err : container_member(zip->container, path, &part, entry->bytes);
}

/* Refuses the zip if its end record has a wrong number of members. An end record without zip64 has
 * 16 bits for this number. If there are more members, macOS and other systems write the lower 16
 * bits. */
static int check_count(struct zip *zip, uint64_t found)
{
	if (found == zip->entries || (!zip->large && found % 65536 == zip->entries))
		return 0;
	return container_refuse(zip->container, zip->at + zip->bytes,
		"it should have %llu members, but its directory has %llu",
		(unsigned long long)zip->entries, (unsigned long long)found);
}

static int read_directory(struct zip *zip)
{
	zip->directory = malloc(zip->bytes + 1);
	if (!zip->directory)
		return -ENOMEM;
	int err = container_read(zip->container, zip->at, zip->directory, zip->bytes);
	uint64_t at = 0, found = 0;
	for (; !err && at < zip->bytes; found++) {
		struct entry entry = {0};
		err = read_entry(zip, at, &entry, &at);
		if (!err)
			err = take_entry(zip, &entry);
		free(entry.name);
	}
	return err ? err : check_count(zip, found);
}

static int index_zip(struct container_scan *container)
{
	struct zip zip = {.container = container};
	int err = find_end(&zip);
	if (!err)
		err = read_directory(&zip);
	free(zip.directory);
	return err ? err : container_end(container);
}

const struct source source_zip = {
	.name = "zip",
	.expected =
		"expected a zip file with a directory per class in it: <class>/<file>",
	.find = containers_find_file,
	.list = containers_list,
	.index = index_zip,
};
