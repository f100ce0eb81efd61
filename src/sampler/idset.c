// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/idset.h"
#include "base/ensure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * sums    Fenwick tree: number of elements in blocks of 4096 ids
 * lines   number of elements in each line of 512 ids; a block has eight lines
 * words   the bits; a line has eight words, which fill one cache line of the processor
 *
 * idset_select searches the sums, which stay in the processor's nearest cache. Then it reads one
 * cache line of `lines` and one of `words`.
 */

#define LINE_BITS 512
#define LINE_WORDS 8
#define BLOCK_LINES 8
#define BLOCK_WORDS (BLOCK_LINES * LINE_WORDS)
#define BLOCK_BITS (BLOCK_LINES * LINE_BITS)

struct idset {
	uint64_t *words;
	uint16_t *lines;
	uint32_t *sums; /* Fenwick tree of the counts of blocks; sums[0] is not used */
	uint32_t bound;
	uint32_t size;
	uint32_t n_blocks;
	/* length of `sums`: a power of two, so that no step of idset_select reads beyond it */
	uint32_t n_sums;
};

/* Returns a word whose byte i is the number of bits that are set in bytes 0 to i of `word`. Does
 * without the instruction popcnt, which not every x86-64 has. */
static uint64_t byte_sums(uint64_t word)
{
	word -= word >> 1 & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) +
	       (word >> 2 & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return word * UINT64_C(0x0101010101010101);
}

static uint32_t count(uint64_t word)
{
	return (uint32_t)(byte_sums(word) >> 56);
}

static size_t n_words(const struct idset *set)
{
	return (size_t)set->n_blocks * BLOCK_WORDS;
}

static size_t n_lines(const struct idset *set)
{
	return (size_t)set->n_blocks * BLOCK_LINES;
}

int idset_new(uint32_t bound, struct idset **ret)
{
	struct idset *set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	set->bound = bound;
	set->n_blocks = bound / BLOCK_BITS + 1;
	for (set->n_sums = 1; set->n_sums < set->n_blocks;)
		set->n_sums *= 2;
	set->words = aligned_alloc(LINE_BITS / 8, n_words(set) * sizeof(set->words[0]));
	set->lines = calloc(n_lines(set), sizeof(set->lines[0]));
	set->sums = calloc(set->n_sums, sizeof(set->sums[0]));
	if (!set->words || !set->lines || !set->sums) {
		idset_free(&set);
		return -ENOMEM;
	}
	memset(set->words, 0, n_words(set) * sizeof(set->words[0]));
	*ret = set;
	return 0;
}

void idset_free(struct idset **set)
{
	if (!*set)
		return;
	free((*set)->words);
	free((*set)->lines);
	free((*set)->sums);
	free(*set);
	*set = NULL;
}

int idset_copy(const struct idset *set, struct idset **ret)
{
	int error = idset_new(set->bound, ret);
	if (error)
		return error;
	struct idset *copy = *ret;
	memcpy(copy->words, set->words, n_words(set) * sizeof(set->words[0]));
	memcpy(copy->lines, set->lines, n_lines(set) * sizeof(set->lines[0]));
	memcpy(copy->sums, set->sums, set->n_sums * sizeof(set->sums[0]));
	copy->size = set->size;
	return 0;
}

/* Inverts the bits of the ids. Writes each word only once, because the ids are ascending. */
static void flip_bits(struct idset *set, const roaring_bitmap_t *ids)
{
	uint32_t buffer[256];
	uint32_t n;
	uint32_t at = 0;
	uint64_t word = 0;
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(ids, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, buffer, 256))) {
		for (uint32_t i = 0; i < n; i++) {
			if (buffer[i] / 64 != at) {
				set->words[at] ^= word;
				at = buffer[i] / 64;
				word = 0;
			}
			word |= UINT64_C(1) << buffer[i] % 64;
		}
	}
	set->words[at] ^= word;
}

static void set_all_bits(struct idset *set)
{
	memset(set->words, 0xff, set->bound / 64 * sizeof(set->words[0]));
	set->words[set->bound / 64] = (UINT64_C(1) << set->bound % 64) - 1;
}

/* If `ids` are more than half of all ids, it is faster to clear the bits of the others. */
static int set_bits(struct idset *set, const roaring_bitmap_t *ids)
{
	uint64_t n = roaring_bitmap_get_cardinality(ids);
	ensure(n == 0 || roaring_bitmap_maximum(ids) < set->bound);
	if (n <= set->bound / 2) {
		flip_bits(set, ids);
		return 0;
	}
	auto_bitmap roaring_bitmap_t *others = roaring_bitmap_flip(ids, 0, set->bound);
	if (!others)
		return -ENOMEM;
	set_all_bits(set);
	flip_bits(set, others);
	return 0;
}

