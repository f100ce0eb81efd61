// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "container.h"

/* Lists LMDB files. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_container(&source_lmdb, LABEL_AUTO, data, size);
	return 0;
}
