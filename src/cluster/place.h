// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

/*
 * Which node is the home of a sample: the node that prepares it and keeps its tensor for
 * all others. Every daemon computes the same home from the same nodes, without asking.
 *
 * Rendezvous hashing, weighted by capacity (Thaler and Ravishankar, 1998; the weights of
 * Schindelhauer and Schomaker, 2005): node i draws u_i in (0, 1] from a hash of itself and
 * the sample; its score is -ln(u_i) / capacity_i, and the smallest score is the home. So a
 * node is home of capacity_i / sum of all of the samples, a node that joins takes samples
 * only to itself, and one that leaves gives away only its own.
 *
 *   Flow: place_new whenever the set of live nodes changes; place_home for each sample.
 *   Owns: a copy of the nodes.
 *   Threads: any; a table does not change.   Locks, clock, files: none.
 *   Errors: -EINVAL, -ENOMEM from place_new.
 *
 * Two machines whose logarithms differ in the last bit may take different nodes for the
 * home of one sample in about 10^15. A home is advice, and never decides what is correct.
 */

#define PLACE_NONE UINT32_MAX
#define PLACE_MOST_NODES 4096

struct place_node {
	uint64_t hash;	 /* place_hash of its name */
	double capacity; /* more than 0, and finite: samples that it holds, in any unit */
};

struct place;

/* Of a name, or of what tells one space of samples from another. */
uint64_t place_hash(const void *bytes, size_t n);

/* The indexes that the functions below return are those of this array. n may be 0. -EINVAL:
 * a capacity that is not allowed, two nodes of one hash, or too many nodes. */
must_check int place_new(const struct place_node *nodes, uint32_t n, struct place **ret);
void place_free(struct place **place);

/*
 * The home of the sample, PLACE_NONE if there are no nodes. `space` tells dataset and
 * preparation: jobs that share tensors have the same.
 */
uint32_t place_home(const struct place *place, uint64_t space, sample_id sample);

/*
 * The node that is home if `after` and all nodes before it in this order are not there:
 * begin with place_home, and go on while nobody answers. PLACE_NONE after the last one.
 * It is the home that a table without these nodes has.
 */
uint32_t place_next(
	const struct place *place, uint64_t space, sample_id sample, uint32_t after);

/*
 * The two hashes of JOADER (NeurIPS 2022, E.4): the first one over all n_nodes nodes of
 * the cluster; if the job does not run on that node, the second one over the n_job nodes
 * that it does run on, job_nodes, ascending. Jobs on different nodes may so have different
 * homes for one sample. PLACE_NONE if n_job is 0.
 */
uint32_t place_joader(uint32_t n_nodes, const uint32_t *job_nodes, uint32_t n_job,
	uint64_t space, sample_id sample);
