// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "cluster.h"
#include "base/ensure.h"

#include <errno.h>

void cluster_figure(struct cluster_out *out, const char *table, const char *curve,
	double x, double value)
{
	struct cluster_figure *figure = &out->figures[out->n];
	ensure(out->n < CLUSTER_MOST_FIGURES);
	*figure = (struct cluster_figure){.table = table, .x = x, .value = value};
	snprintf(figure->curve, sizeof(figure->curve), "%s", curve);
	out->n++;
}

static int write_csv(const struct cluster_out *out, const char *path)
{
	FILE *csv = fopen(path, "we");
	if (!csv)
		return -errno;
	fputs("table,curve,x,value\n", csv);
	for (size_t i = 0; i < out->n; i++)
		fprintf(csv, "%s,%s,%g,%.6g\n", out->figures[i].table,
			out->figures[i].curve, out->figures[i].x, out->figures[i].value);
	return fclose(csv) ? -errno : 0;
}

int cluster_print(const char *csv, const char *svg)
{
	static struct cluster_out to;
	int err = cluster_locality(&to);
	if (!err)
		err = cluster_homes(&to);
	if (!err)
		err = cluster_speed(&to);
	if (!err && csv)
		err = write_csv(&to, csv);
	if (!err && svg)
		err = cluster_plot(&to, svg);
	return err ? err : fflush(stdout) ? -errno : 0;
}
