// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "report.h"

#include "base/size_text.h"

#include <errno.h>
#include <inttypes.h>

bool sim_per_sample(const struct sim_scenario *scenario)
{
	return scenario->length > 0;
}

void sim_curve_name(const struct sim_curve *curve, char *ret, size_t size)
{
	const char *sampler = sim_sampler_name(curve->sampler);
	const char *eviction = sim_eviction_name(curve->eviction);
	if (curve->scenario->n_evictions == 1)
		snprintf(ret, size, "%s", sampler);
	else if (curve->scenario->n_samplers == 1)
		snprintf(ret, size, "%s", eviction);
	else
		snprintf(ret, size, "%s, %s", sampler, eviction);
}

#define COLUMN 18

static void print_head(const struct sim_curve *curves, size_t n)
{
	const struct sim_scenario *scenario = curves[0].scenario;
	printf("%s: %s\n", scenario->name, scenario->title);
	printf("%zu jobs, %.0f different samples, %.0f read; %s\n", scenario->n_jobs,
		curves[0].points[0].all, curves[0].points[0].served,
		sim_per_sample(scenario) ? "misses per sample read"
					 : "misses (over different samples)");
	printf("\n%17s", "cache");
	for (size_t i = 0; i < n; i++) {
		char name[64];
		sim_curve_name(&curves[i], name, sizeof(name));
		printf("%*s", COLUMN, name);
	}
	putchar('\n');
}

static void print_cell(const struct sim_curve *curve, size_t i)
{
	const struct sim_point *point = &curve->points[i];
	char text[64];
	if (sim_per_sample(curve->scenario))
		snprintf(text, sizeof(text), "%.4f", point->misses / point->served);
	else
		snprintf(text, sizeof(text), "%.0f (%.3f)", point->misses,
			point->misses / point->all);
	printf("%*s", COLUMN, text);
}

static void print_size(const struct sim_curve *curve, size_t i)
{
	const struct sim_size *size = &curve->scenario->caches[i];
	const struct sim_point *point = &curve->points[i];
	double bytes = size->bytes ? size->value
				   : point->capacity * curve->scenario->sample_bytes;
	char text[32];
	snprintf(text, sizeof(text), "%.0f", point->capacity);
	if (bytes > 0)
		snprintf(text, sizeof(text), "%s", size_text((uint64_t)bytes).text);
	printf("%8s %7.2f%%", text, 100 * point->capacity / point->all);
}

void sim_print_table(const struct sim_curve *curves, size_t n)
{
	print_head(curves, n);
	for (size_t i = 0; i < curves[0].n_points; i++) {
		print_size(&curves[0], i);
		for (size_t j = 0; j < n; j++)
			print_cell(&curves[j], i);
		putchar('\n');
	}
	putchar('\n');
}

#define EXACT .02 /* largest difference of misses per sample that hardly matters */

void sim_print_trust(const struct sim_trust *trust)
{
	if (trust->scale == 1)
		return;
	printf("Simulated with one in %" PRIu32 " samples (%" PRIu32
	       " of the largest dataset). With half\n"
	       "as many samples the figures differ by at most %.4f misses per sample "
	       "read%s\n\n",
		trust->scale, trust->samples, trust->off,
		trust->off <= EXACT ? "." : ": too much;\n--scale 1 takes all.");
}

static void write_row(FILE *out, const struct sim_curve *curve, size_t i)
{
	const struct sim_point *point = &curve->points[i];
	fprintf(out, "%s,%s,%s,%.2f,%.5f,%.2f,%.2f,%.2f,%.2f,%.5f,%.5f\n",
		curve->scenario->name, sim_sampler_name(curve->sampler),
		sim_eviction_name(curve->eviction), point->capacity,
		point->capacity / point->all, point->all, point->served, point->misses,
		point->deviation, point->misses / point->all,
		point->misses / point->served);
}

int sim_write_csv(const char *path, const struct sim_curve *curves, size_t n)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return -errno;
	fputs("scenario,sampler,eviction,cache,cache_part,different,read,misses,"
	      "misses_deviation,misses_per_different,misses_per_read\n",
		out);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < curves[i].n_points; j++)
			write_row(out, &curves[i], j);
	bool failed = ferror(out);
	if (fclose(out) != 0)
		return -errno;
	return failed ? -EIO : 0;
}
