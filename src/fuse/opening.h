// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/open_file_ops.h"

/*
 * Opens of samples, their labels and their texts. Such an open binds the file's position to a
 * sample, and may have to wait until the sample is prepared. If an earlier engine opened the file,
 * the first read opens the position again.
 *
 *   opening_start -> (waits) -> sample_file_new, label_file_opened, text_file_open_of_sample
 *   opening_again -> (waits) -> sample_file_read_again ...
 *
 *   Threads: any; no thread waits.   Locks: none.
 */
extern const struct open_file_ops opening_sample_ops, opening_label_ops, opening_text_ops;
