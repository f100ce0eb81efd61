// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/beside.h"
#include "files/content_bytes.h"
#include "files/label.h"
#include "files/layout.h"
#include "files/layout_flat.h"
#include "sched/jobs.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define LABEL_EXTENSION "cls"
#define JSON_EXTENSION "json"
#define NAME_DIGITS 8
#define MIN_SHARD_DIGITS 3

/* --- names: a listing has millions of them, so there is no printf ----------------- */

size_t flat_print_number(uint32_t number, unsigned digits, char *ret)
{
	char reversed[FLAT_DIGITS];
	size_t n = 0;
	ensure(digits <= FLAT_DIGITS);
	for (; n < digits || number > 0; number /= 10)
		reversed[n++] = (char)('0' + number % 10);
	for (size_t i = 0; i < n; i++)
		ret[i] = reversed[n - 1 - i];
	ret[n] = '\0';
	return n;
}

size_t flat_parse_number(const char *text, unsigned digits, uint32_t bound, uint32_t *ret)
{
	size_t n = 0;
	uint64_t number = 0;
	while (n <= FLAT_DIGITS && isdigit((unsigned char)text[n]))
		number = number * 10 + (uint64_t)(text[n++] - '0');
	if (n > FLAT_DIGITS || number >= bound)
		return 0;
	if (n != digits && (n < digits || text[0] == '0'))
		return 0;
	*ret = (uint32_t)number;
	return n;
}

/* Tells whether each sample is a pair, such as an image and its mask, in two files. */
static bool has_second(const struct job_config *config)
{
	return config_is_pair(config) && !content_joins(config);
}

void flat_print(
	struct flat_name name, const struct job_config *config, char ret[FLAT_NAME])
{
	const char *extension = config->extension;
	if (name.kind == INODE_LABEL)
		extension = LABEL_EXTENSION;
	else if (name.kind == INODE_JSON)
		extension = JSON_EXTENSION;
	else if (name.kind == INODE_PAIR)
		extension = config->sections[0].extension;
	else if (inode_is_beside(name.kind))
		extension = beside_ending(config, name.kind - INODE_BESIDE);
	size_t n = flat_print_number(name.position, NAME_DIGITS, ret);
	size_t bytes = strlen(extension) + 1;
	ensure(n + 1 + bytes <= FLAT_NAME);
	ret[n] = '.';
	memcpy(ret + n + 1, extension, bytes);
}

bool flat_parse(const char *name, const struct job_config *config, uint32_t n_positions,
	struct flat_name *ret)
{
	unsigned beside;
	size_t n = flat_parse_number(name, NAME_DIGITS, n_positions, &ret->position);
	if (n == 0 || name[n] != '.')
		return false;
	if (strcmp(name + n + 1, LABEL_EXTENSION) == 0)
		ret->kind = INODE_LABEL;
	else if (strcmp(name + n + 1, config->extension) == 0)
		ret->kind = INODE_SAMPLE;
	else if (has_second(config) &&
		 strcmp(name + n + 1, config->sections[0].extension) == 0)
		ret->kind = INODE_PAIR;
	else if (beside_number(config, name + n + 1, &beside))
		ret->kind = (enum inode_kind)(INODE_BESIDE + beside);
	else if (strcmp(name + n + 1, JSON_EXTENSION) == 0)
		ret->kind = INODE_JSON;
	else
		return false;
	return true;
}

static unsigned n_kinds(const struct job_config *config)
{
	return 2u + config->json + has_second(config) + beside_count(config);
}

static enum inode_kind kind_of(const struct job_config *config, unsigned i)
{
	if (i < 2)
		return i == 0 ? INODE_SAMPLE : INODE_LABEL;
	i -= 2;
	if (config->json && i-- == 0)
		return INODE_JSON;
	if (has_second(config) && i-- == 0)
		return INODE_PAIR;
	return (enum inode_kind)(INODE_BESIDE + i);
}

static bool has_kind(const struct job_config *config, enum inode_kind kind)
{
	if (inode_is_beside(kind))
		return kind - INODE_BESIDE < beside_count(config);
	return kind == INODE_SAMPLE || kind == INODE_LABEL ||
	       (kind == INODE_JSON && config->json) ||
	       (kind == INODE_PAIR && has_second(config));
}

static uint32_t n_shards(struct sched_job *job, uint32_t samples)
{
	uint32_t shard = sched_job_config(job)->shard;
	return shard ? (samples - 1) / shard + 1 : 0;
}

