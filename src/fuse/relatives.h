// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/proc.h"

/*
 * Finds the processes that read for one script. All is read from /proc; nothing is cached.
 *
 *     script     the ranks of one training
 *       rank     a process that reads by itself or by its workers, and is no worker
 *         worker a process that its parent has forked, or has started by multiprocessing or loky.
 *                A process that has workers is no worker: Python's workers can't have any.
 */

/* Returns the process for which `process` works; if there is none, returns `process` itself. */
struct process relatives_rank(const struct process *process);

/*
 * Returns the number of a rank's script: the process_number of the script's oldest living rank.
 * Processes are ranks of one training in these cases:
 *
 *   1. One parent has forked the processes, or has started them by multiprocessing or loky.
 *   2. The processes are children of one parent, and their command lines differ in their ranks
 *      (process_kind.h). The ranks are numbers without gaps, such as --rank 0, 1, 2.
 *   3. The processes are children of one parent, and a launcher has set different ranks of one
 *      training in their environments.
 *   4. The processes descend from ranks of case 2 or 3. For instance, each of these ranks is a
 *      shell script that starts Python, or the launcher of a node.
 */
uint64_t relatives_script(const struct process *rank);

/* Tells whether a launcher has started other ranks of the training on other machines. */
bool relatives_are_elsewhere(const struct process *rank);