static uint16_t count_line(const uint64_t *words)
{
	uint32_t n = 0;
	for (int i = 0; i < LINE_WORDS; i++)
		n += count(words[i]);
	return (uint16_t)n;
}

static void count_all(struct idset *set)
{
	for (size_t i = 0; i < n_lines(set); i++) {
		set->lines[i] = count_line(&set->words[i * LINE_WORDS]);
		set->size += set->lines[i];
		size_t sum = i / BLOCK_LINES + 1;
		if (sum < set->n_sums)
			set->sums[sum] += set->lines[i];
	}
	for (uint32_t i = 1; i < set->n_sums; i++) {
		uint32_t above = i + (i & -i);
		if (above < set->n_sums)
			set->sums[above] += set->sums[i];
	}
}

int idset_from_bitmap(uint32_t bound, const roaring_bitmap_t *ids, struct idset **ret)
{
	int error = idset_new(bound, ret);
	if (error)
		return error;
	error = set_bits(*ret, ids);
	if (error) {
		idset_free(ret);
		return error;
	}
	count_all(*ret);
	return 0;
}

int idset_from_places(
	const struct idset *set, const uint32_t *ids, uint32_t n, struct idset **ret)
{
	int error = idset_new(n, ret);
	if (error)
		return error;
	for (uint32_t i = 0; i < n; i++)
		(*ret)->words[i / 64] |= (uint64_t)idset_contains(set, ids[i]) << i % 64;
	count_all(*ret);
	return 0;
}

uint32_t idset_bound(const struct idset *set)
{
	return set->bound;
}

uint32_t idset_size(const struct idset *set)
{
	return set->size;
}

bool idset_contains(const struct idset *set, uint32_t id)
{
	return id < set->bound && set->words[id / 64] >> id % 64 & 1;
}

void idset_remove(struct idset *set, uint32_t id)
{
	ensure(idset_contains(set, id));
	set->words[id / 64] ^= UINT64_C(1) << id % 64;
	set->lines[id / LINE_BITS]--;
	for (uint32_t i = id / BLOCK_BITS + 1; i < set->n_sums; i += i & -i)
		set->sums[i]--;
	set->size--;
}

/* Returns the index of the set bit that has `rank` set bits below it. sums: byte_sums(word) */
static uint32_t select_bit(uint64_t word, uint64_t sums, uint32_t rank)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	/* Bit 7 of a byte of `below` is set if the same byte of `sums` is at most `rank`. No byte
	 * borrows in the subtraction: the bytes are at least 128, and the sums at most 64. */
	uint64_t below = (ones * (rank | 0x80) - sums) & (ones << 7);
	uint32_t at = (uint32_t)((below >> 7) * ones >> 56) * 8;
	rank -= sums << 8 >> at & 0xff;
	word >>= at;
	while (rank--)
		word &= word - 1;
	return at + (uint32_t)__builtin_ctzll(word);
}

uint32_t idset_select(const struct idset *set, uint32_t rank)
{
	ensure(rank < set->size);
	size_t at = 0;
	for (size_t step = set->n_sums / 2; step; step /= 2) {
		uint32_t sum = set->sums[at + step];
		/* compilers make conditional moves of this: a branch could not be predicted */
		bool beyond = sum <= rank;
		at += beyond ? step : 0;
		rank -= beyond ? sum : 0;
	}
	for (at *= BLOCK_LINES; set->lines[at] <= rank; at++)
		rank -= set->lines[at];
	for (at *= LINE_WORDS;; at++) {
		uint64_t sums = byte_sums(set->words[at]);
		if (rank < sums >> 56)
			return (uint32_t)at * 64 + select_bit(set->words[at], sums, rank);
		rank -= (uint32_t)(sums >> 56);
	}
}

uint32_t idset_rank(const struct idset *set, uint32_t id)
{
	ensure(id <= set->bound);
	uint32_t rank = 0;
	uint32_t line = id / LINE_BITS;
	for (uint32_t i = id / BLOCK_BITS; i; i &= i - 1)
		rank += set->sums[i];
	for (uint32_t i = id / BLOCK_BITS * BLOCK_LINES; i < line; i++)
		rank += set->lines[i];
	for (uint32_t i = line * LINE_WORDS; i < id / 64; i++)
		rank += count(set->words[i]);
	return rank + count(set->words[id / 64] & ((UINT64_C(1) << id % 64) - 1));
}

bool idset_all_contain(const struct idset *const *sets, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (!idset_contains(sets[i], id))
			return false;
	return true;
}

static size_t n_blocks_shared(const struct idset *const *sets, size_t n)
{
	size_t least = sets[0]->n_blocks;
	for (size_t i = 1; i < n; i++)
		if (sets[i]->n_blocks < least)
			least = sets[i]->n_blocks;
	return least;
}

