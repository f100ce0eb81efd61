// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/beside.h"
#include "files/label.h"
#include "files/layout.h"
#include "files/layout_flat.h"
#include "files/layout_tar.h"
#include "sched/jobs.h"

#include <errno.h>
#include <string.h>

#define BLOCK 512
/* bytes of GNU tar's record; the size of a tar is a multiple of this */
#define RECORD 10240
#define MTIME "02263523000" /* 1980-01-01 in octal, so that a tar's bytes never change */

/* A member is a file in the tar. A member of one kind takes the same number of bytes in all
 * records, so its offset in each record is the same. The bytes for a text beside a sample are
 * enough for the largest text. The header of the text is made when the position's sample is known.
 * An extended header (pax), which readers of tar files skip, fills the room that the text
 * leaves. */

enum member { MEMBER_LABEL, MEMBER_JSON, MEMBER_BESIDE, MEMBER_SAMPLE, MEMBERS };

static uint64_t member_bytes(const struct composite *tar, enum member member)
{
	const uint64_t bytes[] = {[MEMBER_LABEL] = tar->label_bytes,
		[MEMBER_JSON] = tar->json_bytes,
		[MEMBER_SAMPLE] = tar->sample_bytes};
	return bytes[member];
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* A comment (an extended header) has at least these bytes: its own header, and one block. */
#define LEAST_COMMENT (2 * BLOCK)

static uint64_t beside_blocks(uint64_t most_bytes)
{
	return BLOCK + round_up(most_bytes, BLOCK) + LEAST_COMMENT;
}

static uint64_t member_blocks(const struct composite *tar, enum member member)
{
	uint64_t blocks = 0;
	if (member == MEMBER_JSON && tar->json_bytes == 0)
		return 0;
	if (member != MEMBER_BESIDE)
		return BLOCK + round_up(member_bytes(tar, member), BLOCK);
	for (unsigned i = 0; i < tar->n_beside; i++)
		blocks += tar->beside_bytes[i];
	return blocks;
}

/* Finds the text with the byte at `offset`; each text of a record is one segment. `offset` counts
 * from the first text. Adds to ret->begin the distance from the first text to the found text. */
static void find_beside(const struct composite *tar, uint64_t offset, struct segment *ret)
{
	unsigned i = 0;
	ret->kind = SEGMENT_BESIDE;
	for (; offset >= tar->beside_bytes[i]; i++) {
		offset -= tar->beside_bytes[i];
		ret->begin += tar->beside_bytes[i];
	}
	ret->constant = i;
	ret->bytes = tar->beside_bytes[i];
}

/* Finds the member's segment that has the byte at `offset`. `offset` counts from the start of the
 * member's header. Adds to ret->begin the distance from this start to the segment. */
static void find_in_member(const struct composite *tar, enum member member,
	uint64_t offset, struct segment *ret)
{
	static const enum segment_kind kinds[] = {[MEMBER_LABEL] = SEGMENT_LABEL,
		[MEMBER_JSON] = SEGMENT_JSON,
		[MEMBER_SAMPLE] = SEGMENT_SAMPLE};
	if (member == MEMBER_BESIDE) {
		find_beside(tar, offset, ret);
		return;
	}
	uint64_t bytes = member_bytes(tar, member);
	if (offset < BLOCK) {
		ret->kind = SEGMENT_CONSTANT;
		ret->constant = member;
		ret->bytes = BLOCK;
	} else if (offset < BLOCK + bytes) {
		ret->kind = kinds[member];
		ret->begin += BLOCK;
		ret->bytes = bytes;
	} else {
		ret->kind = SEGMENT_ZEROS;
		ret->begin += BLOCK + bytes;
		ret->bytes = round_up(bytes, BLOCK) - bytes;
	}
}

static void find_segment(
	const struct composite *tar, uint64_t offset, struct segment *ret)
{
	enum member member = MEMBER_LABEL;
	uint64_t begin = 0;
	while (offset - begin >= member_blocks(tar, member))
		begin += member_blocks(tar, member++);
	ensure(member < MEMBERS);
	ret->begin = begin;
	find_in_member(tar, member, offset - begin, ret);
}

/* ustar, POSIX.1-1988. A text that is shorter than its field ends with a zero byte. */
struct header {
	char name[100];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char linked[100];
	char magic[8];
	char user[32], group[32];
	char device_major[8], device_minor[8];
	char prefix[155];
	char unused[12];
};

static void set_checksum(struct header *header)
{
	const uint8_t *bytes = (const uint8_t *)header;
	unsigned sum = 0;
	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	snprintf(header->checksum, sizeof(header->checksum), "%06o", sum);
}

static void print_header(
	uint32_t position, const char *ending, char type, uint64_t bytes, uint8_t *ret)
{
	struct header header = {.mode = "0000444",
		.uid = "0000000",
		.gid = "0000000",
		.mtime = MTIME,
		.type = type,
		.magic = {'u', 's', 't', 'a', 'r', '\0', '0', '0'},
		.device_major = "0000000",
		.device_minor = "0000000"};
	_Static_assert(sizeof(header) == BLOCK, "a block of tar");
	snprintf(header.name, sizeof(header.name), "%08u.%s", position, ending);
	snprintf(header.size, sizeof(header.size), "%011llo", (unsigned long long)bytes);
	set_checksum(&header);
	memcpy(ret, &header, sizeof(header));
}

/* Makes a comment of `bytes` bytes. It is an extended header with one line, and the line begins
 * with its own length. */
static void print_comment(uint32_t position, uint64_t bytes, uint8_t *ret)
{
	uint64_t line = bytes - BLOCK;
	print_header(position, "comment", 'x', line, ret);
	memset(ret + BLOCK, ' ', line);
	int n = snprintf(
		(char *)ret + BLOCK, line, "%llu comment=", (unsigned long long)line);
	ret[BLOCK + n] = ' ';
	ret[bytes - 1] = '\n';
}

void tar_beside(const struct composite *tar, const struct segment *segment,
	const char *ending, const char *text, size_t text_bytes, uint8_t *ret)
{
	uint32_t position = tar->first + segment->index;
	uint64_t blocks = BLOCK + round_up(text_bytes, BLOCK);
	ensure(blocks + LEAST_COMMENT <= segment->bytes);
	print_header(position, ending, '0', text_bytes, ret);
	memset(ret + BLOCK, 0, blocks - BLOCK);
	if (text_bytes > 0)
		memcpy(ret + BLOCK, text, text_bytes);
	print_comment(position, segment->bytes - blocks, ret + blocks);
}

static void make_header(const struct composite *tar, const struct segment *segment,
	uint8_t ret[COMPOSITE_CONSTANT])
{
	enum member member = (enum member)segment->constant;
	const char *const extensions[] = {[MEMBER_LABEL] = "cls",
		[MEMBER_JSON] = "json",
		[MEMBER_SAMPLE] = tar->extension};
	print_header(tar->first + segment->index, extensions[member], '0',
		member == MEMBER_SAMPLE ? tar->first_bytes : member_bytes(tar, member),
		ret);
}

void tar_second_header(
	const struct composite *tar, uint32_t index, uint8_t ret[static BLOCK])
{
	print_header(
		tar->first + index, tar->second_extension, '0', tar->second_bytes, ret);
}

static const struct composite_rules rules = {
	.record = find_segment, .constant = make_header};

struct composite tar_composite(
	uint32_t first, uint32_t n, struct tar_sizes sizes, const char *extension)
{
	uint64_t second_at = sizes.second ? round_up(sizes.sample, BLOCK) : 0;
	uint64_t sample = sizes.second ? second_at + BLOCK + sizes.second : sizes.sample;
	struct composite tar = {.rules = &rules,
		.first = first,
		.n = n,
		.sample_bytes = sample,
		.first_bytes = sizes.sample,
		.second_bytes = sizes.second,
		.second_at = second_at,
		.second_extension = sizes.second_extension,
		.label_bytes = sizes.label,
		.json_bytes = sizes.json,
		.n_beside = sizes.n_beside,
		.extension = extension};
	for (unsigned i = 0; i < sizes.n_beside; i++)
		tar.beside_bytes[i] = beside_blocks(sizes.beside[i]);
	for (enum member member = MEMBER_LABEL; member < MEMBERS; member++)
		tar.stride += member_blocks(&tar, member);
	tar.sample_at = tar.stride - round_up(sample, BLOCK);
	tar.bytes = round_up(n * tar.stride + 2 * (uint64_t)BLOCK, RECORD);
	return tar;
}

#define PREFIX "shard-"
#define SUFFIX ".tar"
#define DIGITS 6

static uint64_t entries(struct sched_job *job, struct inode directory)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(directory));
	return layout_files(job, edition);
}

