// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reads V7, ustar, GNU and pax headers, as Python's tarfile and GNU tar do. libarchive is not used,
 * because it does not tell the offsets of members. */

#define BLOCK 512
#define MOST_LONG_NAME (64 * 1024)
#define MOST_PAX (1 << 20)
#define MOST_OFFSET INT64_MAX

struct header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6];
	char version[2];
	char owner[32];
	char group[32];
	char device[16];
	char prefix[155];
	char rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a block");

struct tar {
	struct container_scan *container;
	uint64_t at;	 /* offset of the next header */
	char *long_name; /* name of the next member; NULL: the name is in the header */
	char *long_link; /* link target of the next member; NULL: it is in the header */
	uint64_t size;	 /* size of the next member, if has_size */
	bool has_size;
	/* Places of all members, for hard links: a hash table with open addressing, which has 2 to
	 * 4 entries per member. */
	struct targets {
		struct target *of;
		size_t n, room;
	} targets;
};

/* A member's place. A hard link has no data, but only the path of an earlier member. */
struct target {
	uint64_t hash; /* odd number, from the path; 0: a free entry */
	uint64_t offset, bytes;
};

/* Parses octal digits between spaces, or a binary number if the first bit is set. UINT64_MAX: the
 * field has neither form, or the number is negative or too large for a file. */
static uint64_t number(const char *field, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)field;
	uint64_t value = 0;
	size_t i = 0;
	if (at[0] & 0x80) {
		for (value = at[0] & 0x7f, i = 1; i < bytes; i++) {
			if (value > MOST_OFFSET >> 8)
				return UINT64_MAX;
			value = value << 8 | at[i];
		}
		return value;
	}
	while (i < bytes && at[i] == ' ')
		i++;
	for (; i < bytes && at[i] >= '0' && at[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(at[i] - '0');
	return i == bytes || at[i] == ' ' || at[i] == '\0' ? value : UINT64_MAX;
}

/* Accepts also the sum of signed bytes, which some old programs write. */
static bool has_checksum(const struct header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	const unsigned char *field = bytes + offsetof(struct header, checksum);
	/* high: number of bytes above 127; a signed byte has 256 less than such a byte */
	uint32_t sum = 0, high = 0;
	for (size_t i = 0; i < BLOCK; i++) {
		sum += bytes[i];
		high += bytes[i] >> 7;
	}
	/* The checksum's own field counts as blanks. */
	for (size_t i = 0; i < sizeof(header->checksum); i++) {
		sum += ' ' - (uint32_t)field[i];
		high -= field[i] >> 7;
	}
	int64_t of_signed = (int64_t)sum - 256 * (int64_t)high;
	uint64_t found = number(header->checksum, sizeof(header->checksum));
	return found == sum || (of_signed >= 0 && found == (uint64_t)of_signed);
}

static bool is_zero(const struct header *header)
{
	const char *bytes = (const char *)header;
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, BLOCK - 1) == 0;
}

