// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "report.h"

#include <errno.h>
#include <math.h>

/*
 * A plot as SVG:
 *
 *     title
 *     y title
 *     |
 *     |   curves             legend
 *     +-----------
 *       x title
 *
 * Colours are those of Okabe and Ito, which people who see few colours can tell apart.
 */

#define WIDTH 900
#define HEIGHT 520
#define LEFT 90
#define RIGHT 640
#define TOP 70
#define BOTTOM 450
#define LEGEND 660

#define INK "#222"
#define GRID "#ddd"

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
	"#e69f00", "#56b4e9", "#000000", "#999933"};
static const char *const dashes[] = {"none", "7 4", "2 3", "9 3 2 3"};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct axis {
	double low;
	double high;
	bool log;
	double from; /* pixels */
	double to;
};

struct plot {
	FILE *out;
	const struct sim_curve *curves;
	size_t n;
	const char *title;
	bool several; /* scenarios */
	bool per_sample;
	struct axis x, y;
};

static double map(const struct axis *axis, double value)
{
	double part = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
				: (value - axis->low) / (axis->high - axis->low);
	return axis->from + part * (axis->to - axis->from);
}

static double y_of(const struct plot *plot, const struct sim_point *point)
{
	return plot->per_sample ? point->misses / point->served : point->misses;
}

/* --- text and lines ---------------------------------------------------------------- */