static bool entry(struct sched_job *job, struct inode directory, uint64_t number,
	struct layout_entry *ret)
{
	(void)job;
	ret->inode = layout_inode(directory, INODE_TAR, (uint32_t)number);
	char *at = stpcpy(ret->name, PREFIX);
	at += flat_print_number((uint32_t)number, DIGITS, at);
	memcpy(at, SUFFIX, sizeof(SUFFIX));
	return true;
}

static int lookup(struct sched_job *job, struct inode directory, const char *name,
	struct inode *ret)
{
	const size_t start = strlen(PREFIX);
	auto_edition *edition = sched_widest_edition(job, inode_sched_epoch(directory));
	uint32_t bound = layout_files(job, edition), index;
	if (strncmp(name, PREFIX, start) != 0)
		return -ENOENT;
	size_t digits = flat_parse_number(name + start, DIGITS, bound, &index);
	if (digits == 0 || strcmp(name + start + digits, SUFFIX) != 0)
		return -ENOENT;
	*ret = layout_inode(directory, INODE_TAR, index);
	return 0;
}

static bool exists(struct sched_job *job, struct inode inode)
{
	auto_edition *edition = sched_widest_edition(job, inode_sched_epoch(inode));
	return inode.kind == INODE_TAR && inode.position < layout_files(job, edition);
}

