// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

/*
 * Finds the home of a sample: the node that prepares it and keeps its tensor for all others. Each
 * daemon computes the home by itself; equal sets of nodes give equal homes.
 *
 * Rendezvous hashing, weighted by capacity (Thaler and Ravishankar, 1998; the weights of
 * Schindelhauer and Schomaker, 2005): node i draws u_i in (0, 1] from a hash of the node and the
 * sample, and has the score -ln(u_i) / capacity_i. The nodes by ascending score are the sample's
 * order of homes; the first node is the home. A node is the home of the fraction capacity_i / (sum
 * of all capacities) of the samples. When a node joins, samples move only to that node; when a node
 * leaves, only its own samples move.
 *
 *   Owns: a copy of the nodes.
 *   Threads: any; a table never changes.   Locks, clock, files: none.
 *   Errors: -EINVAL, -ENOMEM from place_new.
 *
 * Machines whose logarithms differ in the last bit may compute different homes for one sample in
 * about 10^15. This does no harm, since correctness never depends on homes.
 */

#define PLACE_NONE UINT32_MAX
#define PLACE_MOST_NODES 4096

struct place_node {
	uint64_t hash;	 /* place_hash of the node's name */
	double capacity; /* share of the samples, in any unit; positive and finite */
};

struct place;

/* Hashes the name of a node, or the bytes that identify a space. */
uint64_t place_hash(const void *bytes, size_t n);

/* Makes a table of the nodes. place_home and place_next return indexes of the array `nodes`. n may
 * be 0. -EINVAL: a capacity is not positive and finite, two hashes are equal, or n is too large. */
must_check int place_new(const struct place_node *nodes, uint32_t n, struct place **ret);
void place_free(struct place **place);

/* Returns the home; PLACE_NONE: no nodes. space: a hash, equal for jobs that share tensors. */
uint32_t place_home(const struct place *place, uint64_t space, sample_id sample);

/* Returns the node that follows `after` in the sample's order of homes, for when `after` does not
 * answer. PLACE_NONE: `after` is the last node, or not in the table. */
uint32_t place_next(
	const struct place *place, uint64_t space, sample_id sample, uint32_t after);

/* Returns the home that the two hashes of JOADER (NeurIPS 2022, E.4) choose. The first hash chooses
 * one of the n_nodes nodes of the cluster. The second hash serves a job that does not run on this
 * first node: it chooses one of the job's n_job nodes (job_nodes, ascending). A sample may have
 * different homes for jobs on different nodes. PLACE_NONE: n_job is 0. */
uint32_t place_joader(uint32_t n_nodes, const uint32_t *job_nodes, uint32_t n_job,
	uint64_t space, sample_id sample);