static void text(const struct plot *plot, double x, double y, const char *attributes,
	const char *content)
{
	fprintf(plot->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	for (const char *c = content; *c; c++) {
		if (*c == '&')
			fputs("&amp;", plot->out);
		else if (*c == '<')
			fputs("&lt;", plot->out);
		else
			fputc(*c, plot->out);
	}
	fputs("</text>\n", plot->out);
}

static void line(const struct plot *plot, double x1, double y1, double x2, double y2,
	const char *colour)
{
	fprintf(plot->out,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
		x1, y1, x2, y2, colour);
}

/* --- axes -------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten: about so many steps. */
static double nice_step(double range, int steps)
{
	double power = pow(10, floor(log10(range / steps)));
	double rest = range / steps / power;
	return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

static void fit(struct plot *plot, bool log_x)
{
	double smallest = INFINITY, largest = 1, highest = 0;
	for (size_t i = 0; i < plot->n; i++)
		for (size_t j = 0; j < plot->curves[i].n_points; j++) {
			const struct sim_point *point = &plot->curves[i].points[j];
			smallest = fmin(smallest, point->capacity);
			largest = fmax(largest, point->capacity);
			highest = fmax(highest, y_of(plot, point));
		}
	double step = nice_step(highest > 0 ? highest : 1, 5);
	bool range = smallest < largest;
	plot->x = (struct axis){.low = log_x ? (range ? smallest : smallest / 2) : 0,
		.high = range || !log_x ? largest : 2 * largest,
		.log = log_x,
		.from = LEFT,
		.to = RIGHT};
	plot->y = (struct axis){.high = step * ceil(fmax(highest, step) / step),
		.from = BOTTOM,
		.to = TOP};
}

static void tick_x(const struct plot *plot, double value)
{
	char label[32];
	double x = map(&plot->x, value);
	snprintf(label, sizeof(label), "%.10g", value);
	line(plot, x, TOP, x, BOTTOM, GRID);
	line(plot, x, BOTTOM, x, BOTTOM + 6, INK);
	text(plot, x, BOTTOM + 22, "text-anchor=\"middle\"", label);
}

static void ticks_x(const struct plot *plot)
{
	static const double mantissas[] = {1, 2, 5};
	const struct axis *axis = &plot->x;
	double decades = axis->log ? log10(axis->high / axis->low) : 0;
	if (!axis->log) {
		double step = nice_step(axis->high, 6);
		for (int i = 0; i * step <= axis->high * 1.0001; i++)
			tick_x(plot, i * step);
		return;
	}
	for (double power = pow(10, floor(log10(axis->low))); power <= axis->high;
		power *= 10)
		for (size_t i = 0; i < (decades > 3 ? 1 : LENGTH(mantissas)); i++) {
			double value = power * mantissas[i];
			if (value >= axis->low * .9999 && value <= axis->high * 1.0001)
				tick_x(plot, value);
		}
}

static void ticks_y(const struct plot *plot)
{
	double step = nice_step(plot->y.high, 6);
	for (int i = 0; i * step <= plot->y.high * 1.0001; i++) {
		char label[32];
		double y = map(&plot->y, i * step);
		snprintf(label, sizeof(label), "%.10g", i * step);
		line(plot, LEFT, y, RIGHT, y, GRID);
		line(plot, LEFT - 6, y, LEFT, y, INK);
		text(plot, LEFT - 10, y + 5, "text-anchor=\"end\"", label);
	}
}

static void axes(const struct plot *plot)
{
	ticks_x(plot);
	ticks_y(plot);
	line(plot, LEFT, BOTTOM, RIGHT, BOTTOM, INK);
	line(plot, LEFT, TOP, LEFT, BOTTOM, INK);
	text(plot, (LEFT + RIGHT) / 2.0, BOTTOM + 48, "text-anchor=\"middle\"",
		"cache, samples");
	text(plot, LEFT - 60, TOP - 18, "",
		plot->per_sample ? "misses per sample read" : "misses");
	text(plot, LEFT - 60, 28, "font-size=\"18\" font-weight=\"bold\"", plot->title);
}

/* Once each: nothing can do with less. */
static void draw_minimum(const struct plot *plot)
{
	const struct sim_scenario *scenario = plot->curves[0].scenario;
	char label[64];
	if (plot->several || plot->per_sample)
		return;
	for (size_t i = 0; i < scenario->n_jobs; i++)
		if (scenario->jobs[i].epochs > 1)
			return;
	double y = map(&plot->y, plot->curves[0].points[0].all);
	fprintf(plot->out,
		"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#888\" "
		"stroke-dasharray=\"4 4\"/>\n",
		LEFT, y, RIGHT, y);
	snprintf(label, sizeof(label), "each sample once: %.0f",
		plot->curves[0].points[0].all);
	text(plot, RIGHT + 6, y + 5, "fill=\"#666\"", label);
}

/* --- curves ------------------------------------------------------------------------ */

/*
 * Colours tell curves apart; of several scenarios they tell these, and dashes tell what
 * is compared.
 */
static void choose_style(
	const struct plot *plot, size_t i, const char **ret_colour, const char **ret_dash)
{
	size_t scenario = 0, first = i;
	for (size_t j = 1; j <= i; j++)
		scenario += plot->curves[j].scenario != plot->curves[j - 1].scenario;
	while (first > 0 && plot->curves[first - 1].scenario == plot->curves[i].scenario)
		first--;
	*ret_colour = colours[(plot->several ? scenario : i) % LENGTH(colours)];
	*ret_dash = dashes[(plot->several ? i - first : 0) % LENGTH(dashes)];
}

static void draw_curve(const struct plot *plot, size_t i)
{
	const struct sim_curve *curve = &plot->curves[i];
	const char *colour, *dash;
	choose_style(plot, i, &colour, &dash);
	fprintf(plot->out,
		"<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
		"stroke-dasharray=\"%s\" points=\"",
		colour, dash);
	for (size_t j = 0; j < curve->n_points; j++)
		fprintf(plot->out, "%s%.1f,%.1f", j ? " " : "",
			map(&plot->x, curve->points[j].capacity),
			map(&plot->y, y_of(plot, &curve->points[j])));
	fputs("\"/>\n", plot->out);
	for (size_t j = 0; j < curve->n_points; j++)
		fprintf(plot->out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
			map(&plot->x, curve->points[j].capacity),
			map(&plot->y, y_of(plot, &curve->points[j])), colour);
}

static void draw_legend(const struct plot *plot, size_t i)
{
	char curve[64], name[128];
	const char *colour, *dash;
	double y = TOP + 12 + 22 * (double)i;
	choose_style(plot, i, &colour, &dash);
	sim_curve_name(&plot->curves[i], curve, sizeof(curve));
	snprintf(name, sizeof(name), "%s%s%s",
		plot->several ? plot->curves[i].scenario->name : "",
		plot->several ? ": " : "", curve);
	fprintf(plot->out,
		"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" "
		"stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
		LEGEND, y, LEGEND + 34, y, colour, dash);
	text(plot, LEGEND + 42, y + 5, "", name);
}

static void write_plot(const struct plot *plot)
{
	fprintf(plot->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"14\" "
		"fill=\"" INK "\">\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", plot->out);
	axes(plot);
	draw_minimum(plot);
	for (size_t i = 0; i < plot->n; i++)
		draw_curve(plot, i);
	for (size_t i = 0; i < plot->n; i++)
		draw_legend(plot, i);
	fputs("</svg>\n", plot->out);
}

int sim_write_svg(const char *path, const char *title, const struct sim_curve *curves,
	size_t n, bool log_x)
{
	struct plot plot = {.curves = curves, .n = n};
	plot.several = curves[n - 1].scenario != curves[0].scenario;
	plot.title = title ? title : curves[0].scenario->title;
	for (size_t i = 0; i < n; i++)
		plot.per_sample |= sim_per_sample(curves[i].scenario);
	fit(&plot, log_x);
	plot.out = fopen(path, "we");
	if (!plot.out)
		return -errno;
	write_plot(&plot);
	bool failed = ferror(plot.out);
	if (fclose(plot.out) != 0)
		return -errno;
	return failed ? -EIO : 0;
}
