// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "container.h"

/* Lists zip files. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_container(&source_zip, LABEL_AUTO, data, size);
	return 0;
}