static unsigned shard_digits(uint32_t shards)
{
	char text[FLAT_DIGITS + 1];
	return (unsigned)flat_print_number(shards - 1, MIN_SHARD_DIGITS, text);
}

/* Returns the number of samples in a listing of the epoch. In current/ a look-up finds more samples
 * (n_found) if the next epoch is longer. */
static uint32_t n_listed(struct sched_job *job, struct inode directory)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(directory));
	return edition->samples;
}

static uint32_t n_found(struct sched_job *job, struct inode directory)
{
	auto_edition *edition = sched_widest_edition(job, inode_sched_epoch(directory));
	return edition->samples;
}

struct range {
	uint32_t first, n;
};

/* Returns the positions whose files lie directly in the directory. */
static struct range positions(
	struct sched_job *job, struct inode directory, uint32_t samples)
{
	uint32_t shard = sched_job_config(job)->shard;
	if (!shard)
		return (struct range){0, samples};
	if (directory.kind == INODE_EPOCH)
		return (struct range){0, 0};
	struct range range = {.first = directory.position * shard, .n = shard};
	if (range.first >= samples)
		return (struct range){0, 0};
	if (range.n > samples - range.first)
		range.n = samples - range.first;
	return range;
}

static uint64_t entries(struct sched_job *job, struct inode directory)
{
	uint32_t samples = n_listed(job, directory);
	if (directory.kind == INODE_EPOCH && sched_job_config(job)->shard)
		return n_shards(job, samples);
	return (uint64_t)positions(job, directory, samples).n *
	       n_kinds(sched_job_config(job));
}

static bool entry(struct sched_job *job, struct inode directory, uint64_t number,
	struct layout_entry *ret)
{
	const struct job_config *config = sched_job_config(job);
	uint32_t samples = n_listed(job, directory);
	if (directory.kind == INODE_EPOCH && config->shard) {
		ret->inode = layout_inode(directory, INODE_SHARD, (uint32_t)number);
		flat_print_number((uint32_t)number, shard_digits(n_shards(job, samples)),
			ret->name);
		return true;
	}
	struct flat_name name = {
		.kind = kind_of(config, (unsigned)(number % n_kinds(config))),
		.position = positions(job, directory, samples).first +
			    (uint32_t)(number / n_kinds(config))};
	if (layout_skips(job, directory, name.position, 1))
		return false;
	ret->inode = layout_inode(directory, name.kind, name.position);
	flat_print(name, config, ret->name);
	return true;
}

static int lookup(struct sched_job *job, struct inode directory, const char *text,
	struct inode *ret)
{
	const struct job_config *config = sched_job_config(job);
	uint32_t samples = n_found(job, directory);
	struct range range = positions(job, directory, samples);
	struct flat_name name;
	uint32_t shard;
	if (directory.kind == INODE_EPOCH && config->shard) {
		size_t n = flat_parse_number(text, shard_digits(n_shards(job, samples)),
			n_shards(job, samples), &shard);
		if (n == 0 || text[n] != '\0')
			return -ENOENT;
		*ret = layout_inode(directory, INODE_SHARD, shard);
		return 0;
	}
	if (!flat_parse(text, config, range.first + range.n, &name) ||
		name.position < range.first || !has_kind(config, name.kind))
		return -ENOENT;
	*ret = layout_inode(directory, name.kind, name.position);
	return 0;
}

static bool exists(struct sched_job *job, struct inode inode)
{
	uint32_t samples = n_found(job, inode);
	if (inode.kind == INODE_SHARD)
		return inode.position < n_shards(job, samples);
	return has_kind(sched_job_config(job), inode.kind) && inode.position < samples;
}

static uint32_t subdirectories(struct sched_job *job, struct inode directory)
{
	return directory.kind == INODE_EPOCH ? n_shards(job, n_listed(job, directory))
					     : 0;
}

static bool size(
	struct sizes *sizes, struct sched_job *job, struct inode file, uint64_t *ret)
{
	if (inode_is_sample(file))
		return sizes_of_position(sizes, job, file, ret);
	if (inode_is_beside(file.kind))
		return false;
	if (file.kind == INODE_JSON)
		return json_bytes(job, inode_sched_epoch(file), ret) == 0;
	*ret = label_bytes_of(job, inode_sched_epoch(file));
	return true;
}

const struct layout layout_flat = {
	.entries = entries,
	.entry = entry,
	.lookup = lookup,
	.exists = exists,
	.subdirectories = subdirectories,
	.size = size,
};
