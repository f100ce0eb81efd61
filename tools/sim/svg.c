// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define WIDTH 900
#define HEIGHT 520
#define LEFT 90
#define RIGHT 640
#define TOP 70
#define BOTTOM 450
#define LEGEND 660

#define INK "#222"
#define GRID "#ddd"

/* the colours of Okabe and Ito, which people who see few colours can tell apart */
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
	const struct svg_plot *what;
	struct axis x, y;
};

static double map(const struct axis *axis, double value)
{
	double part = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
				: (value - axis->low) / (axis->high - axis->low);
	return axis->from + part * (axis->to - axis->from);
}

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

/* Returns the distance between two marks of an axis: 1, 2 or 5 times a power of ten, so that the
 * range has about `steps` such distances. */
static double nice_step(double range, int steps)
{
	double power = pow(10, floor(log10(range / steps)));
	double rest = range / steps / power;
	return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

static void fit(struct plot *plot)
{
	const struct svg_plot *what = plot->what;
	double smallest = INFINITY, largest = 1, highest = 0;
	for (size_t i = 0; i < what->n; i++)
		for (size_t j = 0; j < what->series[i].n; j++) {
			smallest = fmin(smallest, what->series[i].x[j]);
			largest = fmax(largest, what->series[i].x[j]);
			highest = fmax(highest, what->series[i].y[j]);
		}
	double step = nice_step(highest > 0 ? highest : 1, 5);
	bool range = smallest < largest;
	plot->x =
		(struct axis){.low = what->log_x ? (range ? smallest : smallest / 2) : 0,
			.high = range || !what->log_x ? largest : 2 * largest,
			.log = what->log_x,
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
		plot->what->x_title);
	text(plot, LEFT - 60, TOP - 18, "", plot->what->y_title);
	text(plot, LEFT - 60, 28, "font-size=\"18\" font-weight=\"bold\"",
		plot->what->title);
}

static void draw_line(const struct plot *plot)
{
	double y = map(&plot->y, plot->what->line);
	if (!plot->what->line_label)
		return;
	fprintf(plot->out,
		"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#888\" "
		"stroke-dasharray=\"4 4\"/>\n",
		LEFT, y, RIGHT, y);
	text(plot, RIGHT + 6, y + 5, "fill=\"#666\"", plot->what->line_label);
}

static void draw_curve(const struct plot *plot, const struct svg_series *series)
{
	const char *colour = colours[series->colour % LENGTH(colours)];
	fprintf(plot->out,
		"<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
		"stroke-dasharray=\"%s\" points=\"",
		colour, dashes[series->dash % LENGTH(dashes)]);
	for (size_t j = 0; j < series->n; j++)
		fprintf(plot->out, "%s%.1f,%.1f", j ? " " : "",
			map(&plot->x, series->x[j]), map(&plot->y, series->y[j]));
	fputs("\"/>\n", plot->out);
	for (size_t j = 0; j < series->n; j++)
		fprintf(plot->out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
			map(&plot->x, series->x[j]), map(&plot->y, series->y[j]), colour);
}

static void draw_legend(const struct plot *plot, size_t i)
{
	const struct svg_series *series = &plot->what->series[i];
	double y = TOP + 12 + 22 * (double)i;
	fprintf(plot->out,
		"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" "
		"stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
		LEGEND, y, LEGEND + 34, y, colours[series->colour % LENGTH(colours)],
		dashes[series->dash % LENGTH(dashes)]);
	text(plot, LEGEND + 42, y + 5, "", series->name);
}

static void draw_plot(FILE *out, const struct svg_plot *what)
{
	struct plot plot = {.out = out, .what = what};
	fit(&plot);
	axes(&plot);
	draw_line(&plot);
	for (size_t i = 0; i < what->n; i++)
		draw_curve(&plot, &what->series[i]);
	for (size_t i = 0; i < what->n; i++)
		draw_legend(&plot, i);
}

static void write_plots(FILE *out, const struct svg_plot *plots, size_t n)
{
	int height = HEIGHT * (int)n;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"14\" "
		"fill=\"" INK "\">\n",
		WIDTH, height, WIDTH, height);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			fprintf(out, "<g transform=\"translate(0 %d)\">\n",
				HEIGHT * (int)i);
		draw_plot(out, &plots[i]);
		if (i > 0)
			fputs("</g>\n", out);
	}
	fputs("</svg>\n", out);
}

int svg_write(const char *path, const struct svg_plot *plots, size_t n)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return -errno;
	write_plots(out, plots, n);
	bool failed = ferror(out);
	if (fclose(out) != 0)
		return -errno;
	return failed ? -EIO : 0;
}