/* The pointers are `restrict`, so that compilers use vector instructions. */
static bool and_block(uint64_t *restrict ret, const uint64_t *restrict words)
{
	uint64_t any = 0;
	for (int i = 0; i < BLOCK_WORDS; i++) {
		ret[i] &= words[i];
		any |= ret[i];
	}
	return any;
}

/* Stores the bits that all sets have in this block. Returns false, and leaves *ret undefined, if
 * there are no such bits. */
static bool shared_block(
	const struct idset *const *sets, size_t n, size_t block, uint64_t *ret)
{
	memset(ret, 0xff, BLOCK_BITS / 8);
	for (size_t i = 0; i < n; i++)
		if (!and_block(ret, &sets[i]->words[block * BLOCK_WORDS]))
			return false;
	return true;
}

uint32_t idset_count_shared(const struct idset *const *sets, size_t n)
{
	uint64_t shared[BLOCK_WORDS];
	uint32_t size = 0;
	size_t end = n_blocks_shared(sets, n);
	for (size_t i = 0; i < end; i++)
		if (shared_block(sets, n, i, shared))
			for (int j = 0; j < BLOCK_WORDS; j++)
				size += count(shared[j]);
	return size;
}

uint32_t idset_select_unshared(
	const struct idset *set, const struct idset *const *sets, size_t n, uint32_t rank)
{
	size_t end = n_blocks_shared(sets, n);
	for (size_t i = 0;; i++) {
		uint64_t words[BLOCK_WORDS];
		ensure(i < set->n_blocks);
		if (i >= end || !shared_block(sets, n, i, words))
			memset(words, 0, sizeof(words));
		for (size_t j = 0; j < BLOCK_WORDS; j++) {
			uint64_t word = set->words[i * BLOCK_WORDS + j] ^ words[j];
			uint64_t sums = byte_sums(word);
			if (rank < sums >> 56)
				return (uint32_t)(i * BLOCK_BITS + j * 64) +
				       select_bit(word, sums, rank);
			rank -= (uint32_t)(sums >> 56);
		}
	}
}

/* Adds to `ids` all ids of the set (same = 0), or all that the set lacks (same = UINT64_MAX). */
static void add_differing(const struct idset *set, uint64_t same, roaring_bitmap_t *ids)
{
	uint32_t buffer[1024];
	uint32_t n = 0;
	for (size_t i = 0; i < n_words(set); i++) {
		if (n > 1024 - 64) {
			roaring_bitmap_add_many(ids, n, buffer);
			n = 0;
		}
		for (uint64_t word = set->words[i] ^ same; word; word &= word - 1)
			buffer[n++] = (uint32_t)i * 64 + (uint32_t)__builtin_ctzll(word);
	}
	if (n)
		roaring_bitmap_add_many(ids, n, buffer);
}

roaring_bitmap_t *idset_to_bitmap(const struct idset *set)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	bool most = set->size > set->bound / 2;
	if (ids)
		add_differing(set, most ? UINT64_MAX : 0, ids);
	if (ids && most)
		roaring_bitmap_flip_inplace(ids, 0, n_words(set) * 64);
	return ids;
}

size_t idset_bytes(const struct idset *set)
{
	return sizeof(*set) + n_words(set) * sizeof(set->words[0]) +
	       n_lines(set) * sizeof(set->lines[0]) + set->n_sums * sizeof(set->sums[0]);
}

void idset_validate(const struct idset *set)
{
	uint32_t size = 0;
	for (size_t i = 0; i < n_lines(set); i++) {
		ensure(set->lines[i] == count_line(&set->words[i * LINE_WORDS]));
		size += set->lines[i];
		/* number of blocks up to the block of line i, inclusive */
		size_t sum = i / BLOCK_LINES + 1;
		if (i % BLOCK_LINES != BLOCK_LINES - 1)
			continue;
		uint32_t before = 0;
		for (size_t j = sum; j && sum < set->n_sums; j &= j - 1)
			before += set->sums[j];
		ensure(sum >= set->n_sums || before == size);
	}
	ensure(size == set->size);
	for (size_t i = set->bound; i < n_words(set) * 64; i++)
		ensure(!(set->words[i / 64] >> i % 64 & 1));
}

void idset_remove_lost(struct idset *set, const struct idset *before,
	const struct idset *now, const uint32_t *places)
{
	ensure(before->bound == now->bound);
	for (size_t i = 0; i < n_words(now); i++) {
		uint64_t lost = before->words[i] & ~now->words[i];
		for (; lost; lost &= lost - 1)
			idset_remove(set, places[i * 64 + (size_t)__builtin_ctzll(lost)]);
	}
}
