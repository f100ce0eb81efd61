// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/proc.h"

/*
 * Finds the processes that read for one script. All is read from /proc; nothing is cached.
 *
 *     script     the ranks of one training
 *       rank     a process that no other process has forked, or that has workers itself
 *         worker a process that its parent has forked, or started by multiprocessing or
 *                loky, and that has no workers: Python's workers can't have any
 */

/* Returns the process for which `process` works; if there is none, returns `process` itself. */
struct process relatives_rank(const struct process *process);

/*
 * Returns the number of the script, which is the number of its oldest living rank. Ranks of one
 * training are:
 *
 *   - children of one parent, which has forked them, or started them by multiprocessing;
 *   - children of one parent whose command lines differ in their rank (process_kind.h), if the
 *     ranks are numbers without gaps, such as --rank 0, 1, 2;
 *   - children of one parent whose environments have different ranks of one training;
 *   - processes that ranks of these kinds have started: such a rank may be a shell
 *     script, or the launcher of a node.
 */
uint64_t relatives_script(const struct process *rank);

/* Tells whether a launcher has started other ranks of the training on other machines. */
bool relatives_are_elsewhere(const struct process *rank);
