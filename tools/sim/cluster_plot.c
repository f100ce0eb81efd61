// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "cluster.h"
#include "svg.h"

#include <string.h>

#define MOST_SERIES 8

static const struct {
	const char *table;
	struct svg_plot like;
} plots[] = {
	{"moved", {.title = "Moved samples of a mini-batch, by samples of each learner",
			  .x_title = "learners",
			  .y_title = "part of the samples",
			  .log_x = true}},
	{"messages", {.title = "Messages of a mini-batch, by samples of each learner",
			     .x_title = "learners",
			     .y_title = "pairs of nodes",
			     .log_x = true}},
	{"decodes", {.title = "JOADER's two hashes, 16 nodes, by the number of jobs",
			    .x_title = "nodes that each job runs on",
			    .y_title = "decodes per sample",
			    .line = 1,
			    .line_label = "one home: 1"}},
	{"speed-up", {.title = "Loading from caches, by what a shared storage gives",
			     .x_title = "nodes",
			     .y_title = "times as fast",
			     .log_x = true,
			     .line = 30,
			     .line_label = "the paper: more than 30"}},
};

#define PLOTS (sizeof(plots) / sizeof(plots[0]))

struct drawing {
	struct svg_series series[PLOTS][MOST_SERIES];
	double x[CLUSTER_MOST_FIGURES], y[CLUSTER_MOST_FIGURES];
	size_t n;
};

/* Makes *ret the curve to which out->figures[first] belongs, with all values of this curve. */
static void add_curve(struct drawing *drawing, const struct cluster_out *out,
	size_t first, struct svg_series *ret)
{
	const struct cluster_figure *like = &out->figures[first];
	size_t begin = drawing->n;
	for (size_t i = first; i < out->n; i++) {
		const struct cluster_figure *figure = &out->figures[i];
		if (strcmp(figure->table, like->table) != 0 ||
			strcmp(figure->curve, like->curve) != 0)
			continue;
		drawing->x[drawing->n] = figure->x;
		drawing->y[drawing->n++] = figure->value;
	}
	ret->name = like->curve;
	ret->x = &drawing->x[begin];
	ret->y = &drawing->y[begin];
	ret->n = drawing->n - begin;
}

static size_t add_table(struct drawing *drawing, const struct cluster_out *out,
	const char *table, struct svg_series series[static MOST_SERIES])
{
	size_t n = 0;
	for (size_t i = 0; i < out->n && n < MOST_SERIES; i++) {
		size_t j = 0;
		if (strcmp(out->figures[i].table, table) != 0)
			continue;
		while (j < n && strcmp(series[j].name, out->figures[i].curve) != 0)
			j++;
		if (j < n)
			continue;
		add_curve(drawing, out, i, &series[n]);
		series[n].colour = n;
		n++;
	}
	return n;
}

int cluster_plot(const struct cluster_out *out, const char *path)
{
	static struct drawing drawing;
	struct svg_plot all[PLOTS];
	drawing.n = 0;
	for (size_t i = 0; i < PLOTS; i++) {
		all[i] = plots[i].like;
		all[i].series = drawing.series[i];
		all[i].n = add_table(&drawing, out, plots[i].table, drawing.series[i]);
	}
	return svg_write(path, all, PLOTS);
}
