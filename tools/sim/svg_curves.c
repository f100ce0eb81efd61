// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "report.h"
#include "svg.h"

#include <errno.h>

#define NAME 128

struct drawing {
	const struct sim_curve *curves;
	size_t n;
	bool several; /* the plot has several scenarios */
	bool per_sample;
	struct svg_series *series;
	double *values; /* x and y of all series */
	char (*names)[NAME];
};

/* Colours distinguish the curves of one scenario. If there are several scenarios, colours
 * distinguish these, and dashes their samplers and policies. */
static void choose_style(
	const struct drawing *drawing, size_t i, struct svg_series *series)
{
	const struct sim_curve *curves = drawing->curves;
	size_t scenario = 0, first = i;
	for (size_t j = 1; j <= i; j++)
		scenario += curves[j].scenario != curves[j - 1].scenario;
	while (first > 0 && curves[first - 1].scenario == curves[i].scenario)
		first--;
	series->colour = drawing->several ? scenario : i;
	series->dash = drawing->several ? i - first : 0;
}

/* Makes series i from a curve, and writes its points to `values`. Returns the place for the values
 * of the next curve. */
static double *fill_series(const struct drawing *drawing, size_t i, double *values)
{
	const struct sim_curve *curve = &drawing->curves[i];
	struct svg_series *series = &drawing->series[i];
	double *x = values, *y = values + curve->n_points;
	for (size_t j = 0; j < curve->n_points; j++) {
		const struct sim_point *point = &curve->points[j];
		x[j] = point->capacity;
		y[j] = drawing->per_sample ? point->misses / point->served
					   : point->misses;
	}
	char name[64];
	sim_curve_name(curve, name, sizeof(name));
	snprintf(drawing->names[i], NAME, "%s%s%s",
		drawing->several ? curve->scenario->name : "",
		drawing->several ? ": " : "", name);
	*series = (struct svg_series){
		.name = drawing->names[i], .x = x, .y = y, .n = curve->n_points};
	choose_style(drawing, i, series);
	return y + curve->n_points;
}

/* Tells whether each job reads a sample only once, so that one load per sample is the minimum. */
static bool has_minimum(const struct drawing *drawing)
{
	const struct sim_scenario *scenario = drawing->curves[0].scenario;
	if (drawing->several || drawing->per_sample)
		return false;
	for (size_t i = 0; i < scenario->n_jobs; i++)
		if (scenario->jobs[i].epochs > 1)
			return false;
	return true;
}

static int write_drawing(
	const struct drawing *drawing, const char *path, const char *title, bool log_x)
{
	double *values = drawing->values, all = drawing->curves[0].points[0].all;
	char minimum[64];
	snprintf(minimum, sizeof(minimum), "each sample once: %.0f", all);
	for (size_t i = 0; i < drawing->n; i++)
		values = fill_series(drawing, i, values);
	const struct svg_plot plot = {
		.title = title ? title : drawing->curves[0].scenario->title,
		.x_title = "cache, samples",
		.y_title = drawing->per_sample ? "misses per sample read" : "misses",
		.log_x = log_x,
		.series = drawing->series,
		.n = drawing->n,
		.line = all,
		.line_label = has_minimum(drawing) ? minimum : NULL};
	return svg_write(path, &plot, 1);
}

int sim_write_svg(const char *path, const char *title, const struct sim_curve *curves,
	size_t n, bool log_x)
{
	struct drawing drawing = {.curves = curves,
		.n = n,
		.several = curves[n - 1].scenario != curves[0].scenario};
	size_t points = 0;
	int err = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		drawing.per_sample |= sim_per_sample(curves[i].scenario);
		points += curves[i].n_points;
	}
	drawing.series = calloc(n, sizeof(*drawing.series));
	drawing.values = calloc(2 * points, sizeof(*drawing.values));
	drawing.names = calloc(n, sizeof(*drawing.names));
	if (drawing.series && drawing.values && drawing.names)
		err = write_drawing(&drawing, path, title, log_x);
	free(drawing.series);
	free(drawing.values);
	free(drawing.names);
	return err;
}
