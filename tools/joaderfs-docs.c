// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config.h"
#include "stats/stats.h"

#include <string.h>

/* The build runs this program to make the tables of the man pages and the completions. */
int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "options") == 0) {
		config_print_man(stdout);
	} else if (argc == 2 && strcmp(argv[1], "counters") == 0) {
		stats_print_man(stdout);
	} else if (argc == 2 && strcmp(argv[1], "histograms") == 0) {
		stats_print_histograms_man(stdout);
	} else if (argc == 2 && strcmp(argv[1], "keys") == 0) {
		config_print_keys(stdout);
	} else {
		fputs("usage: joaderfs-docs options | counters | histograms | keys\n",
			stderr);
		return 2;
	}
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
