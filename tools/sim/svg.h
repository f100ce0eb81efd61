// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/* Draws plots as SVG, for a browser. Errors: -errno. */

/* A curve. colour and dash: numbers of styles; after the last style the first one follows again. */
struct svg_series {
	const char *name;
	size_t colour, dash;
	const double *x, *y; /* n values each, in ascending order of x */
	size_t n;
};

struct svg_plot {
	const char *title, *x_title, *y_title;
	bool log_x;
	const struct svg_series *series;
	size_t n;
	double line;		/* y of a horizontal line for comparison */
	const char *line_label; /* NULL: there is no line */
};

must_check int svg_write(const char *path, const struct svg_plot *plots, size_t n);