int tar_file(struct sizes *sizes, struct sched_job *job,
	const struct sched_edition *edition, struct inode file, struct composite *ret)
{
	const struct job_config *config = sched_job_config(job);
	uint32_t each = config_file_samples(config), first = file.position * each;
	uint32_t left = first < edition->samples ? edition->samples - first : 0;
	uint32_t epoch = inode_sched_epoch(file);
	struct tar_sizes tar = {
		.label = label_bytes_of(job, epoch), .n_beside = beside_count(config)};
	memcpy(tar.beside, edition->beside_bytes, sizeof(tar.beside));
	bool known = sizes_of_part(sizes, job, file, false, &tar.sample);
	if (config_is_pair(config)) {
		known &= sizes_of_part(sizes, job, file, true, &tar.second);
		tar.second_extension = config->sections[0].extension;
	}
	ensure(known); /* the configuration excludes tar with unknown sizes */
	int err = config->json ? json_bytes(job, epoch, &tar.json) : 0;
	if (!err)
		*ret = tar_composite(
			first, left < each ? left : each, tar, config->extension);
	return err;
}

static bool size(
	struct sizes *sizes, struct sched_job *job, struct inode file, uint64_t *ret)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(file));
	struct composite tar;
	if (tar_file(sizes, job, edition, file, &tar) != 0)
		return false;
	*ret = tar.bytes;
	return true;
}

const struct layout layout_tar = {
	.entries = entries,
	.entry = entry,
	.lookup = lookup,
	.exists = exists,
	.subdirectories = layout_no_subdirectories,
	.size = size,
};
