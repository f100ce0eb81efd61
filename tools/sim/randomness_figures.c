// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "randomness.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

static const struct figure unmeasured;

/* Returns the chi-square of `count`, divided by its degrees of freedom, as a figure. n: the sum of
 * all counts. scale: a divisor of the usual sum of (count - expected)^2 / expected, so that the
 * quotient has the chi-square distribution with `degrees` degrees of freedom. */
static struct figure chi_square_figure(
	const uint32_t *count, size_t cells, double n, double scale, double degrees)
{
	double expected = n / (double)cells;
	double sum = 0;
	for (size_t i = 0; i < cells; i++)
		sum += (count[i] - expected) * (count[i] - expected) / expected;
	sum /= scale;
	return (struct figure){
		.value = sum / degrees,
		.expected = 1,
		.bound = chi_square_bound(RANDOMNESS_P, degrees) / degrees - 1,
		.p = chi_square_p(sum, degrees),
		.one_sided = true,
		.measured = true,
	};
}

/* Returns the largest number of equal groups into which n samples can be divided; at most ten. */
static uint32_t groups_of(uint32_t n)
{
	uint32_t groups = 10;
	while (n % groups)
		groups--;
	return groups;
}

/* Each run adds a permutation matrix, whose entries are summed up in blocks. The entries have the
 * covariance (I - J/n) x (I - J/n) / (n - 1), where I is the identity matrix, J has only ones, and
 * x is the Kronecker product. In a table of independent counts with fixed margins the covariance is
 * smaller by the factor n / (n - 1). So `scale` is this factor. */
struct figure figure_positions(const struct places *places, uint32_t epoch)
{
	uint32_t n = places->n;
	uint32_t groups = groups_of(n);
	uint32_t count[10 * 10] = {0};
	if (groups < 2)
		return unmeasured;
	for (uint32_t run = 0; run < places->runs; run++) {
		const uint32_t *at = places_of(places, run, epoch);
		for (uint32_t i = 0; i < n; i++)
			count[i / (n / groups) * groups + at[i] / (n / groups)]++;
	}
	return chi_square_figure(count, (size_t)groups * groups, (double)n * places->runs,
		n / (n - 1.), (groups - 1.) * (groups - 1.));
}

#define MOST_ORDERED 5
#define MOST_ORDERS (24 * 24)

static uint32_t orders_of(uint32_t n)
{
	return n > 1 ? n * orders_of(n - 1) : 1;
}

/* Returns the number of an order in Lehmer code: the digit of a sample is the number of samples
 * with larger ids that came before it. */
static uint32_t order_number(const uint32_t *at, uint32_t n)
{
	uint32_t number = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t earlier = 0;
		for (uint32_t k = i + 1; k < n; k++)
			earlier += at[k] < at[i];
		number = number * (n - i) + earlier;
	}
	return number;
}

struct figure figure_orders(const struct places *places, uint32_t epoch)
{
	uint32_t n = places->n;
	if (n < 3 || n > MOST_ORDERED)
		return unmeasured;
	uint32_t count[MOST_ORDERS] = {0};
	uint32_t orders = orders_of(n);
	for (uint32_t run = 0; run < places->runs; run++)
		count[order_number(places_of(places, run, epoch), n)]++;
	return chi_square_figure(count, orders, places->runs, 1, orders - 1.);
}

struct figure figure_two_orders(const struct places *places, uint32_t epoch)
{
	uint32_t n = places->n;
	if (n < 3 || n > 4 || epoch + 1 >= places->epochs)
		return unmeasured;
	uint32_t count[MOST_ORDERS] = {0};
	uint32_t orders = orders_of(n);
	for (uint32_t run = 0; run < places->runs; run++)
		count[order_number(places_of(places, run, epoch), n) * orders +
			order_number(places_of(places, run, epoch + 1), n)]++;
	return chi_square_figure(count, (size_t)orders * orders, places->runs, 1,
		(double)orders * orders - 1);
}

static struct figure mean_figure(double sum, struct expected one, size_t n)
{
	struct expected expected = expected_mean(one, n);
	double value = sum / (double)n;
	return (struct figure){
		.value = value,
		.expected = expected.mean,
		.bound = normal_bound(expected, RANDOMNESS_P),
		.p = normal_p(expected, value),
		.measured = true,
	};
}

