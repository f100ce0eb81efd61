// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "cluster.h"

#include <errno.h>

void cluster_figure(const struct cluster_out *out, const char *table, const char *curve,
	double x, double value)
{
	if (out->csv)
		fprintf(out->csv, "%s,%s,%g,%.6g\n", table, curve, x, value);
}

static int print_page(const struct cluster_out *out)
{
	if (out->csv)
		fputs("table,curve,x,value\n", out->csv);
	int err = cluster_locality(out);
	if (!err)
		err = cluster_homes(out);
	return err ? err : cluster_speed(out);
}

int cluster_print(FILE *out, const char *path)
{
	struct cluster_out to = {.out = out, .csv = path ? fopen(path, "we") : NULL};
	if (path && !to.csv)
		return -errno;
	int err = print_page(&to);
	if (to.csv && fclose(to.csv) && !err)
		err = -errno;
	return err ? err : fflush(out) ? -errno : 0;
}
