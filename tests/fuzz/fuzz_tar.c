// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "container.h"

/* Lists tar files. Most mutations get right checksums. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define BLOCK 512
#define CHECKSUM 148

/* Corrects the checksum of each block that may be a header. */
static void correct_checksums(uint8_t *data, size_t size)
{
	for (size_t at = 0; at + BLOCK <= size; at += BLOCK) {
		unsigned sum = 8 * ' ';
		if (memcmp(data + at + 257, "ustar", 5) != 0)
			continue;
		for (size_t i = 0; i < BLOCK; i++)
			sum += i < CHECKSUM || i >= CHECKSUM + 8 ? data[at + i] : 0;
		snprintf((char *)data + at + CHECKSUM, 8, "%06o", sum);
	}
}

size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 8 != 0)
		correct_checksums(data, size);
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum label_kind labels[] = {
		LABEL_AUTO, LABEL_DIRECTORY, LABEL_CLS, LABEL_JSON};
	fuzz_container(&source_tar, labels[size % 4], data, size);
	return 0;
}