struct figure figure_neighbours(const struct places *places, uint32_t epoch)
{
	uint32_t n = places->n;
	uint32_t *ids = calloc(n, sizeof(*ids));
	if (!ids || n < 3) {
		free(ids);
		return unmeasured;
	}
	double sum = 0;
	for (uint32_t run = 0; run < places->runs; run++) {
		const uint32_t *at = places_of(places, run, epoch);
		for (uint32_t i = 0; i < n; i++)
			ids[at[i]] = i;
		sum += serial_correlation(ids, n);
	}
	struct expected expected = serial_correlation_expected(ids, n);
	sum -= places->runs * expected.mean;
	free(ids);
	expected.mean = 0;
	return mean_figure(sum, expected, places->runs);
}

struct figure figure_epochs(const struct places *places, uint32_t lag)
{
	uint32_t n = places->n;
	if (n < 2 || places->epochs <= lag)
		return unmeasured;
	double sum = 0;
	uint32_t pairs = places->epochs - lag;
	for (uint32_t run = 0; run < places->runs; run++)
		for (uint32_t epoch = 0; epoch < pairs; epoch++)
			sum += correlation(places_of(places, run, epoch),
				places_of(places, run, epoch + lag), n);
	return mean_figure(sum, correlation_expected(n), (size_t)places->runs * pairs);
}

struct figure figure_jobs(const struct places *a, const struct places *b)
{
	uint32_t first = a->first > b->first ? a->first : b->first;
	uint32_t end_a = a->first + a->n, end_b = b->first + b->n;
	uint32_t end = end_a < end_b ? end_a : end_b;
	if (end < first + 2)
		return unmeasured;
	ensure(a->runs == b->runs && a->epochs == b->epochs);
	double sum = 0;
	for (uint32_t run = 0; run < a->runs; run++)
		for (uint32_t epoch = 0; epoch < a->epochs; epoch++)
			sum += correlation(places_of(a, run, epoch) + (first - a->first),
				places_of(b, run, epoch) + (first - b->first),
				end - first);
	return mean_figure(
		sum, correlation_expected(end - first), (size_t)a->runs * a->epochs);
}

static uint32_t gap_of(uint32_t n, uint32_t before, uint32_t after)
{
	return n - before + after;
}

struct gap_limit {
	uint32_t n;
	double limit; /* distance in samples */
};

/* Scores a sample with position i in an epoch and position j in the next one: 1 if the gap is below
 * the limit, 1/2 if the gap equals the limit, otherwise 0. */
static double below(const void *context, size_t i, size_t j)
{
	const struct gap_limit *limit = context;
	double gap = gap_of(limit->n, (uint32_t)i, (uint32_t)j);
	return gap < limit->limit ? 1 : gap > limit->limit ? 0 : .5;
}

struct figure figure_gaps(const struct places *places, double gap)
{
	uint32_t n = places->n;
	struct gap_limit limit = {n, gap * n};
	if (places->epochs < 2)
		return unmeasured;
	double sum = 0;
	for (uint32_t run = 0; run < places->runs; run++)
		for (uint32_t epoch = 0; epoch + 1 < places->epochs; epoch++) {
			const uint32_t *before = places_of(places, run, epoch);
			const uint32_t *after = places_of(places, run, epoch + 1);
			for (uint32_t i = 0; i < n; i++)
				sum += below(&limit, before[i], after[i]);
		}
	struct expected expected = match_expected(below, &limit, n);
	expected.mean /= n;
	expected.deviation /= n;
	return mean_figure(
		sum / n, expected, (size_t)places->runs * (places->epochs - 1));
}

bool gap_deciles(const struct places *places, double ret[GAP_DECILES])
{
	uint32_t n = places->n;
	uint64_t *count = calloc(2 * (size_t)n, sizeof(*count));
	if (!count)
		return false;
	uint64_t all = 0, seen = 0;
	for (uint32_t run = 0; run < places->runs; run++)
		for (uint32_t epoch = 0; epoch + 1 < places->epochs; epoch++, all += n)
			for (uint32_t i = 0; i < n; i++)
				count[gap_of(n, places_of(places, run, epoch)[i],
					places_of(places, run, epoch + 1)[i])]++;
	uint32_t gap = 0;
	for (uint32_t d = 0; d < GAP_DECILES; d++) {
		double wanted = (d + 1) / 10. * (double)all;
		while ((double)(seen + count[gap]) < wanted)
			seen += count[gap++];
		/* A gap of g counts as spread over the range g - 1/2 to g + 1/2. */
		double part = (wanted - (double)seen) / (double)count[gap];
		ret[d] = (gap - .5 + part) / n;
	}
	free(count);
	return true;
}

void gap_deciles_expected(double ret[GAP_DECILES])
{
	for (uint32_t d = 0; d < GAP_DECILES; d++) {
		double share = (d + 1) / 10.;
		ret[d] = share <= .5 ? sqrt(2 * share) : 2 - sqrt(2 * (1 - share));
	}
}