static int refuse_compressed(struct tar *tar, const struct header *header)
{
	static const struct {
		const char *name, *magic;
		size_t bytes;
		const char *unpack;
	} kinds[] = {
		{"gzip", "\x1f\x8b", 2, "gunzip"},
		{"zstd", "\x28\xb5\x2f\xfd", 4, "unzstd"},
		{"xz",
			"\xfd"
			"7zXZ",
			6, "unxz"},
		{"bzip2", "BZh", 3, "bunzip2"},
		{"lz4", "\x04\x22\x4d\x18", 4, "unlz4"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (memcmp(header, kinds[i].magic, kinds[i].bytes) == 0)
			return container_refuse(tar->container, 0,
				"is compressed (%s), so samples in the middle can't be "
				"read; unpack it: %s FILE (images hardly become larger)",
				kinds[i].name, kinds[i].unpack);
	return 0;
}

/* Reads the data after a header, and appends \0. The caller frees *ret. */
static int read_data(struct tar *tar, uint64_t size, uint64_t most, char **ret)
{
	if (size > most)
		return container_refuse(tar->container, tar->at - BLOCK,
			"an extended header of %llu bytes, allowed: at most %llu",
			(unsigned long long)size, (unsigned long long)most);
	*ret = malloc(size + 1);
	if (!*ret)
		return -ENOMEM;
	(*ret)[size] = '\0';
	int err = container_read(tar->container, tar->at, *ret, size);
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

static void take_text(char **field, char *text)
{
	free(*field);
	*field = text;
}

static int take_pax(struct tar *tar, const char *key, const char *value, bool global)
{
	bool path = strcmp(key, "path") == 0, size = strcmp(key, "size") == 0;
	bool link = strcmp(key, "linkpath") == 0;
	if (strncmp(key, "GNU.sparse.", 11) == 0)
		return container_refuse(tar->container, tar->at - BLOCK,
			"a sparse file, which is not supported");
	if (global && (path || size))
		return container_refuse(tar->container, tar->at - BLOCK,
			"a header for all members sets their %s", key);
	if (path || (link && !global)) {
		char *copy = strdup(value);
		if (!copy)
			return -ENOMEM;
		take_text(path ? &tar->long_name : &tar->long_link, copy);
	} else if (size) {
		char *end;
		errno = 0;
		tar->size = strtoull(value, &end, 10);
		if (value[0] < '0' || value[0] > '9' || *end || errno ||
			tar->size > MOST_OFFSET)
			return container_refuse(tar->container, tar->at - BLOCK,
				"a member's size is invalid: \"%.40s\"", value);
		tar->has_size = true;
	}
	return 0;
}

/* Lines are "LENGTH KEY=VALUE\n"; LENGTH is the length of the whole line. */
static int read_pax(struct tar *tar, char *text, size_t size, bool global)
{
	int err = 0;
	for (size_t at = 0; !err && at < size && text[at];) {
		char *end, *line = text + at;
		errno = 0;
		unsigned long long length = strtoull(line, &end, 10);
		if (line[0] < '0' || line[0] > '9' || errno || *end != ' ' ||
			length > size - at || line + length <= end + 1 ||
			line[length - 1] != '\n')
			return container_refuse(tar->container, tar->at - BLOCK,
				"a damaged extended (pax) header");
		line[length - 1] = '\0';
		char *equals = strchr(end + 1, '=');
		/* A value with a zero byte is not a text. Such values are ignored, because take_pax
		 * uses only texts. */
		if (!equals || strlen(line) != length - 1)
			equals = NULL;
		if (equals) {
			*equals = '\0';
			err = take_pax(tar, end + 1, equals + 1, global);
		}
		at += length;
	}
	return err;
}

static int read_extended(struct tar *tar, const struct header *header, uint64_t size)
{
	bool name = header->type == 'L' || header->type == 'K';
	bool pax = header->type == 'x' || header->type == 'X';
	char *text = NULL;
	int err = read_data(tar, size, name ? MOST_LONG_NAME : MOST_PAX, &text);
	if (err)
		return err;
	if (name) {
		take_text(header->type == 'L' ? &tar->long_name : &tar->long_link, text);
		return 0;
	}
	err = read_pax(tar, text, size, !pax);
	free(text);
	return err;
}

static void print_name(const struct header *header, char ret[300])
{
	bool ustar = memcmp(header->magic, "ustar\0", 6) == 0;
	int n_prefix = (int)strnlen(header->prefix, sizeof(header->prefix));
	int n_name = (int)strnlen(header->name, sizeof(header->name));
	snprintf(ret, 300, "%.*s%s%.*s", ustar ? n_prefix : 0, header->prefix,
		ustar && n_prefix ? "/" : "", n_name, header->name);
}

static uint64_t hash_of(const char *path)
{
	return text_hash(path, strlen(path)) | 1;
}

/* Returns the entry with this hash, or the free entry where it belongs. */
static struct target *target_of(const struct targets *targets, uint64_t hash)
{
	size_t i = hash & (targets->room - 1);
	while (targets->of[i].hash && targets->of[i].hash != hash)
		i = (i + 1) & (targets->room - 1);
	return &targets->of[i];
}

static int grow(struct targets *targets)
{
	struct targets grown = {
		.n = targets->n, .room = targets->room ? targets->room * 2 : 1024};
	grown.of = calloc(grown.room, sizeof(*grown.of));
	if (!grown.of)
		return -ENOMEM;
	for (size_t i = 0; i < targets->room; i++)
		if (targets->of[i].hash)
			*target_of(&grown, targets->of[i].hash) = targets->of[i];
	free(targets->of);
	*targets = grown;
	return 0;
}

/* Adds a member. The last of several members with the same path counts. */
static int add_target(
	struct targets *targets, const char *path, uint64_t offset, uint64_t bytes)
{
	if (targets->n >= targets->room / 2 && grow(targets) != 0)
		return -ENOMEM;
	struct target *target = target_of(targets, hash_of(path));
	targets->n += target->hash == 0;
	*target = (struct target){hash_of(path), offset, bytes};
	return 0;
}

static const struct target *find_target(const struct targets *targets, const char *path)
{
	const struct target *target =
		targets->n ? target_of(targets, hash_of(path)) : NULL;
	return target && target->hash ? target : NULL;
}

/* Adds a hard link as a member with the data of its target, which must come before the link. */
static int take_link(struct tar *tar, const struct header *header, const char *path)
{
	struct container_scan *container = tar->container;
	char short_name[sizeof(header->link) + 1], target[PATH_MAX];
	const char *name = tar->long_link;
	if (!name) {
		snprintf(short_name, sizeof(short_name), "%.*s",
			(int)sizeof(header->link), header->link);
		name = short_name;
	}
	const struct target *found = NULL;
	if (name[0] != '/' && !strstr(name, "..")) {
		int err = container_clean_name(container, tar->at - BLOCK, name, target);
		if (err < 0)
			return err;
		found = err ? NULL : find_target(&tar->targets, target);
	}
	if (!found) {
		container_issue(container, ISSUE_LINK, path);
		return 0;
	}
	const struct source_part part = {
		.offset = found->offset, .stored_bytes = found->bytes};
	int err = container_member(container, path, &part, part.stored_bytes);
	return err ? err
		   : add_target(&tar->targets, path, part.offset, part.stored_bytes);
}

static int take_member(
	struct tar *tar, const struct header *header, const char *name, uint64_t size)
{
	struct container_scan *container = tar->container;
	char path[PATH_MAX];
	size_t n = strlen(name);
	bool directory = header->type == '5' ||
			 (header->type == '\0' && n > 0 && name[n - 1] == '/');
	int err = container_clean_name(container, tar->at - BLOCK, name, path);
	if (err)
		return err < 0 ? err : 0;
	if (directory)
		return listing_add_class(container->listing, path);
	if (header->type == '1')
		return take_link(tar, header, path);
	if (header->type == '2') {
		container_issue(container, ISSUE_LINK, path);
		return 0;
	}
	if (header->type == 'S')
		return container_refuse(container, tar->at - BLOCK,
			"a sparse file, which is not supported: %s", path);
	if (header->type != '0' && header->type != '\0' && header->type != '7')
		return 0;
	const struct source_part part = {.offset = tar->at, .stored_bytes = size};
	err = container_member(container, path, &part, size);
	return err ? err : add_target(&tar->targets, path, tar->at, size);
}

/* Links, devices and directories have no data, even if their size is not 0. */
static bool has_data(char type)
{
	return type == '\0' || !strchr("123456", type);
}

static bool is_extended(char type)
{
	return type != '\0' && strchr("LKxXg", type);
}

static int read_entry(struct tar *tar, const struct header *header)
{
	char short_name[300];
	struct quoted quoted;
	bool extended = is_extended(header->type);
	uint64_t size = number(header->size, sizeof(header->size));
	const char *name = tar->long_name;
	if (tar->has_size && !extended)
		size = tar->size;
	if (!name || extended) {
		print_name(header, short_name);
		name = short_name;
	}
	tar->at += BLOCK;
	if (!has_data(header->type))
		size = 0;
	if (size > MOST_OFFSET)
		return container_refuse(tar->container, tar->at - BLOCK,
			"the size of a member is impossible: %s",
			quote_name(&quoted, name));
	if (!container_has(tar->container, tar->at, size))
		return container_refuse(tar->container, tar->at - BLOCK,
			"it is truncated: a member of %llu bytes ends beyond the end of "
			"the file: %s",
			(unsigned long long)size, quote_name(&quoted, name));
	int err = extended ? read_extended(tar, header, size)
			   : take_member(tar, header, name, size);
	tar->at += (size + BLOCK - 1) / BLOCK * BLOCK;
	if (!extended) {
		take_text(&tar->long_name, NULL);
		take_text(&tar->long_link, NULL);
		tar->has_size = false;
	}
	return err;
}

/* Warns if other bytes follow the end mark, a block of zeros. */
static int warn_of_rest(struct tar *tar)
{
	struct container_scan *container = tar->container;
	char rest[16 * BLOCK];
	struct quoted quoted;
	int err = 0;
	for (uint64_t at = tar->at; !err && at < container->file->bytes;) {
		uint64_t left = container->file->bytes - at;
		size_t n = left < sizeof(rest) ? (size_t)left : sizeof(rest);
		err = container_read(container, at, rest, n);
		if (!err && (rest[0] || memcmp(rest, rest + 1, n - 1) != 0)) {
			log_warn("dataset %s: %s: data after its end mark at byte %llu "
				 "is not read; were tar files joined by cat?",
				container->scan->name,
				quote_name(&quoted, container->path),
				(unsigned long long)tar->at);
			break;
		}
		at += n;
	}
	return err;
}

/* Reads the next member. Returns 1 if there are no more members. */
static int read_next(struct tar *tar)
{
	struct header header;
	struct container_scan *container = tar->container;
	if (tar->at >= container->file->bytes && tar->at > 0) {
		struct quoted quoted;
		log_warn("dataset %s: %s: has no end mark; it may be incomplete",
			container->scan->name, quote_name(&quoted, container->path));
		return 1;
	}
	int err = container_read(container, tar->at, &header, BLOCK);
	if (err)
		return err;
	if (tar->at == 0)
		err = refuse_compressed(tar, &header);
	if (err)
		return err;
	if (is_zero(&header)) {
		err = warn_of_rest(tar);
		return err ? err : 1;
	}
	if (!has_checksum(&header))
		return container_refuse(container, tar->at,
			tar->at ? "a wrong checksum: this is not the header of a member"
				: "is not a tar file");
	return read_entry(tar, &header);
}

int tar_index(struct container_scan *container)
{
	struct tar tar = {.container = container};
	int err;
	do
		err = read_next(&tar);
	while (err == 0);
	free(tar.long_name);
	free(tar.long_link);
	free(tar.targets.of);
	return err < 0 ? err : container_end(container);
}

static int find(struct scan *scan)
{
	struct stat st;
	if (stat(scan->root, &st) == 0)
		return S_ISDIR(st.st_mode)
			       ? containers_find_directory(scan, source_is_tar_name)
			       : containers_find_file(scan);
	return strchr(scan->root, '{') ? containers_find_pattern(scan)
				       : containers_find_file(scan);
}

const struct source source_tar = {
	.name = "tar",
	.expected = "expected tar files with images in them",
	.find = find,
	.list = containers_list,
	.index = tar_index,
};
